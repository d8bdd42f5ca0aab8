package record

import "github.com/seed-49bee653/samestep/internal/pack"

// An EmptyRun joins records of empty ticks. Runs that follow each other in a
// log mean the same as one run of their sum, so whoever keeps a log may join
// them. The zero EmptyRun is ready.
type EmptyRun struct {
	ticks uint32
	r     pack.Reader
	w     pack.Writer
}

// Ticks returns how many ticks have been joined since the last Append.
func (e *EmptyRun) Ticks() uint32 { return e.ticks }

// Add joins a well-formed [KindEmpty] to the run, and returns the ticks in
// it. It reports false, and leaves it out, if the run would become too long for
// one record.
func (e *EmptyRun) Add(record []byte) (n uint32, ok bool) {
	e.r.Reset(record[2:])
	n = uint32(e.r.Uint(MaxEmptyRun))
	if e.ticks+n > MaxEmptyRun {
		return n, false
	}
	e.ticks += n
	return n, true
}

// Append appends the record of the run to dst, if there are any ticks in it,
// and begins a new one.
func (e *EmptyRun) Append(dst []byte) []byte {
	if e.ticks == 0 {
		return dst
	}
	e.w.Begin(dst)
	e.w.Array(2)
	e.w.Uint(uint64(KindEmpty))
	e.w.Uint(uint64(e.ticks))
	e.ticks = 0
	return e.w.Bytes()
}
