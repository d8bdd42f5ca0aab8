package recorder_test

import (
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/recorder"
)

// A ticker records ticks of 4 players with 8 sections, as testdata/ticks.c and ticks.py do.
type ticker struct {
	r    *recorder.Recorder
	tick uint32
	sums [8]uint64
}

func newTicker(w io.Writer) *ticker {
	return &ticker{r: recorder.New(w, recorder.Header{Title: "Ticks", TickRate: 60, Players: 4, By: recorder.NoPlayer, Sections: strings.Split("abcdefgh", "")})}
}

var payload = []byte("abcdefgh")

func (t *ticker) record() {
	for p := range uint8(4) {
		t.r.Command(t.tick, p, 7, payload)
	}
	t.tick++
	for i := range t.sums {
		t.sums[i] = (uint64(t.tick) + uint64(i)) * 0x9e3779b97f4a7c15
	}
	t.r.Sum(t.tick, 0, uint64(t.tick)*0xd6e8feb86659fd93, t.sums[:]...)
	if t.r.Wanted(t.tick) {
		panic("no state is wanted")
	}
}

// Recording a tick allocates nothing.
func TestAllocations(t *testing.T) {
	t.Setenv(recorder.Variable, "")
	k := newTicker(io.Discard)
	if n := testing.AllocsPerRun(500, k.record); n != 0 {
		t.Errorf("got %v allocations a tick, want 0", n)
	}
	if err := k.r.Close(); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() { newTicker(io.Discard).record() }); n == 0 {
		t.Error("control: a new recorder allocates nothing, so nothing is counted")
	}
}

// The recorder in C allocates nothing after the beginning either.
func TestAllocationsInC(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the recorder in C is the same on every platform")
	}
	testenv.Long(t)
	if out := runTicks(t, "gcc"); !strings.HasSuffix(out, " 0 allocations\n") {
		t.Errorf("got %q, want 0 allocations", out)
	}
}

// runTicks runs testdata/ticks.c or ticks.py, and returns what it prints.
func runTicks(t testing.TB, name string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the program in C is for Linux")
	}
	compiler, err := exec.LookPath(name)
	testenv.Or(t, name, err)
	dir := t.TempDir()
	command := []string{compiler, "testdata/ticks.py"}
	if name == "gcc" {
		command = []string{filepath.Join(dir, "ticks")}
		if out, err := exec.Command(compiler, "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I", "c", "-o", command[0], "testdata/ticks.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	out, err := exec.Command(command[0], append(command[1:], filepath.Join(dir, "ticks.jsonl"))...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// BenchmarkTick records a tick with 4 commands, a sum and 8 sections to a file. The other rows are for comparison: the hash
// of a state of 40 KB, as 1,000 units have, and the recorders in other languages.
func BenchmarkTick(b *testing.B) {
	b.Setenv(recorder.Variable, "")
	b.Run("go", func(b *testing.B) {
		file, err := os.Create(filepath.Join(b.TempDir(), "ticks.jsonl"))
		if err != nil {
			b.Fatal(err)
		}
		defer file.Close()
		b.ReportAllocs()
		var k *ticker
		for i := range b.N {
			if i%100_000 == 0 { // a recording has a last line
				if _, err := file.Seek(0, io.SeekStart); err != nil {
					b.Fatal(err)
				}
				k = newTicker(file)
			}
			k.record()
		}
		if err := k.r.Close(); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("hash", func(b *testing.B) {
		state := make([]byte, 40_000)
		for range b.N {
			h := fnv.New64a()
			h.Write(state)
			h.Sum64()
		}
	})
	for row, name := range map[string]string{"c": "gcc", "python": "python3"} {
		b.Run(row, func(b *testing.B) {
			for range b.N {
				ns, _, _ := strings.Cut(runTicks(b, name), " ns")
				n, err := strconv.ParseFloat(ns, 64)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(n, "ns/tick")
			}
		})
	}
}
