//go:build !js && !wasip1

package line_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync/line"
	"github.com/seed-49bee653/samestep/internal/testing/hostile"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"
)

const pebbles = "../../examples/pebbles"

// compile returns the module of the rules of pebbles, with edits: pairs of an old and a new text.
func compile(t *testing.T, flags string, edits ...string) *line.Module {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(pebbles, "c/pebbles.c"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(edits); i += 2 {
		if !bytes.Contains(b, []byte(edits[i])) {
			t.Fatalf("the rules have no %q", edits[i])
		}
		b = bytes.Replace(b, []byte(edits[i]), []byte(edits[i+1]), 1)
	}
	dir := t.TempDir()
	source, out := filepath.Join(dir, "pebbles.c"), filepath.Join(dir, "pebbles.wasm")
	if err := os.WriteFile(source, b, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "clang", append(strings.Fields(flags), "--target=wasm32", "-ffreestanding", "-fno-builtin", "-nostdlib",
		"-Wl,--no-entry", "-I", "../../module", "-o", out, source)...)
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if b, err = os.ReadFile(out); err != nil {
		t.Fatal(err)
	}
	rules, err := module.Compile(b, module.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rules.Close() })
	return &line.Module{Name: "pebbles.wasm", Bytes: b, Rules: rules, Game: lockstep.NewGameElsewhere}
}

// find looks for the function in the golden match.
func find(t *testing.T, o line.Options, a, b *line.Module) (*line.Result, string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pebbles, "testdata/golden/*.ssr"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	f, err := replay.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var x line.FunctionFinder
	defer x.Close()
	found, err := x.Find(t.Context(), f, o, a, b)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := found.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	return found, strings.Join(strings.Fields(text.String()), " ")
}

const (
	whole  = "-O2 -fno-inline -g" // a function of the sources is one of the module
	hidden = "-DPLANTED"          // a counter that is in no state
	drawn  = "world.pile[draw() % world.piles]++;\n#endif"
)

