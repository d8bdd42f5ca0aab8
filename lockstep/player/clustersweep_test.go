package player_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

var clusterSeeds = flag.Uint64("cluster.seeds", 0, "how many seeds each scenario of the cluster is run with; 0: 1, and 2 in .ci/run")

// scenarios are the faults of a cluster, by their number in the catalogue of faults. Each returns how often the fault
// was injected, because a run without the fault proves nothing.
var scenarios = []struct {
	name     string
	settings func(*lockstep.Settings)
	options  func(*host.Options)
	run      func(c *cluster) (injected int)
}{
	{name: "1 clean", run: func(c *cluster) int {
		c.players(2+c.random.IntN(7), player.Options{})
		c.run(20 * lockstep.Second)
		return 1
	}},
	{name: "2 loss", run: func(c *cluster) int {
		loss := c.random.IntN(31)
		c.links = func(*machine) (up, down linkSpec) {
			s := linkSpec{delay: 30 * lockstep.Millisecond, lossPercent: loss}
			return s, s
		}
		c.players(4, player.Options{Silence: 30 * lockstep.Second})
		c.run(20 * lockstep.Second)
		c.links = func(*machine) (up, down linkSpec) { return linkSpec{}, linkSpec{} }
		for _, m := range c.machines {
			m.cut(true, true)
		}
		return 1
	}},
	{name: "3 latency", run: func(c *cluster) int {
		c.links = func(*machine) (up, down linkSpec) {
			draw := func() linkSpec {
				return linkSpec{
					delay:  lockstep.Time(c.random.Int64N(int64(500 * lockstep.Millisecond))),
					jitter: lockstep.Time(c.random.Int64N(int64(100 * lockstep.Millisecond))),
				}
			}
			return draw(), draw()
		}
		c.players(5, player.Options{Predict: 30, PredictLate: 30})
		c.run(20 * lockstep.Second)
		return 1
	}},
	{name: "4 duplicates across reconnects", run: func(c *cluster) int {
		c.events["keep"] = 1
		c.players(3, player.Options{})
		for range 8 {
			c.run(2 * lockstep.Second)
			c.any().cut(true, true)
		}
		return c.events["replayed"]
	}},
	{name: "5 half-open", run: func(c *cluster) int {
		c.players(3, player.Options{})
		c.run(2 * lockstep.Second)
		for i := range 4 {
			c.any().cut(false, false)
			c.run(lockstep.Time(4+i*3) * lockstep.Second)
		}
		return c.events["lost"]
	}},
	{name: "6 partition", run: func(c *cluster) int {
		c.players(3, player.Options{Reconnect: player.ReconnectPolicy{Attempts: 40, Total: 300 * lockstep.Second}})
		c.run(2 * lockstep.Second)
		m := c.any()
		m.net = false
		m.cut(false, false)
		c.run(lockstep.Time(1+c.random.IntN(60)) * lockstep.Second)
		m.net = true
		return c.events["lost"]
	}},
	{name: "7 one-way", run: func(c *cluster) int {
		c.players(3, player.Options{})
		c.run(2 * lockstep.Second)
		m := c.any()
		m.wire.up.hole = true // the server hears nothing more
		c.run(15 * lockstep.Second)
		m = c.any()
		if m.wire != nil {
			m.wire.down.hole = true
		}
		c.run(15 * lockstep.Second)
		return c.closes[protocol.CloseTimeout]
	}},
	{name: "8 swizzle-clog", run: func(c *cluster) (n int) {
		c.players(5, player.Options{})
		c.run(2 * lockstep.Second)
		for range 3 {
			for _, i := range c.random.Perm(len(c.machines)) {
				if w := c.machines[i].wire; w != nil {
					w.up.stuck, w.down.stuck = true, true
					n++
				}
				c.run(lockstep.Time(c.random.Int64N(int64(lockstep.Second))))
			}
			for _, i := range c.random.Perm(len(c.machines)) {
				if w := c.machines[i].wire; w != nil {
					w.up.stuck, w.down.stuck = false, false
				}
				c.run(lockstep.Time(c.random.Int64N(int64(lockstep.Second))))
			}
		}
		return n
	}},
	{name: "10 client clock", run: func(c *cluster) (n int) {
		c.players(3, player.Options{})
		for range 6 {
			c.run(2 * lockstep.Second)
			m := c.any()
			m.offset += lockstep.Time(c.random.IntN(7200)-3600) * lockstep.Second
			n++
		}
		return n
	}},
	{name: "11 host stands still", run: func(c *cluster) int {
		c.players(4, player.Options{Silence: 20 * lockstep.Second})
		c.run(3 * lockstep.Second)
		c.hostLate = c.now + 5*lockstep.Second
		c.run(10 * lockstep.Second)
		return c.told[host.TicksSkipped]
	}},
	{name: "12 overrun", run: func(c *cluster) int {
		c.players(3, player.Options{MaxBacklog: 1 << 10})
		c.run(3 * lockstep.Second)
		m := c.machines[0]
		m.cost = 150 * lockstep.Millisecond // of 50
		c.run(40 * lockstep.Second)
		m.cost = 0
		return m.worst
	}},
	{name: "13 late join", run: func(c *cluster) int {
		c.players(2, player.Options{})
		for i := range 5 {
			c.run(lockstep.Time(c.random.Int64N(int64(10 * lockstep.Second))))
			if i%2 == 0 {
				c.join("watch", player.Options{})
			} else {
				c.join(fmt.Sprint(2+i), player.Options{})
			}
		}
		c.run(5 * lockstep.Second)
		if n := c.events["error report"]; n > 0 {
			c.tb.Errorf("%d reports were not compared", n)
		}
		return 5
	}},
	{name: "18 resume", run: func(c *cluster) int {
		c.players(4, player.Options{})
		for range 6 {
			c.run(8*lockstep.Second + lockstep.Time(c.random.Int64N(int64(3*lockstep.Second)))) // longer than the longest wait
			m := c.any()
			m.net = false
			m.cut(true, c.random.IntN(2) == 0)
			c.run(lockstep.Second + lockstep.Time(c.random.Int64N(int64(8*lockstep.Second))))
			m.net = true
		}
		return c.events["resumed"]
	}},
	{name: "19 lost answers", run: func(c *cluster) int {
		c.players(3, player.Options{})
		c.run(2 * lockstep.Second)
		before := c.events["command"]
		for range 8 {
			m := c.any()
			if m.wire != nil {
				m.wire.down.hole = true
			}
			c.run(lockstep.Time(c.random.Int64N(int64(2 * lockstep.Second))))
			m.cut(true, true)
			c.run(lockstep.Second)
		}
		return c.events["command"] - before
	}},
	{name: "32 a bit flips", options: func(o *host.Options) {
		o.Rates.Resyncs = host.Rate{N: 100, Per: lockstep.Second, Burst: 100}
	}, run: func(c *cluster) (n int) {
		c.players(3, player.Options{Predict: 5, PredictLate: 5})
		c.join("watch", player.Options{})
		c.run(2 * lockstep.Second)
		for i := range 4 {
			m := c.machines[(i+c.random.IntN(2))%len(c.machines)]
			if m.client.Stage() != player.StageLive {
				continue
			}
			before, at := m.healed, m.client.Tick()
			m.healed = -1 // not compared meanwhile
			if err := m.client.Corrupt("Piles[3].Coins"); err != nil {
				c.tb.Fatal(err)
			}
			n++
			c.run(5 * lockstep.Second)
			if m.healed != 0 || len(m.desynced) == 0 || m.desynced[len(m.desynced)-1] > at+20 {
				c.tb.Errorf("%s, corrupt at tick %d: desyncs at %v, healed %d times", m.name, at, m.desynced, m.healed+1)
			}
			m.healed = before + 1
		}
		for _, m := range c.machines {
			if len(m.desynced) != m.healed {
				c.tb.Errorf("%s: %d desyncs, healed %d times", m.name, len(m.desynced), m.healed)
			}
		}
		return n
	}},
	{name: "68 too much for a while", run: func(c *cluster) (late int) {
		o := player.Options{Reconnect: player.ReconnectPolicy{Attempts: 100, Total: 600 * lockstep.Second}}
		c.players(5, o)
		c.run(3 * lockstep.Second)
		for _, m := range c.machines {
			m.cost = 150 * lockstep.Millisecond // of 50
		}
		for range 6 {
			c.join("watch", o).cost = 150 * lockstep.Millisecond
			c.hostLate = c.now + lockstep.Second
			c.run(4 * lockstep.Second)
		}
		for _, m := range c.machines {
			if m.client.Stage() != player.StageLive || m.client.Tick()+25 < c.host.Now() {
				late++
			}
			m.cost = 0
		}
		c.run(15 * lockstep.Second) // the commands go on
		for _, m := range c.machines {
			if s := m.client.Status(); s.Stage != player.StageLive || s.Tick+25 < c.host.Now() {
				c.tb.Errorf("%s is %v at tick %d of %d, and nothing is too much any more", m.name, s.Stage, s.Tick, c.host.Now())
			}
		}
		return late
	}},
	{name: "all at once", run: func(c *cluster) (n int) {
		c.events["keep"] = 1
		c.links = func(*machine) (up, down linkSpec) {
			s := linkSpec{delay: lockstep.Time(c.random.Int64N(int64(200 * lockstep.Millisecond))), jitter: 50 * lockstep.Millisecond, lossPercent: c.random.IntN(5)}
			return s, s
		}
		o := player.Options{PredictLate: 10, Interpolate: true, Reconnect: player.ReconnectPolicy{Attempts: 100, Total: 600 * lockstep.Second}}
		c.players(5, o)
		c.join("watch", o)
		for range 25 {
			c.run(lockstep.Time(c.random.Int64N(int64(3 * lockstep.Second))))
			m := c.any()
			switch n++; c.random.IntN(7) {
			case 0:
				m.cut(c.random.IntN(2) == 0, c.random.IntN(2) == 0)
			case 1:
				m.net = !m.net
			case 2:
				if m.wire != nil {
					m.wire.down.stuck = !m.wire.down.stuck
				}
			case 3:
				if m.wire != nil {
					m.wire.up.stuck = !m.wire.up.stuck
				}
			case 4:
				m.offset += lockstep.Time(c.random.IntN(600)-300) * lockstep.Second
			case 5:
				c.hostLate = c.now + lockstep.Time(c.random.Int64N(int64(2*lockstep.Second)))
			case 6:
				m.cost = lockstep.Time(c.random.IntN(2)) * 120 * lockstep.Millisecond
			}
		}
		return n
	}},
}

