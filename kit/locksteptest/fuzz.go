package locksteptest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Fuzz is a fuzz target: it lets the fuzzer choose the commands, their values and their order of arrival, and checks the
// match as [Run] does. The fuzzer sees which code a match reaches, and looks for matches that reach more.
//
//	func FuzzMyGame(f *testing.F) {
//		locksteptest.Fuzz(f, lockstep.MustGame(mygame.Rules()), locksteptest.Options{
//			Config: &mygame.Config{}, Players: 2, Ticks: 30,
//		}, locksteptest.Source{Package: "mygame_test", Game: "lockstep.MustGame(mygame.Rules())"})
//	}
//
// Run it with -fuzzminimizetime 5x. By default the go command spends up to a minute on making each new input small.
//
// When go test runs a failing match of the fuzzer again, Fuzz makes it small (see [Failure.Shrink]) and writes it to the
// test's artifacts, as a replay and as a Go test (see [Failure.WriteTest]).
//
// Before all, Fuzz plays some random matches. It fails with [ErrThin] if these prove too little, because the fuzzer's would too.
func Fuzz(f *testing.F, g *lockstep.Game, o Options, s Source) {
	if !fuzzing() {
		reached, err := thin(g, o, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Logf("locksteptest: %d random matches: %s", thinMatches, reached)
	}
	usual, err := o.measured(g, longest, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint64(1), uint8(5), []byte(nil))
	f.Add(uint64(2), uint8(1), []byte("\x00\x00\x01\x02\x03\xff\xff\xff\xff\x00\x01"))
	f.Add(uint64(3), uint8(16), []byte("some commands, well mixed, of which the fuzzer makes its own"))
	f.Add(uint64(92), uint8(9), bytes.Repeat([]byte{0x93}, 9600)) // hundreds of commands of one player for a tick
	reported := false
	f.Fuzz(func(t *testing.T, seed uint64, every uint8, choices []byte) {
		o := usual
		o.Seed, o.Choices = seed, choices
		o.Every, o.Span = 4+lockstep.Tick(every%16), 8
		_, err := compute(g, o)
		if found, ok := err.(*Failure); ok && !fuzzing() {
			if reported {
				t.Skip("it fails, too; another match is made small")
			}
			reported = true
			report(t, found.Shrink(ShrinkOptions{}), s)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// fuzzing reports whether this process is a worker of a fuzzer.
func fuzzing() bool {
	f := flag.Lookup("test.fuzzworker")
	return f != nil && f.Value.String() == "true"
}

// report fails the test with a failure, its Go test and the name of its replay.
func report(t testing.TB, f *Failure, s Source) {
	t.Helper()
	const name = "found.ssr"
	s.Replay = name
	dir := t.ArtifactDir()
	test, replay := filepath.Join(dir, "found_test.go"), filepath.Join(dir, name)
	file, err := os.Create(replay)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.WriteReplay(file), file.Close()); err != nil {
		t.Fatal(err)
	}
	source := f.source(t, s, dir)
	if err := os.WriteFile(test, source, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Fatalf("%v\n%s\nwith -artifacts, these stay:\n%s\n%s", f, source, test, replay)
}

// source returns the Go test of a failure, whose comment has the line of code if it is known. The test runs in dir.
func (f *Failure) source(t testing.TB, s Source, dir string) []byte {
	var first, source bytes.Buffer
	err := f.WriteTest(&first, s)
	if err == nil {
		// Without the line, the test is good all the same.
		s.Comment, _ = f.lookForLine(t, program.TestJob{
			Run: "^" + foundName(first.Bytes()) + "$", Folder: dir,
			Files: map[string][]byte{filepath.Join(packageDir, "samestep_found_test.go"): first.Bytes()},
		})
		err = f.WriteTest(&source, s)
	}
	if err != nil {
		return fmt.Appendf(nil, "no test was written: %v\n", err)
	}
	return source.Bytes()
}

// foundName returns the name of the test that WriteTest has written.
func foundName(source []byte) string {
	_, after, _ := bytes.Cut(source, []byte("\nfunc "))
	name, _, _ := bytes.Cut(after, []byte("("))
	return string(name)
}
