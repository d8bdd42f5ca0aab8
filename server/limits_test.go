//go:build !js

package server_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// Limits that change apply at once, also to those who are connected. Budgets keep what is spent.
func TestSetLimits(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{Limits: server.Limits{MaxReads: 100}}}, func(t *testing.T, s *stage) {
		there := s.from(t, "203.0.113.1")
		reads := func(n int) (ok int) {
			for range n {
				if status, _ := there.ask(t, "GET", "/matches", "", ""); status == http.StatusOK {
					ok++
				}
			}
			return ok
		}
		if n := reads(60); n != 60 {
			t.Fatalf("%d of 60 reads were answered", n)
		}
		l := server.Limits{MaxReads: 70, MaxUnauthenticated: 2, MaxPerAddress: 3}
		ada := there.raw(t, ada, protocol.SessionToken{}, 0).live()
		var spectators []*raw
		for range 3 {
			spectators = append(spectators, there.raw(t, press, protocol.SessionToken{}, 0).live())
		}
		var silent []*raw
		for range 4 {
			r, err := there.connect(t)
			if err != nil {
				t.Fatal(err)
			}
			silent = append(silent, r)
		}
		s.server.SetLimits(l)
		closed := func(all []*raw) (n int) {
			for _, r := range all {
				go r.end()
			}
			time.Sleep(time.Second)
			for _, r := range all {
				if r.over.Load() {
					n++
				}
			}
			return n
		}
		if n := closed(silent); n != 2 {
			t.Errorf("%d of 4 silent connections were closed, want 2", n)
		}
		if n := closed(spectators); n != 1 {
			t.Errorf("%d of 3 spectators were closed, want 1", n)
		}
		if ada.over.Load() {
			t.Error("the player was closed")
		}
		if n := reads(100); n < 10 || n > 80 {
			t.Errorf("%d more reads were answered, want what is left of 70", n)
		}
		s.server.SetLimits(server.Limits{MaxMatches: 1})
		if _, err := s.server.Create(server.MatchSpec{Name: "two"}); fmt.Sprint(err) != "server: too many matches: want at most 1" {
			t.Errorf("another match: got %v", err)
		}
	})
}

// Limits of matches that change concern those that run, those that are made later, and the bound of the memory.
func TestSetMatchLimits(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{host: host.Options{MaxSpectators: 5}}, func(t *testing.T, s *stage) {
		var spectators []*raw
		for range 3 {
			spectators = append(spectators, s.raw(t, press, protocol.SessionToken{}, 0).live())
		}
		time.Sleep(2 * time.Second)
		before := s.server.MemoryBound()
		s.server.SetLimits(server.Limits{MatchLimits: &host.Limits{MaxSpectators: 1}})
		for _, r := range spectators[1:] {
			if code := r.end(); code != protocol.CloseBusy {
				t.Errorf("a spectator too many: got code %d", code)
			}
		}
		time.Sleep(2 * time.Second)
		if spectators[0].over.Load() {
			t.Error("the first spectator was closed, too")
		}
		if code := s.refused(t, press); code != protocol.CloseRefused {
			t.Errorf("a second spectator: got code %d", code)
		}
		if after := s.server.MemoryBound(); after >= before {
			t.Errorf("the bound of the memory was %d, and is %d with fewer spectators", before, after)
		}
		if _, err := s.server.Create(server.MatchSpec{Name: "two", Game: s.game, Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 9}, Host: &host.Options{MaxSpectators: 1000}}); err != nil {
			t.Fatal(err)
		}
		s.server.SetLimits(server.Limits{}) // without any they stay
		var bounds []int
		for _, m := range s.server.Matches() {
			if err := m.Do(t.Context(), func(h *host.Host) { bounds = append(bounds, h.Info().MemoryBound(1000)) }); err != nil {
				t.Fatal(err)
			}
		}
		if len(bounds) != 2 || bounds[1]-bounds[0] > 50<<20 { // 1,000 spectators take more
			t.Errorf("a match that is made later has other limits: got the bounds %d", bounds)
		}
	})
}

// Limits that change close no connection of a trusted proxy, which has many clients, and none of other addresses if their limit is the
// same.
func TestSetLimitsBehindProxy(t *testing.T) {
	t.Parallel()
	o := server.Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}, Limits: server.Limits{MaxPerAddress: 4}}
	inBubble(t, setup{options: o}, func(t *testing.T, s *stage) {
		var closed atomic.Int32
		open := func(address string, n int) {
			for range n {
				c, err := s.pipes.dialFrom(address + ":1")
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					c.Read(make([]byte, 1))
					closed.Add(1)
				}()
			}
			synctest.Wait()
		}
		open("192.0.2.1", 20)
		open("203.0.113.1", 4)
		for _, row := range []struct {
			limits server.Limits
			closed int32
		}{
			{server.Limits{MaxPerAddress: 4, IdleMatch: time.Hour}, 0},
			{server.Limits{MaxPerAddress: 3}, 1},
			{server.Limits{MaxPerAddress: 1}, 3},
		} {
			s.server.SetLimits(row.limits)
			synctest.Wait()
			if n := closed.Load(); n != row.closed {
				t.Errorf("%+v: %d connections were closed, want %d", row.limits, n, row.closed)
			}
		}
	})
}

// The bound of the memory is read while limits change.
func TestMemoryBoundWhileLimitsChange(t *testing.T) {
	t.Parallel()
	s, err := server.New(server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := s.MemoryBound()
	changed := make(chan struct{})
	go func() {
		defer close(changed)
		for range 100 {
			s.SetLimits(server.Limits{MaxUnauthenticated: 600, MaxPerAddress: 600})
		}
	}()
	for range 100 {
		s.MemoryBound()
	}
	<-changed
	if after := s.MemoryBound(); after <= before {
		t.Errorf("the bound was %d before, and %d with higher limits", before, after)
	}
}
