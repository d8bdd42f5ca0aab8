//go:build !js && !wasip1

package module

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
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

// A process compiles a module again whose code is no longer in the cache, whatever else is there: never this one, without bounds.
func TestCompiledAgain(t *testing.T) {
	cache := t.TempDir()
	var s starter
	for n, want := range []int{1, 1, 2, 2} {
		compiledAs(t, n >= 2, Options{Cache: cache, Process: s.process}).Close()
		if s.started != want {
			t.Errorf("%d: got %d processes, want %d", n, s.started, want)
		}
	}
	if err := os.RemoveAll(filepath.Dir(codeIn(t, cache)[0])); err != nil {
		t.Fatal(err)
	}
	if compiledAs(t, false, Options{Cache: cache, Process: s.process}).Close(); s.started != 3 {
		t.Errorf("got %d processes, want another one for code that was removed", s.started)
	}
}

func compiledAs(t *testing.T, traced bool, o Options) *Rules {
	t.Helper()
	module := assembly{call: i64(8)}.bytes()
	if traced {
		r, err := CompileTraced(module, o)
		if err != nil {
			t.Fatal(err)
		}
		return r.Rules
	}
	r, err := Compile(module, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// codeIn returns the files in a cache.
func codeIn(t *testing.T, cache string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(cache, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A cache keeps the youngest files that its size allows, and always the last one.
func TestShrink(t *testing.T) {
	const size = 1000
	for _, c := range []struct{ most, want int64 }{{4 * size, 4}, {4*size - 1, 3}, {size, 1}, {1, 1}} {
		cache := t.TempDir()
		for n, name := range []string{"oldest.known", "a/z", "a/b", "youngest"} {
			path := filepath.Join(cache, name)
			at := time.Unix(int64(1000+n), 0)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, make([]byte, size), 0o600), os.Chtimes(path, at, at)); err != nil {
				t.Fatal(err)
			}
		}
		err := shrink(cache, c.most)
		left := codeIn(t, cache)
		if err != nil || int64(len(left)) != c.want || !slices.Contains(left, filepath.Join(cache, "youngest")) {
			t.Errorf("%d bytes: got %v, %v, want the youngest %d", c.most, left, err, c.want)
		}
	}
}

// Compiling shrinks the cache.
func TestCacheShrinks(t *testing.T) {
	cache := t.TempDir()
	old := filepath.Join(cache, "old")
	if err := errors.Join(os.WriteFile(old, nil, 0o600), os.Truncate(old, maxCompiled), os.Chtimes(old, time.Unix(1, 0), time.Unix(1, 0))); err != nil {
		t.Fatal(err)
	}
	var s starter
	compiledAs(t, false, Options{Cache: cache, Process: s.process}).Close()
	if _, err := os.Stat(old); err == nil {
		t.Error("the cache has more than its limit")
	}
}

// A temporary cache goes with the program that has asked for it, whenever that ends.
func TestTemporaryCache(t *testing.T) {
	for _, when := range []string{"while it compiles", "before it has loaded the code"} {
		module, cache := heavy(), filepath.Join(t.TempDir(), "samestep-compiled-1")
		if when != "while it compiles" {
			module = assembly{}.bytes()
		}
		var s starter
		p := s.process(t.Context())
		in, err := p.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.StdoutPipe()
		if err == nil {
			err = p.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		json.NewEncoder(in).Encode(task{Cache: cache, Temporary: true, Size: len(module), Memory: 1 << 30})
		in.Write(module)
		if when == "while it compiles" {
			for len(codeOf(cache)) == 0 {
				time.Sleep(time.Millisecond)
			}
		} else if err := json.NewDecoder(out).Decode(new(compilation)); err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" {
			p.Process.Signal(os.Interrupt) // that of a terminal is for all processes
		}
		if len(codeOf(cache)) == 0 {
			t.Errorf("%s: the cache is gone too early", when)
		}
		in.Close()
		p.Wait()
		if _, err := os.Stat(cache); err == nil {
			t.Errorf("%s: the cache is left behind", when)
		}
	}
}

// codeOf returns what is in the folder of the compiler's version in a cache, and that folder.
func codeOf(cache string) []string {
	all, _ := filepath.Glob(filepath.Join(cache, "*"))
	return all
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
