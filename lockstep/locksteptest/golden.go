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

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// GoldenOptions describe the match that [Golden] adds. Once it is added, only Dir matters: a golden match has its own
// configuration and commands. Fields without a comment are those of [Options].
type GoldenOptions struct {
	Config    any
	Players   uint8
	Ticks     lockstep.Tick
	Seed      uint64
	Play      func(p lockstep.Player, s *lockstep.Simulation) []any
	Weights   map[string]int
	AllowThin string
	Dir       string // folder of the golden matches; empty means testdata/golden
}

// goldenVariable is the environment variable that makes Golden add a match. A flag would be unknown in the packages without
// a golden test when go test runs many.
const goldenVariable = "SAMESTEP_GOLDEN"

// Errors of golden matches.
var (
	// ErrNoGolden reports that the folder has no golden match of the game's build.
	ErrNoGolden = errors.New("no golden match of this build")

	// ErrGoldenChanged reports that a golden match of the game's build has another result now.
	ErrGoldenChanged = errors.New("the rules have changed, and Build has not")
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
	names, err := check(g, o)
	if errors.Is(err, ErrNoGolden) || errors.Is(err, ErrGoldenChanged) {
		t.Fatalf("%v\nadd a match of a build: %s=add %s", err, goldenVariable, testLine(t.Name()))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("locksteptest: golden: build %s: verified %s", g.Build(), strings.Join(names, ", "))
}

// CheckGolden is [Golden] without a test. It returns the names of the verified files. The error is [ErrNoGolden],
// [ErrGoldenChanged], or one of reading.
func CheckGolden(g *lockstep.Game, o GoldenOptions) ([]string, error) {
	all, err := filepath.Glob(filepath.Join(o.dir(), "*.ssr"))
	if err != nil {
		return nil, fmt.Errorf("locksteptest: golden: %w", err)
	}
	var names []string
	for _, name := range all {
		b, err := os.ReadFile(name)
		if err != nil {
			return names, fmt.Errorf("locksteptest: golden: %w", err)
		}
		same, err := verifyGolden(g, b)
		if err != nil {
			return names, fmt.Errorf("locksteptest: golden: %s: %w", name, err)
		}
		if same {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("locksteptest: golden: %w: build %q of %s in %s", ErrNoGolden, g.Build(), g.Name(), o.dir())
	}
	return names, nil
}

// verifyGolden verifies a replay if it is one of the game's build, and reports whether it is.
func verifyGolden(g *lockstep.Game, b []byte) (bool, error) {
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
	if errors.As(err, &identity) || errors.As(err, &desync) || errors.As(err, &fault) {
		err = fmt.Errorf("%w: raise it: build %q: %w", ErrGoldenChanged, g.Build(), err)
	} else if err == nil && v.Checked < 2 {
		err = errors.New("the replay has no checksums to compare")
	}
	return true, err
}

// AddGolden plays a match of the game's build and adds it to the golden matches, unless there is one. If that has another
// result now, the error is [ErrGoldenChanged]. It returns the names of the files of the build.
func AddGolden(g *lockstep.Game, o GoldenOptions) ([]string, error) {
	if names, err := CheckGolden(g, o); !errors.Is(err, ErrNoGolden) {
		return names, err
	}
	m, err := newMatch(g, o.options())
	if err == nil {
		err = m.play()
	}
	if err == nil {
		err = m.tally().thin(&m.options)
	}
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := m.write(&file, "a golden match"); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.dir(), 0o755); err != nil {
		return nil, err
	}
	name := filepath.Join(o.dir(), fileName(g.Name()+"-"+g.Build())+".ssr")
	if _, err := os.Stat(name); err == nil {
		return nil, fmt.Errorf("locksteptest: golden: %s exists, and is of another build", name)
	}
	if err := os.WriteFile(name, file.Bytes(), 0o644); err != nil {
		return nil, err
	}
	return CheckGolden(g, o)
}

func (o *GoldenOptions) dir() string { return cmp.Or(o.Dir, filepath.Join("testdata", "golden")) }

func (o *GoldenOptions) options() Options {
	return Options{
		Config: o.Config, Players: o.Players, Ticks: o.Ticks, Seed: o.Seed, Play: o.Play, Weights: o.Weights, AllowThin: o.AllowThin,
	}.filled()
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
