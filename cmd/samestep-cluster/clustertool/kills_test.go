//go:build unix

package clustertool_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/fleet"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
)

// patience is how long a test waits for something.
const patience = 60 * time.Second

// program returns the path of a program for clusters.
func program(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// A siege is a match whose servers are lost one after the other.
type siege struct {
	t       *testing.T
	fleet   *fleet.Fleet
	game    *lockstep.Game
	players []*fleet.Player
	after   lockstep.Tick   // how many ticks later a failure shows for certain
	took    []time.Duration // the longest pause of a player at each loss
	healed  []time.Duration // and when what has failed came back
}

func newSiege(t *testing.T, nodes, servers int) *siege {
	t.Helper()
	x := besiege(t, fleet.Options{Nodes: nodes, Servers: servers})
	x.after = 4
	return x
}

// besiege begins a siege of a fleet of the options.
func besiege(t *testing.T, o fleet.Options) *siege {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	dir := o.Dir
	o.Program, o.Game = program(t), "minimal"
	f, err := fleet.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	x := &siege{t: t, fleet: f, after: 30, game: lockstep.MustGame(minimal.Rules())}
	t.Cleanup(func() {
		f.Close()
		if t.Failed() {
			logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
			for _, log := range logs {
				text, _ := os.ReadFile(log)
				t.Logf("%s:\n%s", filepath.Base(log), text[max(0, len(text)-4000):])
			}
		}
	})
	if err := f.Create(t.Context(), f.Servers[0], "duel", 2); err != nil {
		t.Fatal(err)
	}
	for seat := range 2 {
		urls := x.urls()
		urls = append(urls[seat:], urls[:seat]...)
		p := f.Join(context.Background(), x.game, "duel", seat, wander, urls)
		x.players = append(x.players, p)
		t.Cleanup(p.Leave)
	}
	x.playOn()
	return x
}

// wander is a bot that gives a command every third tick.
func wander(sim *lockstep.Simulation) []any {
	t := sim.Tick()
	if t%3 != 0 {
		return nil
	}
	return []any{&minimal.Go{X: uint16(t*7) % 50, Y: uint16(t*11) % 50}}
}

func (x *siege) urls() (all []string) {
	for _, s := range x.fleet.Servers {
		all = append(all, s.URL)
	}
	return all
}

// playOn waits until all players have seen some more ticks, and have forgotten that they were lost: those who are lost again
// within a second wait longer.
func (x *siege) playOn() {
	x.t.Helper()
	from := x.latest()
	for _, p := range x.players {
		await(x.t, "a player plays on", func() bool { return p.Seen().Tick >= from+30 })
	}
}

func (x *siege) latest() (t lockstep.Tick) {
	for _, p := range x.players {
		t = max(t, p.Seen().Tick)
	}
	return t
}

// owner returns the index of the server that has the match and plays it.
func (x *siege) owner() (owner int) {
	x.t.Helper()
	await(x.t, "the match has a server", func() bool {
		e, i, err := x.fleet.Owner(x.t.Context(), "duel")
		owner = i
		return err == nil && i >= 0 && e.State == "playing"
	})
	return owner
}

// lose loses the server of the match in a way, and measures the longest pause of a player.
func (x *siege) lose(how func(*fleet.Process)) (server int) {
	x.t.Helper()
	server = x.owner()
	for _, p := range x.players {
		p.Measure()
	}
	how(x.fleet.Servers[server])
	before := x.latest()
	longest := time.Duration(0)
	for _, p := range x.players {
		await(x.t, "a player plays at another server", func() bool { return p.Seen().Tick > before+x.after })
		longest = max(longest, p.Seen().Longest)
	}
	x.took = append(x.took, longest)
	return server
}

// judge ends the match, and compares its replay with what the players have seen.
func (x *siege) judge() {
	x.t.Helper()
	x.playOn()
	x.judgeAt(x.owner())
}

// judgeAt is judge with the index of the match's server.
func (x *siege) judgeAt(last int) {
	x.t.Helper()
	if err := x.fleet.End(x.t.Context(), x.fleet.Servers[last], "duel"); err != nil {
		x.t.Fatal(err)
	}
	for _, p := range x.players {
		select {
		case <-p.Done():
		case <-time.After(patience):
			x.t.Fatal("a player was not told of the end")
		}
	}
	ctx, cancel := context.WithTimeout(x.t.Context(), patience)
	defer cancel()
	path, err := x.fleet.Replay(ctx, "duel")
	if err != nil {
		x.t.Fatal(err)
	}
	j, err := fleet.Judge(path, x.game, x.players)
	if err != nil {
		x.t.Fatal(err)
	}
	if !j.Right() || j.Accepted < 10 || j.Checked == 0 {
		x.t.Errorf("%+v", *j)
	}
	x.t.Logf("%d ticks, %d checksums, %d states of players, %d commands accepted, %d of them lost, %d moved to a later tick", j.Ticks, j.Checked, j.Seen, j.Accepted, j.Lost, j.Moved)
	x.tell("failures", x.took)
	x.tell("ends of failures", x.healed)
}

// overlap lets a siege wait while other tests do, unless it measures pauses.
func overlap(t *testing.T) {
	if os.Getenv("SAMESTEP_KILLS") == "" {
		t.Parallel()
	}
}

// times returns how often a test loses a server: more for the figures in docs/cluster.md.
func times(t *testing.T, usual int) int {
	n, err := strconv.Atoi(os.Getenv("SAMESTEP_KILLS"))
	if err != nil {
		return usual
	}
	t.Logf("%d times", n)
	return n
}

// When servers are killed nothing that a player was told is lost, and all play on after a short time.
func TestKills(t *testing.T) {
	overlap(t)
	testenv.Named(t)
	x := newSiege(t, 1, 3)
	for range times(t, 2) {
		server := x.lose((*fleet.Process).Kill)
		if err := x.fleet.Restart(t.Context(), server); err != nil {
			t.Fatal(err)
		}
		x.playOn()
	}
	x.judge()
}

// Servers are paused for longer than their leases. Each goes on when another one has its match, and writes nothing.
func TestPauses(t *testing.T) {
	overlap(t)
	x := newSiege(t, 1, 3)
	for range times(t, 1) {
		server := x.lose((*fleet.Process).Pause)
		x.fleet.Servers[server].Continue()
		x.playOn()
		if got := x.owner(); got == server {
			t.Errorf("server %d has the match again", server)
		}
	}
	x.judge()
}

// Servers are stopped in order. Their matches move, and players hardly notice.
func TestRollingUpgrade(t *testing.T) {
	overlap(t)
	x := newSiege(t, 1, 2)
	upgrades := 2
	if testenv.Small(t) {
		upgrades = 1
	}
	for range times(t, upgrades) {
		server := x.lose(func(p *fleet.Process) { go p.Stop() })
		x.fleet.Servers[server].Wait()
		if err := x.fleet.Restart(t.Context(), server); err != nil {
			t.Fatal(err)
		}
		x.playOn()
	}
	x.judge()
}

// The storage node that leads the match's stream dies, and the match's server with it every second time. The match is
// held until the other two nodes have a leader, and loses nothing. Matches of streams that other nodes lead go on.
func TestNodeDies(t *testing.T) {
	overlap(t)
	testenv.Named(t)
	x := newSiege(t, 3, 3)
	bystanders := x.watch(6)
	var alone, both, spared []time.Duration
	for i := range times(t, 1) {
		node := x.leader("duel")
		var others []*fleet.Player // of matches that are not held
		for name, p := range bystanders {
			if p.Measure(); x.leader(name) != node {
				others = append(others, p)
			}
		}
		x.lose(func(p *fleet.Process) {
			x.fleet.Nodes[node].Kill()
			if i%2 == 1 {
				p.Kill()
			}
		})
		took := x.took[len(x.took)-1]
		if i%2 == 0 {
			alone = append(alone, took)
		} else {
			both = append(both, took)
		}
		for _, p := range others {
			spared = append(spared, p.Seen().Longest)
		}
		if err := x.fleet.RestartNode(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			if err := x.fleet.RestartEnded(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		await(t, "all nodes have all", func() bool { return x.fleet.Settled(t.Context()) })
		x.playOn()
	}
	x.tell("deaths of a node", alone)
	x.tell("deaths of a node and a server", both)
	x.tell("matches of other nodes", spared)
	x.judge()
}

// watch plays other matches, with one player each, and returns these by the names of the matches.
func (x *siege) watch(n int) map[string]*fleet.Player {
	x.t.Helper()
	all := make(map[string]*fleet.Player)
	for i := range n {
		name := fmt.Sprint("other-", i)
		if err := x.fleet.Create(x.t.Context(), x.fleet.Servers[i%len(x.fleet.Servers)], name, 1); err != nil {
			x.t.Fatal(err)
		}
		p := x.fleet.Join(context.Background(), x.game, name, 0, wander, x.urls())
		x.t.Cleanup(p.Leave)
		await(x.t, "a player of "+name, func() bool { return p.Seen().Tick > 5 })
		all[name] = p
	}
	return all
}

// leader returns the index of the node that leads the stream of a match's log.
func (x *siege) leader(match string) (node int) {
	x.t.Helper()
	await(x.t, "the stream has a leader", func() bool {
		e, _, err := x.fleet.Owner(x.t.Context(), match)
		if err != nil {
			return false
		}
		node, err = x.fleet.Leader(x.t.Context(), e.ID)
		return err == nil
	})
	return node
}
