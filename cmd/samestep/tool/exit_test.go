//go:build !js

package tool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// docs/cli.md has the table that --help prints.
func TestExitTable(t *testing.T) {
	page, err := os.ReadFile("../../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(exitTable, "\n")
	if want := "\n  " + strings.ReplaceAll(table, "\n", "\n  ") + "\n\n"; !strings.Contains(string(page), want) {
		t.Errorf("docs/cli.md does not have:\n%s", want)
	}
}

// The class of a file decides the exit code only of errors in reading that file.
func TestExitCode(t *testing.T) {
	file := func(err error) error { return &fileError{"x.ssr", err} }
	for _, c := range []struct {
		name string
		err  error
		want int
	}{
		{"nothing", nil, exitOK},
		{"the command line", file(usagef("no tick")), exitUsage},
		{"a connection that ends", fmt.Errorf("join: %w", io.ErrUnexpectedEOF), exitError},
		{"a file that ends", file(io.ErrUnexpectedEOF), exitCorrupt},
		{"no such file", file(os.ErrNotExist), exitError},
		{"a payload of a server", record.ErrMalformed, exitError},
		{"a payload of a file", file(record.ErrMalformed), exitCorrupt},
		{"damage", &replay.DamageError{Err: replay.ErrCorrupt}, exitCorrupt},
		{"a newer version", &replay.DamageError{Err: replay.ErrUnsupported}, exitUnsupported},
		{"a newer recording", file(matchlog.ErrUnsupported), exitUnsupported},
		{"newer rules", file(abi.ErrUnsupported), exitUnsupported},
		{"a limit", file(replay.ErrLimit), exitCorrupt},
		{"another server", &lockstep.IdentityError{}, exitIdentity},
		{"another file", file(&lockstep.IdentityError{}), exitIdentity},
		{"a desync", &lockstep.DesyncError{}, exitDesync},
		{"a desync and damage", errors.Join(errDiffers, file(replay.ErrCorrupt)), exitDesync},
		{"a golden match with another result", fmt.Errorf("%w: %w", errGolden, locksteptest.ErrGoldenChanged), exitDesync},
		{"an explained desync", file(errExplained), exitDesync},
		{"lines that are no match", file(matchlog.ErrMalformed), exitCorrupt},
		{"lines that are no reports", file(&desync.ReportsError{Line: 1, Err: io.EOF}), exitCorrupt},
		{"a panic in a file", file(&replay.Panic{Recorded: true}), exitPanic},
		{"a panic in a file that is damaged", errors.Join(&replay.Panic{}, file(replay.ErrCorrupt)), exitPanic},
		{"a panic in a tick", &lockstep.PanicError{Where: record.InStep, Value: "oh"}, exitPanic},
		{"a trap of a module in a tick", file(&lockstep.PanicError{Where: record.InStep, Value: &abi.Fault{Text: "unreachable"}}), exitPanic},
		{"a limit of a module in a tick", file(&lockstep.PanicError{Where: record.InStep, Value: &abi.Fault{Limit: true}}), exitCorrupt},
		{"a match that a panic of the server's rules ended", endedByPanic((&lockstep.PanicError{Tick: 9, Where: record.InValidate, Value: "oh"}).Error()), exitPanic},
		{"a match that a limit of the server's rules ended", endedByPanic((&lockstep.PanicError{Tick: 9, Where: record.InStep, Value: &abi.Fault{Limit: true}}).Error()), exitOK},
		{"a match whose end says something else", endedByPanic("the game panicked in a pub: "), exitOK},
		{"a panic of New", &lockstep.PanicError{Where: "New", Value: "oh"}, exitError},
		{"a desync and a panic", errors.Join(&lockstep.DesyncError{}, &replay.Panic{}), exitDesync},
		{"another signature", file(replay.ErrSignature), exitCorrupt},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%s: got exit code %d, want %d", c.name, got, c.want)
		}
	}
}
