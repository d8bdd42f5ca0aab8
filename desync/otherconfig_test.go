package desync_test

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

type (
	purse       struct{ Gold, Saved, Ticks uint32 }
	payment     struct{ Gold uint32 }
	purseConfig struct{ Gain, Start uint32 }
	market      struct {
		Ticks, Gold, Stock uint32
		Offers             []offer
	}
	offer    struct{ Until uint32 }
	delivery struct{ Stock uint32 }
)

// purseGame is a game in which gold grows by a gain of the configuration, which is saved in every third tick, and by payments. gain
// and bonus may change that.
func purseGame(gain func(lockstep.Tick, uint32) uint32, bonus uint32) *lockstep.Game {
	return lockstep.MustGame(lockstep.Rules[purse, purseConfig]{
		Name: "purse", Build: "1", Commands: []lockstep.CommandType{lockstep.Type[payment](1, "pay")},
		New: func(w *purse, _ *lockstep.Settings, c *purseConfig) error { w.Gold = c.Start; return nil },
		Step: func(w *purse, c *purseConfig, t *lockstep.Turn) {
			w.Ticks++
			if n := gain(t.Tick, c.Gain); t.Tick%3 == 0 {
				w.Saved += n
			} else {
				w.Gold += n
			}
			for i := range t.Commands {
				if p, ok := t.Commands[i].Value.(*payment); ok {
					w.Gold += p.Gold
					if t.Tick%5 == 0 {
						w.Gold += bonus
					}
				}
			}
		},
	})
}

// A trial that shows nothing names no cause: another configuration must have been there from the beginning, and be read by more than
// one rule; a command at a wrong time must not fit too early and too late; and of the only field that differs, nothing tells
// when it was altered.
func TestThinTrials(t *testing.T) {
	plain := func(_ lockstep.Tick, gain uint32) uint32 { return gain }
	doubled := func(odd func(lockstep.Tick) bool) func(lockstep.Tick, uint32) uint32 {
		return func(t lockstep.Tick, gain uint32) uint32 {
			if odd(t) {
				return 2 * gain
			}
			return gain
		}
	}
	only := func(read func(lockstep.Tick) bool, gain func(lockstep.Tick, uint32) uint32) func(lockstep.Tick, uint32) uint32 {
		return func(t lockstep.Tick, n uint32) uint32 {
			if !read(t) {
				return 0
			}
			return gain(t, n)
		}
	}
	all := func(lockstep.Tick) bool { return true }
	rare := func(t lockstep.Tick) bool { return t%10 == 4 }
	unsaved := func(t lockstep.Tick) bool { return t%3 > 0 }
	const alone = "nothing else differs, so the tick is unknown"
	for _, row := range []struct {
		name  string
		right *lockstep.Game // nil: the plain one
		wrong *lockstep.Game
		kind  desync.CauseKind
		text  string
		when  desync.Span
	}{
		{"another configuration", nil, purseGame(doubled(all), 7), desync.OtherConfig, "Gain of the configuration was 10 instead of 5", desync.Span{From: 1, To: 1}},
		{"in the only rule that reads it", purseGame(only(unsaved, plain), 7), purseGame(only(unsaved, doubled(all)), 7), desync.AlteredField, alone, desync.Span{From: 1, To: 10}},
		{"in one tick", nil, purseGame(doubled(func(t lockstep.Tick) bool { return t == 4 }), 7), desync.AlteredField, alone, desync.Span{From: 1, To: 10}},
		{"in the only tick that reads it", purseGame(only(rare, plain), 7), purseGame(only(rare, doubled(all)), 7), desync.AlteredField, alone, desync.Span{From: 1, To: 10}},
		{"after a check that agreed", nil, purseGame(doubled(func(t lockstep.Tick) bool { return t > 10 }), 7), "", "", desync.Span{}},
		{"without a bonus", nil, purseGame(plain, 0), desync.AlteredField, alone, desync.Span{From: 1, To: 10}},
	} {
		game := cmp.Or(row.right, purseGame(plain, 7))
		e, err := desync.Explain(twoSides(t, game, row.wrong, &purseConfig{Gain: 5, Start: 100}, func(tick lockstep.Tick) []any {
			if tick == 5 {
				return []any{&payment{1000}} // it runs in tick 5
			}
			return nil
		}), desync.Options{Game: replay.Games{game}.Of})
		if err != nil {
			t.Fatal(err)
		}
		if c := cmp.Or(e.Cause, &desync.Cause{}); c.Kind != row.kind || !strings.Contains(c.Text, row.text) || c.When != row.when {
			t.Errorf("%s: got %+v", row.name, c)
		}
	}
}

