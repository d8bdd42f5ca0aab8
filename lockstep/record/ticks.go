package record

import (
	"io"
	"iter"
)

// All iterates over the records that next returns, in the order of the log. Each is valid until the next one. [io.EOF]
// ends the log; any other error comes last, with a nil record.
//
// Callers need no Kind to handle ticks. A record advances the match by [Record.Ticks], so a caller that only counts
// skips a run of empty ticks in one step. [Record.Frames] and [Record.FrameAfter] give the ticks one by one, with the
// commands of each. Records are not grouped by tick: the reader of a live match would get a tick only when the next one
// comes, and any number of notes may follow a tick.
func All(next func() (*Record, error)) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for {
			r, err := next()
			if err == io.EOF || !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// Advances reports whether a record of this kind has ticks: whether it is a frame or a run of empty ticks.
func (k Kind) Advances() bool { return k == KindFrame || k == KindEmpty }

// Ticks returns by how many ticks the record advances the match: 1 for a frame, up to [MaxEmptyRun] for a run of empty
// ticks, 0 for any other record. The last of them is r.Tick.
func (r *Record) Ticks() Tick {
	switch r.Kind {
	case KindFrame:
		return 1
	case KindEmpty:
		return Tick(r.Empty)
	}
	return 0
}

// FrameAfter returns the frame of the record's first tick after t, without commands in a run of empty ticks, or nil if
// the record has none. A caller that stops inside a run goes on after its own tick. The frame is valid until the next
// call.
func (r *Record) FrameAfter(t Tick) *Frame {
	n := r.Ticks()
	if n == 0 || t >= r.Tick {
		return nil
	}
	r.Frame.Tick = max(t, r.Tick-n) + 1
	return &r.Frame
}

// Frames iterates over the frames of the record's ticks, in order. Each is valid until the next one.
func (r *Record) Frames() iter.Seq[*Frame] {
	return func(yield func(*Frame) bool) {
		for t := r.Tick - r.Ticks(); t < r.Tick; t++ {
			if !yield(r.FrameAfter(t)) {
				return
			}
		}
	}
}
