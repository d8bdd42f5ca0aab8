package archtest

import (
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/kit/determinism"
)

// engine is what must come out the same on every machine whatever the game: the comment //samestep:deterministic in these
// packages makes the analyzer look at each of their functions.
var engine = slices.Concat(machines, []string{"lockstep", "lockstep/record", "lockstep/disclosure", "lockstep/abi", "lockstep/feed", "lockstep/protocol", "lockstep/datagram", "lockstep/coordinator", "lockstep/host", "lockstep/player", "cluster/ownership", "cluster/audience", "state", "checksum", "fixed", "internal/pack", "internal/decimal", "internal/ring"})

// Every function of the engine's core, and of the numbers that it computes with, is clean by the analyzer that game authors
// run. As a control a clock is planted in each package, and is found. At night .ci/run runs the analyzer on all packages, and so on
// our own simulations.
func TestDeterminism(t *testing.T) {
	needsGo(t)
	dir := ours(t).dir
	planted := map[string][]byte{}
	var patterns []string
	for _, p := range engine {
		source := "package " + path.Base(p) + "\n\nimport \"time\"\n\nfunc planted() int64 { return time.Now().Unix() }\n"
		planted[filepath.Join(dir, filepath.FromSlash(p), "planted.go")] = []byte(source)
		patterns = append(patterns, "./"+p)
	}
	found, err := determinism.Vet(determinism.Options{Dir: dir, Overlay: planted}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if _, ok := planted[f.File]; !ok {
			t.Error(f)
		} else if f.Rule == "clock" {
			delete(planted, f.File)
		}
	}
	for file := range planted {
		t.Errorf("no clock was found in %s", file)
	}
}
