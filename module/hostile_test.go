package module

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// Modules that are refused before they run.
func TestRefused(t *testing.T) {
	imported := func(kind ...byte) []byte {
		return append(append(appendSized(nil, []byte("env")), appendSized(nil, []byte("now"))...), kind...)
	}
	whole := assembly{}.bytes()
	for _, c := range []struct {
		name   string
		module []byte
		is     error
		want   string
	}{
		{"empty", nil, ErrMalformed, "missing the header"},
		{"text", []byte("a module?"), ErrMalformed, "missing the header"},
		{"half", whole[:len(whole)/2], ErrMalformed, "got "},
		{"too large", make([]byte, MaxBytes+1), ErrLimit, "got a module of 33554433 bytes, want at most 33554432"},
		{"section twice", join(whole, section(sectionType)), ErrMalformed, "got section 1 twice"},
		{"unknown section", join(whole, []byte{13, 0}), ErrMalformed, "got section 13"},
		{"long number", join(whole, []byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}), ErrMalformed, "malformed number"},
		{"imported function", assembly{imports: imported(0, 2)}.bytes(), ErrImports, `"now" of "env"`},
		{"imported memory", assembly{imports: imported(2, 0, 1)}.bytes(), ErrImports, `"now" of "env"`},
		{"imported global", assembly{imports: imported(3, typeI32, 0)}.bytes(), ErrImports, `"now" of "env"`},
		{"start", assembly{start: true}.bytes(), ErrMalformed, "start function"},
		{"4 GiB of memory", assembly{memory: []byte{0, 0x80, 0x80, 0x04}}.bytes(), ErrLimit, "got a memory of 65536 pages, want at most 16384"},
		{"shared memory", assembly{memory: []byte{3, 1, 2}}.bytes(), ErrMalformed, "no threads share"},
		{"memory of 64 bits", assembly{memory: []byte{4, 1}}.bytes(), ErrMalformed, "32 bits"},
		{"locals", assembly{locals: []byte{1, 0x81, 0x87, 0x03, typeI32}}.bytes(), ErrLimit, "got 50049 local variables, want at most 10000"},
		{"vectors", assembly{call: []byte{0xfd, 12}}.bytes(), ErrMalformed, "vectors"},
		{"threads", assembly{call: []byte{0xfe, 0}}.bytes(), ErrMalformed, "threads"},
		{"tail call", assembly{call: []byte{0x12, 1}}.bytes(), ErrMalformed, "got instruction 0x12"},
		{"exceptions", assembly{call: []byte{0x06, blockWithoutResult}}.bytes(), ErrMalformed, "got instruction 0x6"},
		{"another bulk", assembly{call: []byte{opBulk, 18}}.bytes(), ErrMalformed, "got instruction 0xfc 18"},
		{"the host's variable", assembly{call: join([]byte{opI32Const, 0, opGlobalSet, 0}, i64(0))}.bytes(), ErrMalformed, "got variable 0, want one below 0"},
		{"the host's name", assembly{exports: [][]byte{export(stopName, 0, 2)}}.bytes(), ErrMalformed, stopName},
		{"a name for the host", assembly{exports: [][]byte{export(variableName(0), 0, 2)}}.bytes(), ErrMalformed, "none that begins with " + hostName},
		{"bad code", assembly{call: i32(0)}.bytes(), ErrMalformed, "samestep_call"},
		{"no call", bytes.ReplaceAll(whole, []byte("samestep_call"), []byte("samestep_cold")), ErrMalformed, "no function samestep_call"},
		{"no memory", bytes.ReplaceAll(whole, []byte("memory"), []byte("momory")), ErrMalformed, "no memory"},
		{"other type", bytes.ReplaceAll(whole, []byte("samestep_call\x00\x01"), []byte("samestep_call\x00\x00")), ErrMalformed, "other types"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Compile(c.module, Options{})
			if err == nil {
				r.Close()
			}
			if want := said(c.want); !errors.Is(err, c.is) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

// Modules that run, and what becomes of their calls.
func TestFaults(t *testing.T) {
	packed := func(status, at, size int64) []byte { return i64(status<<62 | at<<32 | size) }
	twice := [][]byte{{opCall, 4, opCall, 4}, {opCall, 5, opCall, 5}}
	for len(twice) < 40 {
		next := byte(len(twice) + 4)
		twice = append(twice, []byte{opCall, next, opCall, next})
	}
	twice = append(twice, nil) // 2^40 calls without a loop
	for _, c := range []struct {
		name   string
		module assembly
		want   string
	}{
		{"loop in the call", assembly{call: join(forever, i64(0))}, "the call took longer than 50ms"},
		{"loop in the buffer", assembly{buffer: join(forever, i32(0))}, "the call took longer than 50ms"},
		{"loop at the start", assembly{initialize: forever}, "the call took longer than 50ms"},
		{"calls without a loop", assembly{call: join([]byte{opCall, 3}, i64(0)), more: twice}, "the call took longer than 50ms"},
		{"recursion", assembly{call: join([]byte{opCall, 3}, i64(0)), more: [][]byte{{opCall, 3}}}, "calls of functions in the call went deeper than 1900"},
		{"trap at the start", assembly{initialize: []byte{opUnreachable}}, "unreachable"},
		{"trap", assembly{call: []byte{opUnreachable}}, "unreachable"},
		{"outside of the memory", assembly{call: join(i32(-8), i64(1), []byte{opI64Store, 3, 0}, i64(0))}, "out of bounds memory access"},
		{"more memory", assembly{call: join(i32(60000), []byte{0x40, 0, opIf, blockWithoutResult, opUnreachable, opEnd}, i64(0))}, "unreachable"},
		{"input outside", assembly{buffer: i32(-1)}, "samestep_buffer gave address 4294967295 for 4 bytes, which is outside the memory"},
		{"answer outside", assembly{call: packed(0, 1<<29, 5)}, "an answer of 5 bytes at address 536870912, which is outside the memory"},
		{"answer of 4 GiB", assembly{call: packed(0, 0, 1<<32-1)}, "an answer of 4294967295 bytes, want at most 67108864"},
		{"status 3", assembly{call: packed(3, 0, 0)}, "an answer of status 3, want at most 2"},
		{"panic", assembly{call: packed(2, 0, 4)}, "\ufffd\ufffd\ufffd\ufffd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if browser && strings.Contains(c.want, "took longer") {
				t.Skip("no clock interrupts a call in a browser")
			}
			limit := time.Minute // a busy machine must not end the others
			if strings.Contains(c.want, "took longer") {
				limit = 50 * time.Millisecond
			}
			r, err := Compile(c.module.bytes(), Options{Time: limit, Passes: math.MaxInt64})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			i, err := r.New()
			if err == nil {
				_, err = i.Call(abi.Save, []byte("ping"))
				if _, again := i.Call(abi.Save, nil); again != err {
					t.Errorf("the next call: got %v, want the same fault", again)
				}
				i.Close()
			}
			fault := (*abi.Fault)(nil)
			if want := said(c.want); !errors.As(err, &fault) || !strings.Contains(fault.Text, want) {
				t.Errorf("got %v, want %q", err, want)
			}
			if len(r.free) > 0 {
				t.Error("a broken instance is kept")
			}
		})
	}
}