func (c *cluster) players(n int, o player.Options) {
	for i := range n {
		c.join(fmt.Sprint(i), o)
	}
}

// any returns one of the machines.
func (c *cluster) any() *machine { return c.machines[c.random.IntN(len(c.machines))] }

func TestCluster(t *testing.T) {
	seeds := *clusterSeeds
	if seeds == 0 {
		seeds = 2
		if testenv.Small(t) {
			seeds = 1
		}
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			injected, compared := 0, 0
			for seed := range seeds {
				c := newCluster(t, seed, s.settings, s.options)
				injected += s.run(c)
				c.finish()
				compared += c.compared
				if t.Failed() {
					t.Fatalf("seed %d: events %v, host %v, closed %v", seed, c.events, c.told, c.closes)
				}
			}
			if injected == 0 {
				t.Error("the fault was never injected")
			}
			t.Logf("%d seeds, injected %d times, %d states compared", seeds, injected, compared)
		})
	}
}

// The same seed gives the same run, byte for byte.
func TestClusterIsReproducible(t *testing.T) {
	sum := func(seed uint64) uint64 {
		c := newCluster(t, seed, nil, nil)
		scenarios[7].run(c)
		c.finish()
		return c.trace.Sum64()
	}
	if a, b, other := sum(5), sum(5), sum(6); a != b || a == other {
		t.Errorf("got traces %x and %x of one seed, %x of another", a, b, other)
	}
}
