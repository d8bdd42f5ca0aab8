package replay

import (
	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An emptyRun joins records of empty ticks. Runs that follow each other in a log mean the same as one run of their sum.
type emptyRun struct {
	ticks uint32
	r     pack.Reader
	w     pack.Writer
}

// add joins a well-formed [record.KindEmpty] to the run, and returns the ticks in it. It reports false, and leaves it
// out, if the run would become too long for one record.
func (e *emptyRun) add(raw []byte) (n uint32, ok bool) {
	e.r.Reset(raw[2:])
	n = uint32(e.r.Uint(record.MaxEmptyRun))
	if e.ticks+n > record.MaxEmptyRun {
		return n, false
	}
	e.ticks += n
	return n, true
}

// append appends the record of the run to dst, if there are any ticks in it, and begins a new one.
func (e *emptyRun) append(dst []byte) []byte {
	if e.ticks == 0 {
		return dst
	}
	e.w.Begin(dst)
	e.w.Array(2)
	e.w.Uint(uint64(record.KindEmpty))
	e.w.Uint(uint64(e.ticks))
	e.ticks = 0
	return e.w.Bytes()
}
