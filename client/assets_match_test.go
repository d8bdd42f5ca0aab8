//go:build !js

package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/server/assets"
)

// A server cannot hold a session for ever by sending its list or an asset slowly.
func TestSlowAssets(t *testing.T) {
	for _, row := range []struct {
		name, slow string
		longest    time.Duration // of one attempt
	}{
		{"list", "/assets", 11 * time.Second},
		{"asset", tilesAsset.SHA256, 31 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hostile{t: t, serve: func(w *wire) {
					r, err := http.ReadRequest(w.in)
					if err != nil {
						return
					}
					fmt.Fprint(w, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
					if !strings.HasSuffix(r.URL.Path, row.slow) {
						io.WriteString(w, listOf(tilesAsset))
						return
					}
					for {
						if _, err := w.Write([]byte(" ")); err != nil {
							return
						}
						time.Sleep(3 * time.Second)
					}
				}}
				began := time.Now()
				s := client.Dial(t.Context(), "ws://hostile.invalid/matches/m/play", lockstep.MustGame(testgame.TilesRules()), h.options(-1))
				if err := s.Wait(); !errors.Is(err, player.ErrGaveUp) || !strings.Contains(err.Error(), "deadline") {
					t.Errorf("got %v, want that the time was over", err)
				}
				if d := time.Since(began); d > row.longest {
					t.Errorf("it took %v, want at most %v", d, row.longest)
				}
				time.Sleep(time.Minute) // the server notices
			})
		})
	}
}

// A tiles is a server of the tile editor with one match, whose map is an asset, behind a stand.
type tiles struct {
	*stand
	match  *server.Match
	folder assets.Folder
}

const tilesTokens = `
player    0 ada   - ada-ada-ada-ada-ada
player    1 bob   - bob-bob-bob-bob-bob
spectator - press - press-press-press-press
`

