package datagram_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const tick = 50 * lockstep.Millisecond

// exchange sends n datagrams each way, one in each tick, of which some are lost, and delay later the others arrive.
func exchange(t *testing.T, a, b *datagram.Path, n int, delay lockstep.Time, lost func() bool) (now lockstep.Time) {
	t.Helper()
	type flight struct {
		at   lockstep.Time
		head datagram.Head
	}
	var up, down []flight
	arrive := func(to *datagram.Path, from *[]flight) {
		for len(*from) > 0 && (*from)[0].at <= now {
			if _, err := to.Take(now, &(*from)[0].head); err != nil {
				t.Fatal(err)
			}
			*from = (*from)[1:]
		}
	}
	for i := range n {
		for now < lockstep.Time(i+1)*tick {
			now += lockstep.Millisecond
			arrive(b, &down)
			arrive(a, &up)
		}
		for _, way := range []struct {
			path *datagram.Path
			out  *[]flight
		}{{a, &down}, {b, &up}} {
			head, ok := way.path.Next(now)
			if !ok {
				t.Fatal("no number is left")
			}
			if !lost() {
				*way.out = append(*way.out, flight{now + delay, head})
			}
		}
	}
	return now
}

func TestPathMeasures(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, percent := range []uint32{0, 3, 10, 30} {
		var a, b datagram.Path
		now := exchange(t, &a, &b, 2000, 40*lockstep.Millisecond, func() bool { return r.Uint32N(100) < percent })
		if got, want := a.Loss(), percent*10_000; got > 2*want || got < want/4 {
			t.Errorf("%d percent are lost: got a loss of %d of a million", percent, got)
		}
		// An answer waits for the next tick.
		if got := datagram.RoundTrip(&a); got < 80*lockstep.Millisecond || got > 160*lockstep.Millisecond {
			t.Errorf("%d percent are lost: got a round trip of %d ms, want about 90", percent, got/lockstep.Millisecond)
		}
		if want := map[uint32]int{0: 2, 3: 2, 10: 4, 30: 7}[percent]; a.Copies() < want || a.Copies() > want+2 {
			t.Errorf("%d percent are lost: got %d copies, want about %d", percent, a.Copies(), want)
		}
		if !a.Flows(now, 0) {
			t.Errorf("%d percent are lost: the path does not flow", percent)
		}
	}
}

// A path that loses one direction does not flow, on either side, and flows again after it is open.
func TestPathBlackHole(t *testing.T) {
	var a, b datagram.Path
	if a.Flows(0, 0) {
		t.Error("a path flows before anything was sent")
	}
	now := exchange(t, &a, &b, 10, tick, func() bool { return false })
	for range 20 {
		now += tick
		a.Next(now) // is lost
		head, _ := b.Next(now)
		if _, err := a.Take(now, &head); err != nil {
			t.Fatal(err)
		}
	}
	if a.Flows(now, 0) || b.Flows(now, 0) {
		t.Errorf("a second of losses: a flows %t, b flows %t", a.Flows(now, 0), b.Flows(now, 0))
	}
	head, _ := a.Next(now)
	_, _ = b.Take(now, &head)
	head, _ = b.Next(now)
	_, _ = a.Take(now, &head)
	if head, _ = a.Next(now); !a.Flows(now, 0) {
		t.Error("a does not flow again")
	}
	if _, _ = b.Take(now, &head); !b.Flows(now, 0) {
		t.Error("b does not flow again")
	}
}

func TestPathOrder(t *testing.T) {
	var a datagram.Path
	for range 100 {
		a.Next(0)
	}
	take := func(number, seen, count uint32, newest bool, want error) {
		t.Helper()
		got, err := a.Take(tick, &datagram.Head{Number: number, Seen: seen, Count: count})
		if got != newest || !errors.Is(err, want) {
			t.Errorf("number %d: got %t, %v, want %t, %v", number, got, err, newest, want)
		}
	}
	counts := func(want uint32) {
		t.Helper()
		if head, _ := a.Next(0); head.Count != want {
			t.Errorf("got %d numbers, want %d", head.Count, want)
		}
	}
	take(5, 50, 50, true, nil)
	take(5, 50, 50, false, nil) // again
	take(3, 10, 10, false, nil) // late
	take(3, 10, 10, false, nil)
	counts(2)
	take(6, 1000, 50, false, record.ErrOutOfPlace) // of the future
	take(6, 49, 49, false, record.ErrOutOfPlace)   // less than before
	take(6, 50, 49, false, record.ErrOutOfPlace)
	counts(2)
	take(1<<32-1, 50, 50, true, nil)
	take(7, 51, 51, false, nil)
	counts(3)
}
