package triage

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/internal/pages"
	"github.com/seed-49bee653/samestep/internal/words"
)

// WriteHTML writes the groups as one self-contained page, as [Explanation.WriteHTML] does.
func (t *Triage) WriteHTML(w io.Writer) error { return pages.Write(w, "triage.html", t) }

// WriteText writes the groups for people.
func (t *Triage) WriteText(w io.Writer) error {
	p := &words.Page{}
	for _, g := range t.Groups {
		p.Line(cmp.Or(g.Fingerprint.ID, "unknown"), "%s: %s", words.Count(g.Count, g.kind()), g.Fingerprint.About())
		p.Line("", "wrong: %s", g.parties())
		p.Line("", "builds: %s", g.shares(g.Builds))
		if len(g.Revisions) > 0 {
			p.Line("", "revisions: %s", g.shares(g.Revisions))
		}
		p.Line("", "platforms: %s", g.shares(g.Platforms))
		if times := g.Times(); times != "" {
			p.Line("", "written: %s", times)
		}
		p.Line("", "example: %s", g.Example)
		for i := range g.Who {
			p.Line("", "%s", &g.Who[i])
		}
		if g.Next != "" {
			p.Note("", "next:\n"+g.Next)
		}
	}
	for i, u := range t.Unreadable {
		p.Line(words.First("not explained", i), "%s: %s", u.Name, strings.TrimPrefix(u.Error, u.Name+": "))
	}
	if t.More > 0 {
		p.Line("", "and %s", words.Count(t.More, "more file"))
	}
	for i, l := range t.LeftOut {
		p.Line(words.First("left out", i), "%s: %s", l.Name, l.Why)
	}
	if t.MoreLeft > 0 {
		p.Line("", "and %s", words.Count(t.MoreLeft, "more file"))
	}
	p.Line("in all", "%s", t.Summary())
	return p.Write(w)
}

// Summary returns the numbers of the triage.
func (t *Triage) Summary() string {
	s := words.Count(t.Files, "file")
	if t.Took > 0 {
		s += " in " + words.Seconds(t.Took)
	}
	unknown := 0
	for _, g := range t.Groups {
		if g.Fingerprint.ID == "" {
			unknown++
		}
	}
	s += fmt.Sprintf(": %s with %s", t.Shown(), words.Count(len(t.Groups)-unknown, "fingerprint"))
	if unknown > 0 {
		s += fmt.Sprintf(" and %d without one", unknown)
	}
	s += fmt.Sprintf(", %d not explained", len(t.Unreadable)+t.More)
	if t.Agreeing > 0 {
		s += fmt.Sprintf("; nothing differs in %s", words.Count(t.Agreeing, "file"))
	}
	if t.Uncounted > 0 {
		s += fmt.Sprintf("; beyond %d machines, %s not counted", maxMachines, words.Plural(t.Uncounted, "time", "was", "were"))
	}
	if t.Dropped > 0 {
		s += fmt.Sprintf("; %s with further fingerprints", words.Count(t.Dropped, "desync"))
	}
	return s
}

// Shown counts the desyncs and the panics of the rules.
func (t *Triage) Shown() string {
	switch {
	case t.Panics == 0:
		return words.Count(t.Desyncs, "desync")
	case t.Desyncs == 0:
		return words.Count(t.Panics, "panic")
	}
	return words.Count(t.Desyncs, "desync") + " and " + words.Count(t.Panics, "panic")
}

// kind says what the files of a group show.
func (g *CaseGroup) kind() string {
	if g.Fingerprint.Class == desync.ClassPanic {
		return "panic"
	}
	return "desync"
}

// parties lists who was wrong, each with its number of desyncs.
func (g *CaseGroup) parties() string {
	var all []string
	for _, s := range g.Parties {
		all = append(all, fmt.Sprintf("%d × %s", s.All, s.Name))
	}
	return strings.Join(all, ", ")
}

// shares lists how many machines had each build or platform.
func (g *CaseGroup) shares(list []Share) string {
	wrong, is := 0, "wrong" // 0 also if that is not known
	for _, s := range list {
		wrong += s.Differ
	}
	if g.kind() == "panic" {
		is = "panicked"
	}
	var all []string
	for _, s := range list {
		text := fmt.Sprintf("%s (%s)", s.Name, words.Count(s.All, "machine"))
		if wrong > 0 {
			text = fmt.Sprintf("%s (%s %s, %d not)", s.Name, words.Count(s.Differ, "machine"), is, s.All-s.Differ)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// Times says when the files were written; "" if that is not known.
func (g *CaseGroup) Times() string {
	if g.First.IsZero() {
		return ""
	}
	first, last := g.First.UTC().Format(time.DateTime), g.Last.UTC().Format(time.DateTime)
	if first == last {
		return first + " UTC"
	}
	return first + " to " + last + " UTC"
}
