package desync_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/stepper"
	"github.com/seed-49bee653/samestep/desync/triage"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// panicBundle returns a bundle of a match whose rules panicked in tick 9: on the server, in Step or in Validate, or on the machine of player
// 1, whose commands the rules of the server took.
func panicBundle(t *testing.T, where string, server bool) *replay.Bundle {
	t.Helper()
	_, h := testgame.NewBankMatch(t, 2)
	rules := withoutCrash()
	if server && where != "Derive" { // whose log has no record of it
		rules = crashing(where)
	}
	g := lockstep.MustGame(rules)
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
		if err = c.Err(); err == nil {
			_, err = c.Tick()
		}
	}
	if err == nil == (server && where != "Derive") {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	e := &host.Evidence{
		Report: coordinator.DesyncReport{Tick: 9, Player: 1}, Participants: []host.Participant{{Player: 0, Name: "ada"}, {Player: 1, Name: "bob"}},
		Panic: &record.Panic{Where: where, Text: "crash", Stack: "panic(1)\nexample.com/bank.Step()\n\t/home/ada/bank.go:7\n"},
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

// crashing returns rules that panic on the command in Step, or when they are asked about it.
func crashing(where string) lockstep.Rules[testgame.Bank, testgame.BankConfig] {
	r := testgame.BankRules()
	if where == "Derive" {
		r = withoutCrash()
		r.Derive = func(w *testgame.Bank, _ *testgame.BankConfig) { panic("crash") }
	}
	if where == record.InValidate {
		r = withoutCrash()
		r.Validate = func(_ *testgame.Bank, _ *testgame.BankConfig, c *lockstep.Command) error {
			if _, is := c.Value.(*testgame.Crash); is {
				panic("crash")
			}
			return nil
		}
	}
	return r
}

// bankOf returns the game of rules, for any header.
func bankOf(r lockstep.Rules[testgame.Bank, testgame.BankConfig]) func(*lockstep.Header) (*lockstep.Game, error) {
	return func(*lockstep.Header) (*lockstep.Game, error) { return lockstep.NewGame(r) }
}

// A bundle of a panic is explained by computing the tick again, says only what came of that, and is one group with others of the same
// functions.
func TestExplainPanic(t *testing.T) {
	var all triage.Triage
	for _, where := range []string{"on the server in Step", "on the server in Validate", "on the machine of player 1 in Step"} {
		in, server := where[strings.LastIndexByte(where, ' ')+1:], strings.Contains(where, "server")
		for name, c := range map[string]struct {
			options desync.Options
			want    string
			command bool
		}{
			"the same rules": {desync.Options{Game: bankOf(crashing(in))}, "proven: computed again, they panic in the same way", true},
			"mended rules":   {desync.Options{Game: bankOf(withoutCrash())}, "unknown why: computed again, they do not panic", true},
			"without rules":  {desync.Options{}, "unknown why: the tick was not computed again", false},
		} {
			e, err := desync.Explain(panicBundle(t, in, server), c.options)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(e.Lines(), "\n")
			for _, want := range []string{"answer     the rules panicked " + where + " of tick 9: crash", "THE RULES PANICKED: " + c.want, "example.com/bank.Step"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s, %s: no %q in\n%s", where, name, want, text)
				}
			}
			if strings.Contains(text, "crash") != true || c.command != (len(e.Commands) == 1) || e.Verdict.Party != desync.RulesPanicked {
				t.Errorf("%s, %s: got %d commands, party %s:\n%s", where, name, len(e.Commands), e.Verdict.Party, text)
			}
			var page bytes.Buffer
			if err := e.WriteHTML(&page); err != nil || !strings.Contains(page.String(), c.want[1:]) || !strings.Contains(page.String(), "in <span class=\"mono\">example.com/bank.Step at ada/bank.go:7</span>") ||
				strings.Contains(page.String(), "No single fault") || strings.Contains(page.String(), "iffer at") || strings.Contains(page.String(), "Who is wrong") {
				t.Errorf("%s, %s: the page: %v\n%s", where, name, err, page.String())
			}
			if passed := "the server computed the tick in the match, and its rules did not panic"; strings.Contains(strings.Join(strings.Fields(text), " "), passed) == server || e.Panic.Passed == server {
				t.Errorf("%s, %s: whether the server passed the tick:\n%s", where, name, text)
			}
			all.Add(e.Case(where, time.Time{}))
		}
	}
	if all.Sort(); len(all.Groups) != 1 || all.Groups[0].Count != 9 || all.Groups[0].Fingerprint.Class != desync.ClassPanic {
		t.Errorf("got the groups %+v, want one of 9", all.Groups)
	}
	if g := all.Groups[0]; all.Desyncs != 0 || all.Panics != 9 || fmt.Sprint(g.Parties) != "[{unknown 6 6} {rules 3 3}]" || fmt.Sprint(g.Builds) != "[{1 1 2}]" {
		t.Errorf("got %d desyncs, %d panics, wrong %v, builds %v", all.Desyncs, all.Panics, g.Parties, g.Builds)
	}
}

// A panic in Derive is computed again by giving the rules the state, and none that a tick cannot show is denied.
func TestExplainPanicInDerive(t *testing.T) {
	crash := crashing("Derive")
	late := withoutCrash()
	late.Derive = func(w *testgame.Bank, _ *testgame.BankConfig) {
		if w.Tick >= 8 {
			panic("crash")
		}
	}
	for name, c := range map[string]struct {
		rules       lockstep.Rules[testgame.Bank, testgame.BankConfig]
		where, want string
	}{
		"the same rules": {late, "Derive", "proven: computed again, they panic in the same way"},
		"mended rules":   {withoutCrash(), "Derive", "unknown why: computed again, they do not panic"},
		"before that":    {crash, "Derive", "unknown why: the tick was not computed again"},
		"in no tick":     {withoutCrash(), "Load", "unknown why: the tick was not computed again"},
	} {
		b := panicBundle(t, "Derive", true)
		b.Manifest.Panic.Where = c.where
		e, err := desync.Explain(b, desync.Options{Game: bankOf(c.rules)})
		if err != nil || !strings.HasPrefix(e.Verdict.Text, c.want) {
			t.Errorf("%s: got %v, %v, want %q", name, e, err, c.want)
		}
	}
}

// A redacted bundle of a panic has neither what the rules said nor a folder, and the same fingerprint.
func TestRedactPanic(t *testing.T) {
	b := panicBundle(t, record.InStep, true)
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
	games := desync.Options{Game: bankOf(testgame.BankRules())}
	before, err := desync.Explain(b, games)
	if err != nil {
		t.Fatal(err)
	}
	after, err := desync.Explain(clean, games)
	if err != nil || after.Fingerprint != before.Fingerprint || !after.Panic.Again {
		t.Errorf("got %v, %v, again %t, want %v", err, after.Fingerprint, after.Panic.Again, before.Fingerprint)
	}
}

// Whether the rules panicked in Step or in Validate, all that read the file say the same tick, and name the command.
func TestTickOfPanic(t *testing.T) {
	for _, where := range []string{record.InStep, record.InValidate} {
		b := panicBundle(t, where, true)
		raw, err := b.Replay(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		r, err := replay.NewReader(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		g := lockstep.MustGame(crashing(where))
		found, err := replay.FindPanic(r)
		if err != nil || found == nil || found.Tick != b.Manifest.Tick || found.Where != where {
			t.Fatalf("%s: got %+v, %v, want tick %d", where, found, err, b.Manifest.Tick)
		}
		if v, err := replay.Verify(r, g, replay.VerifyOptions{}); v.Panic == nil || v.Panic.Tick != found.Tick || !v.Panic.Again {
			t.Errorf("%s: verify: got %+v, %v", where, v.Panic, err)
		}
		x, err := stepper.New(r, g).Step(found.Tick, stepper.Options{Lines: 9, Commands: 9, Fields: 9})
		if err != nil || !strings.Contains(x.Panic, "tick 9: the game panicked in "+where) || len(x.Commands) != 1 || x.Commands[0].Panic == "" || x.Commands[0].Refused != "" {
			t.Errorf("%s: step: got %+v, %v", where, x, err)
		}
	}
}

// A panic here of which the file has no record is told once.
func TestUnrecordedPanicOnce(t *testing.T) {
	raw, err := panicBundle(t, record.InStep, false).Replay(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "match.ssr")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := desync.Verify(f, replay.Games{lockstep.MustGame(testgame.BankRules())}, replay.VerifyOptions{})
	if want := "tick 9: the rules panic here in Step: crash; the file has no record of a panic"; err == nil || err.Error() != want || replay.ClassOf(err) != replay.ClassPanic || v.Panic == nil {
		t.Errorf("got %v of class %q, want %s", err, replay.ClassOf(err), want)
	}
}
