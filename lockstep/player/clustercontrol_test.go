package player_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A control is a test that is expected to fail.
type control struct {
	testing.TB
	failures []string
}

type stopped struct{}

func (c *control) Helper() {}

func (c *control) Error(args ...any) { c.failures = append(c.failures, fmt.Sprint(args...)) }

func (c *control) Errorf(format string, args ...any) {
	c.failures = append(c.failures, fmt.Sprintf(format, args...))
}

func (c *control) Fatalf(format string, args ...any) {
	c.Errorf(format, args...)
	panic(stopped{})
}

// fails runs f, which must fail with a text.
func fails(t *testing.T, text string, f func(tb testing.TB)) {
	t.Helper()
	c := &control{TB: t}
	func() {
		defer func() {
			if v := recover(); v != nil && v != (stopped{}) {
				panic(v)
			}
		}()
		f(c)
	}()
	if !strings.Contains(strings.Join(c.failures, "\n"), text) {
		t.Errorf("control: got failures %q, want %q", c.failures, text)
	}
}

// Control: the cluster's checks fail if something is wrong.
func TestClusterControls(t *testing.T) {
	start := func(tb testing.TB) *cluster {
		c := newCluster(tb, 1, nil, func(o *host.Options) { o.Desync = host.LogDesynced })
		c.players(2, player.Options{})
		c.run(3 * lockstep.Second)
		return c
	}
	fails(t, "another state than the log", func(tb testing.TB) {
		c := start(tb)
		if err := c.machines[0].client.Corrupt("Piles[0].Coins"); err != nil {
			t.Fatal(err)
		}
		c.run(lockstep.Second)
	})
	fails(t, "was accepted for tick", func(tb testing.TB) {
		c := start(tb)
		c.logged[[2]uint32{1, 3}] = append(c.logged[[2]uint32{1, 3}], 9)
		c.finish()
	})
	fails(t, "answers to", func(tb testing.TB) {
		c := start(tb)
		c.machines[0].submitted++
		c.finish()
	})
	fails(t, "want live", func(tb testing.TB) {
		c := start(tb)
		c.machines[0].busy = never
		c.finish()
	})
	fails(t, "is answered twice", func(tb testing.TB) {
		c := start(tb)
		c.machines[0].event(lockstep.Receipt{Sequence: 1, Tick: 5})
	})
}

// A connection is cut after each of its first messages in turn, and the client still catches up.
func TestClusterCutEverywhere(t *testing.T) {
	every := 1
	if testenv.Small(t) {
		every = 4 // the state is large for an emulated processor without block moves
	}
	for _, token := range []string{"1", "watch"} {
		stages := map[player.Stage]int{}
		for cut := 0; cut < 40; cut += every {
			large := func(s *lockstep.Settings) { s.Players = 200 } // a state of several chunks
			c := newCluster(t, uint64(cut), large, func(o *host.Options) { o.SyncBytesPerTick = 1 << 10 })
			c.join("0", player.Options{})
			c.run(lockstep.Time(2+cut%3) * lockstep.Second)
			m := c.join(token, player.Options{})
			for left := 2000; m.wire == nil || m.wire.count < cut; left-- {
				if left == 0 {
					t.Fatalf("%d messages never came", cut)
				}
				c.run(lockstep.Millisecond)
			}
			stages[m.client.Stage()]++
			m.cut(true, true)
			c.finish()
			if t.Failed() {
				t.Fatalf("%s, cut after %d messages", token, cut)
			}
		}
		t.Logf("%s was cut in %v", token, stages)
		if stages[player.StageGreeting] == 0 || stages[player.StageSyncing] == 0 || stages[player.StageLive] == 0 {
			t.Errorf("%s was cut in %v, want every stage", token, stages)
		}
	}
}

// The duration of a join and of a resume over a link of 20 ms.
func TestClusterJoinAndResumeTimes(t *testing.T) {
	c := newCluster(t, 1, nil, nil)
	c.players(2, player.Options{})
	c.run(60 * lockstep.Second)
	m := c.join("watch", player.Options{})
	at := c.now
	c.run(2 * lockstep.Second)
	if len(m.joined) != 1 || m.joined[0]-at > 300*lockstep.Millisecond {
		t.Errorf("joined at %v, want one join within 300 ms of %v", m.joined, at)
	}

	p := c.machines[1]
	before := c.host.Stats().Syncs
	p.net = false
	p.cut(true, true)
	c.run(lockstep.Second)
	p.net = true
	in := p.client.Status().BytesIn
	for p.wire == nil {
		c.run(lockstep.Millisecond)
	}
	back := c.now
	for p.client.Tick()+2 < c.host.Now() {
		c.run(lockstep.Millisecond)
	}
	s := p.client.Status()
	t.Logf("joined in %d ms, resumed in %d ms with %d bytes", (m.joined[0] - at).Milliseconds(), (c.now - back).Milliseconds(), s.BytesIn-in)
	if c.now-back > 600*lockstep.Millisecond || c.host.Stats().Syncs != before {
		t.Errorf("resumed after %d ms with %d keyframes, want the tail only", (c.now - back).Milliseconds(), c.host.Stats().Syncs-before)
	}
}
