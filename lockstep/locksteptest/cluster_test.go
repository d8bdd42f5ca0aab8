package locksteptest_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/locksteptest"
)

// It is a test of its own in earnest: func TestCluster(t *testing.T).
func ExampleClusterOptions() {
	t := &recorder{}
	locksteptest.Cluster(t, lockstep.MustGame(pastureRules()), locksteptest.ClusterOptions{
		Config: &pastureConfig{Herds: 6}, Seeds: 2, Length: 40 * lockstep.Second,
	})
	fmt.Println(t.text == "")
	// Output: true
}

func TestCluster(t *testing.T) {
	locksteptest.Cluster(t, lockstep.MustGame(pastureRules()), locksteptest.ClusterOptions{
		Config: &pastureConfig{Herds: 6}, Seeds: 8, Length: 40 * lockstep.Second,
	})
}

// A game whose machines differ is found, and the failure says how to see it again.
func TestClusterFinds(t *testing.T) {
	rules := pastureRules()
	machines := uint32(0)
	rules.Step = func(w *pasture, turn *lockstep.Turn) {
		stepPasture(w, turn)
		if turn.Tick == 100 {
			machines++
			w.Herds[3].Size += machines
		}
	}
	r := &recorder{dir: t.TempDir()}
	locksteptest.Cluster(r, lockstep.MustGame(rules), locksteptest.ClusterOptions{
		Config: &pastureConfig{Herds: 6}, Seeds: 1, Length: 40 * lockstep.Second, Only: []string{},
	})
	if !strings.Contains(r.text, "I1 violated") || !strings.Contains(r.text, "Seed: 1, Seeds: 1") {
		t.Errorf("got %q", r.text)
	}
	_, small, _ := strings.Cut(r.text, "ClusterOptions{Artifact: ")
	name, err := strconv.Unquote(strings.TrimSuffix(small, "}"))
	if err != nil {
		t.Fatal(small, err)
	}
	options := locksteptest.ClusterOptions{Config: &pastureConfig{Herds: 6}, Artifact: name}
	r.text = ""
	locksteptest.Cluster(r, lockstep.MustGame(rules), options)
	if !strings.Contains(r.text, "I1 violated") {
		t.Errorf("from its artifact: got %q", r.text)
	}
	locksteptest.Cluster(t, lockstep.MustGame(pastureRules()), options)
	r = &recorder{}
	func() {
		defer func() { _ = recover() }()
		locksteptest.Cluster(r, lockstep.MustGame(pastureRules()), locksteptest.ClusterOptions{Config: &pastureConfig{}})
	}()
	if !strings.Contains(r.text, "no herds") {
		t.Errorf("a configuration that is refused: got %q", r.text)
	}
}

// A match that is too short for any fault is refused: it would show nothing.
func TestClusterTooShort(t *testing.T) {
	r := &recorder{}
	func() {
		defer func() { _ = recover() }()
		locksteptest.Cluster(r, lockstep.MustGame(pastureRules()), locksteptest.ClusterOptions{
			Config: &pastureConfig{Herds: 6}, Length: 20 * lockstep.Second,
		})
	}()
	if !strings.Contains(r.text, "got a match of 20 s, want at least 40 s") {
		t.Errorf("got %q", r.text)
	}
}
