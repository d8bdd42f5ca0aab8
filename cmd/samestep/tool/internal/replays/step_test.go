//go:build !js

package replays

import (
	"bytes"
	"flag"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/words"
)

// A person is asked, and a mistake is not the end. The tick stays where it was.
func TestStepAsks(t *testing.T) {
	var out bytes.Buffer
	g, err := gameset.New(skirmish.Rules())
	if err != nil {
		t.Fatal(err)
	}
	app := &cli.App{Name: "samestep", Writer: words.NewCleaner(&out), ErrWriter: &out, Metadata: map[string]any{gameset.GamesKey: gameset.List{g}}}
	c := cli.NewContext(app, flag.NewFlagSet("step", flag.ContinueOnError), nil)
	side, err := openStepSide(c, "../../../../../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	defer side.file.Close()
	s := &stepping{c: c, a: side, tick: 100, limit: 20}
	if err := s.run(strings.NewReader("nxt\nnext\ntick 100000\npath Unit\nnext\nquit\nnext\n"), true); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(strings.ReplaceAll(out.String(), "> ", ">\n")) {
		if fields := strings.Fields(line); fields[0] == "tick" || fields[0] == "usage:" {
			got = append(got, strings.Join(fields[:min(len(fields), 4)], " "))
		}
	}
	want := []string{
		"tick 100 CHECKSUM", "tick 100>", "usage: unknown word", "tick 100>", "tick 101 CHECKSUM", "tick 101>", "usage: tick 100000:",
		"tick 101>", "usage: --path: state:", "tick 101>", "tick 102 CHECKSUM", "tick 102>",
	}
	for i, line := range got {
		if !strings.HasPrefix(line, strings.TrimSuffix(want[min(i, len(want)-1)], "CHECKSUM")) || len(got) != len(want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}
