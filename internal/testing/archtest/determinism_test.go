package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/determinism"
)

// engine is what must come out the same on every machine whatever the game: the comment //samestep:deterministic in these
// packages makes the analyzer look at each of their functions.
var engine = []string{"lockstep", "lockstep/record", "lockstep/abi", "lockstep/feed", "lockstep/protocol", "lockstep/datagram", "lockstep/coordinator", "lockstep/host", "lockstep/player", "lockstep/cluster/ownership", "lockstep/cluster/audience", "state", "checksum", "fixed", "internal/pack", "internal/decimal", "internal/ring"}

// Every function of the engine's core, and of the numbers that it computes with, is clean by the analyzer that game authors
// run. .ci/run runs that on all packages, and so on our own simulations.
func TestDeterminism(t *testing.T) {
	needsGo(t)
	found, err := determinism.Vet(determinism.Options{Dir: ours(t).dir}, patterns(engine)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

func patterns(packages []string) (list []string) {
	for _, p := range packages {
		list = append(list, "./"+p)
	}
	return list
}

// A clock in one of the engine's packages is found, and nothing else in a copy of it.
func TestDeterminismControl(t *testing.T) {
	needsGo(t)
	from, to := ours(t).dir, t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		copyFile(t, filepath.Join(from, name), filepath.Join(to, name))
	}
	for _, p := range engine {
		files, err := filepath.Glob(filepath.Join(from, p, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has %d files, %v", p, len(files), err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				copyFile(t, file, filepath.Join(to, p, filepath.Base(file)))
			}
		}
	}
	var want []string
	for _, p := range engine {
		name := p[strings.LastIndex(p, "/")+1:]
		planted := "package " + name + "\n\nimport \"time\"\n\nfunc planted() int64 { return time.Now().Unix() }\n"
		if err := os.WriteFile(filepath.Join(to, p, "planted.go"), []byte(planted), 0o644); err != nil {
			t.Fatal(err)
		}
		want = append(want, filepath.Join(to, p, "planted.go"))
	}
	found, err := determinism.Vet(determinism.Options{Dir: to}, patterns(engine)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Rule != "clock" || !strings.HasSuffix(f.File, "planted.go") {
			t.Errorf("found %v", f)
		}
	}
	if len(found) != len(want) {
		t.Errorf("got %d findings, want one in each of %q", len(found), want)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