// browser reports whether the tests run in JavaScript.
const browser = runtime.GOOS == "js"

// said returns the words for an error of the machine that runs the tests.
func said(want string) string {
	v8 := map[string]string{
		"out of bounds memory access": "memory access out of bounds",
		"samestep_call":               "Compiling function #1 failed", // it knows no names yet
	}
	if !browser {
		return want
	}
	return cmp.Or(v8[want], want)
}

// A refusal leaves the instance as it is, and its text is made fit to be printed.
func TestRefusalGoesOn(t *testing.T) {
	r, err := Compile(assembly{call: join(i32(0), i64(-1), []byte{opI64Store, 3, 0}, i64(1<<62|4))}.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i, err := r.New()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := i.Call(abi.Validate, nil)
		if no := (*abi.Refusal)(nil); !errors.As(err, &no) || no.Text != "\ufffd" {
			t.Errorf("got %q, want one character for bytes that are no text", err)
		}
	}
	given := i.(*caller).instance
	i.Close()
	i.Close()
	again, err := r.New()
	if err != nil || again.(*caller).instance != given {
		t.Errorf("got %v, want the instance that was given back", err)
	}
	if third, err := r.New(); err != nil || third.(*caller).instance == given {
		t.Errorf("got %v and one instance for two callers after Close twice, want another one", err)
	}
	if _, err := i.Call(abi.Save, nil); err == nil || !strings.Contains(err.Error(), "a call after Close") {
		t.Errorf("got %v after Close, want a fault", err)
	}
}

