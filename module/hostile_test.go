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
