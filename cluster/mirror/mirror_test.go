//go:build !js

package mirror_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/cluster/mirror"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server"
)

// Real clients watch a match at its server, at a mirror, and at a mirror of the mirror with a delay, to its end.
func TestMirrorOfMirror(t *testing.T) {
	t.Parallel()
	o := newOwner(t, nil)
	_, near, _ := newMirror(t, mirror.Options{Source: upstream(o.address)})
	far, farther, _ := newMirror(t, mirror.Options{Source: upstream(near), Audience: audience.Options{Delay: 20, Batch: 100 * lockstep.Millisecond}})
	all := []*watcher{watch(t, o.game, o.address, nil), watch(t, o.game, near, nil), watch(t, o.game, farther, nil), watch(t, o.game, farther, nil)}
	for i, w := range all {
		eventually(t, "a watcher at tick 40", func() bool { return w.tick() >= 40 })
		if i == 0 {
			continue
		}
		if now := far.Status("duel"); w == all[3] && (now.Spectators != 2 || now.Delay != 20) {
			t.Errorf("got %+v", now)
		}
	}
	late := watch(t, o.game, near, nil)
	eventually(t, "a late watcher", func() bool { return late.tick() >= 60 })
	all = append(all, late)
	if behind := all[0].tick() - min(all[0].tick(), all[2].tick()); behind < 15 {
		t.Errorf("got a delay of %d ticks, want about 20", behind)
	}
	if err := o.match.End(t.Context(), "enough"); err != nil {
		t.Fatal(err)
	}
	for i, w := range all {
		if err := w.s.Wait(); err != nil || w.ended != "enough" || w.last != all[0].last {
			t.Errorf("watcher %d: ended at tick %d of %d: %q, %v", i, w.last, all[0].last, w.ended, err)
		}
	}
	if common := equal(t, all...); common < 60 {
		t.Errorf("compared %d states, want 60 or more", common)
	}
	x := o.match.Status()
	if x.Stats.Syncs > 4 {
		t.Errorf("the owner has sent %d keyframes, want at most 4: to its own watcher, and to one mirror", x.Stats.Syncs)
	}
}

// The spectators of a mirror that dies go on at another one.
func TestMirrorDies(t *testing.T) {
	t.Parallel()
	o := newOwner(t, nil)
	_, one, kill := newMirror(t, mirror.Options{Source: upstream(o.address)})
	_, two, _ := newMirror(t, mirror.Options{Source: upstream(o.address)})
	balanced := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (c net.Conn, err error) {
		for _, address := range []string{one, two} {
			if c, err = new(net.Dialer).DialContext(ctx, network, address); err == nil {
				return c, nil
			}
		}
		return nil, err
	}}
	defer balanced.CloseIdleConnections()
	here, w := watch(t, o.game, o.address, nil), watch(t, o.game, "mirrors", &http.Client{Transport: balanced})
	eventually(t, "a watcher at tick 30", func() bool { return w.tick() >= 30 })
	kill()
	at := w.tick()
	began := time.Now()
	eventually(t, "the watcher at the other mirror", func() bool { return w.tick() >= at+30 })
	t.Logf("30 ticks of 25 ms after %v", time.Since(began))
	if w.synced != 2 {
		t.Errorf("synced %d times, want 2", w.synced)
	}
	w.s.Close()
	here.s.Close()
	if common := equal(t, here, w); common < 10 {
		t.Errorf("compared %d states, want 10 or more", common)
	}
}

// A mirror whose owner is away says so, and continues when it is back.
func TestOwnerLost(t *testing.T) {
	t.Parallel()
	o := newOwner(t, nil)
	front, cut := listen(t, o.server, o.server.Listener)
	r, near, _ := newMirror(t, mirror.Options{Source: mirror.Upstream{URL: "http://127.0.0.1", HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		if c, err := new(net.Dialer).DialContext(ctx, network, front); err == nil {
			return c, nil
		}
		return new(net.Dialer).DialContext(ctx, network, o.address)
	}}}}})
	w, here := watch(t, o.game, near, nil), watch(t, o.game, o.address, nil)
	eventually(t, "a watcher at tick 30", func() bool { return w.tick() >= 30 })
	cut()
	at := w.tick()
	eventually(t, "the watcher after the loss", func() bool { return w.tick() >= at+30 })
	eventually(t, "the mirror to say that the match is played", func() bool { v := r.Status("duel"); return v.State == "playing" && v.Spectators == 1 && v.Tick > at })
	w.s.Close()
	here.s.Close()
	if common := equal(t, here, w); common < 10 {
		t.Errorf("compared %d states", common)
	}
}

