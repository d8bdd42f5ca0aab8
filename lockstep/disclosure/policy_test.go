package disclosure_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// What each reader may have under each policy.
func TestPolicy(t *testing.T) {
	open, views, late := disclosure.Policy{}, disclosure.Policy{Views: true}, disclosure.Policy{Delay: 30}
	for _, c := range []struct {
		name    string
		policy  disclosure.Policy
		reader  disclosure.Reader
		ended   bool
		records bool
		shown   record.Tick // of 100
		seed    uint64      // of 7
		figures bool        // and files
	}{
		{"all, spectator", open, disclosure.Spectator, false, true, 100, 7, false},
		{"all, player", open, disclosure.Player, false, true, 100, 7, false},
		{"all, operator", open, disclosure.Operator, false, true, 100, 7, true},
		{"all, spectator after the end", open, disclosure.Spectator, true, true, 100, 7, true},
		{"views, spectator", views, disclosure.Spectator, false, false, 100, 0, false},
		{"views, player", views, disclosure.Player, false, false, 100, 0, false},
		{"views, operator", views, disclosure.Operator, false, true, 100, 7, true},
		{"views, spectator after the end", views, disclosure.Spectator, true, false, 100, 0, true},
		{"views, player after the end", views, disclosure.Player, true, false, 100, 0, true},
		{"delay, spectator", late, disclosure.Spectator, false, true, 70, 7, false},
		{"delay, player", late, disclosure.Player, false, true, 100, 7, false},
		{"delay, operator", late, disclosure.Operator, false, true, 100, 7, true},
		{"delay, spectator after the end", late, disclosure.Spectator, true, true, 100, 7, true},
		{"unknown, player", disclosure.Secret, disclosure.Player, false, false, 100, 0, false},
		{"unknown, spectator", disclosure.Secret, disclosure.Spectator, false, false, 0, 0, false},
	} {
		p, r := c.policy, c.reader
		if err := p.Records(r); (err == nil) != c.records || err != nil && !errors.Is(err, disclosure.ErrViews) {
			t.Errorf("%s: records: got %v, want %t", c.name, err, c.records)
		}
		if got := p.Shown(r, 100, c.ended); got != c.shown || p.Late(r, c.ended) != (got < 100) {
			t.Errorf("%s: got tick %d, want %d", c.name, got, c.shown)
		}
		if got := p.Settings(r, record.Settings{Seed: 7, Players: 2}); got.Seed != c.seed || got.Players != 2 {
			t.Errorf("%s: got the settings %+v, want the seed %d", c.name, got, c.seed)
		}
		if got := p.Figures(r, c.ended); got != c.figures {
			t.Errorf("%s: figures: got %t, want %t", c.name, got, c.figures)
		}
		if err := p.Files(r, c.ended); (err == nil) != c.figures || err != nil && !errors.Is(err, disclosure.ErrRunning) {
			t.Errorf("%s: files: got %v, want %t", c.name, err, c.figures)
		}
	}
	if open.Hides() || !views.Hides() || !late.Hides() {
		t.Error("only the first policy hides nothing")
	}
	if got := late.Shown(disclosure.Spectator, 20, false); got != 0 {
		t.Errorf("got tick %d of 20 with 30 of delay, want 0", got)
	}
}

func TestParse(t *testing.T) {
	for _, text := range []string{"players=all delay=0", "players=views delay=0", "players=all delay=600", "players=views delay=262144"} {
		if p, err := disclosure.Parse(text); err != nil || p.String() != text {
			t.Errorf("%q: got %v, %v", text, p, err)
		}
	}
	for _, text := range []string{"", "players=all", "players=some delay=0", "players=all delay=00", "players=all delay=-1", "players=all delay=262145",
		"players=all delay=0 ", "players=all delay=4294967296", "delay=0 players=all", "players=all delay=0\x00", strings.Repeat("players=all delay=0", 50)} {
		if p, err := disclosure.Parse(text); !errors.Is(err, disclosure.ErrMalformed) || p != (disclosure.Policy{}) {
			t.Errorf("%q: got %v, %v, want an error", text, p, err)
		}
	}
}

// A Log takes the events of the server alone, and no two different ones.
func TestLog(t *testing.T) {
	event := func(text string) *record.Record {
		return &record.Record{Kind: record.KindEvent, Player: record.System, Event: record.EventDisclosure, Text: text}
	}
	for name, c := range map[string]struct {
		events []*record.Record
		want   disclosure.Policy
		err    error
	}{
		"none":               {nil, disclosure.Secret, disclosure.ErrUnknown},
		"one":                {[]*record.Record{event("players=all delay=7")}, disclosure.Policy{Delay: 7}, nil},
		"a note":             {[]*record.Record{{Kind: record.KindNote, Player: record.System, Topic: record.EventDisclosure, Text: "players=all delay=0"}}, disclosure.Secret, disclosure.ErrUnknown},
		"another event":      {[]*record.Record{{Kind: record.KindEvent, Player: record.System, Event: "x", Text: "players=all delay=0"}}, disclosure.Secret, disclosure.ErrUnknown},
		"twice":              {[]*record.Record{event("players=all delay=7"), event("players=all delay=7")}, disclosure.Policy{Delay: 7}, nil},
		"two":                {[]*record.Record{event("players=views delay=0"), event("players=all delay=0")}, disclosure.Secret, disclosure.ErrMalformed},
		"two, and the first": {[]*record.Record{event("players=views delay=0"), event("players=all delay=0"), event("players=views delay=0")}, disclosure.Secret, disclosure.ErrMalformed},
		"other words":        {[]*record.Record{event("all")}, disclosure.Secret, disclosure.ErrMalformed},
	} {
		var l disclosure.Log
		for _, r := range c.events {
			l.Take(r)
		}
		if p, err := l.Policy(); p != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: got %v, %v, want %v, %v", name, p, err, c.want, c.err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("players=all delay=0")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := disclosure.Parse(text)
		if err == nil && p.String() != text || p.Delay > disclosure.MaxDelay {
			t.Errorf("%q: got %+v, %v", text, p, err)
		}
	})
}
