//go:build !js

package module

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// traced returns the events of a call in one of two instances.
func traced(t *testing.T, r *Traced, f abi.Function) (all []string) {
	t.Helper()
	o, other := r.Observer(nil), r.Observer(nil)
	o.Observe(f, nil, func(e Event) {
		word := "leave"
		if e.Begins {
			word = "enter"
		}
		all = append(all, fmt.Sprint(word, " ", r.Functions[e.Function].Name, e.Values))
	})
	for _, one := range []*Observer{other, o} {
		i, err := one.New()
		if err != nil {
			t.Fatal(err)
		}
		defer i.Close()
		for _, f := range []abi.Function{abi.Save, abi.Step} {
			if _, err := i.Call(f, []byte("in")); err != nil {
				t.Fatal(err)
			}
		}
		one.Close()
		if _, err := i.Call(abi.Step, []byte("in")); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Calls are told in their order, but not those of other functions, of the allocator and of what the host adds.
func TestTrace(t *testing.T) {
	loop := join([]byte{opLoop, blockWithoutResult, opLocalGet, 0}, i32(1), []byte{opI32Sub, 0x22, 0, opBrIf, 0, opEnd}) // until the parameter is 0
	long := join(i32(pauseAfter+1), []byte{0x21, 0}, loop)                                                               // so that the host's check pauses
	a := assembly{
		call: join([]byte{opCall, 3, opCall, 4}, long, i64(0)),
		more: [][]byte{{opCall, 4}, {opCall, 5}, {}},
	}
	with := func(call, outer, malloc string) *Traced {
		b := a
		b.sections = names("samestep_buffer", call, "_initialize", outer, malloc, "inner")
		r, err := CompileTraced(b.bytes(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	for _, c := range []struct {
		name string
		r    *Traced
		want string
	}{
		{"all", with("call", "outer", "middle"), "enter call[7 2] enter outer[] enter middle[] enter inner[] leave inner[] leave middle[] leave outer[] enter middle[] enter inner[] leave inner[] leave middle[] leave call[0]"},
		{"allocator", with("call", "outer", "malloc"), "enter call[7 2] enter outer[] leave outer[] leave call[0]"},
		{"no names", with("", "", ""), "enter [7 2] enter [] enter [] enter inner[] leave inner[] leave [] leave [] enter [] enter inner[] leave inner[] leave [] leave [0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(traced(t, c.r, abi.Step), " "); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
			if got := traced(t, c.r, abi.View); len(got) > 0 {
				t.Errorf("got %s of other functions", got)
			}
		})
	}
}

// The functions of a module in Go leave the machine's stack and come back to it. That is no call.
func TestTraceOfGo(t *testing.T) {
	const first, middle, last = 1, 2, 3
	begin := func(f int, at uint64) func(*calls) { return func(c *calls) { c.begin(f, ofRules, []uint64{at}) } }
	end := func(f int, leaves uint64) func(*calls) { return func(c *calls) { c.end(f, ofRules, []uint64{leaves}) } }
	grow := func(c *calls) { c.begin(9, restarts, []uint64{0}) }
	for _, c := range []struct {
		name  string
		calls []func(*calls)
		want  []int // functions; less than 0 at their end
	}{
		{"plain", []func(*calls){begin(first, 0), begin(middle, 0), end(middle, 0), end(first, 0)}, []int{1, 2, -2, -1}},
		{"another goroutine runs", []func(*calls){begin(first, 0), begin(middle, 0), end(middle, 1), end(first, 1), begin(middle, 7), end(middle, 0), begin(first, 3), end(first, 0)}, []int{1, 2, -2, -1}},
		{"the stack grows", []func(*calls){begin(first, 0), begin(middle, 0), grow, end(middle, 1), end(first, 1), begin(middle, 0), end(middle, 0), begin(first, 3), end(first, 0)}, []int{1, 2, -2, -1}},
		{"a panic is recovered", []func(*calls){begin(first, 0), begin(middle, 0), begin(last, 0), end(last, 1), end(middle, 1), end(first, 1), begin(first, 5), end(first, 0)}, []int{1, 2, 3, -3, -2, -1}},
		{"a function from before", []func(*calls){end(last, 0), begin(first, 0), end(first, 0)}, []int{1, -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			all := &calls{inGo: true, pending: none, wanted: abi.Step, tell: func(e Event) {
				if e.Values != nil {
					t.Errorf("got values %v", e.Values)
				}
				if !e.Begins {
					e.Function = -e.Function
				}
				got = append(got, e.Function)
			}}
			all.begin(0, entry, []uint64{uint64(abi.Step), 0})
			for _, f := range c.calls {
				f(all)
			}
			all.end(0, entry, []uint64{0})
			if want := slices.Concat([]int{0}, c.want, []int{0}); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// What belongs to a runtime, by its name.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		name string
		inGo bool
		want kind
	}{
		{"runtime.mallocgc", true, ofRuntime},
		{"runtime.morestack_noctxt", true, restarts},
		{"internal_runtime_maps.__Map_.Put", true, ofRuntime},
		{"memeqbody", true, ofRuntime},
		{"sync.__Pool_.Get", true, ofRuntime},
		{"github.com_seed_49bee653_samestep_lockstep_module_guest.call", true, ofRuntime},
		{"github.com_seed_49bee653_samestep_examples_skirmish.step", true, ofRules},
		{"github.com_seed_49bee653_samestep_fixed.Sqrt", true, ofRules},
		{"slices.insertionSortOrdered_go.shape.int32_", true, ofRules},
		{"runtimes.step", true, ofRules},
		{"malloc", false, allocates},
		{"dlmalloc", false, allocates},
		{"__rust_alloc", false, allocates},
		{"runtime.alloc", false, allocates},
		{"free_pile", false, ofRules},
		{"step", false, ofRules},
		{"", false, ofRules},
	} {
		if got := kindOf(c.name, c.inGo); got != c.want {
			t.Errorf("%q: got %d, want %d", c.name, got, c.want)
		}
	}
}

const debugSource = `
struct { int a[3]; } world;
typedef short count;
count many[5][7];
int samestep_buffer(int n) { static int calls; return world.a[calls++ % 3] + n; }

long long samestep_call(int f, int n) { return many[f][n]++; }
`

// What a module of C tells debuggers, in two versions of the format. A spoiled one is no fault.
func TestDebugged(t *testing.T) {
	for _, tool := range []string{"clang", "wasm-ld"} {
		_, err := exec.LookPath(tool)
		testenv.Or(t, tool, err)
	}
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		dir := t.TempDir()
		source, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.wasm")
		if err := os.WriteFile(source, []byte(debugSource), 0o600); err != nil {
			t.Fatal(err)
		}
		if text, err := exec.CommandContext(t.Context(), "clang", version, "-O1", "--target=wasm32", "-nostdlib", "-Wl,--no-entry", "-Wl,--export-all", "-o", out, source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		all := readDebugged(b)
		var lines []int
		for _, s := range all.functions {
			if s.file == "a.c" {
				lines = append(lines, s.line)
			}
		}
		slices.Sort(lines)
		sizes := map[string]int{}
		for _, v := range all.variables {
			sizes[v.Name] = v.Size
		}
		if !slices.Equal(lines, []int{5, 7}) || sizes["world"] != 12 || sizes["many"] != 70 || sizes["calls"] != 4 {
			t.Errorf("%s: got lines %v and variables %v", version, lines, all.variables)
		}
		for i := len(magic); i < len(b); i++ {
			spoiled := slices.Clone(b)
			spoiled[i] ^= 0xff
			readDebugged(spoiled)
			readDebugged(b[:i])
		}
	}
}

// names returns the section with the names of functions, in their order.
func names(all ...string) []byte {
	list := binary.AppendUvarint(nil, uint64(len(all)))
	for i, name := range all {
		list = appendSized(binary.AppendUvarint(list, uint64(i)), []byte(name))
	}
	return appendSized([]byte{sectionCustom}, appendSized(append(appendSized(nil, []byte("name")), 1), list))
}

// A long name is cut off, and costs the other functions nothing.
func TestLongName(t *testing.T) {
	r, err := Compile(assembly{
		call: join([]byte{opCall, 3}, i64(0)), more: [][]byte{{opUnreachable}},
		sections: names("samestep_buffer", "outer", strings.Repeat("ä", 2000), "inner"),
	}.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i, err := r.New()
	if err != nil {
		t.Fatal(err)
	}
	_, err = i.Call(abi.Save, nil)
	if f := (*abi.Fault)(nil); !errors.As(err, &f) || !strings.Contains(f.Stack, ".inner()") || !strings.Contains(f.Stack, ".outer(") {
		t.Errorf("got %#v, want a stack with inner and outer", err)
	}
}
