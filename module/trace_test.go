//go:build !js

package module

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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
