package locksteptest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/reach"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// GoldenOptions describe the match that [Golden] adds. Once it is added, only Dir, Floor, Weights and AllowThin matter: a golden match
// has its own configuration and commands. Fields without a comment are those of [Options].
type GoldenOptions struct {
	Config    any
	Players   uint8
	Ticks     lockstep.Tick
	Seed      uint64
	Play      func(p lockstep.Player, s *lockstep.Simulation) []any
	Weights   map[string]int
	AllowThin string
	Floor     Floor
	Dir       string // folder of the golden matches; empty means testdata/golden
}

// goldenVariable is the environment variable that makes Golden add a match. A flag would be unknown in the packages without
// a golden test when go test runs many.
const goldenVariable = "SAMESTEP_GOLDEN"

// Errors of golden matches.
var (
	// ErrNoGolden reports that the folder has no golden match of the game's build.
	ErrNoGolden = errors.New("no golden match of this build")

	// ErrGoldenPlatform reports that a golden match has another result here than on the platform that recorded it. The rules depend on
	// the platform, or they have changed as well: the test says which on the platform of the recording.
	ErrGoldenPlatform = errors.New("the platform differs")

	// ErrGoldenChanged reports that a golden match of the game's build has another result now, on the platform that recorded it.
	ErrGoldenChanged = errors.New("the rules changed but Build did not")
)

// Golden verifies the golden matches of a game: replays in the folder testdata/golden that an earlier version of the rules
// wrote, with the state hash of every tick. It fails if a hash changes while Build does not: then players with the same
// build would compute different matches. So raise Build with each change of the rules, and add a match of the new build:
//
//	SAMESTEP_GOLDEN=add go test -run TestGolden .
//
// That never replaces a match. Golden leaves out matches of other builds and other games. Replays of real matches can be in
// the folder too.
func Golden(t testing.TB, g *lockstep.Game, o GoldenOptions) {
	t.Helper()
	check := CheckGolden
	if how := os.Getenv(goldenVariable); how == "add" {
		check = AddGolden
	} else if how != "" {
		t.Fatalf("locksteptest: golden: got %s=%q, want add", goldenVariable, how)
	}
	found, err := check(g, o)
	if errors.Is(err, ErrNoGolden) || errors.Is(err, ErrGoldenChanged) {
		t.Fatalf("%v\nadd a match of a build: %s=add %s", err, goldenVariable, testLine(t.Name()))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("locksteptest: golden: build %s: verified %s: %s", g.Build(), strings.Join(found.Files, ", "), found.Reached)
}

// A GoldenResult has the verified golden matches of a build.
type GoldenResult struct {
	Files   []string `json:"files"`
	Reached *Reached `json:"reached"` // by all together
}

// CheckGolden is [Golden] without a test. The error is [ErrNoGolden], [ErrGoldenChanged], [ErrGoldenPlatform], [ErrThin] for matches
// that together are below the floor, or one of reading.
func CheckGolden(g *lockstep.Game, o GoldenOptions) (GoldenResult, error) {
	r := GoldenResult{Files: []string{}}
	all, err := filepath.Glob(filepath.Join(o.dir(), "*.ssr"))
	if err != nil {
		return r, fmt.Errorf("locksteptest: golden: %w", err)
	}
	sum := reach.New(g)
	for _, name := range all {
		b, err := os.ReadFile(name)
		if err != nil {
			return r, fmt.Errorf("locksteptest: golden: %w", err)
		}
		same, err := verifyGolden(g, b, sum)
		if err != nil {
			return r, fmt.Errorf("locksteptest: golden: %s: %w", name, err)
		}
		if same {
			r.Files = append(r.Files, name)
		}
	}
	r.Reached = sum.Reached()
	if len(r.Files) == 0 {
		return r, fmt.Errorf("locksteptest: golden: %w: build %q of %s in %s", ErrNoGolden, g.Build(), g.Name(), o.dir())
	}
	options := o.options(g)
	if err := o.Floor.Check(r.Reached, &options, true); err != nil {
		return r, fmt.Errorf("%w\ngolden: %s: a larger match of this build can stand beside it, or delete it if nobody has ever run the build", err, strings.Join(r.Files, ", "))
	}
	return r, nil
}

// verifyGolden verifies a replay if it is one of the game's build, adds what it reached to sum, and reports whether it is.
func verifyGolden(g *lockstep.Game, b []byte, sum *reach.Sum) (bool, error) {
	r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return false, err
	}
	first, err := r.Next()
	if err != nil || first.Header == nil || first.Header.Game != g.Name() || first.Header.Build != g.Build() {
		return false, err
	}
	v, err := replay.Verify(r, g, replay.VerifyOptions{})
	var identity *lockstep.IdentityError
	var desync *lockstep.DesyncError
	var fault *lockstep.PanicError
	here, there := lockstep.Platform(), first.Header.Platform
	switch {
	case errors.As(err, &identity):
		return true, fmt.Errorf("%w: raise it: build %q: %w", ErrGoldenChanged, g.Build(), err)
	case (errors.As(err, &desync) || errors.As(err, &fault)) && here != there:
		return true, fmt.Errorf("%w: recorded on %s, this is %s: the rules depend on it, or have changed: run this on %s to tell: %w", ErrGoldenPlatform, there, here, there, err)
	case errors.As(err, &desync) || errors.As(err, &fault):
		return true, fmt.Errorf("%w: raise it: build %q: %w", ErrGoldenChanged, g.Build(), err)
	case err != nil:
		return true, err
	case v.Checked < 2:
		return true, errors.New("the replay has no checksums to compare")
	}
	return true, addReplay(sum, g, b)
}

