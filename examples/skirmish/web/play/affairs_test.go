package play_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/lockstep"
)

// affairsText returns the panel of the team as text.
func affairsText(a *play.Affairs) string {
	if a == nil {
		return "nothing"
	}
	actions := func(buttons []play.Button) (text string) {
		for _, b := range buttons {
			text += " [" + b.Action + "]"
		}
		return text
	}
	var lines []string
	for _, o := range a.Others {
		lines = append(lines, fmt.Sprintf("player %d %s, offers %q%s", o.Player, o.Stand, o.Offer, actions(o.Buttons)))
	}
	return strings.Join(append(lines, fmt.Sprintf("votes %d of %d, final %v%s", a.Votes, a.Needed, a.Final, actions(a.Buttons))), "\n")
}

// The panel of the team has what the rules allow, and its buttons give the commands.
func TestAffairs(t *testing.T) {
	game := lockstep.MustGame(skirmish.Rules())
	config := skirmish.Defaults(3, 30)
	h, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(3), &config)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := game.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	w := lockstep.World[skirmish.World](sim)
	ada := &table{t: t, sim: sim, world: w, player: play.New(0), rules: skirmish.Rules()}
	bob := &table{t: t, sim: sim, world: w, player: play.New(1), rules: skirmish.Rules()}
	eve := &table{t: t, sim: sim, world: w, player: play.New(lockstep.System), rules: skirmish.Rules()}
	for _, row := range []struct {
		who    *table
		action string
		says   string
		then   string // the affairs of ada
	}{
		{ada, "permit", "player 0 hides its sight from observers", `
player 1 enemy, offers "" [propose:1]
player 2 enemy, offers "" [propose:2]
votes 0 of 1, final true [surrender] [permit]`},
		{ada, "propose:1", "player 0 offers player 1 an alliance", `
player 1 enemy, offers "from you" [withdraw:1]
player 2 enemy, offers "" [propose:2]
votes 0 of 1, final true [surrender] [permit]`},
		{ada, "withdraw:1", "player 0 no longer offers player 1 an alliance", ""},
		{ada, "propose:1", "player 0 offers player 1 an alliance", ""},
		{bob, "propose:0", "player 1 offers player 0 an alliance", `
player 1 enemy, offers "to you and from you" [accept:1] [withdraw:1]
player 2 enemy, offers "" [propose:2]
votes 0 of 1, final true [surrender] [permit]`},
		{ada, "accept:2", "problem: there is no such thing: an offer of player 2", ""},
		{ada, "accept:9x", "", ""},
		{bob, "accept:0", "player 1 allies with player 0", `
player 1 ally, offers ""
player 2 enemy, offers ""
votes 0 of 2, final false [break] [surrender] [permit]`},
		{bob, "break", "problem: too soon after the last change of teams: tick 7, want 206 or later", ""},
		{bob, "surrender", "player 1 votes to surrender", `
player 1 ally, offers ""
player 2 enemy, offers ""
votes 1 of 2, final true [break] [surrender] [permit]`},
		{bob, "surrender", "player 1 no longer votes to surrender", ""},
		{eve, "surrender", "", ""},
		{ada, "break", "player 0 breaks the alliance", `
player 1 enemy, offers "" [propose:1]
player 2 enemy, offers "" [propose:2]
votes 0 of 1, final true [surrender] [permit]`},
		{ada, "surrender", "player 0 votes to surrender", `
player 1 enemy, offers ""
player 2 enemy, offers ""
votes 0 of 1, final true`},
	} {
		if got := row.who.orders(row.who.player.Do(w, row.action)); got != row.says {
			t.Errorf("%s: got %q, want %q", row.action, got, row.says)
		}
		if got := affairsText(ada.player.Panel(w).Affairs); row.then != "" && got != strings.TrimSpace(row.then) {
			t.Errorf("after %s: got\n%s\nwant%s", row.action, got, row.then)
		}
	}
	if p := eve.player.Panel(w); p.Affairs != nil || p.Hiding != 0 {
		t.Errorf("a spectator has %s, and %d players hide", affairsText(p.Affairs), p.Hiding)
	}
}

// A spectator does not see, nor select, what players hide.
func TestHiddenFromSpectators(t *testing.T) {
	sim := newMatch(t)
	w := lockstep.World[skirmish.World](sim)
	eve := play.New(lockstep.System)
	if eve.Team(w) != scene.Everything {
		t.Error("a spectator does not see everything")
	}
	w.Players[1].Secret = true
	if p := eve.Panel(w); eve.Team(w) != skirmish.Observers || p.Hiding != 1 {
		t.Errorf("team %d, %d players hide", eve.Team(w), p.Hiding)
	}
	fog := scene.Fog(nil, w, skirmish.Observers)
	if want := scene.Fog(nil, w, 0); string(fog) != string(want) {
		t.Error("the fog of the spectator is not that of the player who hides nothing")
	}
	side := scene.Side(w)
	view := scene.View{Right: int32(side) << scene.PlaceBits, Bottom: int32(side) << scene.PlaceBits, Team: eve.Team(w), Player: 255, Dots: true}
	var painter scene.Painter
	if hidden, all := painter.Frame(nil, w, w, 0, &view), everyFrame(w, view); len(hidden) >= len(all) {
		t.Errorf("a frame of %d bytes for the spectator, and %d of everything", len(hidden), len(all))
	}
}

func everyFrame(w *skirmish.World, view scene.View) []byte {
	view.Team = scene.Everything
	var painter scene.Painter
	return painter.Frame(nil, w, w, 0, &view)
}
