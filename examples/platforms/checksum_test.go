package platforms_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/lockstep"
)

// checksumTicks are the ticks of the vectors.
var checksumTicks = [...]uint32{0, 1, 10, 100, 200, 300, 500, 1000}

// The vectors were observed on the other engine.
func TestChecksumVectors(t *testing.T) {
	if got := platforms.NewSum().String(); got != "811c9dc5" {
		t.Errorf("the sum of nothing is %s, want 811c9dc5", got)
	}
	for _, row := range []struct {
		name    string
		players uint8
		plays   bool
		want    [len(checksumTicks)]string // "" where it is not known
	}{
		{"2 players, idle", 2, false, [...]string{"270bc5b9", "a8a317f8", "4d68a06d", "1f6bbc09", "7f6a696a", "4a6fe917", "c9013e65", "d622bb2f"}},
		{"12 players, idle", 12, false, [...]string{"889a5ec8", "601d3d37", "1a6806dc", "3b15d79d", "473b9a3f", "b47ddaa2", "8aaadf9c", "523c1cea"}},
		{"2 players, one moves and jumps", 2, true, [...]string{"", "", "", "20333695", "f591d4a0", "7f6399f8", "cbda1987", "bfa67be5"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			sim := newSimulation(t, row.players)
			commands := map[lockstep.Tick]any{}
			if row.plays {
				unit := []uint64{8}
				commands = map[lockstep.Tick]any{
					52: &platforms.Move{Number: 1, Targets: unit, X: 1}, 72: &platforms.Jump{Number: 2, Targets: unit},
					92: &platforms.Move{Number: 3, Targets: unit, X: -1}, 302: &platforms.Move{Number: 4, Targets: unit},
				}
			}
			for i, tick := range checksumTicks {
				for tick > 0 && sim.Tick() <= lockstep.Tick(tick) {
					advance(t, sim, 0, commands[sim.Tick()])
				}
				w := lockstep.World[platforms.World](sim)
				if got := w.Checksum(&usual).String(); row.want[i] != "" && got != row.want[i] {
					t.Errorf("tick %d: got %s, want %s: %+v", tick, got, row.want[i], w.Units)
				}
			}
		})
	}
}

var (
	game  = lockstep.MustGame(platforms.Rules())
	usual = platforms.Usual(0)
)

func newSimulation(t *testing.T, players uint8) *lockstep.Simulation {
	t.Helper()
	header, err := game.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(players), &usual)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := game.NewSimulation(header)
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// advance runs a tick with commands of a player; nil is none.
func advance(t *testing.T, sim *lockstep.Simulation, p lockstep.Player, values ...any) {
	t.Helper()
	frame := lockstep.Frame{Tick: sim.Tick() + 1}
	for i, value := range values {
		if value == nil {
			continue
		}
		kind, payload, err := game.NewPayloads().Encode(value)
		if err != nil {
			t.Fatal(err)
		}
		frame.Commands = append(frame.Commands, lockstep.Command{
			Tick: frame.Tick, Player: p, Sequence: lockstep.Sequence(uint32(frame.Tick)*8 + uint32(i)), Kind: kind, Payload: payload,
		})
	}
	if err := sim.Step(&frame); err != nil {
		t.Fatal(err)
	}
}
