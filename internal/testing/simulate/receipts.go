package simulate

import "github.com/seed-49bee653/samestep/lockstep"

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
			case !stands && !ran && r.life == m.starts && (w.plan.Disk.EachFrame || w.plan.Disk.Await) && !w.oracle.rotten(r.epoch):
				w.fail("I3", "%s was told that command %d runs in tick %d, which a crash has taken back, and it never ran", m, seq, r.tick)
			}
		}
	}
}
