package evidence_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/drift"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// wrongAt are rules that go wrong at a tick.
func wrongAt(at lockstep.Tick) lockstep.Rules[drift.World, struct{}] {
	return drift.Rules(func(w *drift.World, t *lockstep.Turn) {
		if t.Tick == at {
			w.Spots[3].X++
		}
	})
}

// Whatever a client answers, or does not, harms nobody else and does not stop the evidence.
func TestFalseAnswersToResimulate(t *testing.T) {
	const at = 47
	asked := 0
	for _, row := range []struct {
		name    string
		change  func(m *protocol.Message) bool
		outcome protocol.Outcome
		first   lockstep.Tick
		state   bool // of the first wrong tick
		closed  bool
		none    bool // no phases of the client's
	}{
		{name: "honest", outcome: protocol.WrongTheSameWay, first: at, state: true},
		{name: "older client", change: func(m *protocol.Message) bool {
			if m.Kind == protocol.KindAuth {
				m.Auth.Capabilities = nil
			}
			return false
		}},
		{name: "never", change: func(m *protocol.Message) bool { return m.Kind == protocol.KindResimulated }},
		{name: "garbage", change: func(m *protocol.Message) bool {
			if m.Kind == protocol.KindResimulated {
				asked++
				m.Hash += uint64(asked)
			}
			return false
		}, outcome: protocol.ThirdResult, first: 41, state: true},
		{name: "another run", change: func(m *protocol.Message) bool {
			if m.Kind == protocol.KindResimulated && m.Tick == 45 {
				if asked++; asked == 2 {
					m.Hash++
				}
			}
			return false
		}, outcome: protocol.ThirdResult, first: 45, state: true},
		{name: "an invented agreement", change: func(m *protocol.Message) bool {
			if m.Kind == protocol.KindResimulated && m.Tick == 60 {
				m.Hash = m.First
			}
			return false
		}, outcome: protocol.WrongTheSameWay, first: at, state: true},
		{name: "too few sections", change: func(m *protocol.Message) bool {
			if m.Kind != protocol.KindPhases {
				m.Sections = m.Sections[:min(1, len(m.Sections))]
			}
			return false
		}, outcome: protocol.WrongTheSameWay, first: at, state: true},
		{name: "it cannot", change: func(m *protocol.Message) bool {
			if m.Kind == protocol.KindResimulated {
				*m = protocol.Message{Kind: m.Kind}
			}
			return m.Kind == protocol.KindResimulated && m.Tick > 1
		}},
		{name: "other tick", change: func(m *protocol.Message) bool {
			if m.Kind == protocol.KindResimulated && m.Tick == 50 {
				m.Tick = 20
			}
			return false
		}, closed: true},
		{name: "no phases", change: func(m *protocol.Message) bool { return m.Kind == protocol.KindPhases }, outcome: protocol.WrongTheSameWay, first: at, state: true, none: true},
		{name: "phases of another tick", change: func(m *protocol.Message) bool {
			if m.Kind == protocol.KindPhases {
				m.Tick++
			}
			return false
		}, outcome: protocol.WrongTheSameWay, first: at, state: true, none: true},
		{name: "phases when nobody asks for them", change: func(m *protocol.Message) bool {
			if m.Kind == protocol.KindResimulated && m.Tick == 50 {
				*m = protocol.Message{Kind: protocol.KindPhases, Tick: at, Names: []string{"x"}, Sections: []uint64{1}}
			}
			return false
		}, closed: true, none: true}, // tick 51 comes after tick 49 then
		{name: "too many phases", change: func(m *protocol.Message) bool {
			if m.Kind == protocol.KindPhases {
				m.Names, m.Sections = make([]string, protocol.MaxPhases+1), make([]uint64, protocol.MaxPhases+1)
			}
			return false
		}, outcome: protocol.WrongTheSameWay, first: at, closed: true, none: true},
		{name: "uneven phases", change: func(m *protocol.Message) bool {
			if m.Kind == protocol.KindPhases {
				m.Sections = m.Sections[1:]
			}
			return false
		}, outcome: protocol.WrongTheSameWay, first: at, closed: true, none: true},
		{name: "gigabytes", change: func(m *protocol.Message) bool {
			if m.Kind == protocol.KindState && m.Tick == at {
				m.Total = lockstep.MaxStateSize
			}
			return false
		}, outcome: protocol.WrongTheSameWay, first: at},
		{name: "no state", change: func(m *protocol.Message) bool { return m.Kind == protocol.KindState && m.Tick == at }, outcome: protocol.WrongTheSameWay, first: at},
	} {
		t.Run(row.name, func(t *testing.T) {
			asked = 0
			m := drift.New(t, 20, wrongAt(at), nil, nil)
			m.Change = row.change
			seen := lockstep.Tick(0)
			m.Until(func() bool { return len(m.Evidence) > 0 }, func() {
				if seen = m.Clients[0].Tick(); m.Host.Now() > seen+5 {
					t.Fatalf("at tick %d the honest player is at tick %d", m.Host.Now(), seen)
				}
			})
			e := m.Evidence[0]
			var r host.Resimulation
			if e.Resimulation != nil {
				r = *e.Resimulation
			}
			if r.Outcome != row.outcome || r.First != row.first {
				t.Errorf("got %v from tick %d on, want %v from %d on", r.Outcome, r.First, row.outcome, row.first)
			}
			right, phases := 0, 0
			if row.first > 0 {
				right, phases = 4, 4
			}
			if row.none {
				phases = 0
			}
			if len(r.RightPhases) != right || len(r.Phases) != phases {
				t.Errorf("got phases %v and %v, want %d and %d", r.RightPhases, r.Phases, right, phases)
			}
			if row.name == "honest" {
				for i, p := range r.Phases {
					if want := []string{"nudge", "drift", "change", "end"}[i]; p.Name != want || p != r.RightPhases[i] && want != "end" || want == "end" && p == r.RightPhases[i] {
						t.Errorf("got phase %v, of the referee %v; want %s, and only end to differ", p, r.RightPhases[i], want)
					}
				}
			}
			state := false
			for _, x := range e.Exhibits {
				state = state || x.Tick == r.First && x.Player != nil
			}
			if state != row.state {
				t.Errorf("got the state of the first wrong tick: %t, want %t", state, row.state)
			}
			if closed := m.Clients[1].Err() != nil || m.Clients[1].Stage() != player.StageLive; closed != row.closed {
				t.Errorf("closed %t, want %t", closed, row.closed)
			}
			if err := m.Host.Info().CheckBounds(1 << 10); err != nil {
				t.Error(err)
			}
		})
	}
}

