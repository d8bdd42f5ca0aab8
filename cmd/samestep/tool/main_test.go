//go:build !js

package tool

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/commands"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// A fullDisk accepts no byte.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no room") }

// Output that could not be written is an operational error, whatever the verb made of it.
func TestOutputFails(t *testing.T) {
	var errs bytes.Buffer
	if code := tooltest.Run(t.Context(), []string{"samestep", "replay", "--help"}, fullDisk{}, &errs); code != console.ExitError || errs.String() != "samestep: no room\n" {
		t.Errorf("got exit code %d and %q, want %d and the reason", code, errs.String(), console.ExitError)
	}
	if code := tooltest.Run(t.Context(), []string{"samestep", "replay", "--help"}, &errs, &errs); code != console.ExitOK {
		t.Errorf("got exit code %d, want %d", code, console.ExitOK)
	}
}

// A program of another name has it in its help, also where the text names other verbs.
func TestHelpNamesProgram(t *testing.T) {
	book, err := commands.NewBook(func(program string, args []string, stdout, stderr io.Writer) int {
		return Run(t.Context(), append([]string{program}, args...), stdout, stderr, ours...)
	}, "hold")
	if err != nil || book.Size() < 50 {
		t.Fatalf("got %d verbs, %v", book.Size(), err)
	}
	for _, help := range book.Texts() {
		if strings.Contains(help.Text, "samestep ") {
			t.Errorf("%s:\n%s", help.File, help.Text)
		}
	}
}

// A program that fails, such as go, is no mistake of the command line, though its error has an exit code as those of the library.
func TestProgramFails(t *testing.T) {
	var errs bytes.Buffer
	code := tooltest.Run(t.Context(), []string{"samestep", "rules", "build", "./none", "-o", filepath.Join(t.TempDir(), "none.wasm")}, io.Discard, &errs)
	if text := errs.String(); code != console.ExitError || !strings.HasPrefix(text, "samestep: go list ./none: exit status ") || strings.Contains(text, "--help") {
		t.Errorf("got exit code %d and %s, want %d and what go says", code, text, console.ExitError)
	}
	errs.Reset()
	if code := tooltest.Run(t.Context(), []string{"samestep", "help", "none"}, io.Discard, &errs); code != console.ExitUsage {
		t.Errorf("got exit code %d and %s, want %d", code, &errs, console.ExitUsage)
	}
}
