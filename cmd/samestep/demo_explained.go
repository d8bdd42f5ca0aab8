package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
)

// An explainedStory is what a bundle says about the desync that a demo planted.
type explainedStory struct {
	Bundle  string      `json:"bundle"`
	Page    string      `json:"page"`
	Verdict string      `json:"verdict"`
	First   desync.Span `json:"first_divergent_tick"`
	Cause   string      `json:"cause"`
	text    *desync.Explanation
}

// explain explains the bundle, and writes the page beside it.
func (x *explainedStory) explain() error {
	e, err := explainFile(x.Bundle, desync.Options{})
	if err != nil {
		return fmt.Errorf("%s: %w", x.Bundle, err)
	}
	x.text, x.First, x.Verdict = e, e.First, e.Verdict.Text
	if e.Cause != nil {
		x.Cause = e.Cause.Text
	}
	x.Page = strings.TrimSuffix(x.Bundle, ".zip") + ".html"
	return files.Replace(x.Page, func(out *os.File) error { return e.WriteHTML(out) })
}

// blames reports whether the player, and nobody else, is said to be wrong.
func (x *explainedStory) blames(p lockstep.Player) bool {
	v := &x.text.Verdict
	return v.Party == desync.WrongPlayer && v.Simulated && slices.Equal(v.Players, []lockstep.Player{p})
}

// print tells what the bundle says, without what a reader of the demo knows.
func (x *explainedStory) print(line func(name, format string, args ...any)) {
	if x.text == nil {
		return
	}
	line("bundle", "%s", x.Bundle)
	line("page", "%s", x.Page)
	line("explained", "by samestep desync explain:")
	shown := false
	for _, text := range x.text.Lines() {
		if name, _, _ := strings.Cut(text, " "); name != "" {
			shown = slices.Contains([]string{"verdict", "first", "cause", "fields", "changed"}, name)
		}
		if shown {
			line("", "  %s", text)
		}
	}
}

// explain explains the bundle of the demo, and compares it with what was
// planted.
func (s *demoStory) explain() error {
	x := &s.Explained
	if err := x.explain(); err != nil {
		return err
	}
	e, p := x.text, &s.Planted
	s.expect(x.blames(p.Player), "the bundle is said to show %q", x.Verdict)
	s.expect(e.First == (desync.Span{From: p.Tick, To: p.Tick}), "the bundle is said to diverge in ticks %d to %d", e.First.From, e.First.To)
	s.expect(len(e.Fields.List) > 0 && e.Fields.List[0].Path == p.Path && e.Fields.List[0].A == p.Want && e.Fields.List[0].B == p.Got,
		"the bundle is said to differ in %v", e.Fields)
	return nil
}
