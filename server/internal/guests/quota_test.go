package guests

import (
	"errors"
	"net/netip"
	"testing"
	"time"
)

func address(last byte) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, last}), 32)
}

// Each limit refuses the match that exceeds it, and a match that is over gives back its place.
func TestGuestBudgets(t *testing.T) {
	now := time.Unix(1000, 0)
	l := Limits{Matches: 3, Each: 2, Bots: 5}
	q := New(100)
	var first *Usage
	for i, x := range []struct {
		from byte
		bots int
		own  bool
		want string
	}{
		{1, 3, false, ""},
		{1, 3, false, "server: guests: got 6 bots in their matches, want at most 5"},
		{1, 0, false, ""},
		{1, 0, true, "server: guests: got 3 matches of your address, want at most 2"},
		{2, 2, false, ""},
		{3, 0, false, "server: guests: got 4 of their matches, want at most 3"},
	} {
		u, err := q.Reserve(address(x.from), x.bots, l, now)
		wrong := (*Error)(nil)
		if errors.As(err, &wrong); x.want == "" && err != nil || x.want != "" && (wrong == nil || wrong.Error() != x.want || wrong.Own != x.own) {
			t.Errorf("match %d: got %v, want %q", i, err, x.want)
		}
		if i == 0 {
			first = u
		}
	}
	q.Grow(first, 1001, 60, now)
	if err := q.Check(1000); err == nil || err.Error() != "server: guests: got 1001 bytes of state in their matches, want at most 1000" {
		t.Errorf("a large state: got %v", err)
	}
	q.Release(first)
	q.Release(first)
	if matches, bots, bytes := q.Sum(); matches != 2 || bots != 2 || bytes != 0 {
		t.Errorf("got %d matches, %d bots, %d bytes; want 2, 2, 0", matches, bots, bytes)
	}
	u, err := q.Reserve(address(1), 3, l, now)
	if err != nil {
		t.Fatalf("after a match is over: got %v", err)
	}
	q.Grow(u, 0, 90, now) // and 60 of the first
	q.Release(u)
	if _, err := q.Reserve(address(3), 0, l, now); err == nil || err.Error() != "server: guests: their replays have used up the disk budget of this day" {
		t.Errorf("after 150 bytes of 100: got %v", err)
	}
	if _, err := q.Reserve(address(3), 0, l, now.Add(24*time.Hour)); err != nil {
		t.Errorf("a day later: got %v", err)
	}
}

// An address may try only so often, also if it is refused.
func TestGuestTries(t *testing.T) {
	now := time.Unix(1000, 0)
	q := New(100)
	tried := 0
	for range 100 {
		u, err := q.Reserve(address(1), 0, Limits{Matches: 1, Each: 1}, now)
		if err == nil {
			tried++
			q.Release(u)
		}
	}
	if tried != maxTries || q.Tried(address(1), now) != 100 {
		t.Errorf("got %d tries, %d %% spent; want %d, 100 %%", tried, q.Tried(address(1), now), maxTries)
	}
	if _, err := q.Reserve(address(2), 0, Limits{Matches: 1, Each: 1}, now); err != nil {
		t.Errorf("another address: got %v", err)
	}
}
