//go:build !js

package server_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A match ends when its replay reaches the limit. Everybody is told the reason, and the replay is complete.
func TestMatchDisk(t *testing.T) {
	t.Parallel()
	const most = 20_000
	inBubble(t, setup{options: server.Options{Limits: server.Limits{MatchDiskBytes: most}}}, func(t *testing.T, s *stage) {
		a, b := s.join(t, ada, wander), s.join(t, bob, wander)
		select {
		case <-s.match.Done():
		case <-time.After(20 * time.Minute):
			t.Fatal("the match continues")
		}
		gone(a, b)
		for _, g := range []*testClient{a, b} {
			if ends := told[player.Ended](g); len(ends) != 1 || !strings.HasSuffix(ends[0].Reason, "want at most 20000") {
				t.Errorf("a player was told %+v", ends)
			}
		}
		f, err := os.Open(s.match.ReplayPath())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if n := info.Size(); n < most || n > most+most/5 {
			t.Errorf("the replay has %d bytes, want %d and a second more", n, most)
		}
		r, err := replay.NewReader(f, info.Size())
		if err != nil {
			t.Fatal(err)
		}
		if v, err := replay.Verify(r, s.game, replay.VerifyOptions{Workers: 1}); err != nil || !v.Ended || v.Differed > 0 {
			t.Errorf("%+v, %v", v, err)
		}
	})
}

// The replays of guests' matches grow by a limited number of bytes in a day. Other matches are not affected.
func TestGuestDisk(t *testing.T) {
	t.Parallel()
	o := server.Options{
		Authorizer: server.AnyOf(opsOnly(t), server.Guests{}), NewMatch: newGuestMatch, Limits: server.Limits{IdleMatch: time.Minute, GuestMatches: 2, GuestDiskBytes: 20_000},
	}
	inBubble(t, setup{options: o}, func(t *testing.T, s *stage) {
		post := func(token, name string) (int, string) {
			return s.postFrom("192.0.2.1", token, strings.NewReader(guestMatch(name, 0, 100)))
		}
		begun := 0
		for range 100 {
			if status, _ := post(someGuest, "a"); status != 201 {
				break
			}
			begun++
			time.Sleep(time.Minute + 10*time.Second) // nobody comes, and it ends
		}
		size, last := int64(0), int64(0)
		for _, path := range s.files(t, "a-*.ssr") {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			last = info.Size()
			size += last
		}
		if begun < 2 || size < 20_000 || size >= 20_000+last {
			t.Errorf("got %d matches of guests with %d bytes of replay, want some with 20,000 bytes and the last one's", begun, size)
		}
		if status, text := post(someGuest, "b"); status != 503 || !strings.Contains(text, "disk") {
			t.Errorf("a guest: got %d %q, want 503", status, text)
		}
		if status, text := post(ops, "own"); status != 201 {
			t.Errorf("an admin: got %d %q, want 201", status, text)
		}
		time.Sleep(24 * time.Hour)
		if status, text := post(someGuest, "c"); status != 201 {
			t.Errorf("a day later: got %d %q, want 201", status, text)
		}
	})
}

// Bundles about players who desync again and again are limited in number and bytes. They do not suppress the first
// bundle about another player.
func TestBundlesOfAMatch(t *testing.T) {
	t.Parallel()
	list, _ := players(8)
	settings := func(s *lockstep.Settings) { s.Players = 8 }
	written := func(t *testing.T, o server.Options) (count int) {
		inBubble(t, setup{tokens: list, settings: settings, options: o}, func(t *testing.T, s *stage) {
			s.do(t, func(*host.Host) {
				for seat := range lockstep.Player(8) {
					for i := range lockstep.Tick(3) {
						s.match.Evidence(&host.Evidence{Report: coordinator.DesyncReport{Tick: 10 + i, Player: seat}})
					}
				}
			})
			if err := s.match.End(t.Context(), "enough"); err != nil {
				t.Fatal(err)
			}
			<-s.match.Done()
			count = len(s.files(t, "*.zip"))
		})
		return count
	}
	if got := written(t, server.Options{MaxBundles: 2}); got != 4*2+4 {
		t.Errorf("got %d bundles, want 8 about four players and the first about four others", got)
	}
	if got := written(t, server.Options{MaxBundles: 2, Limits: server.Limits{MatchDiskBytes: 10_000}}); got == 0 || got > 5 {
		t.Errorf("got %d bundles, want few", got)
	}
}
