//go:build !js

package modules

import (
	wasm "github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"

	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
)

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
