package skirmish

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

var codec = state.MustCompile[World]()

// newWorld returns the world of a match at tick 0.
func newWorld(tb testing.TB, seed uint64, players uint8, config Config) *World {
	tb.Helper()
	w := new(World)
	if err := start(w, &lockstep.Settings{Seed: seed, Players: players}, &config); err != nil {
		tb.Fatal(err)
	}
	return w
}

// advance runs a world for a number of ticks, with the commands in the first one.
func advance(w *World, ticks int, commands ...lockstep.Command) {
	for range ticks {
		step(w, nil, &lockstep.Turn{Tick: lockstep.Tick(w.Match.Tick + 1), Commands: commands})
		commands = nil
	}
}

// fork returns a copy of a world as the engine makes it.
func fork(w *World) *World {
	c := new(World)
	codec.Copy(c, w)
	derive(c)
	return c
}

// newBattle returns a world in which the mixed armies of four players fight all over the map. The density of units does
// not depend on their number.
func newBattle(tb testing.TB, units uint16) *World {
	w := newWorld(tb, 5, 4, Defaults(4, units))
	dice := fixed.NewRand(9)
	for i := range w.Units {
		u := &w.Units[i]
		if u.Kind != Soldier && u.Kind != Archer {
			continue
		}
		for {
			at := PointAt(fixed.Vec2{X: dice.Range(0, fixed.Q(w.Map.Size)*fixed.One), Y: dice.Range(0, fixed.Q(w.Map.Size)*fixed.One)}).Vec2()
			if w.workspace.ground.Free(at) {
				u.Pos = at
				w.send(u, AttackMoving, w.Map.middle(), w.workspace.ground.At(w.Map.middle()))
				break
			}
		}
	}
	advance(w, 30)
	return w
}

// fight runs the i-th tick of a benchmark in w, which begins again as a copy of battle every 60 ticks.
func fight(b *testing.B, i int, w, battle *World, turn *lockstep.Turn) {
	if i%60 == 0 {
		b.StopTimer()
		codec.Copy(w, battle)
		derive(w)
		turn.Tick = lockstep.Tick(w.Match.Tick)
		b.StartTimer()
	}
	turn.Tick++
	step(w, nil, turn)
}

// BenchmarkStep measures ticks of a battle. The cost of a unit must not grow with the number of units, except that a
// small world fits into a processor's cache. Package logbench alternates between ten small worlds and a large one.
func BenchmarkStep(b *testing.B) {
	for _, units := range []uint16{1100, 11000} {
		b.Run(fmt.Sprintf("units=%d", units/11*10), func(b *testing.B) {
			battle := newBattle(b, units)
			w := fork(battle)
			advance(w, 60)
			total, fighting := 0, 0
			var turn lockstep.Turn
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				fight(b, i, w, battle, &turn)
				total += len(w.Units)
				fighting += targets(w)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(total), "ns/unit/tick")
			b.ReportMetric(float64(total)/float64(b.N), "units")
			b.ReportMetric(100*float64(fighting)/float64(total), "%fighting")
		})
	}
}

// targets returns the number of units with a target.
func targets(w *World) (n int) {
	for i := range w.Units {
		if w.Units[i].Target != 0 {
			n++
		}
	}
	return n
}

// BenchmarkStepFlood is the most expensive tick that players can cause: as many orders to their largest groups as the
// engine accepts by default, each to another place, half of them into rock.
func BenchmarkStepFlood(b *testing.B) {
	for _, units := range []uint16{1100, 11000} {
		b.Run(fmt.Sprintf("units=%d", units/11*10), func(b *testing.B) {
			battle := newBattle(b, units)
			dice := fixed.NewRand(3)
			var turn lockstep.Turn
			for p := range lockstep.Player(4) {
				for k := range lockstep.Sequence(64) {
					to := Point{uint16(dice.N(uint32(battle.Map.Size) * 8)), uint16(dice.N(uint32(battle.Map.Size) * 8))}
					turn.Commands = append(turn.Commands, lockstep.Command{Player: p, Sequence: k, Value: &AttackMove{Who: Who{Group: uint8(1 + k%4)}, To: to}})
				}
			}
			w := fork(battle)
			for i := range b.N {
				fight(b, i, w, battle, &turn)
			}
		})
	}
}

// BenchmarkBot measures the thoughts of a bot in the middle of a match that began small.
func BenchmarkBot(b *testing.B) {
	for s := Easy; s <= Hard; s++ {
		b.Run(s.String(), func(b *testing.B) {
			c := newContest(b, 1, Opening(2), s, s)
			c.play(5 * 60 * 20)
			bot, orders := c.bots[0].(*Bot), 0
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				bot.next = 0
				orders += len(bot.Think(c.w))
			}
			b.ReportMetric(float64(orders)/float64(b.N), "orders/op")
		})
	}
}

// BenchmarkSurvey measures the surveys of a battle alone, with Each on one and two processors. x-loop is how much faster it is than a plain
// loop, which takes turns with it: the quickest time of each, so that other programs on the machine count for little.
func BenchmarkSurvey(b *testing.B) {
	for _, units := range []uint16{1100, 11000} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("units=%d/workers=%d", units/11*10, workers), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
				w := newBattle(b, units)
				w.sense()
				var turn, own lockstep.Turn
				surveyAll(w, &turn)
				loop, each := time.Hour, time.Hour
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					t0 := time.Now()
					for i := range w.Units {
						w.workspace.surveys[i].take(w, i, &own)
					}
					t1 := time.Now()
					surveyAll(w, &turn)
					loop, each = min(loop, t1.Sub(t0)), min(each, time.Since(t1))
				}
				b.ReportMetric(float64(each.Nanoseconds()), "each-ns")
				b.ReportMetric(float64(loop)/float64(each), "x-loop")
			})
		}
	}
}