// A planted mistake is named: the function that goes another way, and the field.
func TestFunction(t *testing.T) {
	for _, tool := range []string{"clang", "wasm-ld"} {
		_, err := exec.LookPath(tool)
		testenv.Or(t, tool, err)
	}
	for _, c := range []struct {
		name   string
		a      func(t *testing.T) *line.Module
		b      func(t *testing.T) *line.Module // nil: side A again
		tick   lockstep.Tick
		wanted string
	}{
		{"no mistake", func(t *testing.T) *line.Module { return compile(t, whole) }, nil, 0, "computes the same again from tick 0 to 600"},
		{
			"data outside of the state", func(t *testing.T) *line.Module {
				return compile(t, whole+" "+hidden, "world.pile[0]++;\n#endif", drawn)
			}, nil, 40,
			"Piles[0]: 160 | 159 function step at pebbles.c:144 because the sides take different paths here, after 24 equal calls: " +
				"calls draw | calls rules_write called step at pebbles.c:144 rules_answer at pebbles.c:213 samestep_call at samestep_rules.h:",
		},
		{
			"without lines", func(t *testing.T) *line.Module {
				return compile(t, "-O2 -fno-inline "+hidden, "world.pile[0]++;\n#endif", drawn)
			}, nil, 40,
			"function step because the sides take different paths here, after 24 equal calls: calls draw | calls rules_write called step rules_answer",
		},
		{
			"without names", func(t *testing.T) *line.Module {
				return compile(t, "-O2 -fno-inline -Wl,-s "+hidden, "world.pile[0]++;\n#endif", drawn)
			}, nil, 40,
			"after 24 equal calls: calls function ",
		},
		{
			"two versions", func(t *testing.T) *line.Module { return compile(t, whole) },
			func(t *testing.T) *line.Module {
				return compile(t, whole, "if (draw() % 64 == 0)", "if (draw() % 63 == 0)")
			}, 44,
			"function step at pebbles.c:144 because the sides take different paths here, after 29 equal calls: calls rules_write | calls draw",
		},
		{
			"another function in each tick", func(t *testing.T) *line.Module {
				return compile(t, whole+" "+hidden, "world.pile[0]++;\n#endif", drawn)
			},
			func(t *testing.T) *line.Module {
				return compile(t, whole, "static enum rules_status step", "static volatile int helps;\nstatic void help(void) { helps++; }\nstatic enum rules_status step",
					"if (draw() % 64 == 0)", "help();\n\tif (draw() % 64 == 0)")
			}, 40,
			"note different calls of step are left out: they differ in ticks before, too, whose results are the same diverged at tick 40 " +
				"state Rand: 4061261023359806034 | 18034889274456893442 Piles[0]: 160 | 159 function step at pebbles.c:146 on A: step at pebbles.c:144 " +
				"because the sides take different paths here, after 24 equal calls: calls draw | calls rules_write",
		},
		{
			"a number", func(t *testing.T) *line.Module { return compile(t, whole) },
			func(t *testing.T) *line.Module { return compile(t, whole, "world.rand << 13", "world.rand << 14") }, 1,
			"function draw at pebbles.c:58 because the memory begins to differ here, after 48 equal calls; after the tick, byte 0 of world is 113 | 177 " +
				"hint the result of draw is 11693034620340510321 | 17631897833646325425, after 48 equal calls; such numbers may be addresses called draw at",
		},
		{
			"no call", func(t *testing.T) *line.Module { return compile(t, whole+" "+hidden) }, nil, 40,
			"note variables that differ before the tick: rules_output, rules_written, steps diverged at tick 40 state Piles[0]: 160 | 159 function step at pebbles.c:144 " +
				"because the memory begins to differ here, after 24 equal calls; after the tick, byte 12 of world is 160 | 159 called step at",
		},
		{
			"no call and no lines", func(t *testing.T) *line.Module { return compile(t, "-O2 -fno-inline "+hidden) }, nil, 40,
			"function step because the memory begins to differ here, after 24 equal calls; after the tick, the memory at 0x",
		},
		{
			"no call of two versions, with variables at other addresses", func(t *testing.T) *line.Module { return compile(t, whole) },
			func(t *testing.T) *line.Module { return compile(t, whole+" "+hidden) }, 40,
			"function step at pebbles.c:144 because the memory begins to differ here, after 24 equal calls; after the tick, byte 12 of world is 159 | 160",
		},
		{
			"two versions, with unknown addresses", func(t *testing.T) *line.Module { return compile(t, "-O2 -fno-inline") },
			func(t *testing.T) *line.Module {
				return compile(t, "-O2 -fno-inline "+hidden, "static uint64_t seed;", "static uint64_t seed;\nuint64_t moved[999] = {1};")
			}, 40,
			"verdict both sides make 28 equal calls: the difference arises in one of the functions, or in one that the compiler inlined",
		},
		{
			"all in one function", func(t *testing.T) *line.Module { return compile(t, "-O2 "+hidden) }, nil, 40,
			"function samestep_call because the memory begins to differ here, after 1 equal call; after the tick",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := c.a(t), (*line.Module)(nil)
			if c.b != nil {
				b = c.b(t)
			}
			found, text := find(t, line.Options{}, a, b)
			if found.Tick != c.tick || !strings.Contains(text, c.wanted) {
				t.Errorf("got tick %d and %s\nwant tick %d and %s", found.Tick, text, c.tick, c.wanted)
			}
		})
	}
}

// A limit that ends a tick is an error, and not what one side computes.
func TestLimitIsNoFinding(t *testing.T) {
	b := hostile.Named("grow").Bytes()
	match, err := hostile.Replay(b, 40)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "match.ssr")
	if err := os.WriteFile(path, match, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rules, err := module.Compile(b, module.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rules.Close()
	m := &line.Module{Name: "grow", Bytes: b, Rules: rules, Game: lockstep.NewGameElsewhere, Options: module.Options{Budget: &module.Budget{Memory: 100 << 20}}}
	var x line.FunctionFinder
	defer x.Close()
	found, err := x.Find(t.Context(), f, line.Options{}, m, nil)
	if p := (*lockstep.PanicError)(nil); !errors.As(err, &p) || m.Options.Budget.Fault() == nil || p.Value != m.Options.Budget.Fault() {
		t.Errorf("got %v, want the limit of the memory", err)
	}
	if found.Tick != 0 || found.Finding != nil {
		t.Errorf("got a finding at tick %d, want none", found.Tick)
	}
}
