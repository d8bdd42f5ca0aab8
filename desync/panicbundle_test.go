package desync_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// panicBundle returns a bundle of a match whose rules panicked in tick 9: on the server, or on the machine of player 1, whose commands the
// rules of the server took.
func panicBundle(t *testing.T, server bool) *replay.Bundle {
	t.Helper()
	g, h := testgame.NewBankMatch(t, 2)
	if !server {
		g = lockstep.MustGame(withoutCrash())
	}
	var file, bundle bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	c, err := coordinator.New(g, h, w, coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for p := range lockstep.Player(2) {
		if _, err := c.Join(p); err != nil {
			t.Fatal(err)
		}
	}
	for err == nil && c.Now() < 12 {
		if c.Now() == 8 {
			kind, payload := testgame.Encode(t, g, &testgame.Crash{})
			c.Submit(1, 1, kind, payload)
		}
		_, err = c.Tick()
	}
	if err == nil == server {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	e := &host.Evidence{
		Report: coordinator.DesyncReport{Tick: 9, Player: 1}, Participants: []host.Participant{{Player: 0, Name: "ada"}, {Player: 1, Name: "bob"}},
		Panic: &record.Panic{Where: record.InStep, Text: "crash", Stack: "panic(1)\nexample.com/bank.Step()\n\t/home/ada/bank.go:7\n"},
	}
	if server {
		e.Report.Player = lockstep.System
	}
	if err := replay.WriteBundle(&bundle, h, e, &file); err != nil {
		t.Fatal(err)
	}
	b, err := replay.OpenBundle(bytes.NewReader(bundle.Bytes()), int64(bundle.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// withoutCrash returns rules that pass over the command that panics.
func withoutCrash() lockstep.Rules[testgame.Bank, testgame.BankConfig] {
	r := testgame.BankRules()
	r.Step = func(w *testgame.Bank, config *testgame.BankConfig, turn *lockstep.Turn) {
		turn.Commands = slices.DeleteFunc(turn.Commands, func(c lockstep.Command) bool { _, is := c.Value.(*testgame.Crash); return is })
		testgame.StepBank(w, config, turn)
	}
	return r
}

// A bundle of a panic is explained by computing the tick again, says only what came of that, and is one group with others of the same
// functions.
func TestExplainPanic(t *testing.T) {
	game := func(r lockstep.Rules[testgame.Bank, testgame.BankConfig]) func(*lockstep.Header) (*lockstep.Game, error) {
		return func(*lockstep.Header) (*lockstep.Game, error) { return lockstep.NewGame(r) }
	}
	var all desync.Triage
	for _, server := range []bool{true, false} {
		where := map[bool]string{true: "on the server", false: "on the machine of player 1"}[server]
		for name, c := range map[string]struct {
			options desync.Options
			want    string
			command bool
		}{
			"the same rules": {desync.Options{Game: game(testgame.BankRules())}, "proven: computed again, they panic in the same way", true},
			"mended rules":   {desync.Options{Game: game(withoutCrash())}, "unknown why: computed again, they do not panic", true},
			"without rules":  {desync.Options{}, "unknown why: the tick was not computed again", false},
		} {
			e, err := desync.Explain(panicBundle(t, server), c.options)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(e.Lines(), "\n")
			for _, want := range []string{"the rules panicked " + where + " in Step of tick 9", "THE RULES PANICKED: " + c.want, "example.com/bank.Step"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s, %s: no %q in\n%s", where, name, want, text)
				}
			}
			if strings.Contains(text, "crash") != true || c.command != (len(e.Commands) == 1) || e.Verdict.Party != desync.RulesPanicked {
				t.Errorf("%s, %s: got %d commands, party %s:\n%s", where, name, len(e.Commands), e.Verdict.Party, text)
			}
			var page bytes.Buffer
			if err := e.WriteHTML(&page); err != nil || !strings.Contains(page.String(), c.want[1:]) || !strings.Contains(page.String(), "example.com/bank.Step") {
				t.Errorf("%s, %s: the page: %v", where, name, err)
			}
			all.Add(e.Case(where, time.Time{}))
		}
	}
	if all.Sort(); len(all.Groups) != 1 || all.Groups[0].Count != 6 || all.Groups[0].Fingerprint.Class != desync.ClassPanic {
		t.Errorf("got the groups %+v, want one of 6", all.Groups)
	}
}

// A redacted bundle of a panic has neither what the rules said nor a folder, and the same fingerprint.
func TestRedactPanic(t *testing.T) {
	b := panicBundle(t, true)
	var out bytes.Buffer
	if err := replay.RedactBundle(&out, b, 1<<20); err != nil {
		t.Fatal(err)
	}
	clean, err := replay.OpenBundle(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if p := clean.Manifest.Panic; p == nil || p.Text != "" || strings.Contains(p.Stack, "ada") {
		t.Errorf("got %+v", p)
	}
	games := desync.Options{Game: func(*lockstep.Header) (*lockstep.Game, error) { return lockstep.NewGame(testgame.BankRules()) }}
	before, err := desync.Explain(b, games)
	if err != nil {
		t.Fatal(err)
	}
	after, err := desync.Explain(clean, games)
	if err != nil || after.Fingerprint != before.Fingerprint || !after.Panic.Again {
		t.Errorf("got %v, %v, again %t, want %v", err, after.Fingerprint, after.Panic.Again, before.Fingerprint)
	}
}
