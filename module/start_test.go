//go:build !js

package module

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// counting is a module whose _initialize adds 5 to a variable, writes a number into a page by which the memory grows, and 7 times
// more than the variable had. Each call adds 1 to the variable and answers with both.
func counting() assembly {
	add := func(n int64) []byte { return join([]byte{opGlobalGet, 0}, i64(n), []byte{0x7c, opGlobalSet, 0}) }
	return assembly{
		variables:  [][]byte{{typeI64, 1, opI64Const, 3, opEnd}},
		initialize: join(add(5), i32(1), []byte{opMemoryGrow, 0, opDrop}, i32(pageBytes+8), []byte{opGlobalGet, 0, opI64Store, 3, 0}),
		call: join(add(1), i32(0), []byte{opGlobalGet, 0, opI64Store, 3, 0},
			i32(8), i32(pageBytes+8), []byte{opI64Load, 3, 0, opI64Store, 3, 0}, i64(16)),
		sections: section(sectionData, join([]byte{0, opI32Const, 32, opEnd}, appendSized(nil, []byte("data")))),
	}
}

// answers returns the two numbers of counting.
func answers(t *testing.T, i *instance) (of [2]uint64) {
	t.Helper()
	out, err := i.answer(abi.Save, nil)
	if err != nil {
		t.Fatal(err)
	}
	binary.Decode(out, binary.LittleEndian, &of)
	return of
}

// Instances that begin with an image are as those that run _initialize, and share nothing that they write.
func TestStart(t *testing.T) {
	tables := [][]byte{{referenceTypes[0], 0, 1}}
	setsTable := counting()
	setsTable.tables = tables
	setsTable.initialize = join(setsTable.initialize, i32(0), []byte{opRefFunc, 0, opTableSet, 0})
	setsTable.sections = append(section(sectionData), setsTable.sections[:0]...)
	keepsReference := counting()
	keepsReference.variables = append(keepsReference.variables, []byte{referenceTypes[0], 1, opRefNull, referenceTypes[0], opEnd})
	for _, c := range []struct {
		name   string
		module assembly
		shared bool
	}{
		{"memory and a variable", counting(), true},
		{"a table", setsTable, false},
		{"a variable with a reference", keepsReference, false},
	} {
		for _, interpret := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				r, err := Compile(c.module.bytes(), Options{Interpret: interpret})
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				own, err := r.initialized(nil)
				if err != nil {
					t.Fatal(err)
				}
				var got [3][2]uint64
				for n := range got {
					i, err := r.newInstance(nil)
					if err != nil {
						t.Fatal(err)
					}
					got[n] = answers(t, i)
					if i.cheap != c.shared || (r.started != nil) != c.shared {
						t.Errorf("got an image: %t, want %t", i.cheap, c.shared)
					}
					if a, b := contents(i), contents(own); n == 0 && len(a) != len(b) {
						t.Errorf("got a memory of %d bytes, want %d", len(a), len(b))
					}
				}
				if want := answers(t, own); want != [2]uint64{9, 8} || got != [3][2]uint64{want, want, want} {
					t.Errorf("got %v, want %v as without an image", got, want)
				}
			})
		}
	}
}

// The runtime of Go begins the same each time, and goes on the same from an image.
func TestStartOfGo(t *testing.T) {
	_, b := buildFlows(t)
	r, err := Compile(b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []*instance
	for n := range 4 {
		make := r.initialized
		if n >= 2 {
			make = r.newInstance
		}
		i, err := make(nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, i)
	}
	if !all[2].cheap {
		t.Error("got no image, want one")
	}
	sameAs(t, "after _initialize", all, r.variables)
	for n := range abi.Function(someFlows(t)) {
		for _, i := range all {
			if _, err := i.answer(n, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	sameAs(t, "after calls", all, r.variables)
	all[1].module.Memory().WriteByte(0, ^contents(all[1])[0])
	if n, a := differing(all[0], all[1], r.variables); n != 1 || a != 0 {
		t.Errorf("control: got %d numbers and bytes that differ, the first %d, want byte 0", n, a)
	}
}

// sameAs checks that instances have the same memory and variables.
func sameAs(t *testing.T, when string, all []*instance, variables []int) {
	t.Helper()
	for n, i := range all[1:] {
		if differ, first := differing(all[0], i, variables); differ > 0 {
			t.Errorf("%s: instance %d has %d other bytes or variables, the first is %d", when, n+1, differ, first)
		}
	}
}

// differing returns how many bytes and variables differ between two instances, and the first of the bytes.
func differing(a, b *instance, variables []int) (n, first int) {
	x, y := contents(a), contents(b)
	if len(x) != len(y) {
		return len(x) + len(y), min(len(x), len(y))
	}
	for i := range x {
		if x[i] != y[i] {
			if n++; n == 1 {
				first = i
			}
		}
	}
	for _, v := range variables {
		if a.module.ExportedGlobal(variableName(v)).Get() != b.module.ExportedGlobal(variableName(v)).Get() {
			n++
		}
	}
	return n, first
}

// contents returns a copy of the memory of an instance.
func contents(i *instance) []byte {
	m := i.module.Memory()
	all, _ := m.Read(0, m.Size())
	return bytes.Clone(all)
}

// An instance that is used again keeps what it has outside of its world. A cold twin gets another one.
func TestUnused(t *testing.T) {
	module := counting()
	module.tables = [][]byte{{referenceTypes[0], 0, 1}}
	module.initialize = join(module.initialize, i32(0), []byte{opRefFunc, 0, opTableSet, 0})
	r, err := Compile(module.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for name, m := range map[string]abi.Machine{"rules": r, "within": r.Within(nil)} {
		made := func(make func(abi.Machine) (abi.Caller, error)) (abi.Caller, [2]uint64) {
			c, err := make(m)
			if err != nil {
				t.Fatal(err)
			}
			return c, answers(t, c.(*caller).instance)
		}
		first, fresh := made(abi.Machine.New)
		first.Close()
		for range maxFree + 2 { // whether or not the pool is full
			twin, got := made(abi.Unused)
			if got != fresh {
				t.Errorf("%s: got %v, want %v as of the first one", name, got, fresh)
			}
			twin.Close()
		}
		again, got := made(abi.Machine.New)
		if got == fresh {
			t.Errorf("%s: control: no instance is used again", name)
		}
		again.Close()
	}
}

// A cheap instance is used again until it has had a world.
func TestSpent(t *testing.T) {
	r, err := Compile(counting().bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for n, f := range []abi.Function{abi.Describe, abi.Configure, abi.Create, abi.Restore} {
		i, err := r.New()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := i.Call(f, nil); err != nil {
			t.Fatal(err)
		}
		i.Close()
		if kept, want := len(r.free) == 1, n < 2; kept != want {
			t.Errorf("%v: the instance is kept: %t, want %t", f, kept, want)
		}
		r.free = slices.Delete(r.free, 0, len(r.free))
	}
}
