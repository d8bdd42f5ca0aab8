package cluster_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A poison ends the process of each server that takes a match over whose name is "bad": it stays in a tick, and the test cuts the
// server off.
type poison struct {
	reached chan string // the name of a server
	end     chan struct{}
	mended  atomic.Bool
}

// site starts a server that the poison can end.
func (p *poison) site(t *testing.T, name, url string) *site {
	t.Helper()
	return newSiteAs(t, name, url, 1, "", func(o *cluster.Options) {
		spec := o.Spec
		o.Spec = func(match string, h *lockstep.Header, named *replay.Rules) (server.MatchSpec, error) {
			if match != "bad" {
				return spec(match, h, named)
			}
			rules := minimal.Rules()
			step := rules.Step
			rules.Step = func(w *minimal.World, c *minimal.Config, turn *lockstep.Turn) {
				if !p.mended.Load() {
					select {
					case p.reached <- name:
					default:
					}
					<-p.end
				}
				step(w, c, turn)
			}
			return server.MatchSpec{Game: lockstep.MustGame(rules)}, nil
		}
	})
}

// A match that ends its servers is set aside after three of them, and takes none of the others along.
func TestPoison(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	p := &poison{reached: make(chan string, 1), end: make(chan struct{})}
	a := newSite(t, "a", node.URL(), 1)
	defer close(p.end)
	names := []string{"bad"}
	for i := range 2 {
		names = append(names, fmt.Sprint("good-", i))
	}
	for _, name := range names {
		a.create(t, name)
	}
	next := p.site(t, "b", node.URL())
	know(t, a, 2)
	a.vanish()
	state := func(name string) (e cluster.Match) {
		_, matches, err := cluster.Read(t.Context(), next.conn)
		if err != nil {
			return e
		}
		for _, m := range matches {
			if m.Name == name {
				e = m
			}
		}
		return e
	}
	deaths := 0
	for deadline := time.Now().Add(2 * patience); state("bad").State != ownership.Failed; {
		select {
		case <-p.reached:
			dead := next
			deaths++
			next = p.site(t, fmt.Sprint("server-", deaths), node.URL())
			dead.vanish()
		case <-time.After(50 * time.Millisecond):
			if time.Now().After(deadline) {
				t.Fatalf("after %d deaths: %+v", deaths, state("bad"))
			}
		}
	}
	if e := state("bad"); deaths > 3 || e.Tries.Deaths != 2 {
		t.Errorf("after %d deaths: %+v", deaths, e)
	}
	for _, name := range names[1:] {
		await(t, name+" runs", func() bool { return next.has(name) != nil })
		await(t, name+" is beyond suspicion", func() bool { e := state(name); return !e.Tries.Suspect && len(e.Tried) == 0 })
	}
	if text := next.log.String(); !strings.Contains(text, `msg="match set aside" match=bad`) {
		t.Errorf("the log does not name it: %s", text)
	}
	p.mended.Store(true)
	if status, text := next.admin(t, "POST", "/matches/bad/retry", ""); status != 200 {
		t.Errorf("retry: got %d %s", status, text)
	}
	await(t, "it runs again", func() bool { e := state("bad"); return e.State == ownership.Playing && e.Tries.Deaths == 0 })
}
