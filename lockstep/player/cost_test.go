package player_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A play is a match of the bank in which every seat earns.
type play struct {
	tb       testing.TB
	game     *lockstep.Game
	c        *coordinator.Coordinator
	payloads [][]byte
	seqs     []lockstep.Sequence
	next     int
}

func newPlay(tb testing.TB, seats uint8, log lockstep.Log, o coordinator.Options) *play {
	tb.Helper()
	p := &play{tb: tb, seqs: make([]lockstep.Sequence, seats)}
	p.game, p.c = testgame.NewSeated(tb, seats, log, o)
	for i := range 8 {
		_, b := testgame.Encode(tb, p.game, &testgame.Earn{Coins: uint16(i * 100)})
		p.payloads = append(p.payloads, b)
	}
	return p
}

// tick submits N commands, each of the next seat, and seals a tick.
func (p *play) tick(commands int) {
	for range commands {
		p.next++
		seat := p.next % len(p.seqs)
		p.seqs[seat]++
		if r := p.c.Submit(lockstep.Player(seat), p.seqs[seat], 1, p.payloads[p.next%8]); r.Reason != lockstep.Accepted {
			p.tb.Fatal(r)
		}
	}
	if _, err := p.c.Tick(); err != nil {
		p.tb.Fatal(err)
	}
}

// BenchmarkCoordinator measures one tick of 8 players with the commands submitted before it, and with a referee whose
// own Step is cheap.
func BenchmarkCoordinator(b *testing.B) {
	for name, commands := range map[string]int{"empty": 0, "16 commands": 16} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			p := newPlay(b, 8, testgame.Discard{}, coordinator.Options{InputDelay: 2})
			for b.Loop() {
				p.tick(commands)
			}
		})
	}
}

// The herd is a state of 10,000 moving units of 64 bytes. It measures what the engine adds to a game's own Step.
type (
	herd struct {
		Tick  uint64
		Units []beast
	}
	beast struct {
		X, Y, VX, VY int64
		Food, Age    uint64
		Left, Right  uint64
	}
)

func herdRules() lockstep.Rules[herd, struct{}] {
	return lockstep.Rules[herd, struct{}]{
		Name: "herd", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[testgame.Earn](1, "feed")},
		New: func(w *herd, s *lockstep.Settings, _ *struct{}) error {
			w.Units = make([]beast, 10_000)
			for i := range w.Units {
				w.Units[i] = beast{VX: int64(i), VY: int64(-i), Food: s.Seed}
			}
			return nil
		},
		Step: func(w *herd, _ *struct{}, t *lockstep.Turn) {
			w.Tick++
			for i := range w.Units {
				u := &w.Units[i]
				u.X, u.Y = u.X+u.VX, u.Y+u.VY
				if u.X > 1<<20 || u.X < -1<<20 {
					u.VX = -u.VX
				}
				if u.Y > 1<<20 || u.Y < -1<<20 {
					u.VY = -u.VY
				}
				u.Food = u.Food*6364136223846793005 + uint64(u.X)
				if u.Age++; u.Food>>60 == 0 {
					u.Left++
				} else {
					u.Right++
				}
			}
		},
	}
}

// BenchmarkTax compares a follower that computes a checksum each tick with a bare loop of Step over the same states:
// about 4 ns a unit, which is far less than a real game spends.
func BenchmarkTax(b *testing.B) {
	rules := herdRules()
	g := lockstep.MustGame(rules)
	s := lockstep.DefaultSettings(8)
	s.CheckEvery = 1
	h, err := g.NewHeader(lockstep.MatchID{}, s, &struct{}{})
	if err != nil {
		b.Fatal(err)
	}
	var log []byte
	c, err := coordinator.New(g, h, testgame.LogFunc(func(r []byte) { log = append(log, r...) }), coordinator.Options{})
	if err != nil {
		b.Fatal(err)
	}
	const ticks = 200
	for range ticks {
		if _, err := c.Tick(); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("bare Step", func(b *testing.B) {
		for b.Loop() {
			var w herd
			if err := rules.New(&w, &s, nil); err != nil {
				b.Fatal(err)
			}
			for t := range lockstep.Tick(ticks) {
				rules.Step(&w, nil, &lockstep.Turn{Tick: t + 1})
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/ticks, "µs/tick")
	})
	b.Run("follower", func(b *testing.B) {
		for b.Loop() {
			f := g.NewFollower(lockstep.FollowerOptions{})
			testgame.DecodeAll(b, log, func(r *record.Record) {
				if err := f.Apply(r); err != nil {
					b.Fatal(err)
				}
			})
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/ticks, "µs/tick")
	})
}
