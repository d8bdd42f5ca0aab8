package syncing

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/deflate"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

var policy = Policy{BytesPerTick: 30, Timeout: 1000, Lag: 40, AckEvery: 3, Strikes: 2}

func keyframeOf(size int) *Keyframe {
	k := &Keyframe{Tick: 7, Position: 70}
	for i := range size {
		k.Bytes = append(k.Bytes, byte(i))
	}
	return k
}

// A keyframe comes in chunks, some bytes in the time of a tick, and records follow.
func TestStreamOfAKeyframe(t *testing.T) {
	s := NewStream(&policy, 5)
	if s.Waits() || s.Deadline != 5 {
		t.Error("it waits before it has authenticated")
	}
	s.Begin(100, 10)
	if !s.Waits() || s.Deadline != 1100 {
		t.Error("it does not wait")
	}
	k := keyframeOf(100)
	s.Give(k)
	var all []byte
	now, ticks := lockstep.Time(100), 0
	var w protocol.Writer
	var r protocol.Reader
	for over := false; !over; {
		var b []byte
		var n int
		b, n, over = s.AppendChunks(nil, &w, 20+2*chunkOverhead, 20)
		if n == 0 && !over {
			if more, next := s.More(now, 10); more || next != now+10 {
				t.Fatalf("at %d: more %t, next at %d", now, more, next)
			}
			ticks++
			if more, _ := s.More(now+10, 10); !more {
				t.Fatalf("at %d: no more", now+10)
			}
			now += 10
			continue
		}
		for len(b) > 0 {
			var m protocol.Message
			rest, err := r.Read(&m, b)
			if err != nil || m.Offset != uint32(len(all)) || m.Total != 100 || m.Position != 70 || m.Tick != 7 {
				t.Fatalf("got %+v, %v", m, err)
			}
			all, b = append(all, m.Bytes...), rest
		}
	}
	if !bytes.Equal(all, k.Bytes) || ticks != 3 {
		t.Errorf("got %d bytes in %d ticks, want 100 in 3 more", len(all), ticks)
	}
	if s.Cursor != 70 || s.High != 70 || s.Window() != 70+84 || s.Began != 7 || s.Tick != 7 || s.Waits() || s.Keyframe != nil {
		t.Errorf("it goes on at %d, to %d, after tick %d", s.Cursor, s.Window(), s.Tick)
	}
	if more, next := s.More(now+100, 10); more || next != Never {
		t.Error("nothing is sent, and there is more")
	}
	s.Begin(0, 10)
	s.Give(keyframeOf(3 << 20))
	if s.Deadline != 1000+3*lockstep.Second {
		t.Errorf("the time for 3 MiB is over at %d", s.Deadline)
	}
}

