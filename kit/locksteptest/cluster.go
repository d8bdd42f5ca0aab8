package locksteptest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/simulate"
	"github.com/seed-49bee653/samestep/lockstep"
)

// ClusterOptions describe the matches of [Cluster]. Only Config may be required.
type ClusterOptions struct {
	Config any           // pointer to the game's configuration, which New must accept
	Seeds  int           // number of matches; 0 means 20
	Seed   uint64        // of the first match; 0 means 1
	Length lockstep.Time // of each match, in virtual time, at least 40 seconds, the last 30 without faults; 0 means a minute
	Only   []string      // kinds of faults, as samestep simulate --report prints them; nil means all, and one must happen

	// Clients is the number of honest players; 0 means 4. Liars and strangers may join them: by seed, a match has from two to
	// seven more seats than Clients. If New refuses so many, matches have as many seats as New accepts, and fewer players.
	Clients int

	// Relay plays some of the matches without a referee (host.Options.Relay). Then nobody calls Validate, so Step must
	// handle every command.
	Relay bool

	// Artifact is a file that a failure has written. Its match is played instead of those of seeds.
	Artifact string

	// Play returns the commands of p: pointers to registered types. It reads s, the player's own copy of the match, and must
	// depend on nothing else. Nil means random commands of every kind.
	Play func(p lockstep.Player, s *lockstep.Simulation) []any

	// Weights, AllowThin and Floor are those of [Options], and all matches together must reach the floor. Without Play, Cluster first plays some matches as [Check] does, and fails if
	// these together prove too little.
	Weights   map[string]int
	AllowThin string
	Floor     Floor
}

// Cluster plays whole matches of a game in virtual time, drawn from seeds: a server with its disk and its replay file,
// clients over a bad network, liars and strangers, crashes and power cuts. It plays each match twice, which must give
// the same bytes. If a match breaks a rule, such as by a client whose state differs from the match, Cluster fails the
// test and prints how to play the same match again.
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
	if err := o.fits(g, &c); err != nil {
		t.Fatalf("locksteptest: cluster: %v", err)
	}
	r, err := c.Run()
	if err != nil {
		t.Fatalf("locksteptest: cluster: %v", err)
	}
	if r.Reached != nil {
		reached := r.Reached.Reached()
		t.Logf("locksteptest: cluster: %s; %d states of clients compared, %d faults", reached, r.Compared, r.Faults())
		options := Options{Weights: o.Weights, AllowThin: o.AllowThin, Play: o.Play}
		if err := o.Floor.Check(reached, &options, true); err != nil && len(r.Violations) == 0 {
			t.Errorf("%v", err)
		}
		if err := c.Idle(r); err != nil && len(r.Violations) == 0 && o.AllowThin == "" {
			t.Errorf("locksteptest: cluster: %v: try more Seeds, matches that last longer or other kinds (Only), ask for none (Only: []string{}), or say why that is enough (AllowThin)", err)
		}
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

// fits returns an error if the game refuses the number of seats of a match, or if random matches prove too little.
func (o *ClusterOptions) fits(g *lockstep.Game, c *simulate.Campaign) error {
	c.Subject.Seats = o.seats(g, c)
	most := uint8(0)
	for seed := c.First; seed < c.First+uint64(c.Seeds); seed++ {
		settings := simulate.Expand(c.Options, seed).Settings
		most = max(most, settings.Players)
		if _, err := g.NewHeader(lockstep.MatchID{}, settings, c.Subject.Config); err != nil {
			return fmt.Errorf("seed %d needs %d seats (%d clients, and seats for liars and strangers): %w", seed, settings.Players, c.Clients, err)
		}
	}
	if o.Play != nil {
		return nil
	}
	return Thin(g, Options{Config: c.Subject.Config, Players: most, Weights: o.Weights, AllowThin: o.AllowThin, Floor: o.Floor}, nil)
}

// seats returns the numbers of seats that New accepts, up to that of the largest match or else the smallest, or nil for none.
func (o *ClusterOptions) seats(g *lockstep.Game, c *simulate.Campaign) (all []uint8) {
	for n := 1; n <= lockstep.MaxPlayers; n++ {
		if n > c.Clients+simulate.SpareSeats && all != nil {
			break
		}
		if h, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(uint8(n)), c.Subject.Config); err == nil {
			if _, err := g.NewSimulation(h); err == nil {
				all = append(all, uint8(n))
			}
		}
	}
	return all
}

// line returns the options as Go code that plays the match of one seed again.
func (o *ClusterOptions) line() string {
	var c goCode
	c.add(o.Config != nil, "Config: %s", configCode(o.Config))
	c.add(true, "Seed: %d, Seeds: 1, Clients: %d, Length: %d", o.Seed, o.Clients, o.Length)
	c.add(o.Only != nil, "Only: %#v", o.Only)
	c.add(len(o.Weights) > 0, "Weights: %#v", o.Weights)
	c.add(o.Play != nil, "Play: (that of the test)")
	return "locksteptest.ClusterOptions{" + strings.Join(c, ", ") + "}"
}

const (
	shrinkRuns = 200 // matches to play while shrinking a failure …
	shrinkTime = time.Minute
)

// keepArtifact makes a failure small and writes it to a file, which go test -artifacts keeps.
func keepArtifact(t testing.TB, s *simulate.Subject, out *simulate.Outcome) (name string, err error) {
	ctx, stop := context.WithTimeout(context.Background(), shrinkTime)
	defer stop()
	name = filepath.Join(t.ArtifactDir(), fmt.Sprintf("cluster-%d.json", out.Plan.Seed))
	small, err := simulate.Keep(s, out, simulate.ShrinkOptions{Runs: shrinkRuns, Stop: ctx.Done()}, name)
	if small.Outcome != nil && !small.Whole {
		t.Logf("locksteptest: cluster: seed %d: not made smaller after %d matches: at most %d, for %v", out.Plan.Seed, small.Runs, shrinkRuns, shrinkTime)
	}
	return name, err
}

func playArtifact(t testing.TB, s *simulate.Subject, name string) error {
	t.Helper()
	a, err := simulate.OpenArtifact(name)
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
		return randomBot(g, o.Weights, r, everyCall)
	}
	return s
}
