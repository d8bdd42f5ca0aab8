package flight

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// FuzzParse shows that what Parse accepts is what Append writes, and that two records that were read can be compared.
func FuzzParse(f *testing.F) {
	m := newMachine()
	f.Add(m.Record().Append(nil))
	m.step = fight
	m.run(12, record.Command{Kind: 2})
	m.Begin(record.MatchID{1}, 40)
	m.tick = 40
	m.cost = 3 * SampleBytes
	m.run(12)
	whole := m.Record()
	f.Add(whole.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse(b)
		if err != nil {
			if !errors.Is(err, ErrMalformed) || r != nil {
				t.Fatalf("got %v, %v", r, err)
			}
			return
		}
		if again := r.Append(nil); !bytes.Equal(again, b) {
			t.Fatalf("accepted %x, wrote %x", b, again)
		}
		if c, ok := Compare(r, r, 0); ok && (c.Differs > 0 || c.Draws != nil || c.Commands > 0) {
			t.Fatalf("a record differs from itself: %+v", c)
		}
		Compare(whole, r, 0)
	})
}

// Every cut, every longer record and every byte that is changed is an error, or another record.
func TestParseRefuses(t *testing.T) {
	m := newMachine()
	m.step = fight
	m.change = func(t record.Tick, p []uint64) { p[1] = uint64(t % 2) } // changed by one bit, so that another one undoes it
	m.run(9, record.Command{Kind: 2})
	b := m.Record().Append(nil)
	for n := range b {
		if _, err := Parse(b[:n]); !errors.Is(err, ErrMalformed) {
			t.Fatalf("cut after %d bytes: got %v", n, err)
		}
	}
	if _, err := Parse(append(bytes.Clone(b), 0)); !errors.Is(err, ErrMalformed) {
		t.Errorf("one byte more: got %v", err)
	}
	if _, err := Parse(append(bytes.Clone(b), make([]byte, MaxBytes)...)); !errors.Is(err, ErrMalformed) {
		t.Errorf("too long: got %v", err)
	}
	refused := 0
	for i := range b {
		for bit := range 8 {
			other := bytes.Clone(b)
			other[i] ^= 1 << bit
			r, err := Parse(other)
			if err != nil {
				refused++
			} else if !bytes.Equal(r.Append(nil), other) {
				t.Fatalf("byte %d, bit %d: accepted, but written otherwise", i, bit)
			}
		}
	}
	if refused < 100 {
		t.Errorf("%d of %d changed bits were refused", refused, 8*len(b))
	}
}
