//go:build !js

package mirror_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cluster/mirror"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server"
)

// A dark is the view of the lamps that shows none of them.
type dark struct{ Seats uint8 }

// darkRules are lamps that players do not see.
func darkRules() lockstep.Rules[testgame.Lamps, testgame.Nobody] {
	rules := testgame.LampRules
	rules.Validate, rules.View = nil, lockstep.View(func(w *testgame.Lamps, _ *testgame.Nobody, _ lockstep.Viewer, v *dark) error {
		v.Seats = w.Seats
		return nil
	}, nil)
	return rules
}

// get returns the status and the body of a page of a mirror.
func get(t *testing.T, address string) (int, string) {
	t.Helper()
	r, err := http.Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// A mirror of the replicated log shows nothing of a match that is sent as views, or that does not say who may see it: no state,
// no seed, no size. It says what to do instead.
func TestHiddenMatches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rules  lockstep.Rules[testgame.Lamps, testgame.Nobody]
		host   host.Options
		unsaid bool
		refuse string // "" for the control, which is shown
	}{
		"control":              {rules: darkRules()},
		"views":                {rules: darkRules(), host: host.Options{Views: host.ViewPolicy{Only: true}}, refuse: "watch it at its server"},
		"a log without a note": {rules: testgame.LampRules, unsaid: true, refuse: "watch it at its server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dial := newStorage(t)
			w := newWriter(t, dial("server"), c.rules, c.host)
			w.unsaid = c.unsaid
			w.list("duel")
			w.run()
			defer w.halt()
			_, address, _ := newMirror(t, mirror.Options{Source: mirror.Cluster{Conn: dial("mirror")}})
			x := watch(t, w.game, address, nil)
			if c.refuse == "" {
				eventually(t, "a watcher", func() bool { return x.tick() > 0 })
				return
			}
			if err := x.s.Wait(); err == nil || !strings.Contains(err.Error(), c.refuse) {
				t.Errorf("watching: got %v, want %q", err, c.refuse)
			}
			if x.synced > 0 || len(x.hashes) > 0 {
				t.Errorf("a stranger got %d states", len(x.hashes))
			}
			for _, page := range []string{"/matches/duel", "/matches/duel/schemas"} {
				status, body := get(t, address+page)
				if status != http.StatusForbidden || !strings.Contains(body, c.refuse) || strings.Contains(body, "seed") {
					t.Errorf("%s: got %d %s, want 403 and %q", page, status, body, c.refuse)
				}
			}
		})
	}
}

// A mirror of a server says the same of a match that is sent as views.
func TestHiddenUpstream(t *testing.T) {
	t.Parallel()
	rules := minimal.Rules()
	rules.Validate, rules.View = nil, lockstep.View(func(*minimal.World, *minimal.Config, lockstep.Viewer, *dark) error { return nil }, nil)
	o := newOwnerOf(t, rules, func(o *server.Options) { o.Host.Views.Only = true })
	_, address, _ := newMirror(t, mirror.Options{Source: upstream(o.address)})
	x := watch(t, o.game, address, nil)
	if err := x.s.Wait(); err == nil || !strings.Contains(err.Error(), "watch it at its server") || x.synced > 0 {
		t.Errorf("watching: got %v, and %d states", err, x.synced)
	}
	if status, body := get(t, address+"/matches/duel"); status != http.StatusForbidden || !strings.Contains(body, "watch it at its server") {
		t.Errorf("got %d %s", status, body)
	}
}

// A mirror of the replicated log is as late as the match's own server, and its own delay comes on top. Nothing that it tells
// has the size of what it hides.
func TestDelayOfTheLog(t *testing.T) {
	t.Parallel()
	const delay, own = 80, 30
	dial := newStorage(t)
	w := newWriter(t, dial("server"), testgame.LampRules, host.Options{SpectatorDelay: delay})
	w.list("duel")
	w.run()
	defer w.halt()
	for _, late := range []lockstep.Tick{delay, delay + own} {
		o := mirror.Options{Source: mirror.Cluster{Conn: dial("mirror")}}
		o.Audience.Delay = late - delay
		r, address, _ := newMirror(t, o)
		x := watch(t, w.game, address, nil)
		eventually(t, "a watcher", func() bool { return x.tick() > 20 })
		w.mu.Lock()
		present := lockstep.Tick(0)
		for tick := range w.hashes {
			present = max(present, tick)
		}
		w.mu.Unlock()
		if got := x.tick(); got+late > present {
			t.Errorf("with %d ticks: a spectator is at tick %d, the match at %d", late, got, present)
		}
		_, body := get(t, address+"/matches/duel")
		if v := r.Status("duel"); v.Delay != late || v.Tick+late > present+delay {
			t.Errorf("got the delay %d at tick %d, want %d", v.Delay, v.Tick, late)
		}
		var told map[string]any
		if err := json.Unmarshal([]byte(body), &told); err != nil || told["tick"] == nil || told["memory"] != nil || told["memory_bound"] != nil {
			t.Errorf("got %s, %v, want a tick and no sizes", body, err)
		}
		if _, body := get(t, address+"/metrics"); !strings.Contains(body, "samestep_mirror_tick{") || strings.Contains(body, "samestep_mirror_memory_bytes{") {
			t.Error("the metrics tell the size of a match with a delay, or nothing at all")
		}
	}
}
