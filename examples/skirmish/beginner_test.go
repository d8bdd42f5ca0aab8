package skirmish

import (
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// A beginner plays as somebody who sees the game for the first time: one order in three seconds, one barracks, soldiers only, and
// now and then all of them go to the enemy's base. It never turns back, saves nobody and builds no second base.
type beginner struct {
	player uint8
	wave   int // soldiers in the next attack
	rand   fixed.Rand
}

const beginnerRest = 60 // ticks between two orders

func (b *beginner) Think(w *World) []Order {
	if w.Match.Tick%beginnerRest != 0 {
		return nil
	}
	if o := b.order(w); o != nil {
		return []Order{*o}
	}
	return nil
}

func (b *beginner) order(w *World) *Order {
	var base, barracks, enemy, idle *Unit
	var army []UnitID
	workers := 0
	for i := range w.Units {
		switch u := &w.Units[i]; {
		case u.Owner != b.player && u.Kind == Base:
			enemy = u
		case u.Owner != b.player && enemy == nil:
			enemy = u
		case u.Owner != b.player:
		case u.Kind == Base:
			base = u
		case u.Kind == Barracks:
			barracks = u
		case u.Kind == Worker:
			if workers++; u.Task == Idle || idle == nil {
				idle = u
			}
		case u.Task == Idle:
			army = append(army, u.ID)
		}
	}
	crystals := w.Players[b.player].Crystals
	switch {
	case len(army) >= b.wave && enemy != nil:
		b.wave += 2
		return &Order{KindAttackMove, &AttackMove{Who: Who{Units: army}, To: PointAt(enemy.Pos)}}
	case base == nil:
	case workers < 8 && base.Built && base.Queue == 0 && crystals >= Worker.Traits().Cost:
		return &Order{KindTrain, &Train{Building: base.ID, Kind: Worker, Count: 1}}
	case barracks == nil && crystals >= Barracks.Traits().Cost && idle != nil:
		at := snap(base.Pos.Add(fixed.Vec2{X: b.rand.Range(-8*fixed.One, 8*fixed.One), Y: b.rand.Range(-8*fixed.One, 8*fixed.One)}))
		return &Order{KindBuild, &Build{Who: Who{Units: []UnitID{idle.ID}}, Kind: Barracks, At: PointAt(at)}}
	case barracks != nil && barracks.Built && barracks.Queue < 2 && crystals >= Soldier.Traits().Cost:
		return &Order{KindTrain, &Train{Building: barracks.ID, Kind: Soldier, Count: 1}}
	}
	return nil
}

// meet plays matches of a beginner against a bot, and returns how many the beginner won within a quarter of an hour.
func meet(t *testing.T, s Strength, seeds uint64) (won int) {
	for seed := range seeds {
		c := newContest(t, seed, Opening(2), s, s)
		c.bots[0] = &beginner{player: 0, wave: 8, rand: fixed.NewRand(seed)}
		c.play(15 * 60 * 20)
		t.Logf("%v bot, seed %d: winner %d after %.1f minutes", s, seed, c.w.Match.Winner, float64(c.w.Match.Tick)/1200)
		if c.w.Match.Winner == 1 {
			won++
		}
	}
	return won
}

// Somebody who sees the game for the first time wins against the easy bot in a quarter of an hour, and not against the others.
func TestBeginner(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it plays ten matches")
	}
	if testenv.Small(t) {
		if easy, normal := meet(t, Easy, 3), meet(t, Normal, 2); easy < 2 || normal > 1 {
			t.Errorf("won %d of 3 against the easy bot, and %d of 2 against the normal bot, want 2, and 1 at most", easy, normal)
		}
		return
	}
	if won := meet(t, Easy, 6); won < 5 {
		t.Errorf("won %d of 6 against the easy bot, want 5", won)
	}
	if won := meet(t, Normal, 4); won > 1 {
		t.Errorf("won %d of 4 against the normal bot, want 1 at most", won)
	}
}
