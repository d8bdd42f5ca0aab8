package live

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// The user is told what the team does and suffers, and what is in sight; an attack once for each place.
func TestEvents(t *testing.T) {
	game, config, settings := lockstep.MustGame(skirmish.Rules()), skirmish.Defaults(2, 60), lockstep.DefaultSettings(2)
	settings.Seed = 1
	h, err := game.NewHeader(lockstep.MatchID{1}, settings, &config)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := game.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	w := lockstep.World[skirmish.World](sim)
	of := func(player uint8) *skirmish.Unit {
		for i := range w.Units {
			if w.Units[i].Owner == player && w.Units[i].Kind == skirmish.Soldier {
				return &w.Units[i]
			}
		}
		t.Fatal("the player has no soldier")
		return nil
	}
	own, enemy := of(0), of(1)
	far := fixed.Vec2{X: enemy.Pos.X, Y: enemy.Pos.Y}
	for _, row := range []struct {
		name  string
		event any
		want  string
	}{
		{"own unit attacked", skirmish.Shot{By: enemy.ID, At: own.ID}, "attacked 0 true soldier"},
		{"an enemy attacked out of sight", skirmish.Shot{By: own.ID, At: enemy.ID}, ""},
		{"own barracks lost", skirmish.Death{Kind: skirmish.Barracks, Owner: 0, At: far}, "lost 0 true barracks, a building"},
		{"an enemy lost out of sight", skirmish.Death{Kind: skirmish.Soldier, Owner: 1, At: far}, ""},
		{"an enemy lost in sight", skirmish.Death{Kind: skirmish.Soldier, Owner: 1, At: own.Pos}, "lost 1 false soldier"},
		{"own unit made", skirmish.Trained{Unit: own.ID, Kind: skirmish.Soldier, Owner: 0}, "made 0 true soldier"},
		{"own building built", skirmish.BuildingDone{Kind: skirmish.Tower, Owner: 0, At: own.Pos}, "built 0 true tower, a building"},
		{"own ping", skirmish.Pinged{By: 0, At: far}, "ping 0 true "},
		{"an enemy's ping", skirmish.Pinged{By: 1, At: own.Pos}, ""},
		{"won", skirmish.MatchWon{Team: w.Players[0].Team}, "won -1 true "},
		{"lost", skirmish.MatchWon{Team: w.Players[1].Team}, "won -1 false "},
	} {
		var l events
		p := play.New(0)
		l.observe(w, p, row.event)
		l.observe(w, p, row.event)
		var got []string
		for _, e := range l.take() {
			text := fmt.Sprint(e.Sort, " ", e.Player, " ", e.Own, " ", e.Kind)
			if e.Building {
				text += ", a building"
			}
			got = append(got, text)
		}
		want := []string{row.want, row.want}
		switch {
		case row.want == "":
			want = nil
		case strings.HasPrefix(row.want, "attacked"):
			want = want[:1]
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %q, want %q", row.name, got, want)
		}
		if len(l.take()) != 0 {
			t.Errorf("%s: the events are told twice", row.name)
		}
	}
}

// Before the end of a match, a player knows the history of the own team only.
func TestHistoryOf(t *testing.T) {
	w := &skirmish.World{Players: make([]skirmish.Player, 2)}
	w.Players[1].Team = 1
	w.Samples = []skirmish.Sample{{Tick: 0, Army: 3}, {Tick: 0, Army: 4}, {Tick: 100, Kills: 5}, {Tick: 100, Gathered: 6}}
	if got, want := fmt.Sprint(HistoryOf(w, 1)), "{[0 100] [{1 1 [4 0] [0 0] [0 6] [0 0] [0 0]}]}"; got != want {
		t.Errorf("before the end: got %s, want %s", got, want)
	}
	w.Match.Winner = 1
	if got, want := fmt.Sprint(HistoryOf(w, 1)), "{[0 100] [{0 0 [3 0] [0 0] [0 0] [0 5] [0 0]} {1 1 [4 0] [0 0] [0 6] [0 0] [0 0]}]}"; got != want {
		t.Errorf("after the end: got %s, want %s", got, want)
	}
}

// However much happens while the page takes no status, few events wait.
func TestEventsAreBounded(t *testing.T) {
	var l events
	for range 10 * maxEvents {
		l.ordered([]any{&skirmish.Attack{}})
	}
	if got := l.take(); len(got) != maxEvents || got[0].Kind != "attack" {
		t.Errorf("got %d events, want %d", len(got), maxEvents)
	}
}
