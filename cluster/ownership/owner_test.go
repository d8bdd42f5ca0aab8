package ownership_test

import (
	"bytes"
	"testing"

	"github.com/seed-49bee653/samestep/cluster/ownership"
)

// A store is a log that orders appends.
type store struct{ messages [][]byte }

func (s *store) append(expect uint64, message []byte) (sequence uint64, ok bool) {
	if expect != uint64(len(s.messages)) {
		return 0, false
	}
	s.messages = append(s.messages, append([]byte(nil), message...))
	return uint64(len(s.messages)), true
}

func (s *store) last() (uint64, []byte) {
	if len(s.messages) == 0 {
		return 0, nil
	}
	return uint64(len(s.messages)), s.messages[len(s.messages)-1]
}

// work does steps until there are none.
func work(s *store, o *ownership.Owner) {
	for {
		switch step := o.Next(); step.Do {
		case ownership.Nothing:
			return
		case ownership.Append:
			if seq, ok := s.append(step.Expect, step.Message); ok {
				o.Accepted(seq)
			} else {
				o.Refused()
			}
		case ownership.Read:
			o.Last(s.last())
		}
	}
}

// The records of two owners are one log, and the first owner stores nothing after the second one's claim.
func TestTakeover(t *testing.T) {
	s := &store{}
	a := ownership.Claim("a", ownership.End{}, 100)
	a.Append([]byte("one"))
	work(s, a)
	var r ownership.Reader
	text := ""
	for i, m := range s.messages {
		b, err := r.Take(uint64(i+1), m)
		if err != nil {
			t.Fatal(err)
		}
		text += string(b)
	}
	b := ownership.Claim("b", r.End(), 100)
	work(s, b)
	a.Append([]byte("lost"))
	work(s, a)
	b.Append(make([]byte, 200))
	work(s, b)
	if !a.Lost() || b.Lost() || a.Stored() != 3 || b.Stored() != 200 || text != "one" {
		t.Errorf("got %v %v %d %d %q", a.Lost(), b.Lost(), a.Stored(), b.Stored(), text)
	}
}

// Records that an owner reported as stored stay in the log, whenever another server claims it. Once the first part of large
// records counted as stored, and with it the small ones before them in the same message, which readers then dropped.
func TestTakeoverBetweenParts(t *testing.T) {
	for steps := range 8 {
		s := &store{}
		a := ownership.Claim("a", ownership.End{}, 100)
		a.Append(bytes.Repeat([]byte("1"), 20))
		a.Append(bytes.Repeat([]byte("2"), 200))
		for range steps {
			if step := a.Next(); step.Do == ownership.Append {
				seq, _ := s.append(step.Expect, step.Message)
				a.Accepted(seq)
			}
		}
		var r ownership.Reader
		got := 0
		for i, m := range s.messages {
			b, err := r.Take(uint64(i+1), m)
			if err != nil {
				t.Fatal(err)
			}
			got += len(b)
		}
		b := ownership.Claim("b", r.End(), 100)
		work(s, b)
		b.Append([]byte("3"))
		work(s, b)
		for i, m := range s.messages[len(s.messages)-2:] {
			if _, err := r.Take(uint64(len(s.messages)-1+i), m); err != nil {
				t.Fatal(err)
			}
		}
		if uint64(got) != a.Stored() || got != 0 && got != 20 && got != 220 || r.Owner() != "b" {
			t.Errorf("after %d steps: a reader gets %d bytes, and %d are reported as stored", steps, got, a.Stored())
		}
	}
}

// A server that was away until its match was over, and the log removed, stops trying.
func TestRemovedLog(t *testing.T) {
	s := &store{}
	a := ownership.Claim("a", ownership.End{}, 100)
	work(s, a)
	a.Append([]byte("late"))
	step := a.Next()
	if step.Do != ownership.Append || step.Expect != 1 {
		t.Fatalf("got %+v", step)
	}
	a.Refused()
	if step := a.Next(); step.Do != ownership.Read {
		t.Fatalf("got %+v", step)
	}
	a.Last(0, nil)
	if !a.Lost() || a.Next().Do != ownership.Nothing || a.Stored() != 0 {
		t.Errorf("got lost %v, %d stored", a.Lost(), a.Stored())
	}
}
