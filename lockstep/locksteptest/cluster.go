package locksteptest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/simulate"
	"github.com/seed-49bee653/samestep/lockstep"
)

// ClusterOptions say what matches [Cluster] plays. Of the zero value only Config may have to be set.
type ClusterOptions struct {
	// Config is a pointer to the game's configuration, which New must accept.
	Config any

	// Seeds is how many matches are played; 0 means 20.
	Seeds int

	// Seed is that of the first one; 0 means 1.
	Seed uint64

	// Clients is how many honest players there are; 0 means 4. There may be two liars and two spectators beside them,
	// so New must accept two seats more.
	Clients int

	// Length is how long each match lasts, in virtual time; 0 means a minute. It is 40 seconds at least, because the
	// last 30 are without faults.
	Length lockstep.Time

	// Only names the kinds of faults that there may be, as samestep simulate --report prints them; nil means all.
	Only []string

	// Relay plays some of the matches without a referee (host.Options.Relay). Nobody refuses what Validate would refuse
	// then, so Step must survive it.
	Relay bool

	// Artifact is a file that a failure has written: its match is played, and no seeds.
	Artifact string

	// Play gives what p commands: pointers to registered types. It reads s, the player's own copy of the match, and
	// must depend on nothing else. Nil gives random commands of every kind.
	Play func(p lockstep.Player, s *lockstep.Simulation) []any
}

// Cluster plays whole matches of a game in virtual time: a server with its disk and its replay file, clients over a bad
// network, liars and strangers, crashes and power cuts, all drawn from seeds. It fails the test if something is that
// must never be, such as a client with another state than the match has, and says how to play the same match again.
// Each match is played twice, which must give the same to the byte.
func Cluster(t testing.TB, g *lockstep.Game, o ClusterOptions) {
	t.Helper()
	for _, kind := range o.Only {
		if simulate.Group(kind) == "" {
			t.Fatalf("locksteptest: cluster: options: got %q in Only, want one of %q", kind, simulate.Kinds())
		}
	}
	c := simulate.Campaign{
		Options: simulate.Options{Subject: o.subject(g), Clients: cmp.Or(o.Clients, 4), Length: cmp.Or(o.Length, 60*lockstep.Second), Only: o.Only},
		First:   cmp.Or(o.Seed, 1), Seeds: cmp.Or(o.Seeds, 20), Workers: 1,
	}
	if o.Artifact != "" {
		if err := playArtifact(t, c.Subject, o.Artifact); err != nil {
			t.Fatalf("locksteptest: cluster: %v", err)
		}
		return
	}
	r, err := c.Run()
	if err != nil {
		t.Fatalf("locksteptest: cluster: %v", err)
	}
	for _, out := range r.Violations {
		name, err := keepArtifact(t, c.Subject, out)
		if err != nil {
			t.Fatalf("locksteptest: cluster: seed %d: %v: %v", out.Plan.Seed, out.Violation, err)
		}
		o.Seed, o.Clients, o.Length = out.Plan.Seed, c.Clients, c.Length
		t.Errorf("locksteptest: cluster: seed %d: %v\nthe same match: %s\nthe same test: %s\nmade small, in a file that stays with go test -artifacts: locksteptest.ClusterOptions{Artifact: %q}",
			out.Plan.Seed, out.Violation, o.line(), testLine(t.Name()), name)
	}
}

// line returns the options as Go code that plays the match of one seed again.
func (o *ClusterOptions) line() string {
	s := fmt.Sprintf("%sSeed: %d, Seeds: 1, Clients: %d, Length: %d", configLine(o.Config), o.Seed, o.Clients, o.Length)
	if o.Only != nil {
		s += fmt.Sprintf(", Only: %#v", o.Only)
	}
	if o.Play != nil {
		s += ", Play: (that of the test)"
	}
	return "locksteptest.ClusterOptions{" + s + "}"
}

// shrinkRuns is how many matches are played to make a failure small.
const shrinkRuns = 200

// keepArtifact makes a failure small and writes it to a file, which stays if the tests are run with -artifacts.
func keepArtifact(t testing.TB, s *simulate.Subject, out *simulate.Outcome) (name string, err error) {
	small, err := simulate.Shrink(s, out, shrinkRuns)
	if err != nil {
		return "", err
	}
	a, err := simulate.NewArtifact(s, small)
	if err != nil {
		return "", err
	}
	name = filepath.Join(t.ArtifactDir(), fmt.Sprintf("cluster-%d.json", out.Plan.Seed))
	f, err := os.Create(name)
	if err != nil {
		return "", err
	}
	if err := a.Write(f); err != nil {
		f.Close()
		return "", err
	}
	return name, f.Close()
}

// playArtifact plays what a failure has written.
func playArtifact(t testing.TB, s *simulate.Subject, name string) error {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	a, err := simulate.ReadArtifact(f)
	if err == nil {
		err = a.Fits(s)
	}
	if err != nil {
		return err
	}
	out, err := simulate.Twice(s, a.Plan)
	if err == nil && out.Violation != nil {
		t.Errorf("locksteptest: cluster: %s: %v\n%s", name, out.Violation, strings.Join(out.Last, "\n"))
	}
	return err
}

func (o *ClusterOptions) subject(g *lockstep.Game) *simulate.Subject {
	s := &simulate.Subject{Game: g, Config: o.Config, Relay: o.Relay}
	if s.Config == nil {
		s.Config = &struct{}{}
	}
	s.Play = func(p lockstep.Player, r *rand.Rand) func(*lockstep.Simulation) []any {
		if o.Play != nil {
			return func(s *lockstep.Simulation) []any { return o.Play(p, s) }
		}
		return randomPlayer(g, s.Config, r)
	}
	return s
}

// randomPlayer gives one random command each time.
func randomPlayer(g *lockstep.Game, config any, r *rand.Rand) func(*lockstep.Simulation) []any {
	header, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), config)
	if err != nil {
		return func(*lockstep.Simulation) []any { return nil } // the match is refused for the same reason
	}
	gen, err := newGenerator(&choices{rng: r}, header)
	if err != nil {
		panic(fmt.Sprintf("locksteptest: our own description: %v", err)) // NewHeader has written it
	}
	payloads := g.NewPayloads()
	return func(*lockstep.Simulation) []any {
		if len(gen.kinds) == 0 {
			return nil
		}
		var c lockstep.Command
		c.Kind, c.Payload = gen.command()
		payloads.Reset()
		if payloads.Decode(&c) != nil {
			return nil // too large
		}
		return []any{c.Value}
	}
}
