package ownership

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// A control is a mistake that the exploration must find. The mistakes are here, and not in the code that ships.
type control struct {
	name  string
	rule  rule
	scope scope
	want  string // how the error begins
	steps int    // of the shortest way to it
}

var ownerControls = []control{
	{"the store does not fence", rule{unfenced: true}, small, "two owners: ", 6},
	{"an owner goes on after the claim of another one", rule{last: func(o *Owner, sequence uint64, message []byte) {
		if o.Last(sequence, message); o.lost {
			o.lost, o.end.Sequence = false, sequence
		}
	}}, small, "two owners: ", 10},
	{"an owner repeats more than the same bytes", rule{last: func(o *Owner, sequence uint64, message []byte) {
		if o.Last(sequence, message); sequence <= o.end.Sequence && o.claimed {
			o.flight, o.carried = nil, 0
		}
	}}, small, "lost: ", 15},
	{"an unknown result counts as not stored", rule{unknown: func(o *Owner) {
		if o.sent = false; o.claimed {
			o.flight, o.carried = nil, 0
		}
	}}, small, "lost: ", 14},
	{"its own message counts as that of another owner", rule{last: func(o *Owner, sequence uint64, message []byte) {
		if bytes.Equal(message, o.flight) {
			o.lost = true
			return
		}
		o.Last(sequence, message)
	}}, small, "lost: ", 6},
	{"its own message counts as not stored", rule{last: func(o *Owner, sequence uint64, message []byte) {
		if o.claimed && bytes.Equal(message, o.flight) {
			o.end = End{sequence, checkOf(message), o.term}
			o.flight, o.carried, o.sent, o.unsure = nil, 0, false, false
			return
		}
		o.Last(sequence, message)
	}}, small, "bytes: ", 12},
	{"a refused claim counts as stored", rule{refused: func(o *Owner) {
		o.Refused()
		o.claimed = true
	}}, small, "takeover: ", 11},
	{"a part counts as stored", rule{accepted: func(o *Owner, sequence uint64) {
		o.Accepted(sequence)
		o.stored = o.parted
	}}, large, "acknowledged: ", 12},
	{"an owner waits for an answer that got lost", rule{unknown: func(*Owner) {}}, small, "progress: ", 5},
	{"an owner never loses the log", rule{last: func(o *Owner, sequence uint64, message []byte) {
		if o.Last(sequence, message); o.lost {
			o.lost = false
		}
	}}, small, "progress: ", 43},
}

var readerControls = []control{
	{"a reader keeps parts over a claim", rule{take: func(r *Reader, sequence uint64, message []byte) ([]byte, error) {
		parts := slices.Clone(r.whole)
		complete, err := r.Take(sequence, message)
		if kind(message[1]) == claim {
			r.whole = parts
		}
		return complete, err
	}}, large, "records: ", 18},
	{"a reader forgets parts", rule{take: func(r *Reader, sequence uint64, message []byte) ([]byte, error) {
		r.whole = nil
		return r.Take(sequence, message)
	}}, large, "records: ", 14},
	{"a reader has another chain", rule{take: func(r *Reader, sequence uint64, message []byte) ([]byte, error) {
		complete, err := r.Take(sequence, message)
		r.end.Check++
		return complete, err
	}}, small, "chain: ", 7},
}

func TestExploreControls(t *testing.T) {
	for _, row := range append(ownerControls, readerControls...) {
		t.Run(row.name, func(t *testing.T) {
			m := &model{row.scope, row.rule.real()}
			every := 0
			if row.want == "progress: " {
				every = 1
			}
			r := m.explore(every)
			if r.wrong == nil || !strings.HasPrefix(r.wrong.Error(), row.want) || len(r.trace) != row.steps {
				t.Errorf("got %d events, want %d to %q", len(r.trace), row.steps, row.want)
			}
			t.Logf("%d states\n%v", r.states, r)
		})
	}
}
