//go:build !js

package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A bundle is on disk within a second after a player is notified of a desync. The clock stands still during
// computations.
func TestBundleWithinASecond(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		guest := s.join(t, ada, wander)
		s.join(t, bob, wander)
		eventually(t, "both play", func() bool { return guest.tick() > 30 })
		corrupt(t, guest.Session, "Dots[0].Coins")
		eventually(t, "the player is told", func() bool { return has[player.Desynced](guest) })
		told := time.Now()
		eventually(t, "a bundle is written", func() bool { return len(s.files(t, "*.zip")) > 0 })
		if took := time.Since(told); took > time.Second {
			t.Errorf("the bundle came %v after the mismatch, want at most 1s", took)
		}
		if err := s.match.End(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		<-s.match.Done()
	})
}

// A tie names no player: its bundles do not count as those of seat 0.
func TestTieHasItsOwnBundles(t *testing.T) {
	t.Parallel()
	o := setup{options: server.Options{MaxBundles: 1}, host: host.Options{Relay: true, Start: host.StartPolicy{Players: 2}}}
	inBubble(t, o, func(t *testing.T, s *stage) {
		a, b := s.join(t, ada, wander), s.join(t, bob, wander)
		eventually(t, "both play", func() bool { return a.tick() > 30 && b.tick() > 30 })
		corrupt(t, a.Session, "Dots[0].Coins")
		eventually(t, "a bundle of the tie", func() bool { return len(s.files(t, "*-tie.zip")) > 0 })
		file, err := os.Open(s.files(t, "*-tie.zip")[0])
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		info, _ := file.Stat()
		bundle, err := replay.OpenBundle(file, info.Size())
		if err != nil {
			t.Fatal(err)
		}
		if m := bundle.Manifest; !m.Tie || m.Player != lockstep.System {
			t.Errorf("the manifest has tie %v and player %d, want true and %d", m.Tie, m.Player, lockstep.System)
		}
		report := coordinator.DesyncReport{Tick: 20, Player: 0}
		s.do(t, func(*host.Host) { s.match.Evidence(&host.Evidence{Report: report}) })
		eventually(t, "a bundle about seat 0", func() bool { return len(s.files(t, "*-player0.zip")) > 0 })
		s.do(t, func(*host.Host) {
			for _, tick := range []lockstep.Tick{10, 30} {
				report.Tick = tick
				s.match.Evidence(&host.Evidence{Report: report})
				s.match.Evidence(&host.Evidence{Report: coordinator.DesyncReport{Tick: tick, Player: lockstep.System, Tie: true}})
			}
		})
		if err := s.match.End(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		<-s.match.Done()
		if all := s.files(t, "*.zip"); len(all) != 2 {
			t.Errorf("got %v, want one bundle of each", all)
		}
	})
}

func corrupt(tb testing.TB, s *client.Session, path string) {
	tb.Helper()
	var err error
	if gone := s.Do(func(c *player.Client) { err = c.Corrupt(path) }); gone != nil || err != nil {
		tb.Fatal(gone, err)
	}
}

// BenchmarkBundle measures the time from a player's notice of a desync to the bundle on disk: requesting its states
// of two checks, their transfer, and the archive. It also reports the size of a state.
//
//	go test ./server -run '^$' -bench Bundle -benchtime 3x
func BenchmarkBundle(b *testing.B) {
	for _, units := range []uint16{100, 1000, 4000} {
		b.Run(fmt.Sprintf("units=%d", units), func(b *testing.B) { benchBundle(b, units) })
	}
}

func benchBundle(b *testing.B, units uint16) {
	tokens, err := server.ReadTokens(strings.NewReader(tokenList))
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	s, err := server.New(server.Options{Dir: dir, MaxBundles: b.N, Authorizer: tokens, Log: slog.New(slog.DiscardHandler), Host: host.Options{
		Rates: host.Rates{Resyncs: host.Rate{N: 100, Per: lockstep.Second, Burst: 100}}, // it is healed each time
	}})
	if err != nil {
		b.Fatal(err)
	}
	game := lockstep.MustGame(skirmish.Rules())
	settings := lockstep.DefaultSettings(2)
	settings.Seed = 1
	settings.CheckEvery = 10
	config := skirmish.Defaults(2, units)
	m, err := s.Create(server.MatchSpec{Name: "duel", Game: game, Settings: settings, Config: &config})
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	web := server.HTTPServer("", s)
	go web.Serve(l)
	var told atomic.Int64 // when, in nanoseconds; 0 before
	url := fmt.Sprintf("ws://%s/matches/duel/play", l.Addr())
	guest := client.Dial(b.Context(), url, game, client.Options{Options: player.Options{Token: ada}, Handle: func(_ *player.Client, e any) {
		if _, ok := e.(player.Desynced); ok && told.Load() == 0 {
			told.Store(time.Now().UnixNano())
		}
	}})
	var took time.Duration
	var last lockstep.Tick // of the desync before
	for i := range b.N {
		healthy := func() bool {
			ok := false
			guest.Do(func(c *player.Client) {
				ok = c.Status().Stage == player.StageLive && c.Status().Tick > 20 && c.Status().Tick > last+20
			})
			return ok
		}
		wait(b, healthy)
		told.Store(0)
		corrupt(b, guest, "Rand.Lo")
		wait(b, func() bool { return told.Load() != 0 })
		wait(b, func() bool {
			names, err := filepath.Glob(filepath.Join(dir, "*.zip"))
			return err == nil && len(names) > i
		})
		guest.Do(func(c *player.Client) { last = c.Status().Tick })
		took += time.Since(time.Unix(0, told.Load()))
	}
	b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), "ms/bundle")
	if err := m.Do(b.Context(), func(h *host.Host) {
		b.ReportMetric(float64(len(h.Referee().Simulation().AppendState(nil))), "state-bytes")
	}); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		b.Error(err)
	}
	guest.Close()
	web.Close()
}

func wait(b *testing.B, ok func() bool) {
	b.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatal("timed out")
		}
	}
}
