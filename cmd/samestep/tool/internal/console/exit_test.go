//go:build !js

package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// docs/cli.md has the table that --help prints.
func TestExitTable(t *testing.T) {
	page, err := os.ReadFile("../../../../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(ExitTable, "\n")
	if want := "\n  " + strings.ReplaceAll(table, "\n", "\n  ") + "\n\n"; !strings.Contains(string(page), want) {
		t.Errorf("docs/cli.md does not have:\n%s", want)
	}
}

// The class of a file decides the exit code only of errors in reading that file.
func TestExitCode(t *testing.T) {
	file := func(err error) error { return &FileError{"x.ssr", err} }
	for _, c := range []struct {
		name string
		err  error
		want int
	}{
		{"nothing", nil, ExitOK},
		{"the command line", file(Usagef("no tick")), ExitUsage},
		{"a connection that ends", fmt.Errorf("join: %w", io.ErrUnexpectedEOF), ExitError},
		{"a file that ends", file(io.ErrUnexpectedEOF), ExitCorrupt},
		{"no such file", file(os.ErrNotExist), ExitError},
		{"a payload of a server", record.ErrMalformed, ExitError},
		{"a payload of a file", file(record.ErrMalformed), ExitCorrupt},
		{"damage", &replay.DamageError{Err: replay.ErrCorrupt}, ExitCorrupt},
		{"a newer version", &replay.DamageError{Err: replay.ErrUnsupported}, ExitUnsupported},
		{"a newer recording", file(matchlog.ErrUnsupported), ExitUnsupported},
		{"newer rules", file(abi.ErrUnsupported), ExitUnsupported},
		{"a limit", file(replay.ErrLimit), ExitCorrupt},
		{"another server", &lockstep.IdentityError{}, ExitIdentity},
		{"another file", file(&lockstep.IdentityError{}), ExitIdentity},
		{"a desync", &lockstep.DesyncError{}, ExitDesync},
		{"a desync and damage", errors.Join(ErrDiffers, file(replay.ErrCorrupt)), ExitDesync},
		{"a golden match with another result", fmt.Errorf("%w: %w", ErrGolden, locksteptest.ErrGoldenChanged), ExitDesync},
		{"an explained desync", file(ErrExplained), ExitDesync},
		{"lines that are no match", file(matchlog.ErrMalformed), ExitCorrupt},
		{"lines that are no reports", file(&bisect.ReportsError{Line: 1, Err: io.EOF}), ExitCorrupt},
		{"a panic in a file", file(&replay.Panic{Recorded: true}), ExitPanic},
		{"a panic in a file that is damaged", errors.Join(&replay.Panic{}, file(replay.ErrCorrupt)), ExitPanic},
		{"a panic in a tick", &lockstep.PanicError{Where: record.InStep, Value: "oh"}, ExitPanic},
		{"a trap of a module in a tick", file(&lockstep.PanicError{Where: record.InStep, Value: &abi.Fault{Text: "unreachable"}}), ExitPanic},
		{"a limit of a module in a tick", file(&lockstep.PanicError{Where: record.InStep, Value: &abi.Fault{Limit: true}}), ExitCorrupt},
		{"a match that a panic of the server's rules ended", EndedByPanic((&lockstep.PanicError{Tick: 9, Where: record.InValidate, Value: "oh"}).Error()), ExitPanic},
		{"a match that a limit of the server's rules ended", EndedByPanic((&lockstep.PanicError{Tick: 9, Where: record.InStep, Value: &abi.Fault{Limit: true}}).Error()), ExitOK},
		{"a match whose end says something else", EndedByPanic("the game panicked in a pub: "), ExitOK},
		{"a panic of New", &lockstep.PanicError{Where: "New", Value: "oh"}, ExitError},
		{"a desync and a panic", errors.Join(&lockstep.DesyncError{}, &replay.Panic{}), ExitDesync},
		{"another signature", file(replay.ErrSignature), ExitCorrupt},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("%s: got exit code %d, want %d", c.name, got, c.want)
		}
	}
}

// A match that proves too little names the options of Go code, and the flags too.
func TestThinHint(t *testing.T) {
	thin := fmt.Errorf("locksteptest: %w: give up: 9 of 9 refused", locksteptest.ErrThin)
	if err := ThinHint(thin, "--ticks N, "); !errors.Is(err, thin) || !strings.Contains(err.Error(), "\nas flags: --ticks N, --weight KIND=0") {
		t.Errorf("got %v, want the flags", err)
	}
	if err := ThinHint(io.EOF, ""); err != io.EOF {
		t.Errorf("got %v, want another error unchanged", err)
	}
}
