//go:build !js

package tool

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// overflowing returns the lines of a text with more columns than a width, except for words that are as wide alone.
func overflowing(text string, width int) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line) > width && strings.Contains(strings.TrimSpace(line), " ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// The help of each verb fits 100 columns and 40, with the same words.
func TestHelpFits(t *testing.T) {
	app := appOf(gameset.List(games), "samestep", io.Discard, io.Discard, serving.Extension{})
	app.Setup()
	pages := []any{app}
	var add func(commands []*cli.Command)
	add = func(commands []*cli.Command) {
		for _, c := range commands {
			c.HelpName = "samestep " + c.Name
			pages = append(pages, c)
			add(c.Subcommands)
		}
	}
	add(app.Commands)
	if len(pages) < 50 {
		t.Errorf("got %d helps", len(pages))
	}
	for _, page := range pages {
		words := strings.Fields(console.HelpOf(page, 1000))
		for _, width := range []int{console.MaxHelp, 40} {
			text := console.HelpOf(page, width)
			if wide := overflowing(text, width); len(wide) > 0 {
				t.Errorf("wider than %d columns:\n%s", width, strings.Join(wide, "\n"))
			}
			if got := strings.Fields(text); !slices.Equal(got, words) {
				t.Errorf("at %d columns: got the words %q, want %q", width, got, words)
			}
		}
	}
	if got := overflowing("a bc\nabcdef\n   abcdef\nab\n", 3); len(got) != 1 || got[0] != "a bc" {
		t.Errorf("control: got %q", got)
	}
}

// --version works with and without a verb, and is no word of a file after --.
func TestVersionEverywhere(t *testing.T) {
	for _, line := range []string{"version", "--version", "serve --version", "replay verify x.ssr --version", "--version replay"} {
		var out, errs bytes.Buffer
		if code := tooltest.Run(t.Context(), append([]string{"samestep"}, strings.Fields(line)...), &out, &errs); code != console.ExitOK || !strings.HasPrefix(out.String(), "program    samestep ") {
			t.Errorf("%s: got exit code %d, %s%s", line, code, &out, &errs)
		}
	}
	var out bytes.Buffer
	if code := tooltest.Run(t.Context(), []string{"samestep", "replay", "info", "--", "--version"}, &out, &out); code != console.ExitError || !strings.Contains(out.String(), "--version") {
		t.Errorf("got exit code %d, %s", code, &out)
	}
}
