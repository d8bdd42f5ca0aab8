package skirmish

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// peaceful returns the world of a match of four players with diplomacy, each with a base and nothing else.
func peaceful(tb testing.TB, teams uint8) *World {
	return newWorld(tb, 1, 4, Config{Units: 4, Size: 64, Crystals: 1000, Cap: 100, Teams: teams, Diplomacy: true, Observers: true})
}

// refused returns the reason why the rules reject a command, and checks that it changes nothing if it runs anyway.
func refused(tb testing.TB, w *World, p lockstep.Player, value any) error {
	tb.Helper()
	c := by(p, value)
	err := Judge(w, p)(value)
	a, b := fork(w), fork(w)
	advance(a, 1)
	advance(b, 1, c)
	if changed := hash(a) != hash(b); changed == (err != nil) {
		tb.Errorf("player %d, %T %+v: %v, but it changes the world: %v", p, value, value, err, changed)
	}
	return err
}

// do runs commands that the rules must accept.
func do(tb testing.TB, w *World, p lockstep.Player, value any) {
	tb.Helper()
	if err := refused(tb, w, p, value); err != nil {
		tb.Fatalf("player %d, %T %+v: %v", p, value, value, err)
	}
	advance(w, 1, by(p, value))
}

func TestAlliance(t *testing.T) {
	w := peaceful(t, 4)
	mine, theirs := put(w, Soldier, 0, cells(30, 30)), put(w, Soldier, 1, cells(34, 30))
	far := put(w, Worker, 1, cells(32, 5))
	advance(w, lookTicks)
	if w.Sees(0, cells(32, 5)) || unit(t, w, mine).Target == 0 {
		t.Fatal("they are allied at the start")
	}
	do(t, w, 0, &Propose{To: 1})
	if !w.Offers(0, 1) || w.Offers(1, 0) || w.Players[1].Team != 1 {
		t.Fatalf("after the offer: %+v", w.Players)
	}
	do(t, w, 1, &Accept{From: 0})
	if w.Players[1].Team != 0 || w.Offers(0, 1) || unit(t, w, far).Team != 0 {
		t.Errorf("after the alliance: %+v", w.Players)
	}
	if !w.Sees(0, cells(32, 5)) || w.Sees(1, cells(32, 5)) || !w.Knows(0, cells(34, 30)) {
		t.Error("the allies do not share their sight")
	}
	health := unit(t, w, mine).Health
	advance(w, settleTicks)
	if unit(t, w, mine).Health != health || unit(t, w, theirs).Target != 0 || sound(w) != nil {
		t.Errorf("the allies fight: %v", sound(w))
	}
	do(t, w, 1, &Break{})
	if w.Players[1].Team != 1 || unit(t, w, far).Team != 1 || !w.Sees(1, cells(32, 5)) || w.Sees(0, cells(32, 5)) {
		t.Errorf("after the break: %+v", w.Players)
	}
	if home := w.Units[0].Pos; !w.Knows(1, home) || w.Sees(1, home) || !w.Knows(0, cells(32, 5)) {
		t.Error("they do not remember what they saw as allies")
	}
	advance(w, 60)
	if w.find(mine) >= 0 && unit(t, w, mine).Health == health {
		t.Error("the former allies do not fight")
	}
}

// A team that a player leaves keeps its other players, and the player's new team knows nothing of those who had the
// number before.
func TestBreakOfThree(t *testing.T) {
	w := peaceful(t, 4)
	do(t, w, 0, &Propose{To: 1})
	do(t, w, 0, &Propose{To: 2})
	do(t, w, 1, &Accept{From: 0})
	do(t, w, 2, &Accept{From: 0})
	w.Fog[1].Look(w.Map.shape(), cells(60, 60), 2) // by those who were team 1
	w.Fog[1].Remember()
	advance(w, settleTicks)
	do(t, w, 0, &Break{})
	if a, b, c := w.Players[0].Team, w.Players[1].Team, w.Players[2].Team; a != 1 || b != 0 || c != 0 {
		t.Errorf("teams %d, %d and %d after the break, want 1, 0 and 0", a, b, c)
	}
	if w.Knows(1, cells(60, 60)) {
		t.Error("the new team knows what others explored")
	}
}

