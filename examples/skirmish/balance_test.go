package skirmish

import (
	"fmt"
	"os"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A contest is a match of bots that begins small.
type contest struct {
	w       *World
	bots    []interface{ Think(*World) []Order }
	turn    lockstep.Turn
	refused map[string]int
}

func newContest(tb testing.TB, seed uint64, config Config, strengths ...Strength) *contest {
	c := &contest{w: new(World), refused: map[string]int{}}
	if err := start(c.w, &lockstep.Settings{Seed: seed, Players: uint8(len(strengths))}, &config); err != nil {
		tb.Fatal(err)
	}
	for p, s := range strengths {
		c.bots = append(c.bots, s.NewBot(lockstep.Player(p), seed))
	}
	return c
}

// play runs the match until somebody has won, or for a number of ticks.
func (c *contest) play(ticks uint32) {
	for c.w.Match.Ended == 0 && c.w.Match.Tick < ticks {
		c.turn.Tick++
		c.turn.Commands = c.turn.Commands[:0]
		for p, bot := range c.bots {
			orders := bot.Think(c.w)
			if len(orders) == 0 {
				continue
			}
			judge := Judge(c.w, lockstep.Player(p))
			for _, o := range orders {
				command := lockstep.Command{Player: lockstep.Player(p), Kind: o.Kind, Value: o.Value}
				if err := judge(o.Value); err != nil {
					c.refused[fmt.Sprintf("%T: %v", o.Value, err)]++
					continue
				}
				c.turn.Commands = append(c.turn.Commands, command)
			}
		}
		step(c.w, nil, &c.turn)
	}
}

// tally counts the results of contests.
type tally struct {
	matches, wins, first, endless int
	minutes, longest              float64
}

// hold plays matches of two bots with different seeds, who change seats.
func hold(t *testing.T, config Config, a, b Strength, seeds uint64) (sum tally) {
	t.Helper()
	for seed := range seeds {
		seats, mine := []Strength{a, b}, uint8(1)
		if seed%2 == 1 {
			seats, mine = []Strength{b, a}, 2
		}
		c := newContest(t, seed, config, seats...)
		c.play(30 * 60 * 20)
		if len(c.refused) > 2 {
			t.Errorf("seed %d: refused: %v", seed, c.refused)
		}
		minutes := float64(c.w.Match.Tick) / 1200
		sum.matches, sum.minutes, sum.longest = sum.matches+1, sum.minutes+minutes, max(sum.longest, minutes)
		switch c.w.Match.Winner {
		case 0:
			sum.endless++
		case mine:
			sum.wins++
		}
		if c.w.Match.Winner == 1 {
			sum.first++
		}
	}
	t.Logf("%v against %v: %d of %d won, %d by the first seat, %d without an end; %.1f minutes on average, at most %.1f",
		a, b, sum.wins, sum.matches, sum.first, sum.endless, sum.minutes/float64(sum.matches), sum.longest)
	return sum
}

// onMap returns a match that begins small on one of the maps that come with the game.
func onMap(tb testing.TB, name string) Config {
	file, err := os.ReadFile("maps/" + name + ".map")
	if err != nil {
		tb.Fatal(err)
	}
	config := Opening(2)
	if config.layout, err = ParseMap(file); err != nil {
		tb.Fatal(err)
	}
	config.Size = config.layout.Map.Size
	return config
}

// A match of bots ends, and a stronger bot wins most matches, on each map and in both seats. The bounds are those of the binomial
// distribution for 16 matches: where the stronger bot wins 85 % of all matches, it wins 7 or fewer of 16 with a probability of
// 0.016 %; where it wins 95 %, 10 or fewer with 0.008 %. Where both seats win the same, one of them wins at most 1 with 0.05 %.
func TestBalance(t *testing.T) {
	testenv.Long(t)
	for name, config := range map[string]Config{
		"random": Opening(2), "duel": onMap(t, "duel"), "crossroads": onMap(t, "crossroads"), "ring": onMap(t, "ring"),
	} {
		t.Run(name, func(t *testing.T) {
			if name != "random" {
				testenv.Night(t)
			}
			for _, row := range []struct {
				a, b  Strength
				least int // wins of a
			}{{Normal, Normal, 2}, {Hard, Normal, 8}, {Normal, Easy, 11}} {
				sum := hold(t, config, row.a, row.b, 16)
				if sum.endless > 0 || sum.wins < row.least {
					t.Errorf("%v against %v: got %+v, want an end of each, and at least %d won", row.a, row.b, sum, row.least)
				}
				if row.a == row.b && (sum.first < 2 || sum.first > sum.matches-2) {
					t.Errorf("the first seat wins %d of %d", sum.first, sum.matches)
				}
			}
		})
	}
}

// The normal bot beats the easy one within a quarter of an hour.
func TestStrength(t *testing.T) {
	if sum := hold(t, Opening(2), Normal, Easy, 2); sum.wins != sum.matches || sum.longest > 15 {
		t.Errorf("got %+v", sum)
	}
}

// Archers win from a distance, soldiers at once and in small numbers, and a tower holds against a few.
func TestCounters(t *testing.T) {
	for _, row := range []struct {
		name              string
		gap               int64
		archers, soldiers int
		want              uint8 // owner of the winners
	}{{"hand to hand", 2, 10, 10, 1}, {"from a distance", 12, 24, 24, 0}} {
		w := arena(t)
		for k := range int64(row.archers) {
			put(w, Archer, 0, cells(20-k/8, 20+k%8))
		}
		var ids []UnitID
		for k := range int64(row.soldiers) {
			ids = append(ids, put(w, Soldier, 1, cells(20+row.gap+k/8, 20+k%8)))
		}
		advance(w, 1500, by(1, &AttackMove{Who: list(ids...), To: PointAt(cells(20, 23))}))
		if got := fighters(w); got[row.want] == 0 || got[1-row.want] != 0 {
			t.Errorf("%s: %v are left", row.name, got)
		}
	}
	w := arena(t)
	tower := put(w, Tower, 0, cells(20, 20))
	ids := []UnitID{put(w, Soldier, 1, cells(28, 20)), put(w, Soldier, 1, cells(28, 21)), put(w, Soldier, 1, cells(28, 22))}
	advance(w, 1500, by(1, &Attack{Who: list(ids...), Target: tower}))
	if w.find(tower) < 0 || fighters(w)[1] != 0 {
		t.Errorf("three soldiers against a tower: %v are left", fighters(w))
	}
}

// fighters returns the numbers of soldiers and archers of both players.
func fighters(w *World) (n [2]int) {
	for i := range w.Units {
		if u := &w.Units[i]; u.Kind == Soldier || u.Kind == Archer {
			n[u.Owner]++
		}
	}
	return n
}
