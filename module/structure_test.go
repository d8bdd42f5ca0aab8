package module

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// with returns the module with a section in its place.
func (a assembly) with(id byte, body []byte) []byte {
	s, err := parseSections(a.bytes())
	if err != nil {
		panic(err)
	}
	s.bodies[id] = body
	return s.append(nil)
}

func number(n uint64) []byte { return binary.AppendUvarint(nil, n) }

// claim returns the body of a section that claims n items and has none.
func claim(n uint64) []byte { return number(n) }

// Modules that claim more than they have, or have more than a compiler can take. Each took gigabytes, minutes or the process
// before the limits.
func TestBombs(t *testing.T) {
	blocks := bytes.Repeat([]byte{opBlock, blockWithoutResult}, maxBranches+1)
	table := func(n uint64) []byte { return join([]byte{1, 0x70, 0}, number(n)) }
	names := func(sub ...byte) []byte {
		return appendSized([]byte{sectionCustom}, join(appendSized(nil, []byte("name")), sub))
	}
	heavy := join(i32(0), []byte{opBrTable}, number(8*maxBranches-8), make([]byte, 8*maxBranches-7))
	for _, c := range []struct {
		name   string
		module []byte
		want   string // "": it is compiled
	}{
		{"types", assembly{}.with(sectionType, claim(1<<31-1)), "got 2147483647 types, want at most 10000"},
		{"functions", assembly{}.with(sectionFunction, claim(1<<31-1)), "got 2147483647 functions, want at most 100000"},
		{"tables", assembly{}.with(sectionTable, claim(9)), "got 9 tables, want at most 8"},
		{"variables", assembly{}.with(sectionGlobal, claim(10_001)), "got 10001 variables, want at most 10000"},
		{"exports", assembly{}.with(sectionExport, claim(1<<31-1)), "got 2147483647 exports, want at most 10000"},
		{"segments for tables", assembly{}.with(sectionElement, claim(1<<31-1)), "got 2147483647 segments for tables, want at most 100000"},
		{"segments of data", assembly{}.with(sectionData, claim(1<<31-1)), "got 2147483647 segments of data, want at most 100000"},
		{"fewer than claimed", assembly{}.with(sectionGlobal, claim(3)), "section 6: got 0 bytes, want 1"},
		{"more than claimed", assembly{}.with(sectionGlobal, join(claim(1), []byte{typeI32, 1, opI32Const, 0, opEnd, typeI32})), "section 6: got 1 bytes behind the variables"},
		{"elements", assembly{}.with(sectionElement, join([]byte{1, 1, 0}, number(1<<31-1))), "got 2147483647 elements of tables, want at most 262144"},
		{"bytes of data", assembly{}.with(sectionData, join([]byte{1, 1}, number(1<<31-1))), "section 11: got 0 bytes, want 2147483647"},
		{"parameters", assembly{}.with(sectionType, join([]byte{1, formFunction}, number(1<<31-1))), "got a type with 2147483647 parameters or results"},
		{"results", assembly{}.with(sectionType, join([]byte{1, formFunction, 0, 9}, make([]byte, 9))), "got a type with 9 parameters or results"},
		{"large table", assembly{}.with(sectionTable, table(1<<27)), "got a table of 134217728 elements, want at most 262144"},
		{"largest table", assembly{}.with(sectionTable, table(maxElements)), ""},
		{"names", assembly{sections: names(join([]byte{1}, appendSized(nil, number(1<<31-1)))...)}.bytes(), ""},
		{"a long name", assembly{sections: names(join([]byte{1}, appendSized(nil, join([]byte{1, 0}, number(1<<31-1))))...)}.bytes(), ""},
		{"names of local variables", assembly{sections: names(join([]byte{2}, appendSized(nil, number(1<<31-1)))...)}.bytes(), ""},
		{"a large function", assembly{call: make([]byte, maxBody)}.bytes(), "function 1: module: exceeds a limit: got 262146 bytes of code, want at most 262144"},
		{"blocks", assembly{call: join(blocks, bytes.Repeat([]byte{opEnd}, maxBranches+1), i64(0))}.bytes(), "got 6001 branches, want at most 6000"},
		{"labels", assembly{call: join([]byte{opBlock, blockWithoutResult}, i32(0), []byte{opBrTable}, number(250_000), make([]byte, 250_001), []byte{opEnd}, i64(0))}.bytes(), "got 31252 branches, want at most 6000"},
		{"checks of loops", assembly{call: join(bytes.Repeat([]byte{opLoop, blockWithoutResult, opEnd}, maxBranches/2+1), i64(0))}.bytes(), "got 6002 branches, want at most 6000"},
		{"checks of bulk instructions", assembly{call: join(bytes.Repeat(join(i32(0), i32(0), i32(0), []byte{opBulk, 11, 0}), maxBranches/2+1), i64(0))}.bytes(), "got 6002 branches, want at most 6000"},
		{"branches of all functions", assembly{more: [][]byte{heavy, heavy, heavy, heavy, heavy, heavy}}.bytes(), "squares of branches, want at most 200000000"},
		{"local variables of all functions", assembly{}.manyLocals(401), "got 4000003 local variables of all functions, want at most 4000000"},
		{"loops over local variables", assembly{locals: join([]byte{1}, number(2000), []byte{typeI32}), call: join(bytes.Repeat([]byte{opLoop, blockWithoutResult}, 76), bytes.Repeat([]byte{opEnd}, 76), i64(0))}.bytes(), "got 304304 values at branches, want at most 300000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Compile(c.module, Options{})
			if err == nil {
				r.Close()
			}
			if c.want == "" && err == nil {
				return
			}
			if c.want == "" || !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// manyLocals returns the module with n more functions of the most local variables.
func (a assembly) manyLocals(n int) []byte {
	a.more = make([][]byte, n)
	code := [][]byte{function(nil, i32(0)), function(nil, i64(0)), function(nil, nil)}
	for range n {
		code = append(code, function(join([]byte{1}, number(maxValues), []byte{typeI32}), nil))
	}
	return a.with(sectionCode, join(number(uint64(len(code))), join(code...)))
}

// Modules that guard and a compiler could read as different instructions: a loop between them would have no end. The machines know
// types of two bytes and more from later versions, where WebAssembly 2.0 has one.
func TestReadTheSame(t *testing.T) {
	drop := byte(0x1a)
	for _, c := range []struct {
		name   string
		module []byte
		want   string
	}{
		{"local variable", assembly{locals: []byte{1, 1, 0x63, 0x0c}}.bytes(), "got a type of values 0x63"},
		{"block", assembly{call: join([]byte{opBlock, 0x63, 0x0c, 0, opEnd, drop}, i64(0))}.bytes(), "got a type of a block 0x63"},
		{"block in a long form", assembly{call: join([]byte{opBlock, 0xe3, 0x7f, 0x0c, 0, opEnd, drop}, i64(0))}.bytes(), "got the type -29 of a block in a long form"},
		{"select", assembly{call: join([]byte{opRefNull, 0x70, opRefNull, 0x70}, i32(0), []byte{0x1c, 1, 0x64, 0x70, drop}, i64(0))}.bytes(), "got a type of values 0x64"},
		{"select of two", assembly{call: []byte{0x1c, 2, typeI32, typeI32}}.bytes(), "got a number of types 0x2"},
		{"null", assembly{call: join([]byte{opRefNull, 0x80, 0, drop}, i64(0))}.bytes(), "got a type of references 0x80"},
		{"long instruction", assembly{call: []byte{opBulk, 0x8b, 0, 0}}.bytes(), "got instruction 0xfc 139"},
		{"second memory", assembly{call: []byte{0x3f, 1}}.bytes(), "got memory 0x1"},
		{"alignment with a memory", assembly{call: join(i32(0), []byte{0x28, 0x42, 0, 0})}.bytes(), "got an alignment 0x42"},
		{"group of types", assembly{}.with(sectionType, []byte{1, 0x4e, 1, formFunction, 0, 0}), "got a form of types 0x4e"},
		{"constant of instructions", assembly{}.with(sectionGlobal, join([]byte{1, typeI32, 0}, i32(1), i32(1), []byte{0x6a, opEnd})), "got an end of a constant 0x41"},
		{"table with a constant", assembly{}.with(sectionTable, []byte{1, 0x40, 0, 0x70, 0, 1, opRefNull, 0x70, opEnd}), "got a type of tables 0x40"},
		{"order", join(assembly{}.bytes(), section(sectionTable)), "got section 4 behind section 10"},
		{"more code than functions", assembly{}.with(sectionCode, join([]byte{3}, function(nil, i32(0)), function(nil, i64(0)), function(nil, nil), function(nil, nil))), "got 3 bytes behind the functions"},
		{"function of the host", assembly{call: join([]byte{opF32Const, 0, 0, 0, 0, opCall, 3, drop}, i64(0))}.bytes(), "got function 3, want one below 3"},
		{"function of the host, exported", assembly{exports: [][]byte{export("f", exportFunction, 3)}}.bytes(), "got export 3, want one below 3"},
		{"variable of the host, exported", assembly{exports: [][]byte{export("v", 3, 0)}}.bytes(), "got export 0, want one below 0"},
		{"another _initialize", bytes.ReplaceAll(assembly{}.bytes(), []byte("_initialize\x00\x02"), []byte("_initialize\x00\x01")), "_initialize has parameters or results"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Compile(c.module, Options{})
			if err == nil {
				r.Close()
			}
			if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Instructions that work on much memory end with the time of the call, also without a loop.
func TestBulkEnds(t *testing.T) {
	if browser {
		t.Skip("no clock interrupts a call in a browser")
	}
	const pages, n = 1 << 10, 1000 // ten seconds and more, without an end
	for name, one := range map[string][]byte{
		"fill": join(i32(0), i32(1), i32(32<<20), []byte{opBulk, 11, 0}),
		"copy": join(i32(0), i32(1), i32(32<<20), []byte{opBulk, 10, 0, 0}),
	} {
		t.Run(name, func(t *testing.T) {
			m := assembly{memory: join([]byte{0}, number(pages)), call: join(bytes.Repeat(one, n), i64(0))}
			r, err := Compile(m.bytes(), Options{Time: 50 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			i, err := r.New()
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			_, err = i.Call(abi.Save, nil)
			if fault := (*abi.Fault)(nil); !errors.As(err, &fault) || !strings.Contains(fault.Text, "took longer") {
				t.Errorf("got %v, want a fault for the time", err)
			}
			t.Logf("ended after %v", time.Since(begin))
		})
	}
}

// A table grows up to its limit, and not beyond it.
func TestTableGrows(t *testing.T) {
	for _, c := range []struct{ more, want int64 }{{maxElements - 1, 1}, {maxElements, -1}} {
		// An answer of as many bytes as the table had, or of 2 bytes if it has not grown.
		code := join([]byte{opRefNull, 0x70}, i32(c.more), []byte{opBulk, 15, 0}, i32(0), []byte{0x48, opIf, typeI64}, i64(2), []byte{0x05}, i64(1), []byte{opEnd})
		r, err := Compile(assembly{call: code}.with(sectionTable, []byte{1, 0x70, 0, 1}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		i, err := r.New()
		if err != nil {
			t.Fatal(err)
		}
		b, err := i.Call(abi.Save, nil)
		if grown := len(b) == 1; err != nil || grown != (c.want == 1) {
			t.Errorf("grow by %d: got %d bytes, %v", c.more, len(b), err)
		}
		r.Close()
	}
}
