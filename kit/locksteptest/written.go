package locksteptest

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// written returns options that play the match of f again from a list of orders, without randomness. It leaves out
// commands that cannot be decoded, because the game does not see them.
func (f *Failure) written() Options {
	o := f.Options
	o.Choices, o.Play, o.Weights, o.Orders = nil, nil, nil, []Order{}
	payloads := f.game.NewPayloads() // never reset: the values stay
	for i := range f.played {
		p := &f.played[i]
		if p.system != nil {
			o.Orders = append(o.Orders, Order{Tick: p.tick, Player: p.player, Value: p.system})
			continue
		}
		c := lockstep.Command{Player: p.player, Kind: p.kind, Payload: p.payload}
		if payloads.Decode(&c) == nil {
			o.Orders = append(o.Orders, Order{p.tick, p.player, p.kind, c.Value})
		}
	}
	return o
}

// WriteReplay plays the match of f once more and writes it to w as a replay, with the checksum of every tick. If the
// game panics, the replay ends there and says so.
func (f *Failure) WriteReplay(w io.Writer) error {
	m, err := newMatch(f.game, f.Options)
	if err != nil {
		return err
	}
	m.played = f.played
	return m.write(w, "the match of a failure: "+f.Phase)
}

// ReplayConfig returns the configuration of the match in a replay: a pointer, as [Options] want it. It fails the test if it
// cannot read the file, or if the match is of another game.
func ReplayConfig(t testing.TB, g *lockstep.Game, name string) any {
	t.Helper()
	config, err := replayConfig(g, name)
	if err != nil {
		t.Fatalf("locksteptest: %s: %v", name, err)
	}
	return config
}

func replayConfig(g *lockstep.Game, name string) (any, error) {
	f, err := replay.OpenNoFollow(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Info()
	if info.Header == nil {
		return nil, err
	}
	if got, want := info.Header.Game, g.Name(); got != want {
		return nil, fmt.Errorf("got a match of game %q, want %q", got, want)
	}
	schema, err := state.ParseSchema(info.Header.ConfigSchema)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := schema.DumpJSON(&text, info.Header.Config); err != nil {
		return nil, err
	}
	return g.ReadConfig(text.Bytes(), nil)
}

// write plays the submitted commands once more and writes the match as a replay, with a reason in its end record.
func (m *match) write(w io.Writer, reason string) error {
	out := replay.NewWriter(w, replay.WriterOptions{})
	c, err := m.coordinator(out, lockstep.FollowerOptions{})
	if err != nil {
		return err
	}
	played := m.played
	for t := lockstep.Tick(1); t <= m.options.Ticks && c.Err() == nil; t++ {
		for ; len(played) > 0 && played[0].tick == t; played = played[1:] {
			o := &played[0]
			if o.system != nil {
				_ = issue(c, o.system) // with the result of the first time
			} else {
				c.Submit(o.player, o.sequence, o.kind, o.payload)
			}
		}
		if _, err := c.Tick(); err != nil {
			break // the log has it
		}
	}
	if c.Err() == nil {
		if err := c.End(reason); err != nil {
			return err
		}
	}
	return out.Close()
}
