//go:build !js

package modules

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	wasm "github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"
)

// A faulty machine has rules that count ticks, and answers one function wrongly, from its third call on.
type faulty struct {
	function abi.Function
	answer   func() ([]byte, error)
}

// New implements abi.Machine.
func (m faulty) New() (abi.Caller, error) { return &faultyRules{faulty: m}, nil }

type faultyRules struct {
	faulty
	n, calls uint32
}

// Close implements abi.Caller.
func (r *faultyRules) Close() {}

// Call implements abi.Caller.
func (r *faultyRules) Call(f abi.Function, in []byte) ([]byte, error) {
	if f == r.function && r.answer != nil {
		if r.calls++; r.calls > 2 || f == abi.Configure || f == abi.Restore {
			return r.answer()
		}
	}
	switch f {
	case abi.Describe:
		return []byte(`{"abi":1,"game":"faulty","build":"1","state":"struct { N uint32 }","config":"struct {}","commands":[]}`), nil
	case abi.Create:
		r.n = 1
	case abi.Restore:
		var s abi.State
		if err := abi.States.Decode(in, &s); err != nil {
			return nil, &abi.Refusal{Text: err.Error()}
		}
		r.n = binary.LittleEndian.Uint32(s.Canonical)
	case abi.Save:
		return binary.LittleEndian.AppendUint32(nil, r.n), nil
	case abi.Step:
		r.n++
		return abi.Outcomes.Append(nil, &abi.Outcome{}), nil
	}
	return nil, nil
}

// Each way in which a module fails has an outcome of its own. Only results that differ are a desync.
func TestModuleOutcomes(t *testing.T) {
	refuse := func() ([]byte, error) { return nil, &abi.Refusal{Text: "no"} }
	for _, row := range []struct {
		name string
		m    faulty
		code int
		want string
	}{
		{"a refused configuration", faulty{abi.Configure, refuse}, console.ExitError, "the module refuses the configuration or its assets: "},
		{"a refused restore", faulty{abi.Restore, refuse}, console.ExitCorrupt, "the module refuses a state that it saved itself: "},
		{"a refused step", faulty{abi.Step, refuse}, console.ExitCorrupt, "violates docs/spec/abi.md: "},
		{"a save of another size", faulty{abi.Save, func() ([]byte, error) { return []byte{1}, nil }}, console.ExitCorrupt, "violates docs/spec/abi.md: "},
		{"a trap", faulty{abi.Step, func() ([]byte, error) { return nil, &abi.Fault{Text: "unreachable"} }}, console.ExitPanic, "the module panics: "},
		{"a call without an end", faulty{abi.Step, func() ([]byte, error) { return nil, &abi.Fault{Text: "too long", Limit: true} }}, console.ExitCorrupt, "the module exceeds a limit: "},
		{"another state", faulty{abi.Save, func() ([]byte, error) { return []byte{9, 9, 9, 9}, nil }}, console.ExitDesync, "they differ: "},
		{"no fault", faulty{}, console.ExitOK, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			g, err := lockstep.NewGameElsewhere(row.m)
			if err != nil {
				t.Fatal(err)
			}
			_, err = locksteptest.Run(g, locksteptest.Options{Config: &record.Untyped{}, Ticks: 20, AllowThin: "it counts"})
			if err != nil {
				err = moduleOutcome(err)
			}
			if code := console.ExitCode(err); code != row.code || err != nil && !strings.Contains(err.Error(), row.want) || errors.Is(err, console.ErrDiffers) != (row.code == console.ExitDesync) {
				t.Errorf("got exit code %d, %v, want %d, %q", code, err, row.code, row.want)
			}
		})
	}
}

// The module of skirmish computes every golden match as the native rules do, compiled and interpreted.
func TestRulesOfGoldenMatches(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	p, err := findRules(t.Context(), "../../../../../examples/skirmish", "Opening")
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, ok := wasm.Faster(b)
	if !ok {
		t.Fatal("no function has the form of Go's compiler")
	}
	files, err := filepath.Glob("../../../../../testdata/replays/*.ssr")
	if err != nil || len(files) < 4 {
		t.Fatalf("got %v, %v, want the golden matches", files, err)
	}
	for name, o := range map[string]wasm.Options{"compiled": {}, "interpreted": {Interpret: true}} {
		t.Run(name, func(t *testing.T) {
			rules, err := wasm.Compile(b, o)
			if err != nil {
				t.Fatal(err)
			}
			defer rules.Close()
			g, err := lockstep.NewGameElsewhere(rules)
			if err != nil {
				t.Fatal(err)
			}
			g = g.WithAssets(lockstep.MustGame(skirmish.Rules()).ReadAsset)
			for i, file := range files {
				if o.Interpret && i > 0 && !testenv.ByNight(t) {
					break // the interpreter takes half a minute for each
				}
				verifyIn(t, file, g)
			}
		})
	}
	if out := strings.Join(p.GoFiles, " "); !strings.Contains(out, "step.go") {
		t.Errorf("got the files %s", out)
	}
}

// verifyIn verifies a whole replay.
func verifyIn(t *testing.T, file string, g *lockstep.Game) {
	t.Helper()
	f, err := replay.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		t.Fatal(err)
	}
	v, err := replay.Verify(r, g, replay.VerifyOptions{})
	if err != nil || v.Checked == 0 {
		t.Errorf("%s: %v after %d checksums", file, err, v.Checked)
	}
}
