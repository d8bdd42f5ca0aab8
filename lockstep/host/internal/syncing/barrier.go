package syncing

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A Barrier hides recent ticks from late readers, and records that are not durable from all.
type Barrier struct {
	delay   lockstep.Tick
	durable protocol.Position   // records before it are durable in the log
	late    protocol.Position   // late readers may see the records before it once they are durable
	ends    []protocol.Position // the end of the records of tick t, at t modulo its length, which is the delay + 1
}

// Begin prepares the barrier of a match that begins, or continues, at a tick whose records end at a position.
func (b *Barrier) Begin(delay, t lockstep.Tick, end protocol.Position) {
	if b.delay = delay; delay > 0 {
		b.ends = make([]protocol.Position, delay+1)
		b.Seal(t, end)
	}
}

// Seal says where the records of a sealed tick end.
func (b *Barrier) Seal(t lockstep.Tick, end protocol.Position) {
	if b.delay > 0 {
		b.ends[t%(b.delay+1)] = end
	}
}

// Durable says that the records before a position are durable.
func (b *Barrier) Durable(upTo protocol.Position) { b.durable = upTo }

// Persisted returns the position before which records are durable.
func (b *Barrier) Persisted() protocol.Position { return b.durable }

// Reveal shows late readers what they may see after the tick now.
func (b *Barrier) Reveal(now lockstep.Tick) { b.late = b.Hidden(now) }

// Hidden returns the position of the first record that is hidden from late readers after the tick now.
func (b *Barrier) Hidden(now lockstep.Tick) protocol.Position {
	if b.delay > 0 && now >= b.delay {
		// After a recovery it is 0, which hides all records, until the last recovered tick may be seen.
		return b.ends[(now-b.delay)%(b.delay+1)]
	}
	return 1
}

// Shown returns the position of the first record that a reader may not see even if it is durable. next is the end of the log.
func (b *Barrier) Shown(late bool, next protocol.Position) protocol.Position {
	if late {
		return min(next, b.late)
	}
	return next
}

// Visible returns the position of the first record that a reader may not see.
func (b *Barrier) Visible(late bool, next protocol.Position) protocol.Position {
	return min(b.Shown(late, next), b.durable)
}
