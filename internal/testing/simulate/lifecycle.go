package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// start starts the program.
func (m *machine) start() {
	m.dead, m.dialing, m.wire = 0, 0, nil
	m.starts++
	predict := m.plan.Predict
	if m.plan.Interpolate {
		predict = 0 // only over late ticks
	}
	m.client = player.New(m.w.subject.Game, player.Options{
		Views: m.plan.Views, Token: m.token, Seed: m.w.secrecy.seed(m),
		Predict: predict, PredictLate: m.plan.Predict, Interpolate: m.plan.Interpolate,
		MaxBacklog: m.plan.Backlog,
		Reconnect:  player.ReconnectPolicy{Attempts: 1 << 20, Total: 1 << 50},
	})
	m.client.Advance(m.clock())
	m.events()
	m.startedAt, m.stage = m.w.now, player.StageWaiting
	m.truth.restart(m.w.oracle.tick())
	m.submitAt = m.w.now
	m.next()
	m.willBeReady()
}

// next draws the time of the player's next command.
func (m *machine) next() {
	if m.plan.Every > 0 {
		m.submitAt += 1 + between(m.random, 0, 2*m.plan.Every)
	} else {
		m.submitAt = never
	}
}

// done restarts the program after its client has given up.
func (m *machine) done() {
	w := m.w
	if m.wire != nil {
		m.disconnect(nil)
	}
	if err := m.client.Err(); err != nil && m.full {
		w.count("no place for a spectator")
		m.full = false
	} else if err != nil && m.barred {
		w.count("kept out after a kick")
		m.barred = false
	} else if err != nil && m.idle.closed {
		w.count("closed as inactive")
		m.idle.closed = false
	} else if err != nil && m.liar == nil && !m.truth.flipped && !w.kicked[m.index] {
		w.fail("I9", "%s has given up: %v", m, err)
		return
	}
	if w.oracle.ended {
		m.dead = never
		return
	}
	w.count("client started again")
	m.dead = w.now + lockstep.Second
}

// noteStage counts the changes of the client's stage.
func (m *machine) noteStage() {
	if stage := m.client.Stage(); stage != m.stage {
		if m.stage == player.StageLive {
			m.harmed("is %v again", stage)
		}
		if m.liar == nil {
			m.w.ClientEdges[m.stage][stage]++
		}
		m.stage = stage
	}
}

// kill ends the program. The given number of sent messages still arrives.
func (m *machine) kill(sent int) {
	if wire := m.wire; wire != nil {
		m.wire = nil
		wire.clientGone, wire.up.eof = true, true
		wire.up.keep(sent)
		wire.down.keep(0)
		m.w.wakeWires = true
	}
	m.w.checkClient(m)
}
