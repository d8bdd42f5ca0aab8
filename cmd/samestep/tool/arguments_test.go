//go:build !js

package tool

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
)

func TestFlagsFirst(t *testing.T) {
	app := newApp(io.Discard, io.Discard)
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "samestep", "samestep"},
		{"flags stand first already", "samestep replay verify --json a", "samestep replay verify --json -- a"},
		{"flag behind the file", "samestep replay verify a --json", "samestep replay verify --json -- a"},
		{"flag with a value", "samestep replay dump a --tick 5 --json", "samestep replay dump --tick 5 --json -- a"},
		{"value after an equals sign", "samestep replay dump a --tick=5 b", "samestep replay dump --tick=5 -- a b"},
		{"value that looks like a flag", "samestep replay dump a --tick --json", "samestep replay dump --tick --json -- a"},
		{"flag without its value", "samestep replay dump a --tick", "samestep replay dump --tick -- a"},
		{"unknown flag", "samestep replay verify a --fast b", "samestep replay verify --fast -- a b"},
		{"after two dashes all are arguments", "samestep replay verify -- --json", "samestep replay verify -- --json"},
		{"a dash is an argument", "samestep replay verify - --json", "samestep replay verify --json -- -"},
		{"help", "samestep help demo", "samestep help demo"},
		{"help of a verb", "samestep replay --help", "samestep replay --help"},
		{"unknown verb", "samestep fly --high", "samestep fly --high"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, want := console.FlagsFirst(app, strings.Fields(c.in)), strings.Fields(c.want); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
