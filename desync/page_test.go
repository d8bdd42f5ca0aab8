package desync_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync/internal/pages/pagestest"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// pageOf returns the page of an explanation.
func pageOf(tb testing.TB, e *desync.Explanation) string {
	tb.Helper()
	var page strings.Builder
	if err := e.WriteHTML(&page); err != nil {
		tb.Fatal(err)
	}
	return page.String()
}

// clock is a clock that advances 3 µs with each reading.
func clock() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time { now = now.Add(3 * time.Microsecond); return now }
}

func TestPage(t *testing.T) {
	e := explained(t, func(w *world, t *turn, step step) bool {
		if len(t.Commands) == 0 {
			step(w, t)
			return false
		}
		t.Commands = slices.Delete(t.Commands, 0, 1)
		step(w, t)
		return true
	}, desync.Options{Game: findGame, Now: clock()})
	page := pageOf(t, e)
	for _, want := range []string{
		"at tick 160, since one of the ticks 141 to 160, player 2 (c)</title>", "<h1>",
		"<strong>Player 2 (c) computed it wrong</strong>",
		"The match simulated again agrees with the referee, not with player 2.",
		"The first divergent tick is one of 141 to 160.",
		"consistent with: <strong>lost command</strong>: a command did not run up to tick 160: tick 151, player 1 trains 4 × worker in building 34.",
		"<h2>What was tried</h2>",
		`<rect class="bad" x="70" y="0" width="9" height="10"><title>ticks 141 to 160: differed at 1 of 1 checks</title></rect>`,
		`<line class="mark" x1="70"`,
		"<td class=\"mono\">Crystals</td><td class=\"mono right\">",
		"<strong>platform js/wasm, which none of the 2 others has</strong>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, `class="bad"`); n != 1 {
		t.Errorf("%d checks are said to differ, want 1", n)
	}
	pagestest.SelfContained(t, page)
}

// A page says that no fault explains it only if faults were tried.
func TestPageWithoutTrials(t *testing.T) {
	e, err := desync.Explain(chestAgain(), desync.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const none = "No single fault that was tried"
	if page := pageOf(t, e); e.Trials > 0 || strings.Contains(page, none) {
		t.Errorf("after %d trials:\n%s", e.Trials, page)
	}
	if e.Tried = []desync.Tried{{}}; !strings.Contains(pageOf(t, e), none) {
		t.Error("the page does not say that trials explain nothing")
	}
}

// The page escapes names, which players choose.
func TestPageEscapes(t *testing.T) {
	const name = `<script>alert(1)</script>"' onmouseover="x" <img src=http://evil.example/>`
	files := unpacked(t, plain())
	e, err := explain(packed(t, files, func(m *replay.Manifest) {
		m.Section = name
		for i := range m.Participants {
			p := &m.Participants[i]
			p.Name, p.Build, p.Platform = name, name, name
		}
	}), withGame(t))
	if err != nil {
		t.Fatal(err)
	}
	e.Game, e.Build, e.Match, e.Recorder, e.Machine, e.Notes = name, name, name, name, name, []string{name}
	page := pageOf(t, e)
	pagestest.SelfContained(t, strings.ReplaceAll(page, "src=http", "")) // as text it may
	if strings.Contains(page, "<script") || strings.Contains(page, "<img") || !strings.Contains(page, "&lt;script&gt;") {
		t.Error("a name was not escaped")
	}
	if !pagestest.Handler.MatchString(`<b title="x" onclick="y">`) || !pagestest.Remote.MatchString(`<a href="x">`) {
		t.Error("the test finds nothing")
	}
}

// Any explanation can be rendered as a page, even an empty one.
func TestPageOfNothing(t *testing.T) {
	pagestest.SelfContained(t, pageOf(t, &desync.Explanation{First: desync.Span{From: 1, To: 1}, Verdict: desync.Verdict{Text: "nothing is known"}}))
}

// A tie blames no player, but the re-simulation may agree with one of the groups.
func TestTie(t *testing.T) {
	files := unpacked(t, plain())
	archive := packed(t, files, func(m *replay.Manifest) {
		m.Tie, m.Player, m.Exhibits = true, 0, nil
		m.Groups[0].Referee, m.Groups[0].Players = false, []lockstep.Player{0}
	})
	e, err := explain(archive, withGame(t))
	if err != nil {
		t.Fatal(err)
	}
	if v := e.Verdict; v.Party != desync.WrongPlayer || !slices.Equal(v.Players, []lockstep.Player{victim}) || v.Text != "the match simulated again agrees with player 0, not with player 2" {
		t.Errorf("got verdict %+v", v)
	}
	for _, p := range e.Who {
		if p.Differs != (p.Player == victim) {
			t.Errorf("got %+v, want that only player %d differs", p, victim)
		}
	}
	e, err = explain(archive, desync.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := e.Verdict; v.Party != desync.WrongUnknown || v.Simulated {
		t.Errorf("without the game: got verdict %+v", v)
	}
	if len(e.Traits) > 0 || slices.ContainsFunc(e.Who, func(p desync.Participant) bool { return p.Differs }) {
		t.Errorf("without the game: got %+v with %v in common, want nobody who differs", e.Who, e.Traits)
	}
}

// The columns of the time line get wider for a longer match. No tick is lost.
func TestLongTimeLine(t *testing.T) {
	x := newTable(t, func(w *world, t *turn, step step) bool { step(w, t); w.Units[5].Health--; return t.Tick > 3990 }, false)
	x.play(t, 100)
	x.report = nil
	for x.match.Now() < 4000 {
		if _, err := x.match.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	sum, _ := x.copies[victim].Sum(4000)
	if err := x.match.Report(victim, 4000, sum); err != nil {
		t.Fatal(err)
	}
	x.report = x.match.Desyncs()[0]
	x.report.Agreed = 3980
	e, err := desync.Explain(open(t, x.bundle(t)), desync.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checks, mismatches := 0, 0
	for i, c := range e.Columns {
		checks += c.Checks
		mismatches += e.Who[victim].Cells[i]
		if c.To-c.From != 79 {
			t.Fatalf("column %d is %v, want 80 ticks", i, c.Span)
		}
	}
	if len(e.Columns) != 50 || checks != 200 || mismatches != 1 {
		t.Errorf("got %d columns with %d checks and %d mismatches, want 50, 200 and 1", len(e.Columns), checks, mismatches)
	}
	pageOf(t, e)
}
