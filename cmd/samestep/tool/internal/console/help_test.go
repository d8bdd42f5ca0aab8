//go:build !js

package console_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/internal/games"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// The help of each verb fits 100 columns and 40, with the same words.
func TestHelpFits(t *testing.T) {
	var app *cli.App
	printer := cli.HelpPrinter
	cli.HelpPrinter = func(_ io.Writer, _ string, of any) { app = of.(*cli.App) }
	tool.Run(t.Context(), []string{"samestep", "--help"}, io.Discard, io.Discard, games.All()...)
	cli.HelpPrinter = printer
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
			if wide := tooltest.Overflowing(text, width); len(wide) > 0 {
				t.Errorf("wider than %d columns:\n%s", width, strings.Join(wide, "\n"))
			}
			if got := strings.Fields(text); !slices.Equal(got, words) {
				t.Errorf("at %d columns: got the words %q, want %q", width, got, words)
			}
		}
	}
	if got := tooltest.Overflowing("a bc\nabcdef\n   abcdef\nab\n", 3); len(got) != 1 || got[0] != "a bc" {
		t.Errorf("control: got %q", got)
	}
}
