//go:build !js && !wasip1

package module

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// childVariable lets this program compile a module as the process of another one.
const childVariable = "SAMESTEP_TEST_COMPILES"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	if err := CompileFor(os.Stdin, os.Stdout); err != nil {
		os.Exit(1)
	}
}

// A starter starts processes that compile, and counts them.
type starter struct{ started int }

func (s *starter) process(ctx context.Context) *exec.Cmd {
	s.started++
	c := exec.CommandContext(ctx, os.Args[0])
	c.Env = append(os.Environ(), childVariable+"=1")
	return c
}

// heavy is a module that takes seconds and some hundred megabytes to compile.
func heavy() []byte {
	a := assembly{}
	loops := bytes.Repeat([]byte{opLoop, blockWithoutResult}, 500)
	for range 40 {
		a.more = append(a.more, join(loops, bytes.Repeat(join(i32(0), []byte{opBrIf, 0, opEnd}), 500)))
	}
	a.moreLocals = join([]byte{1}, number(60), []byte{typeI64})
	return a.bytes()
}

// Another process compiles a module once for each cache, and what it has compiled runs.
func TestCompiledElsewhere(t *testing.T) {
	module, cache := assembly{call: i64(8)}.bytes(), t.TempDir()
	var s starter
	for n, want := range []int{1, 1, 2, 3} {
		o := Options{Cache: cache, Process: s.process}
		if n >= 2 {
			o.Cache = "" // kept nowhere
		}
		r, err := Compile(module, o)
		if err != nil {
			t.Fatal(err)
		}
		if fault, _ := faultOf(t, r, 1); fault != nil {
			t.Error(fault)
		}
		if r.Close(); s.started != want {
			t.Errorf("%d: got %d processes, want %d", n, s.started, want)
		}
	}
	if r, err := Compile(assembly{call: i32(0)}.bytes(), Options{Process: s.process}); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "samestep_call") {
		t.Errorf("got %v, %v, want what is wrong with the code", r, err)
	}
	if _, err := Compile(nil, Options{Process: s.process}); !errors.Is(err, ErrMalformed) || s.started != 4 {
		t.Errorf("got %v and %d processes, want that no process is started for what is no module", err, s.started)
	}
}

// Machine code is never read from a folder that somebody else can write to.
func TestSharedCache(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder has no mode")
	}
	cache := t.TempDir()
	var s starter
	for _, mode := range []os.FileMode{0o777, 0o770, 0o755} {
		if err := os.Chmod(cache, mode); err != nil {
			t.Fatal(err)
		}
		for _, o := range []Options{{Cache: cache}, {Cache: cache, Process: s.process}} {
			r, err := Compile(assembly{}.bytes(), o)
			if (err == nil) != (mode == 0o755) {
				t.Errorf("a cache of mode %o: got %v", mode, err)
			}
			if err == nil {
				r.Close()
			}
		}
	}
}

// Without a limit, compiling has no bounds, and with neither a limit nor that its own.
func TestNoLimit(t *testing.T) {
	for _, b := range []*Budget{{Time: NoLimit, Memory: NoLimit}, {}, nil} {
		var s starter
		r, err := Compile(growing().bytes(), Options{Process: s.process, Budget: b})
		if err != nil {
			t.Fatal(err)
		}
		if fault, _ := faultOf(t, r.Within(b), 20); fault != nil {
			t.Error(fault)
		}
		r.Close()
	}
	none := &Budget{Time: NoLimit, Memory: NoLimit}
	if none.compileTime() != never || none.compileMemory() < 1<<60 {
		t.Errorf("got %v and %d bytes to compile, want no limits", none.compileTime(), none.compileMemory())
	}
	if b := (&Budget{}); b.compileTime() != DefaultCompileTime || b.compileMemory() != DefaultCompileMemory {
		t.Errorf("got %v and %d bytes to compile, want those without a budget", b.compileTime(), b.compileMemory())
	}
}

// The process that compiles is ended when it takes too long or too much memory, with the context, and when the other one is gone.
func TestCompilingEnds(t *testing.T) {
	module := heavy()
	interrupted, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, c := range []struct {
		name   string
		budget *Budget
		want   string
	}{
		{"time", &Budget{Time: 200 * time.Millisecond, TimeAdvice: "more time"}, "compiling takes longer than 200ms: more time"},
		{"memory", &Budget{Memory: 8 << 20, MemoryAdvice: "more memory"}, "compiling takes more than 8 MiB: more memory"},
		{"interrupt", &Budget{Context: interrupted}, "context canceled"},
	} {
		var s starter
		from := time.Now()
		if c.name == "interrupt" {
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		_, err := Compile(module, Options{Process: s.process, Budget: c.budget})
		if took := time.Since(from); err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrLimit) != (c.name != "interrupt") || took > 5*time.Second {
			t.Errorf("%s: got %v after %v, want %q soon", c.name, err, took, c.want)
		}
	}
	var s starter
	p := s.process(t.Context())
	in, err := p.StdinPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(in, "{\"Size\":1000}\n")
	in.Close()
	if err := p.Wait(); err == nil {
		t.Error("got no error of a process whose input has ended")
	}
}

// A process that is no program of ours is an error, and not a module.
func TestNoCompiler(t *testing.T) {
	for _, path := range []string{"/nowhere", os.Args[0]} {
		_, err := Compile(assembly{}.bytes(), Options{Process: func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, path, "-test.run=^$") }})
		if err == nil || errors.Is(err, ErrMalformed) || errors.Is(err, ErrLimit) {
			t.Errorf("%s: got %v, want an error of the process", path, err)
		}
	}
}
