package stream_test

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/internal/deflate"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/stream"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const second = lockstep.Second

func newStream() stream.Stream {
	return stream.New(lockstep.MustGame(testgame.BankRules()), deflate.Unpack)
}

// Records count from a state on, whether they are kept or not, until one is bad.
func TestRecords(t *testing.T) {
	s := newStream()
	s.Begin(0, &protocol.Welcome{SpeedPercent: 50, InputDelay: 3})
	if s.From() != 0 || s.Streaming || s.Speed != 50 || s.InputDelay != 3 {
		t.Error("it streams without a state")
	}
	dec := record.DecoderAt(7)
	s.Adopt(4, &dec)
	empty := []byte{0x92, byte(record.KindEmpty), 2}
	for i := range 2 {
		if r, rest, err := s.Take(append(empty, 9)); err != nil || r.Ticks() != 2 || len(rest) != 1 {
			t.Fatalf("got %v, %d bytes left, %v", r, len(rest), err)
		}
		if i == 0 {
			s.Drop()
		}
	}
	if ok, at := s.Resumes(6); !ok || at != 6 || s.Position != 6 || s.Tick() != 11 || s.From() != 0 || !s.Dropping {
		t.Errorf("got position %d, tick %d, from %d", at, s.Tick(), s.From())
	}
	s.Adopt(4, &dec)
	if ok, _ := s.Resumes(6); ok || s.From() != 4 {
		t.Errorf("a state took the stream back to 4: got %d", s.From())
	}
	if _, _, err := s.Take([]byte{0x91, 99}); err == nil || s.Streaming || s.From() != 0 {
		t.Errorf("a bad record: got %v", err)
	}
}

// A state is whole when its last chunk has come, and a server that is slow, or sends bad states, is left.
func TestStates(t *testing.T) {
	s := newStream()
	s.Begin(0, &protocol.Welcome{})
	part := func(now lockstep.Time, offset uint32) (bool, error) {
		_, whole, err := s.Chunk(now, &protocol.Message{Offset: offset, Total: 4, Position: 3, Tick: 2, Bytes: []byte{1, 2}}, 10)
		return whole, err
	}
	if whole, err := part(second, 0); whole || err != nil {
		t.Errorf("half: got %t, %v", whole, err)
	}
	if whole, err := part(2*second, 2); !whole || err != nil || s.Memory() == 0 {
		t.Errorf("whole: got %t, %v", whole, err)
	}
	if _, err := part(3*second, 2); !errors.Is(err, record.ErrMalformed) || s.Memory() != 0 {
		t.Errorf("too much: got %v", err)
	}
	if s.Stalled(stream.Patience-1) || !s.Stalled(3*second+stream.Patience) {
		t.Error("the patience is another one")
	}
	for now := 3 * second; now <= stream.Patience; now += second {
		if _, err := part(now, 0); err != nil { // again and again
			t.Fatal(err)
		}
	}
	if !s.Stalled(stream.Patience + second/200) {
		t.Error("who begins again gains time")
	}
	for i := range 4 {
		if got := s.Ask(0); got != (i < 2) {
			t.Errorf("asked %d times: got %t", i+1, got)
		}
	}
	if s.Settled(); !s.Ask(0) {
		t.Error("a good state is not counted")
	}
}