// A player that is removed because of a desync is not kept longer because it does not answer.
func TestRemovedPlayerIsNotAwaited(t *testing.T) {
	m := drift.New(t, 100, wrongAt(150), func(o *host.Options) { o.Desync = host.RemoveDesynced }, nil)
	m.Change = func(m *protocol.Message) bool { return m.Kind == protocol.KindResimulated }
	found := lockstep.Tick(0)
	m.Until(func() bool { return len(m.Evidence) > 0 }, func() {
		if k := m.Host.Now(); found == 0 && k >= 200 {
			found = k
		}
	})
	waited := m.Host.Now() - found
	if most := lockstep.Tick(20 * 11); waited < 100 || waited > most {
		t.Errorf("the evidence took %d ticks, want at most %d", waited, most)
	}
}

// An answer that comes too late has no effect, and one that nobody asked for is an offence.
func TestUnaskedResimulated(t *testing.T) {
	for _, asked := range []bool{false, true} {
		at := lockstep.Tick(1 << 30)
		if asked {
			at = 47
		}
		m := drift.New(t, 20, wrongAt(at), nil, nil)
		until := func() bool { return m.Host.Now() > 100 }
		if asked {
			until = func() bool { return len(m.Evidence) > 0 }
		}
		m.Until(until, nil)
		for range 150 {
			m.Say(&protocol.Message{Kind: protocol.KindResimulated, Tick: 50})
		}
		offences := m.Host.Stats().Offences
		if asked && offences > 0 || !asked && offences < 100 {
			t.Errorf("asked %t: got %d offences", asked, offences)
		}
	}
}
