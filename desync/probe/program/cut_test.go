//go:build !js && !wasip1

package program

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/desync/probe"
	"github.com/seed-49bee653/samestep/lockstep"
)

// ending are rules that end the program in tick 5, or need too much memory before that.
func ending(memory bool) func() lockstep.Rules[world, config] {
	return func() lockstep.Rules[world, config] {
		r := rules(false)()
		r.Step = func(w *world, _ *config, t *lockstep.Turn) {
			if w.Tick = uint32(t.Tick); w.Tick < 5 {
				return
			}
			if probe.On {
				probe.S(1)
			}
			for all := [][]byte{}; memory && len(all) < 4096; { // MiB that no code has written
				all = append(all, make([]byte, 1<<20))
			}
			os.Exit(9)
		}
		return r
	}
}

// TestMain does a job, if this process has one: the rules of [TestEndsInTick] end it.
func TestMain(m *testing.M) {
	kind := os.Getenv("SAMESTEP_TEST_ENDING")
	if kind == "" {
		os.Exit(m.Run())
	}
	Main(Of(ending(kind == "memory")))
}

// A program that ends in a tick leaves the sums of the ticks before, or the recording up to there.
func TestEndsInTick(t *testing.T) {
	log := played(t)
	for _, kind := range []string{"exit", "memory"} {
		for _, j := range []Job{{Kind: Hashes}, {Kind: Trace, Tick: 5, Seconds: 1000}, {Kind: Stand, Tick: 5}} {
			j.Log, j.Folder, j.Memory = log, t.TempDir(), math.MaxInt64
			if kind == "memory" {
				j.Memory = 256 << 20
			}
			path := filepath.Join(j.Folder, "job.json")
			if err := WriteJSON(path, &j); err != nil {
				t.Fatal(err)
			}
			c := exec.Command(os.Args[0], path)
			c.Env = append(os.Environ(), "SAMESTEP_TEST_ENDING="+kind, "GOMEMLIMIT=off")
			out, err := c.CombinedOutput()
			if failed := err != nil; failed != (kind == "exit") || len(out) > 0 {
				t.Errorf("%s of %s: got %v and %q", kind, j.Kind, err, out)
			}
			var r Result
			if err := ReadJSON(filepath.Join(j.Folder, ResultFile), &r); err != nil {
				t.Fatal(err)
			}
			open, memory, name, size := kind == "exit" || j.Kind != Trace, int64(0), HashFile, 5*8
			if kind == "memory" {
				memory = j.Memory
			}
			switch j.Kind {
			case Stand:
				if r.Step.Name == "" || r.Open != open || r.Memory != memory {
					t.Errorf("%s: got %+v, want where Step is", kind, r)
				}
				continue
			case Trace:
				if len(r.Runs) != 1 || !r.Runs[0].Cut {
					t.Fatalf("%s: got the runs %+v", kind, r.Runs)
				}
				name, size = r.Runs[0].Trace, 6 // of one event
			}
			b, err := os.ReadFile(filepath.Join(j.Folder, name))
			if r.Open != open || r.Memory != memory || err != nil || len(b) != size {
				t.Errorf("%s of %s: got %+v with %d bytes, %v, want %d", kind, j.Kind, r, len(b), err, size)
			}
		}
	}
}