// The bits of a NaN are the same by the compiler and by the interpreter, wherever the module sees them.
func TestNaN(t *testing.T) {
	zero64, zero32 := append([]byte{opF64Const}, make([]byte, 8)...), append([]byte{opF32Const}, make([]byte, 4)...)
	nan64, nan32 := join(zero64, zero64, []byte{0xa3}), join(zero32, zero32, []byte{0x95}) // 0/0, which has a sign on amd64
	one64 := append([]byte{opF64Const}, binary.LittleEndian.AppendUint64(nil, 0x3ff0000000000000)...)
	load := []byte{0x29, 3, 0}
	for _, c := range []struct {
		name string
		code []byte
		want uint64
	}{
		{"reinterpreted", join(nan64, []byte{opI64ReinterpretF}), 0x7ff8000000000000},
		{"stored", join(i32(0), nan64, []byte{opF64Store, 3, 0}, i32(0), load), 0x7ff8000000000000},
		{"negated", join(nan64, []byte{0x9a, opI64ReinterpretF}), 0x7ff8000000000000},
		{"sign", join(one64, nan64, []byte{opF64Copysign, opI64ReinterpretF}), 0x3ff0000000000000},
		{"32 bits", join(nan32, []byte{opI32ReinterpretF, 0xad}), 0x7fc00000},
		{"32 bits stored", join(i32(0), nan32, []byte{opF32Store, 2, 0}, i32(0), load), 0x7fc00000},
		{"a number", join(one64, []byte{opI64ReinterpretF}), 0x3ff0000000000000},
	} {
		for _, interpret := range []bool{false, true} {
			code := join(i32(8), c.code, []byte{opI64Store, 3, 0}, i64(8<<32|8))
			r, err := Compile(assembly{call: code}.bytes(), Options{Interpret: interpret})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			i, err := r.New()
			if err != nil {
				t.Fatal(err)
			}
			b, err := i.Call(abi.Save, nil)
			if err != nil || binary.LittleEndian.Uint64(b) != c.want {
				t.Errorf("%s: got %x, %v, want %x", c.name, b, err, c.want)
			}
			r.Close()
		}
	}
}

// Rules that lie about themselves become no game.
func TestLies(t *testing.T) {
	deep := strings.Repeat("struct { A ", 2000) + "uint8" + strings.Repeat(" }", 2000)
	many := strings.Repeat(`{"kind":1,"name":"a","payload":"struct {}"},`, 70000)
	for _, c := range []struct{ name, text, want string }{
		{"no JSON", "{", "description"},
		{"nothing", "", "description"},
		{"version", `{"abi":7}`, "got version 7"},
		{"no types", `{"abi":1,"game":"a","build":"1"}`, "want the types of state and config"},
		{"no name", `{"abi":1,"build":"1","state":"struct { A uint8 }","config":"struct {}","commands":[]}`, "name"},
		{"floats", `{"abi":1,"game":"a","build":"1","state":"struct { A float64 }","config":"struct {}","commands":[]}`, "float"},
		{"bad type", `{"abi":1,"game":"a","build":"1","state":"struct { A","config":"struct {}","commands":[]}`, "description"},
		{"bad hexadecimal", `{"abi":1,"game":"a","build":"1","state":"0102","config":"struct {}","commands":[]}`, "description"},
		{"deep type", `{"abi":1,"game":"a","build":"1","state":"` + deep + `","config":"struct {}","commands":[]}`, "description"},
		{"kinds twice", `{"abi":1,"game":"a","build":"1","state":"struct { A uint8 }","config":"struct {}","commands":[{"kind":1,"name":"a","payload":"struct {}"},{"kind":1,"name":"b","payload":"struct {}"}]}`, "kind"},
		{"no payload", `{"abi":1,"game":"a","build":"1","state":"struct { A uint8 }","config":"struct {}","commands":[{"kind":1,"name":"a"}]}`, "want the type of its payload"},
		{"too long", `{"abi":1,"commands":[` + many + `]}`, "got a description of "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := lockstep.NewGameElsewhere(liar(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %.300v, want %q", err, c.want)
			}
		})
	}
}

// A liar is a machine whose rules describe themselves with a text.
type liar string

// New implements abi.Machine.
func (l liar) New() (abi.Caller, error) { return l, nil }

// Call implements abi.Caller.
func (l liar) Call(f abi.Function, _ []byte) ([]byte, error) {
	if f != abi.Describe {
		return nil, fmt.Errorf("got %v", f)
	}
	return []byte(l), nil
}

// Close implements abi.Caller.
func (l liar) Close() {}

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
