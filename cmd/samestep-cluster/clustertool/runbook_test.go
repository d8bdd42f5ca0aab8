//go:build unix

package clustertool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/fleet"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// A runbook is a siege of a cluster whose storage nodes come and go, by what docs/cluster.md says.
type runbook struct{ *siege }

// step plays a case of the runbook, waits until the storage is well, and measures the longest pause of a player.
func (r *runbook) step(name string, play func()) {
	r.t.Helper()
	for _, p := range r.players {
		p.Measure()
	}
	began := time.Now()
	play()
	await(r.t, name+": the storage is well", func() bool {
		text := r.status()
		return !strings.Contains(text, "\n  ") && strings.Contains(text, "3 of 3") && r.fleet.Settled(r.t.Context())
	})
	r.playOn()
	longest := time.Duration(0)
	for _, p := range r.players {
		longest = max(longest, p.Seen().Longest)
	}
	r.t.Logf("%s: done and well after %v, players paused for %v at most", name, time.Since(began).Round(100*time.Millisecond), longest.Round(100*time.Millisecond))
}

func (r *runbook) status() string {
	r.t.Helper()
	return command(r.t, 0, "storage status --nats "+r.fleet.Storage())
}

// change types a verb.
func (r *runbook) change(verb string) {
	r.t.Helper()
	command(r.t, 0, "storage "+verb+" --nats "+r.fleet.Storage(), "11 of 11 streams are whole")
}

// advised types what the status advises, when it does.
func (r *runbook) advised(verb string) {
	r.t.Helper()
	await(r.t, "the status advises "+verb, func() bool { return strings.Contains(r.status(), " storage "+verb+" --nats") })
	r.change(verb)
}

// newNode starts one more node, and returns its name.
func (r *runbook) newNode() (name string) {
	r.t.Helper()
	i, err := r.fleet.AddNode(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return r.fleet.Nodes[i].Name
}

// restart starts nodes again that have ended.
func (r *runbook) restart(nodes ...int) {
	r.t.Helper()
	for _, i := range nodes {
		if err := r.fleet.RestartNode(r.t.Context(), i); err != nil {
			r.t.Fatal(err)
		}
	}
}

// live returns the indexes of the nodes that are members, as the status lists them.
func (r *runbook) live() (all []int) {
	text := r.status()
	for i, n := range r.fleet.Nodes {
		if strings.Contains(text, "\n"+n.Name+" ") {
			all = append(all, i)
		}
	}
	return all
}

// folder returns the folder of a node.
func (r *runbook) folder(node int) string {
	return filepath.Join(r.fleet.Dir(), r.fleet.Nodes[node].Name)
}

// Each case of the runbook in docs/cluster.md is played while a match goes on. No accepted command is lost, and no state differs.
// TestNodeDiskFull plays the full disk of the leader.
func TestRunbook(t *testing.T) {
	overlap(t)
	testenv.Named(t)
	r := &runbook{besiege(t, fleet.Options{Nodes: 3, Servers: 2})}
	nodes := r.fleet
	r.step("kill for ever, and replace by a new name", func() {
		lost := r.leader("duel")
		nodes.Nodes[lost].Kill()
		r.advised("replace " + nodes.Nodes[lost].Name + " " + r.newNode())
	})
	r.step("kill for ever, and replace by the same name", func() {
		lost := r.leader("duel")
		nodes.Nodes[lost].Kill()
		name := nodes.Nodes[lost].Name
		await(t, "the status advises it", func() bool { return strings.Contains(r.status(), " storage replace "+name+" "+name) })
		if err := os.RemoveAll(r.folder(lost)); err != nil {
			t.Fatal(err)
		}
		r.restart(lost)
		r.change("replace " + name + " " + name)
	})
	r.step("add a fourth", func() { r.advised("add " + r.newNode()) })
	r.step("remove one", func() {
		gone := r.leader("duel")
		r.change("remove " + nodes.Nodes[gone].Name)
		nodes.Nodes[gone].Stop()
	})
	r.step("drain one, stop it, and add it again", func() {
		name := r.newNode()
		r.advised("add " + name)
		away := r.leader("duel")
		r.change("drain " + nodes.Nodes[away].Name)
		nodes.Nodes[away].Stop()
		r.playOn()
		r.restart(away)
		r.change("add " + nodes.Nodes[away].Name)
		r.change("remove " + name)
		nodes.Nodes[len(nodes.Nodes)-1].Stop()
	})
	for _, i := range r.live() {
		r.step("upgrade "+nodes.Nodes[i].Name, func() {
			nodes.Nodes[i].Stop()
			r.restart(i)
		})
	}
	r.step("the majority is lost, and comes back", func() {
		all := r.live()
		for _, i := range all[1:] {
			nodes.Nodes[i].Kill()
		}
		await(t, "the status says so", func() bool { return strings.Contains(r.status(), "no majority of the nodes answers") })
		r.restart(all[1:]...)
	})
	r.step("back up all, and restore", func() {
		all := r.live()
		for _, i := range all {
			nodes.Nodes[i].Stop()
		}
		for _, i := range all {
			backup := r.folder(i) + ".backup"
			if err := os.CopyFS(backup, os.DirFS(r.folder(i))); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(r.folder(i)); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(backup, r.folder(i)); err != nil {
				t.Fatal(err)
			}
			r.restart(i)
		}
	})
	r.judge()
}
