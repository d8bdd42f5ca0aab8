package cluster_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A gamer plays a match through any of the servers, and remembers what happened.
type gamer struct {
	session *client.Session

	mu       sync.Mutex
	tick     lockstep.Tick
	ticked   time.Time
	longest  time.Duration // without a tick
	accepted int           // commands
	desyncs  int
	losses   int
}

// join plays with a token. The first site is tried first.
func join(t *testing.T, token, match string, sites ...*site) *gamer {
	t.Helper()
	g := &gamer{}
	ctx, cancel := context.WithCancel(context.Background())
	var urls []string
	for _, s := range sites {
		urls = append(urls, strings.Replace(s.playURL(match), "http:", "ws:", 1))
	}
	o := client.Options{Servers: urls[1:]}
	o.Token = token
	n := uint16(0)
	o.Sample = func(c *player.Client) {
		g.mu.Lock()
		defer g.mu.Unlock()
		now := time.Now()
		if !g.ticked.IsZero() {
			g.longest = max(g.longest, now.Sub(g.ticked))
		}
		g.tick, g.ticked = c.Simulation().Tick(), now
		if g.tick%10 == 0 {
			n++
			_, _ = c.Submit(&minimal.Go{X: n % 50, Y: 7})
		}
	}
	o.Handle = func(_ *player.Client, event any) {
		g.mu.Lock()
		defer g.mu.Unlock()
		switch e := event.(type) {
		case lockstep.Receipt:
			if e.Reason == lockstep.Accepted {
				g.accepted++
			}
		case player.Mismatch, player.Desynced:
			g.desyncs++
		case player.ConnectionLost:
			g.losses++
		}
	}
	g.session = client.Dial(ctx, urls[0], lockstep.MustGame(minimal.Rules()), o)
	t.Cleanup(func() {
		cancel()
		<-g.session.Done()
	})
	return g
}

func (g *gamer) now() lockstep.Tick {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tick
}

// Players go on at another server, by the addresses that they know, and lose nothing.
func TestPlayersGoOn(t *testing.T) { testGoOn(t, (*site).vanish) }

// A server that is cut off from the storage, but not from its players, tells them to go to the server that has the match.
func TestCutOff(t *testing.T) { testGoOn(t, (*site).cutOff) }

func testGoOn(t *testing.T, lose func(*site)) {
	t.Parallel()
	node := newNode(t)
	sites := []*site{newSite(t, "a", node.URL(), 1), newSite(t, "b", node.URL(), 1), newSite(t, "c", node.URL(), 1)}
	sites[0].create(t, "duel")
	ada := join(t, "ada-ada-ada-ada-ada", "duel", sites[1], sites[0], sites[2]) // through another server
	bob := join(t, "bob-bob-bob-bob-bob", "duel", sites[0], sites[1], sites[2])
	await(t, "tick 40", func() bool { return min(ada.now(), bob.now()) >= 40 })
	lose(sites[0])
	killed := time.Now()
	await(t, "another server has the match", func() bool { return sites[1].has("duel") != nil || sites[2].has("duel") != nil })
	taken := time.Since(killed)
	before := max(ada.now(), bob.now())
	await(t, "both play on", func() bool { return min(ada.now(), bob.now()) >= before+5 })
	t.Logf("taken after %v, playable after %v", taken, time.Since(killed))
	await(t, "both play on", func() bool { return min(ada.now(), bob.now()) >= before+40 })
	for _, g := range []*gamer{ada, bob} {
		g.mu.Lock()
		t.Logf("tick %d, longest pause %v, %d accepted, %d losses", g.tick, g.longest, g.accepted, g.losses)
		if g.desyncs > 0 || g.accepted == 0 || g.losses == 0 {
			t.Errorf("%d desyncs, %d accepted, %d losses", g.desyncs, g.accepted, g.losses)
		}
		g.mu.Unlock()
	}
}

// A request that ends a match gets its answer through any server: the match is gone from the directory before the answer is
// there.
func TestEndThroughAnother(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a, b := newSite(t, "a", node.URL(), 1), newSite(t, "b", node.URL(), 1)
	ends := 60
	if testenv.Small(t) {
		ends = 20
	}
	for i := range ends {
		name := fmt.Sprint("short-", i)
		b.create(t, name)
		await(t, "a knows the match", func() bool {
			status, _ := a.request(t, http.MethodGet, "/matches/"+name, "", "")
			return status == http.StatusOK
		})
		if status, text := a.admin(t, http.MethodDelete, "/matches/"+name, ""); status != http.StatusOK {
			t.Errorf("got %d %s", status, text)
		}
	}
}

// A server that redirects sends clients to the server that has the match, and has no part in it itself.
func TestRedirect(t *testing.T) {
	t.Parallel()
	node := newNode(t)
	a := newSiteAs(t, "a", node.URL(), 1, "", func(o *cluster.Options) { o.Redirect = true })
	b := newSite(t, "b", node.URL(), 1)
	b.create(t, "duel")
	direct := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	await(t, "a redirects", func() bool {
		answer, err := direct.Get(a.url + "/matches/duel?x=%2F")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusTemporaryRedirect && answer.Header.Get("Location") == b.url+"/matches/duel?x=%2F"
	})
	ada := join(t, "ada-ada-ada-ada-ada", "duel", a, b)
	await(t, "tick 20", func() bool { return ada.now() >= 20 })
	a.sockets.Range(func(any, any) bool {
		t.Error("the player's connection is at a")
		return false
	})
}
