package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A receipt is the receipt of an accepted command.
type receipt struct {
	tick  lockstep.Tick
	epoch int
	life  int
}

// answered keeps a receipt.
func (m *machine) answered(r lockstep.Receipt) {
	if r.Reason != lockstep.Accepted {
		m.rejected(r)
		if r.Reason == lockstep.TooFarAhead && m.liar == nil {
			m.w.fail("I9", "honest %s was told that command %d is too far ahead", m, r.Sequence)
		}
		m.w.Rejected[r.Reason]++
		delete(m.receipts, r.Sequence)
		return
	}
	epoch := m.w.server.epoch
	if m.wire != nil {
		epoch = m.wire.epoch
	}
	if old, twice := m.receipts[r.Sequence]; twice && old.epoch == epoch && m.liar == nil {
		m.w.fail("I2", "%s was told twice that command %d is accepted, for ticks %d and %d", m, r.Sequence, old.tick, r.Tick)
	}
	m.receipts[r.Sequence] = receipt{r.Tick, epoch, m.starts}
	m.idle.active(r.Tick, epoch)
	m.w.Accepted++
}

// checkReceipts compares the receipts of clients with the log.
func (w *world) checkReceipts() {
	for _, m := range w.machines {
		if m.liar != nil {
			continue
		}
		for seq, r := range m.receipts {
			at, ran := w.oracle.where[place(uint8(m.seat), uint32(seq))]
			stands := w.oracle.stands(r.epoch, r.tick)
			switch {
			case stands && (!ran || at != r.tick):
				w.fail("I2", "%s was told that command %d runs in tick %d; it ran in tick %d (%t)", m, seq, r.tick, at, ran)
			case stands && w.oracle.content[place(uint8(m.seat), uint32(seq))] != m.gave.content[seq]:
				w.fail("I2", "%s was told that command %d is accepted, and it is not the one that it gave", m, seq)
			case !stands && !ran && !w.substitutes.played[int(m.seat)] && r.life == m.starts && (w.plan.Disk.EachFrame || w.plan.Disk.Await) && !w.oracle.rotten(r.epoch):
				w.fail("I3", "%s was told that command %d runs in tick %d, which a crash has taken back, and it never ran", m, seq, r.tick)
			}
		}
	}
}

// given has the content of a player's commands.
type given struct {
	content  map[lockstep.Sequence]uint64 // see contentOf
	payloads *record.Payloads
}

func newGiven(g *lockstep.Game) given {
	return given{map[lockstep.Sequence]uint64{}, g.NewPayloads()}
}

// submit gives a command to a client, and keeps its content.
func (g *given) submit(c *player.Client, value any) {
	seq, err := c.Submit(value)
	if err != nil {
		return // it may not play now, or have too many unanswered commands
	}
	if kind, payload, err := g.payloads.Encode(value); err == nil {
		g.content[seq] = contentOf(kind, payload)
	}
}