func TestDiplomacyRefused(t *testing.T) {
	two := arena(t)
	two.Config.Diplomacy = true
	fixedTeams := peaceful(t, 2)
	fixedTeams.Config.Diplomacy = false
	over := peaceful(t, 2)
	over.Match.Ended = 1
	offered := peaceful(t, 4)
	do(t, offered, 0, &Propose{To: 1})
	pairs := peaceful(t, 2) // 0 and 2 against 1 and 3
	do(t, pairs, 0, &Propose{To: 1})
	defeated := peaceful(t, 2)
	advance(defeated, 1, lockstep.Command{Player: lockstep.System, Value: &lockstep.Left{Player: 2}})
	settled := peaceful(t, 4)
	do(t, settled, 0, &Propose{To: 1})
	do(t, settled, 1, &Accept{From: 0})
	do(t, settled, 2, &Propose{To: 1})
	last := peaceful(t, 4)
	do(t, last, 0, &Propose{To: 1})
	for p := range lockstep.Player(2) {
		advance(last, 1, lockstep.Command{Player: lockstep.System, Value: &lockstep.Left{Player: 2 + p}})
	}
	for _, row := range []struct {
		name  string
		w     *World
		p     lockstep.Player
		value any
		want  error
	}{
		{"an offer", pairs, 2, &Propose{To: 3}, nil},
		{"to nobody", pairs, 0, &Propose{To: 4}, ErrUnknown},
		{"to oneself", pairs, 0, &Propose{To: 0}, ErrFriend},
		{"to an ally", pairs, 0, &Propose{To: 2}, ErrFriend},
		{"to a defeated player", defeated, 1, &Propose{To: 2}, ErrDefeated},
		{"by a defeated player", defeated, 2, &Propose{To: 1}, ErrDefeated},
		{"twice", offered, 0, &Propose{To: 1}, ErrAlready},
		{"taken back", offered, 0, &Propose{To: 1, Withdraw: true}, nil},
		{"nothing to take back", offered, 1, &Propose{To: 0, Withdraw: true}, ErrUnknown},
		{"of two players", two, 0, &Propose{To: 1}, ErrNoEnemy},
		{"fixed teams", fixedTeams, 0, &Propose{To: 1}, ErrFixed},
		{"fixed teams, broken", fixedTeams, 0, &Break{}, ErrFixed},
		{"one team of all", peaceful(t, 1), 0, &Break{}, ErrFixed},
		{"after the end", over, 0, &Propose{To: 1}, ErrOver},
		{"accepted", offered, 1, &Accept{From: 0}, nil},
		{"accepted without an offer", offered, 2, &Accept{From: 0}, ErrUnknown},
		{"accepted from nobody", offered, 1, &Accept{From: 77}, ErrUnknown},
		{"accepted too soon", settled, 1, &Accept{From: 2}, ErrTooSoon},
		{"broken too soon", settled, 1, &Break{}, ErrTooSoon},
		{"broken by the other", settled, 0, &Break{}, nil},
		{"broken alone", offered, 0, &Break{}, ErrAlone},
		{"broken with a defeated ally", defeated, 0, &Break{}, ErrAlone},
		{"accepted, without an enemy", last, 1, &Accept{From: 0}, ErrNoEnemy},
	} {
		if err := refused(t, row.w, row.p, row.value); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
}

// A vote passes when more than half of the team's players who take part have voted.
func TestSurrender(t *testing.T) {
	type lose struct{ p lockstep.Player } // the player loses the connection
	for _, row := range []struct {
		name    string
		teams   uint8
		players []any // by turns: the votes of player 0, 2, 4 …, or lose
		gone    bool
	}{
		{"alone", 6, []any{lockstep.Player(0)}, true},
		{"one of three", 2, []any{lockstep.Player(0)}, false},
		{"two of three", 2, []any{lockstep.Player(0), lockstep.Player(4)}, true},
		{"one of two", 3, []any{lockstep.Player(0)}, false},
		{"two of two", 3, []any{lockstep.Player(0), lockstep.Player(3)}, true},
		{"the other is lost later", 3, []any{lockstep.Player(0), lose{3}}, true},
		{"the voter is lost", 2, []any{lockstep.Player(0), lose{0}, lockstep.Player(2)}, false},
		{"two are lost", 2, []any{lose{0}, lose{2}, lockstep.Player(4)}, true},
	} {
		w := newWorld(t, 1, 6, Config{Units: 6, Size: 64, Cap: 50, Teams: row.teams})
		for _, what := range row.players {
			if w.Match.Ended != 0 || w.Players[0].Status == Defeated {
				t.Errorf("%s: surrendered before %v", row.name, what)
			}
			switch what := what.(type) {
			case lose:
				advance(w, 1, lockstep.Command{Player: lockstep.System, Value: &lockstep.Lost{Player: what.p}})
			case lockstep.Player:
				do(t, w, what, &Surrender{})
			}
		}
		for p := range w.Players {
			if got, want := w.Players[p].Status == Defeated, row.gone && w.Players[p].Team == 0; got != want {
				t.Errorf("%s: player %d is defeated: %v, want %v", row.name, p, got, want)
			}
		}
		if ended := w.Match.Ended != 0; ended != (row.gone && row.teams == 2) || ended && w.Match.Winner != 2 {
			t.Errorf("%s: ended at %d with winner %d", row.name, w.Match.Ended, w.Match.Winner)
		}
	}
}

func TestSurrenderVotes(t *testing.T) {
	w := peaceful(t, 2)
	events := happened[SurrenderVoted](t, w, 1, by(0, &Surrender{}))
	if len(events) != 1 || events[0] != (SurrenderVoted{Player: 0, Votes: 1, Needed: 2}) {
		t.Errorf("voted as %+v", events)
	}
	if err := refused(t, w, 0, &Surrender{}); !errors.Is(err, ErrAlready) {
		t.Errorf("a second vote: %v", err)
	}
	do(t, w, 0, &Surrender{Withdraw: true})
	if err := refused(t, w, 0, &Surrender{Withdraw: true}); !errors.Is(err, ErrAlready) {
		t.Errorf("nothing to take back: %v", err)
	}
	do(t, w, 2, &Surrender{})
	if votes, needed := w.Votes(0); votes != 1 || needed != 2 || w.Players[0].Status == Defeated {
		t.Errorf("%d of %d votes after one was taken back", votes, needed)
	}
	if events := happened[Surrendered](t, w, 1, by(0, &Surrender{})); len(events) != 1 || events[0].Team != 0 || w.Match.Winner != 2 {
		t.Errorf("surrendered as %+v, winner %d", events, w.Match.Winner)
	}
	if err := refused(t, w, 1, &Surrender{}); !errors.Is(err, ErrOver) {
		t.Errorf("after the end: %v", err)
	}
	alone := peaceful(t, 4)
	do(t, alone, 1, &Surrender{})
	if alone.Players[1].Status != Defeated || alone.Match.Ended != 0 {
		t.Error("a player without allies does not surrender at once")
	}
}

// A vote does not follow its player into another team.
func TestVoteEndsWithAlliance(t *testing.T) {
	w := peaceful(t, 2)
	do(t, w, 0, &Surrender{})
	do(t, w, 1, &Propose{To: 0})
	do(t, w, 0, &Accept{From: 1})
	if votes, needed := w.Votes(1); votes != 0 || needed != 2 {
		t.Errorf("%d of %d votes in the new team", votes, needed)
	}
}

// A bot joins the vote of its team, and begins none.
func TestBotConcedes(t *testing.T) {
	w := peaceful(t, 2)
	bot := NewBot(2, 1)
	voted := func(ticks int) bool {
		for range ticks {
			for _, o := range bot.Think(w) {
				if _, ok := o.Value.(*Surrender); ok {
					return true
				}
			}
			advance(w, 1)
		}
		return false
	}
	if voted(400) {
		t.Fatal("the bot begins a vote")
	}
	do(t, w, 0, &Surrender{})
	if !voted(100) {
		t.Error("the bot does not join")
	}
}

// Observers see the sight of the teams of which every player shares it. All see everything when the match is over.
func TestObservers(t *testing.T) {
	w := peaceful(t, 2)
	put(w, Worker, 0, cells(30, 30))
	put(w, Worker, 1, cells(40, 34))
	advance(w, lookTicks)
	check := func(name string, open, first, second bool) {
		t.Helper()
		if w.Open() != open || w.Sees(Observers, cells(28, 30)) != first || w.Knows(Observers, cells(28, 30)) != first || w.Sees(Observers, cells(43, 34)) != second {
			t.Errorf("%s: open is %v, they see the first is %v, the second is %v", name, w.Open(), w.Sees(Observers, cells(28, 30)), w.Sees(Observers, cells(43, 34)))
		}
	}
	check("at the start", true, true, true)
	if err := refused(t, w, 2, &Permit{Observers: true}); !errors.Is(err, ErrAlready) {
		t.Errorf("permitted twice: %v", err)
	}
	do(t, w, 2, &Permit{}) // an ally of player 0
	check("player 2 hides it", false, false, true)
	do(t, w, 1, &Permit{})
	check("player 1 too", false, false, false)
	do(t, w, 2, &Permit{Observers: true})
	check("player 2 shares it again", false, true, false)
	w.Players[1].Status = Defeated
	check("player 1 is defeated", true, true, true)
	w.Players[1].Status, w.Match.Ended = Playing, 1
	check("the match is over", true, true, true)
	if w.Shows(7) || w.Sees(Observers, fixed.Vec2{X: -1}) {
		t.Error("they see the sight of a team without players")
	}
	hidden := newWorld(t, 1, 2, Config{Units: 2, Size: 64, Cap: 50, Teams: 2})
	if hidden.Open() || hidden.Shows(0) {
		t.Error("the configuration does not hide the sight")
	}
}