// What a mirror says over HTTP, and what it refuses.
func TestHTTP(t *testing.T) {
	o := newOwner(t, nil)
	r, near, _ := newMirror(t, mirror.Options{Source: mirror.Upstream{URL: "http://" + o.address + "/matches/duel"}, MaxMatches: 1, MaxConnections: 1, Idle: 500 * time.Millisecond})
	get := func(path string) (int, string) {
		a, err := http.Get("http://" + near + path)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		b, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(b)
	}
	for path, want := range map[string]int{
		"/healthz": 200, "/metrics": 200, "/matches/duel": 200, "/matches/duel/schemas": 200, "/matches/duel/assets": 200, "/matches/other": 404, "/matches/.x": 404,
		"/assets/00": 404, "/rules/.wasm": 404, "/rules/00.wasm": 404, "/matches/duel/kick": 404, "/matches/duel/play": 426,
	} {
		if got, text := get(path); got != want {
			t.Errorf("%s: got %d, want %d: %s", path, got, want, text)
		}
	}
	var theirs, ours struct {
		Match string `json:"match"`
		Game  string `json:"game"`
		State string `json:"state_schema"`
	}
	_, text := get("/matches/duel")
	if err := json.Unmarshal([]byte(text), &ours); err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(o.match.Status())
	if err := json.Unmarshal(b, &theirs); err != nil || ours != theirs {
		t.Errorf("got %+v, want %+v", ours, theirs)
	}
	w := watch(t, o.game, near, nil)
	eventually(t, "a watcher", func() bool { return w.tick() > 0 })
	if got, text := get("/matches/duel/play"); got != 429 {
		t.Errorf("beyond the connections of the mirror: got %d: %s", got, text)
	}
	eventually(t, "the metrics of the watcher", func() bool {
		_, text := get("/metrics")
		time.Sleep(20 * time.Millisecond) // an address may read 50 a second
		return strings.Contains(text, `samestep_mirror_spectators{match="duel"} 1`) && strings.Contains(text, "samestep_mirror_sent_bytes_total")
	})
	w.s.Close()
	eventually(t, "the mirror to leave the match", func() bool { return r.Status("duel").Name == "" })
	eventually(t, "the owner without the mirror", func() bool {
		spectators := 0
		if err := o.match.Do(t.Context(), func(h *host.Host) { spectators = h.Stats().Spectators }); err != nil {
			t.Fatal(err)
		}
		return spectators == 0
	})
}

// A mirror follows as many matches as it may.
func TestFull(t *testing.T) {
	o := newOwner(t, nil)
	settings := lockstep.DefaultSettings(1)
	if _, err := o.server.Create(server.MatchSpec{Name: "other", Game: o.game, Settings: settings, Config: &minimal.Config{Size: 50}}); err != nil {
		t.Fatal(err)
	}
	r, _, _ := newMirror(t, mirror.Options{Source: upstream(o.address), MaxMatches: 1})
	if m, err := r.Follow(t.Context(), "duel"); err != nil || m.Status().Name != "duel" {
		t.Fatal(err)
	}
	if _, err := r.Follow(t.Context(), "duel"); err != nil {
		t.Errorf("the same match again: %v", err)
	}
	if _, err := r.Follow(t.Context(), "other"); !errors.Is(err, mirror.ErrFull) {
		t.Errorf("got %v, want ErrFull", err)
	}
	if err := r.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := r.Follow(t.Context(), "duel"); !errors.Is(err, mirror.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

// Clients get the map of a match from the mirror, which asks the server for it once.
func TestAssets(t *testing.T) {
	t.Parallel()
	content := []byte("a map of some tiles")
	asset, err := record.NewAsset("map", content)
	if err != nil {
		t.Fatal(err)
	}
	fetched := 0
	game := lockstep.MustGame(testgame.TilesRules())
	s, err := server.New(server.Options{Log: quiet(), Host: host.Options{AnonymousSpectators: true}, Descriptors: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	own := game.WithAssets(func(lockstep.Asset) ([]byte, error) { return content, nil })
	if _, err := s.Create(server.MatchSpec{Name: "duel", Game: own, Settings: lockstep.DefaultSettings(1), Config: &testgame.TilesConfig{Map: asset}}); err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown(context.Background())
	address, _ := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/assets/") {
			fetched++
		}
		s.ServeHTTP(w, r)
	}), s.Listener)
	_, near, _ := newMirror(t, mirror.Options{Source: upstream(address)})
	for range 2 {
		w := watch(t, game, near, nil)
		eventually(t, "a watcher with the map", func() bool { return w.tick() > 5 })
		w.s.Close()
		equal(t, w)
	}
	if fetched != 1 {
		t.Errorf("the server was asked %d times, want once", fetched)
	}
}

// The metrics of a mirror with tokens are for admins and for this machine; those of one that everybody may watch are for everybody.
func TestWhoMayScrape(t *testing.T) {
	tokens, err := server.ReadTokens(strings.NewReader("admin - ops - the-operator-of-it\nspectator - ann - a-spectator-of-it\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, private := range []bool{false, true} {
		front := server.Options{AllowedHosts: []string{"mirror.example"}}
		if private {
			front.Authorizer = tokens
		}
		r, err := mirror.New(mirror.Options{Source: mirror.Upstream{URL: "http://127.0.0.1:1"}, Front: front})
		if err != nil {
			t.Fatal(err)
		}
		for token, want := range map[string]int{"": 403, "a-spectator-of-it": 403, "the-operator-of-it": 200} {
			q := httptest.NewRequest(http.MethodGet, "http://mirror.example/metrics", nil)
			if token != "" {
				q.Header.Set("Authorization", "Bearer "+token)
			}
			w := httptest.NewRecorder()
			r.ServeHTTP(w, q)
			if !private {
				want = 200
			}
			if w.Code != want {
				t.Errorf("private %v, token %q: got %d, want %d", private, token, w.Code, want)
			}
		}
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