// marketGame is a game in which offers end and are paid, each by so many ticks too soon, and some players pay or deliver. Commands
// of a tick may be lost.
func marketGame(soon uint32, lost lockstep.Tick) *lockstep.Game {
	return lockstep.MustGame(lockstep.Rules[market, purseConfig]{
		Name: "market", Build: "1", Commands: []lockstep.CommandType{lockstep.Type[payment](1, "pay"), lockstep.Type[delivery](2, "deliver")},
		New: func(w *market, _ *lockstep.Settings, _ *purseConfig) error {
			w.Offers = []offer{{3}, {10}, {50}, {45}}
			return nil
		},
		Step: func(w *market, _ *purseConfig, t *lockstep.Turn) {
			w.Ticks++
			for i := range t.Commands {
				switch c := t.Commands[i].Value.(type) {
				case *payment:
					w.Gold += min(c.Gold, uint32(t.Tick-lost)) // 0 in the tick in which it is lost
				case *delivery:
					w.Stock += min(c.Stock, uint32(t.Tick-lost)) // 0 in the tick in which it is lost
				}
			}
			n := len(w.Offers)
			w.Offers = slices.DeleteFunc(w.Offers, func(o offer) bool { return o.Until < w.Ticks+soon })
			w.Gold += 7 * uint32(n-len(w.Offers))
		},
	})
}

// The field of an element that is gone on the wrong side may have had many values: none of them is a cause.
func TestUnseenValue(t *testing.T) {
	game := marketGame(0, 0)
	e, err := desync.Explain(twoSides(t, game, marketGame(1, 0), &purseConfig{}, func(lockstep.Tick) []any { return nil }), desync.Options{Game: replay.Games{game}.Of})
	if err != nil {
		t.Fatal(err)
	}
	if e.Tick != 10 || e.Cause != nil {
		t.Errorf("got tick %d, cause %+v; want none at tick 10", e.Tick, e.Cause)
	}
}

// All commands of a tick are lost only if each of them matters, and if a mistake in the rule of one kind does not do the same.
func TestLostTick(t *testing.T) {
	game := marketGame(0, 0)
	for _, row := range []struct {
		name   string
		orders []any
		kind   desync.CauseKind
	}{
		{"two kinds", []any{&payment{3}, &delivery{2}}, desync.LostTick},
		{"one kind", []any{&payment{3}, &payment{2}}, desync.AlteredField},
		{"one that does not matter", []any{&payment{3}, &payment{2}, &delivery{0}}, desync.AlteredField},
	} {
		e, err := desync.Explain(twoSides(t, game, marketGame(0, 5), &purseConfig{}, func(n lockstep.Tick) []any {
			if n == 5 {
				return row.orders
			}
			return nil
		}), desync.Options{Game: replay.Games{game}.Of})
		if err != nil {
			t.Fatal(err)
		}
		if c := cmp.Or(e.Cause, &desync.Cause{}); c.Kind != row.kind {
			t.Errorf("%s: got %v", row.name, c)
		}
	}
}

// twoSides plays twenty ticks with checks every ten, in which player 1 has another game, and returns the bundle of the desync.
func twoSides(t *testing.T, game, other *lockstep.Game, config any, order func(lockstep.Tick) []any) *replay.Bundle {
	t.Helper()
	settings := lockstep.DefaultSettings(2)
	settings.CheckEvery, settings.Seed = 10, 1
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, config)
	if err != nil {
		t.Fatal(err)
	}
	kept := lockstep.FollowerOptions{History: lockstep.HistoryOptions{States: true}}
	wrong := other.NewFollower(kept)
	var log, archive bytes.Buffer
	file := replay.NewWriter(&log, replay.WriterOptions{})
	match, err := coordinator.New(game, header, record.Tee(file, stubborn{wrong}), coordinator.Options{Referee: kept, InputDelay: 1})
	if err != nil {
		t.Fatal(err)
	}
	match.Join(0)
	match.Join(1)
	for n := lockstep.Tick(1); n <= 20; n++ {
		for i, value := range order(n) {
			kind, payload, err := game.NewPayloads().Encode(value)
			if err != nil {
				t.Fatal(err)
			}
			match.Submit(0, lockstep.Sequence(i+1), kind, payload)
		}
		if _, err := match.Tick(); err != nil {
			t.Fatal(err)
		}
		if n%10 > 0 {
			continue
		}
		sum, _ := wrong.Sum(n)
		if err := match.Report(1, n, sum); err != nil {
			t.Fatal(err)
		}
		if reports := match.Desyncs(); len(reports) > 0 {
			e := &host.Evidence{Report: *reports[0]}
			if a := e.Report.Agreed; a > 0 {
				e.Exhibits = append(e.Exhibits, host.Exhibit{Tick: a, Referee: match.Referee().State(a), Player: wrong.State(a)})
			}
			e.Exhibits = append(e.Exhibits, host.Exhibit{Tick: n, Referee: match.Referee().State(n), Player: wrong.State(n)})
			if err := file.Flush(); err != nil {
				t.Fatal(err)
			}
			if err := replay.WriteBundle(&archive, header, e, &log); err != nil {
				t.Fatal(err)
			}
			return open(t, archive.Bytes())
		}
	}
	t.Fatal("there was no desync")
	return nil
}
