package simulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
)

// artifactFormat names the format of artifacts. It changes when the same plan gives
// another run.
const artifactFormat = "samestep simulation 1"

// An Artifact is a run as a file. It has everything to repeat the run without the
// code that drew its plan, and the violation that was found.
type Artifact struct {
	Format    string     `json:"format"`
	Game      string     `json:"game"`
	Build     string     `json:"build"`
	Config    []byte     `json:"config"` // canonical bytes of the game's configuration
	Plan      *Plan      `json:"plan"`
	Violation *Violation `json:"violation,omitempty"`
	Last      []string   `json:"last,omitempty"` // the last events
}

// NewArtifact returns the artifact of a run.
func NewArtifact(s *Subject, out *Outcome) (*Artifact, error) {
	h, err := s.header(lockstep.MatchID{}, out.Plan.Settings)
	if err != nil {
		return nil, err
	}
	return &Artifact{artifactFormat, h.Game, h.Build, h.Config, out.Plan, out.Violation, out.Last}, nil
}

// Write writes the artifact as JSON.
func (a *Artifact) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(a)
}

// Keep makes a failure small, and writes it to a file.
func Keep(s *Subject, out *Outcome, o ShrinkOptions, name string) (Shrunk, error) {
	small, err := Shrink(s, out, o)
	if err != nil {
		return Shrunk{}, err
	}
	a, err := NewArtifact(s, small.Outcome)
	if err == nil {
		err = files.Replace(name, func(f *os.File) error { return a.Write(f) })
	}
	return small, err
}

// OpenArtifact reads the artifact in a file.
func OpenArtifact(name string) (*Artifact, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := ReadArtifact(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

// errArtifact is wrapped by the errors of [ReadArtifact].
var errArtifact = errors.New("simulate: bad artifact")

// ReadArtifact reads an artifact.
func ReadArtifact(r io.Reader) (*Artifact, error) {
	var a Artifact
	d := json.NewDecoder(io.LimitReader(r, 64<<20))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return nil, fmt.Errorf("%w: %w", errArtifact, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: there is more after its end", errArtifact)
	}
	if a.Format != artifactFormat || a.Plan == nil {
		return nil, fmt.Errorf("%w: format %q, want %q", errArtifact, a.Format, artifactFormat)
	}
	if err := a.Plan.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", errArtifact, err)
	}
	return &a, nil
}

// Drones returns the subject of an artifact of the simulator's own game.
func (a *Artifact) Drones() (*Subject, error) { return a.Of(Drones(0)) }

// Of returns a subject with the configuration of an artifact, which must be of its game.
func (a *Artifact) Of(s *Subject) (*Subject, error) {
	if err := a.sameGame(s); err != nil {
		return nil, err
	}
	own := *s
	own.packed = a.Config
	h, err := own.header(lockstep.MatchID{}, a.Plan.Settings)
	if err == nil {
		_, err = s.Game.NewSimulation(h)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: configuration: %w", errArtifact, err)
	}
	return &own, nil
}

// sameGame returns an error unless an artifact is of a subject's game.
func (a *Artifact) sameGame(s *Subject) error {
	if a.Game != s.Game.Name() || a.Build != s.Game.Build() {
		return fmt.Errorf("%w: of game %s build %s, want %s build %s", errArtifact, a.Game, a.Build, s.Game.Name(), s.Game.Build())
	}
	return nil
}

// Fits returns an error unless an artifact has a subject's game and configuration.
func (a *Artifact) Fits(s *Subject) error {
	if err := a.sameGame(s); err != nil {
		return err
	}
	h, err := s.header(lockstep.MatchID{}, a.Plan.Settings)
	if err != nil {
		return err
	}
	if !bytes.Equal(a.Config, h.Config) {
		return fmt.Errorf("%w: of another configuration: got % x, want % x", errArtifact, a.Config, h.Config)
	}
	return nil
}

// longest limits all durations of a plan.
const longest = 48 * 3600 * lockstep.Second

// check returns an error for an invalid plan from a file.
func (p *Plan) check() error {
	if err := p.Settings.Check(); err != nil {
		return err
	}
	seats := 0
	for i := range p.Machines {
		m := &p.Machines[i]
		if !m.Spectator {
			seats++
		}
		if !within(0, longest, m.JoinAt, m.Every) || !m.Up.valid() || !m.Down.valid() || !m.Datagrams.valid() || m.Backlog < 1 || m.Predict > 1000 {
			return fmt.Errorf("machine %d: got %+v", i, *m)
		}
	}
	d := &p.Disk
	switch {
	case len(p.Machines) == 0 || seats > int(p.Settings.Players):
		return fmt.Errorf("got %d machines and %d players in %d seats", len(p.Machines), seats, p.Settings.Players)
	case slices.ContainsFunc(p.Machines, func(m MachinePlan) bool {
		return m.Views && (m.Datagrams != nil || p.Host.Views == nil || p.Host.Relay || m.Liar)
	}):
		return errors.New("got a viewer that no match of views has")
	case p.Host.Relay && p.Host.SpectatorDelay > 0:
		return fmt.Errorf("got a spectator delay of %d ticks and no referee", p.Host.SpectatorDelay)
	case !p.Cluster.valid() || p.Cluster != nil && (p.Host.Relay || !d.Await || d.EachFrame):
		return fmt.Errorf("cluster: got %+v, host %+v, disk %+v", p.Cluster, p.Host, *d)
	case !within(1, longest, p.Chaos, p.Heal):
		return fmt.Errorf("got phases of %d and %d µs", p.Chaos, p.Heal)
	case !within(1, longest, d.SyncEvery) || !within(0, longest, d.SyncTime) || d.FlushTicks < 1 || d.FlushTicks > 1<<20:
		return fmt.Errorf("disk: got %+v", *d)
	}
	for i := range p.Faults {
		f := &p.Faults[i]
		k := kindNamed(f.Kind)
		if k == nil || f.Who < 0 || f.Who >= len(p.Machines) || !within(0, longest, f.At, f.For) || f.N < 0 || f.N > k.n || i > 0 && f.At < p.Faults[i-1].At {
			return fmt.Errorf("fault %d: got %+v", i, *f)
		}
	}
	return nil
}

func within(low, high lockstep.Time, all ...lockstep.Time) bool {
	for _, t := range all {
		if t < low || t > high {
			return false
		}
	}
	return true
}

func (l *Link) valid() bool {
	return within(0, longest, l.Delay, l.Jitter) && l.Loss <= 900_000 && l.Rate >= 0
}