// addReplay adds the match of a replay that verifies.
func addReplay(sum *reach.Sum, g *lockstep.Game, b []byte) error {
	in, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	var before []byte
	var first, last lockstep.Tick
	f := g.NewFollower(lockstep.FollowerOptions{})
	err = replay.Play(in, f, func(rec *record.Record) error {
		sum.Accept(&rec.Frame)
		sim := f.Simulation()
		if sim == nil || sim.Tick() == last && before != nil {
			return nil
		}
		now := sim.AppendState(nil)
		if before == nil {
			first = sim.Tick()
		} else {
			sum.States(before, now)
		}
		before, last = now, sim.Tick()
		return nil
	})
	sum.Played(last - first)
	return err
}

// AddGolden plays a match of the game's build and adds it to the golden matches, unless there is one. If that has another
// result now, the error is that of [CheckGolden], which it calls in the end.
func AddGolden(g *lockstep.Game, o GoldenOptions) (GoldenResult, error) {
	if r, err := CheckGolden(g, o); !errors.Is(err, ErrNoGolden) {
		return r, err
	}
	m, err := playGolden(g, o)
	if err != nil {
		return GoldenResult{}, err
	}
	var file bytes.Buffer
	if err := m.write(&file, "a golden match"); err != nil {
		return GoldenResult{}, err
	}
	if err := os.MkdirAll(o.dir(), 0o755); err != nil {
		return GoldenResult{}, err
	}
	name := filepath.Join(o.dir(), fileName(g.Name()+"-"+g.Build())+".ssr")
	if _, err := os.Stat(name); err == nil {
		return GoldenResult{}, fmt.Errorf("locksteptest: golden: %s already exists, for another build", name)
	}
	if err := os.WriteFile(name, file.Bytes(), 0o644); err != nil {
		return GoldenResult{}, err
	}
	return CheckGolden(g, o)
}

// playGolden plays a match that is worth keeping.
func playGolden(g *lockstep.Game, o GoldenOptions) (*match, error) {
	m, err := o.options(g).match(g)
	if err == nil {
		err = m.play()
	}
	if err == nil {
		t := m.tally()
		err = cmp.Or(t.thin(&m.options), o.Floor.Check(t.reached.Reached(), &m.options, true))
	}
	return m, err
}

func (o *GoldenOptions) dir() string { return cmp.Or(o.Dir, filepath.Join("testdata", "golden")) }

// options returns the options of the match to add. Without Weights, the bots of Play play alone.
func (o *GoldenOptions) options(g *lockstep.Game) Options {
	weights := o.Weights
	if o.Play != nil && weights == nil {
		weights = onlyBots(g)
	}
	return Options{
		Config: o.Config, Players: o.Players, Ticks: o.Ticks, Seed: o.Seed, Play: o.Play, Weights: weights, AllowThin: o.AllowThin, Floor: o.Floor,
	}
}

// fileName returns text with all but letters, digits, points and dashes of ASCII replaced.
func fileName(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		}
		return '_'
	}, text)
}