// A large keyframe is packed for a connection that takes that, once for all, and as much in the time of a tick as without. What does not get
// smaller, and a connection without room for a piece, gets chunks.
func TestStreamOfPackedPieces(t *testing.T) {
	wide := policy
	wide.BytesPerTick, wide.Pack = 256<<10, deflate.Pack
	k := &Keyframe{Tick: 7, Position: 70, Bytes: make([]byte, 500_000)}
	dice := rand.New(rand.NewPCG(1, 2))
	for i := 2 * protocol.MaxPiece; i < 3*protocol.MaxPiece; i++ {
		k.Bytes[i] = byte(dice.Uint32())
	}
	send := func(unpacks bool, room int) (sent, packed, ticks int) {
		t.Helper()
		s := NewStream(&wide, 5)
		s.Unpacks = unpacks
		s.Begin(0, 10)
		s.Give(k)
		var all []byte
		var w protocol.Writer
		var r protocol.Reader
		now := lockstep.Time(0)
		for over, before := false, -1; !over; {
			if before == len(all) {
				now += 10
				ticks++
				if more, _ := s.More(now, 10); !more || ticks > 100 {
					t.Fatalf("at %d: no more after %d bytes", now, len(all))
				}
			}
			before = len(all)
			var b []byte
			var n int
			b, n, over = s.AppendChunks(nil, &w, protocol.MaxServerMessage/2, room)
			for sent += n; len(b) > 0; {
				var m protocol.Message
				rest, err := r.Read(&m, b)
				if err != nil || m.Offset != uint32(len(all)) || m.Total != 500_000 || m.Position != 70 || m.Tick != 7 {
					t.Fatalf("got %+v, %v", m, err)
				}
				if b = rest; m.Kind != protocol.KindPackedSync {
					all = append(all, m.Bytes...)
				} else if packed++; true {
					if all, err = deflate.Unpack(all, m.Bytes, protocol.MaxPiece); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if !bytes.Equal(all, k.Bytes) {
			t.Fatal("another keyframe has come")
		}
		return sent, packed, ticks
	}
	if sent, packed, ticks := send(false, 1<<20); sent != 500_000 || packed != 0 || ticks != 1 || k.Memory() != 500_000 {
		t.Errorf("without packing: got %d bytes, %d pieces, %d ticks, %d bytes of memory", sent, packed, ticks, k.Memory())
	}
	for range 2 {
		if sent, packed, ticks := send(true, 1<<20); sent > 66_500 || packed != 7 || ticks != 1 || k.Memory() > 501_000 || k.Memory() == 500_000 {
			t.Errorf("packed: got %d bytes, %d pieces, %d ticks, %d bytes of memory", sent, packed, ticks, k.Memory())
		}
	}
}

// An ack moves the window on, and gives time to reach the present.
func TestStreamAck(t *testing.T) {
	s := NewStream(&policy, 0)
	s.Resume(100, 50)
	s.Sent(60)
	s.Carried(65)
	if s.High != 65 || s.Confirmed() || s.Deadline != 1100 {
		t.Errorf("highest %d, deadline %d", s.High, s.Deadline)
	}
	for _, row := range []struct {
		at       protocol.Position
		outdated bool
	}{{49, true}, {50, false}, {64, false}} {
		if got := s.Outdated(row.at); got != row.outdated {
			t.Errorf("an ack of %d is outdated: %t", row.at, got)
		}
	}
	s.Ack(200, 64, 30)
	if s.Window() != 60+84 || s.Deadline != 1200 || !s.Confirmed() {
		t.Errorf("window %d, deadline %d", s.Window(), s.Deadline)
	}
	s.Ack(300, 60, 31)
	if s.Deadline != 1200 {
		t.Error("a second ack gives more time")
	}
	for _, row := range []struct {
		present                    lockstep.Tick
		near, behind, behindToSeen bool
	}{{20, true, false, false}, {41, true, false, false}, {42, false, false, false}, {51, false, false, false}, {52, false, false, true}, {71, false, false, true}, {72, false, true, true}} {
		if s.Near(row.present) != row.near || s.Behind(row.present, false) != row.behind || s.Behind(row.present, true) != row.behindToSeen {
			t.Errorf("%+v: lag %d", row, s.Lag(row.present))
		}
	}
	s.Begin(400, 10)
	if s.Confirmed() || !s.Outdated(64) {
		t.Error("it has acknowledged what it does not have")
	}
}

// The third strike is one too many, unless ten minutes have passed.
func TestStreamStrikes(t *testing.T) {
	s := NewStream(&policy, 0)
	now := lockstep.Time(0)
	for i, row := range []struct {
		after lockstep.Time
		want  bool
	}{{0, true}, {1, true}, {1, false}, {600 * lockstep.Second, true}, {1, false}, {1 << 50, true}, {1, true}, {1, false}} {
		now += row.after
		if got := s.Strike(now); got != row.want {
			t.Errorf("strike %d: got %t", i, got)
		}
	}
	s.Begin(0, 10)
	s.Hurry(0, 10)
	if s.Deadline != 1000 {
		t.Errorf("got more time: %d", s.Deadline)
	}
	s.Forgive(1 << 40)
	s.Hurry(0, 10)
	if s.Deadline != 400+lockstep.Second {
		t.Errorf("deadline %d", s.Deadline)
	}
}

// After the referee was wrong, no state that it made meanwhile is sent on.
func TestStreamDistrust(t *testing.T) {
	s := NewStream(&policy, 0)
	s.Begin(0, 10)
	s.Give(keyframeOf(40))
	var w protocol.Writer
	s.AppendChunks(nil, &w, 1000, 20)
	if s.Distrust(7) || s.Waits() {
		t.Error("a right state is dropped")
	}
	if !s.Distrust(6) || !s.Waits() {
		t.Error("a wrong state is sent")
	}
	s.Give(keyframeOf(10))
	if _, n, over := s.AppendChunks(nil, &w, 1000, 100); n != 10 || !over {
		t.Errorf("the next state has %d bytes", n)
	}
	if s.Distrust(7); s.Began != 7 {
		t.Error("a right state is distrusted")
	}
	if s.Distrust(6); s.Began != 0 {
		t.Error("a wrong state is trusted")
	}
	s.Begin(0, 10)
	if s.Close(); s.Waits() {
		t.Error("a closed one waits")
	}
}

// Check finds each kind of inconsistency.
func TestStreamCheck(t *testing.T) {
	for _, row := range []struct {
		want   string
		change func(s *Stream)
	}{
		{"<nil>", func(*Stream) {}},
		{"cursor 99", func(s *Stream) { s.Pass(99) }},
		{"highest 7", func(s *Stream) { s.High = 7 }},
		{"85 records on their way", func(s *Stream) { s.Resume(0, 5); s.Sent(90) }},
		{"it has a keyframe", func(s *Stream) { s.Give(keyframeOf(1)) }},
	} {
		s := NewStream(&policy, 0)
		s.Resume(0, 80)
		row.change(&s)
		if got := fmt.Sprint(s.Check(90, true)); !strings.Contains(got, row.want) {
			t.Errorf("got %s, want %s", got, row.want)
		}
	}
}
