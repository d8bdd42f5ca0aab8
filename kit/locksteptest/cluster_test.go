package locksteptest_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// In a real test this is func TestCluster(t *testing.T).
func ExampleClusterOptions() {
	t := &recorder{}
	locksteptest.Cluster(t, lockstep.MustGame(pastureRules()), locksteptest.ClusterOptions{
		Config: &pastureConfig{Herds: 6}, Seeds: 2, Length: 40 * lockstep.Second,
	})
	fmt.Println(t.text == "")
	// Output: true
}

func TestCluster(t *testing.T) {
	seeds := 8
	if testenv.Small(t) {
		seeds = 3
	}
	locksteptest.Cluster(t, lockstep.MustGame(pastureRules()), locksteptest.ClusterOptions{
		Config: &pastureConfig{Herds: 6}, Seeds: seeds, Length: 40 * lockstep.Second,
	})
}

// A game that differs between machines is found, and the failure says how to reproduce it.
func TestClusterFinds(t *testing.T) {
	rules := pastureRules()
	machines := uint32(0)
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		stepPasture(w, config, turn)
		if turn.Tick == 100 {
			machines++
			w.Herds[3].Size += machines
		}
	}
	r := &recorder{dir: t.TempDir()}
	locksteptest.Cluster(r, lockstep.MustGame(rules), locksteptest.ClusterOptions{
		Config: &pastureConfig{Herds: 6}, Seeds: 1, Length: 40 * lockstep.Second, Only: []string{},
	})
	for _, want := range []string{
		"I1 violated", "has another state than the match after tick 100: Herds[3].Size: got ", "{Config: (that of the test), Seed: 1, Seeds: 1, Clients: 4, Length: 40000000, Only: []string{}}",
		"the same test: go test -count=1 -run '^TestHerds$/^a\\+b$' .",
	} {
		if !strings.Contains(r.text, want) {
			t.Errorf("got %q, want %q in it", r.text, want)
		}
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
	refusal(t, "of another configuration", locksteptest.ClusterOptions{Config: &pastureConfig{Herds: 7}, Artifact: name})
	refusal(t, `got "sharks" in Only, want one of ["cut" `, locksteptest.ClusterOptions{Config: &pastureConfig{Herds: 6}, Only: []string{"cut", "sharks"}})
	refusal(t, "no herds", locksteptest.ClusterOptions{Config: &pastureConfig{}})
}

// A game for one or two players has matches of so many seats.
func TestClusterOfFewSeats(t *testing.T) {
	for most := range uint8(3) {
		rules := pastureRules()
		start, seen := rules.New, uint8(0)
		rules.New = func(w *pasture, s *lockstep.Settings, c *pastureConfig) error {
			if s.Players > most {
				return fmt.Errorf("got %d players, want at most %d", s.Players, most)
			}
			seen = max(seen, s.Players)
			return start(w, s, c)
		}
		r := &recorder{}
		func() {
			defer func() { _ = recover() }() // of a refusal
			locksteptest.Cluster(r, lockstep.MustGame(rules), locksteptest.ClusterOptions{
				Config: &pastureConfig{Herds: 6}, Seeds: 3, Length: 40 * lockstep.Second,
			})
		}()
		if want := most == 0; strings.Contains(r.text, "needs 6 seats (4 clients, and seats for liars and strangers): ") != want || seen != most || !want && r.text != "" {
			t.Errorf("a game of %d seats: played with %d: %s", most, seen, r.text)
		}
	}
}

// refusal fails unless the error for the options contains a text.
func refusal(t *testing.T, want string, o locksteptest.ClusterOptions) {
	t.Helper()
	r := &recorder{}
	func() {
		defer func() { _ = recover() }()
		locksteptest.Cluster(r, lockstep.MustGame(pastureRules()), o)
	}()
	if !strings.Contains(r.text, want) {
		t.Errorf("got %q, want %q in it", r.text, want)
	}
}

// A match that is too short for any fault is rejected, since it would prove nothing.
func TestClusterTooShort(t *testing.T) {
	refusal(t, "got a match of 20 s, want at least 40 s", locksteptest.ClusterOptions{
		Config: &pastureConfig{Herds: 6}, Length: 20 * lockstep.Second,
	})
}