// newTiles serves a match at a path of the stand.
func newTiles(t *testing.T, prefix string) *tiles {
	t.Helper()
	m := &tiles{stand: newStand(t), folder: assets.Folder{Dir: t.TempDir()}}
	if _, err := m.folder.Add("valley.map", tilesMap); err != nil {
		t.Fatal(err)
	}
	tokens, err := server.ReadTokens(strings.NewReader(tilesTokens))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Options{Dir: t.TempDir(), Authorizer: tokens, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	settings := lockstep.DefaultSettings(2)
	settings.Seed, settings.TickMicros, settings.CheckEvery = 1, lockstep.TickPeriod(100), 10
	if m.match, err = s.Create(server.MatchSpec{
		Name: "duel", Game: lockstep.MustGame(testgame.TilesRules()).WithAssets(m.folder.Read), Settings: settings, Config: &testgame.TilesConfig{Map: tilesAsset},
	}); err != nil {
		t.Fatal(err)
	}
	m.answers, m.next = make(map[string]http.HandlerFunc), http.StripPrefix(prefix, s)
	return m
}

// A painter is a session that paints tiles, and records the hash of its state after each tick that it sees.
type painter struct {
	*client.Session
	mu     sync.Mutex
	hashes map[lockstep.Tick]string
	bad    []any    // events that should not be
	stale  []string // the details of refused changes
}

// join begins a session with a cache, whose player paints if there is a token of one.
func (m *tiles) join(t *testing.T, path, token string, cache client.AssetCache) *painter {
	p := &painter{hashes: make(map[lockstep.Tick]string)}
	o := client.Options{Options: player.Options{Token: token}, Assets: cache}
	o.Sample = func(c *player.Client) {
		sim := c.Simulation()
		p.mu.Lock()
		p.hashes[sim.Tick()] = fmt.Sprint(sim.Hash())
		p.mu.Unlock()
		if world, ok := sim.AnyWorld().(*testgame.Tiles); ok && sim.Tick()%4 == 0 && token != "press-press-press-press" {
			c.Submit(&testgame.Paint{Version: world.Version, At: uint16(sim.Tick()) % uint16(len(tilesMap)), Tile: uint8(sim.Tick())})
		}
	}
	o.Handle = func(_ *player.Client, e any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := e.(type) {
		case player.Desynced, player.Mismatch, player.ConnectionLost, player.ConnectFailed:
			p.bad = append(p.bad, e)
		case lockstep.Receipt:
			if e.Reason == lockstep.Refused {
				p.stale = append(p.stale, e.Detail)
			}
		}
	}
	p.Session = m.dial(t.Context(), path, o)
	return p
}

// ran waits until the session has seen so many ticks.
func (p *painter) ran(t *testing.T, ticks int) {
	t.Helper()
	for {
		p.mu.Lock()
		n := len(p.hashes)
		p.mu.Unlock()
		if n >= ticks {
			return
		}
		select {
		case <-p.Done():
			t.Fatalf("the session is over after %d ticks: %v", n, p.Wait())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// staleAtStart reports whether a detail refuses a change of the map at the start, and has a later version.
func staleAtStart(detail string) bool {
	var now int
	n, err := fmt.Sscanf(detail, "stale: got version 0, the map has version %d", &now)
	return n == 1 && err == nil && now > 0
}

// A match whose map is an asset: two players who fetch it, one who has it, and a replay that verifies with it only. The server
// is behind a proxy, whose path looks like that of a match.
func TestMatchWithAssets(t *testing.T) {
	prefix := "/matches/old"
	m := newTiles(t, prefix)
	fetches := func() (lists, contents int) {
		for _, uri := range m.requests() {
			switch uri {
			case prefix + listPath:
				lists++
			case prefix + assetPath + tilesAsset.SHA256:
				contents++
			}
		}
		return lists, contents
	}
	cache := assets.Folder{Dir: t.TempDir()}
	ada := m.join(t, prefix+playPath, "ada-ada-ada-ada-ada", cache)
	bob := m.join(t, prefix+playPath, "bob-bob-bob-bob-bob", assets.Folder{Dir: t.TempDir()})
	ada.ran(t, 60)
	bob.ran(t, 60)
	if lists, contents := fetches(); lists != 2 || contents != 2 {
		t.Errorf("two players asked for %d lists and %d contents, want 2 and 2", lists, contents)
	}
	late := m.join(t, prefix+playPath, "press-press-press-press", cache)
	late.ran(t, 30)
	if lists, contents := fetches(); lists != 1 || contents != 0 {
		t.Errorf("a late spectator with a cache asked for %d lists and %d contents, want 1 and 0", lists, contents)
	}
	if _, err := bob.Submit(&testgame.Paint{Version: 0, Tile: 1}); err != nil { // of the map at the start
		t.Fatal(err)
	}
	bob.ran(t, 120)
	if bob.mu.Lock(); !slices.ContainsFunc(bob.stale, staleAtStart) {
		t.Errorf("got refusals %q, want one with the present version", bob.stale)
	}
	bob.mu.Unlock()
	if err := m.match.End(t.Context(), "enough"); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*painter{ada, bob, late} {
		if err := p.Wait(); err != nil || len(p.bad) > 0 {
			t.Errorf("a session ended with %v and %v", err, p.bad)
		}
	}
	<-m.match.Done()
	for name, p := range map[string]*painter{"bob": bob, "the spectator": late} {
		common := 0
		for tick, hash := range p.hashes {
			if at, ok := ada.hashes[tick]; ok {
				if common++; at != hash {
					t.Errorf("tick %d: ada and %s have different states", tick, name)
				}
			}
		}
		if common < 20 {
			t.Errorf("ada and %s have seen %d ticks both, want at least 20", name, common)
		}
	}

	file, err := os.ReadFile(m.match.ReplayPath())
	if err != nil {
		t.Fatal(err)
	}
	verify := func(g *lockstep.Game) (*replay.Verification, error) {
		r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		return replay.Verify(r, g, replay.VerifyOptions{})
	}
	game := lockstep.MustGame(testgame.TilesRules())
	if v, err := verify(game.WithAssets(m.folder.Read)); err != nil || v.Checked < 5 || v.Commands < 5 {
		t.Errorf("the replay: %v, %+v", err, v)
	}
	// What the players have fetched is enough, too. Nothing, and another map, is not.
	if _, err := verify(game.WithAssets(cache.Read)); err != nil {
		t.Errorf("the replay with a player's cache: %v", err)
	}
	other := append([]byte(nil), tilesMap...)
	slices.Reverse(other)
	for name, row := range map[string]struct {
		game *lockstep.Game
		want error
	}{
		"no source":   {game, record.ErrNoAsset},
		"empty":       {game.WithAssets(assets.Folder{Dir: t.TempDir()}.Read), record.ErrNoAsset},
		"another map": {game.WithAssets(func(lockstep.Asset) ([]byte, error) { return other, nil }), record.ErrAssetContent},
	} {
		if _, err := verify(row.game); !errors.Is(err, row.want) || !strings.Contains(err.Error(), `asset "valley.map"`) {
			t.Errorf("%s: got %v, want %v with the name of the asset", name, err, row.want)
		}
	}
}

// A server that hides an asset from its list, or lists another one, cannot make a client play without it: the header decides.
func TestAssetHidden(t *testing.T) {
	other, err := record.NewAsset("valley.map", []byte("another map"))
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string]string{"none": "[]", "null": "null", "another": listOf(other)} {
		t.Run(name, func(t *testing.T) {
			m := newTiles(t, "")
			m.answers[listPath] = sends(list)
			m.answers[assetPath+other.SHA256] = sends("another map")
			err := m.join(t, playPath, "ada-ada-ada-ada-ada", nil).Wait()
			if named := (*record.AssetError)(nil); !errors.As(err, &named) || named.Asset != tilesAsset || !errors.Is(err, record.ErrNoAsset) {
				t.Errorf("got %v, want that asset not found", err)
			}
			// With the asset in a cache, the list matters not.
			late := m.join(t, playPath, "bob-bob-bob-bob-bob", m.folder)
			late.ran(t, 5)
			late.Close()
		})
	}
}

// A client that comes back asks for no list again: it has what its match needs.
func TestAssetsAfterReconnect(t *testing.T) {
	m := newTiles(t, "")
	resumed := make(chan struct{})
	var once sync.Once
	s := m.dial(t.Context(), playPath, client.Options{
		Options: player.Options{Token: "bob-bob-bob-bob-bob", Reconnect: player.ReconnectPolicy{First: lockstep.Millisecond}},
		Handle: func(_ *player.Client, e any) {
			if _, ok := e.(player.StreamResumed); ok {
				once.Do(func() { close(resumed) })
			}
		},
		NoDatagrams: true, // it asks for their address at any time
	})
	<-s.Ready()
	if got, want := m.requests(), []string{listPath, assetPath + tilesAsset.SHA256, playPath}; !slices.Equal(got, want) {
		t.Errorf("got requests %q, want %q", got, want)
	}
	m.answer(listPath, http.NotFound)
	if err := s.Cut(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-resumed:
	case <-s.Done():
		t.Fatalf("the session is over: %v", s.Wait())
	}
	if got := m.requests(); !slices.Equal(got, []string{playPath}) {
		t.Errorf("got requests %q, want %q", got, playPath)
	}
	s.Close()
}
