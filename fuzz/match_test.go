package fuzz

import (
	"bytes"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/nullgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/locksteptest"
)

// fuzzMatch plays matches whose commands, their values and their order of
// arrival are the fuzzer's choices. Each is played twice, and a state that is
// saved at a tick of the fuzzer's choice is restored.
func fuzzMatch(f *testing.F, g *lockstep.Game, o locksteptest.Options) {
	f.Add(uint64(1), uint8(5), []byte(nil))
	f.Add(uint64(2), uint8(1), []byte("\x00\x00\x01\x02\x03\xff\xff\xff\xff\x00\x01"))
	f.Add(uint64(3), uint8(16), []byte("some commands, well mixed, of which the fuzzer makes its own"))
	f.Add(uint64(92), uint8(9), bytes.Repeat([]byte{0x93}, 9600)) // hundreds of commands of one player for a tick
	f.Fuzz(func(t *testing.T, seed uint64, every uint8, choices []byte) {
		o := o
		o.Seed, o.Choices = seed, choices
		o.Every, o.Span = 4+lockstep.Tick(every%16), 8
		locksteptest.Check(t, g, o)
	})
}

func FuzzNull(f *testing.F) {
	fuzzMatch(f, nullgame.New(), locksteptest.Options{Config: &nullgame.Config{}, Players: 3, Ticks: 20})
}

func FuzzMinimal(f *testing.F) {
	fuzzMatch(f, lockstep.MustGame(minimal.Rules()), locksteptest.Options{Config: &minimal.Config{Size: 32, Coins: 20}, Players: 3, Ticks: 30})
}

func FuzzSkirmish(f *testing.F) {
	config := skirmish.Defaults(2, 24)
	config.Size = skirmish.MinSize // most of a short match is making the map
	fuzzMatch(f, lockstep.MustGame(skirmish.Rules()), locksteptest.Options{Config: &config, Players: 2, Ticks: 24})
}

// A longer match of the RTS with bots that build and fight, and random commands
// between theirs.
func TestSkirmishBots(t *testing.T) {
	config := skirmish.Defaults(4, 120)
	var bots []*skirmish.Bot
	for p := range lockstep.Player(4) {
		bots = append(bots, skirmish.NewBot(p, 7))
	}
	o := locksteptest.Options{Config: &config, Players: 4, Ticks: 400, Every: 100, Rate: 1}
	o.Play = func(p lockstep.Player, s *lockstep.Simulation) []any {
		var values []any
		for _, order := range bots[p].Think(lockstep.World[skirmish.World](s)) {
			values = append(values, order.Value)
		}
		return values
	}
	locksteptest.Check(t, lockstep.MustGame(skirmish.Rules()), o)
}
