package record_test

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// The frame of tick 1 has more commands than others in a match of another engine, and only there.
func TestLobbyCommands(t *testing.T) {
	for name, c := range map[string]struct {
		engine   string
		tick     record.Tick
		commands int
		read     bool
	}{
		"another engine's lobby":      {"foreign", 1, record.MaxFrameCommands + 1, true},
		"another engine's later tick": {"foreign", 2, record.MaxFrameCommands + 1, false},
		"ours":                        {record.Engine, 1, record.MaxFrameCommands + 1, false},
		"ours, at most":               {record.Engine, 1, record.MaxFrameCommands, true},
	} {
		g, h := testgame.NewBankMatch(t, 2)
		own := *h
		own.Engine = c.engine
		sim, err := g.NewSimulation(h)
		if err != nil {
			t.Fatal(err)
		}
		var e record.Encoder
		log := append([]byte{}, e.Header(&own)...)
		log = append(log, e.Keyframe(0, sim.Hash(), nil, sim.AppendState(nil))...)
		if c.tick > 1 {
			log = append(log, e.Empty(uint32(c.tick-1))...)
		}
		f := record.Frame{Tick: c.tick}
		kind, payload := testgame.Encode(t, g, &testgame.Earn{Coins: 1})
		for i := range c.commands {
			f.Commands = append(f.Commands, record.Command{Tick: c.tick, Player: 1, Sequence: record.Sequence(i + 1), Kind: kind, Payload: payload})
		}
		log = append(log, e.Frame(&f)...)
		var d record.Decoder
		for len(log) > 0 && err == nil {
			_, log, err = d.Decode(log)
		}
		if read := err == nil; read != c.read || !read && !errors.Is(err, record.ErrMalformed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
