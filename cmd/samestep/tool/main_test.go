//go:build !js

package tool

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// A fullDisk accepts no byte.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no room") }

// Output that could not be written is an operational error, whatever the verb made of it.
func TestOutputFails(t *testing.T) {
	var errs bytes.Buffer
	if code := run(t.Context(), []string{"samestep", "replay", "--help"}, fullDisk{}, &errs); code != exitError || errs.String() != "samestep: no room\n" {
		t.Errorf("got exit code %d and %q, want %d and the reason", code, errs.String(), exitError)
	}
	if code := run(t.Context(), []string{"samestep", "replay", "--help"}, &errs, &errs); code != exitOK {
		t.Errorf("got exit code %d, want %d", code, exitOK)
	}
}

// A program of another name has it in its help, also where the text names other verbs.
func TestHelpNamesProgram(t *testing.T) {
	for _, verb := range []string{"serve", "attack", "bench net"} {
		var out bytes.Buffer
		args := append(append([]string{"hold"}, strings.Fields(verb)...), "--help")
		if code := run(t.Context(), args, &out, &out); code != exitOK || strings.Contains(out.String(), "samestep ") {
			t.Errorf("%s: got exit code %d and\n%s", verb, code, &out)
		}
	}
}
