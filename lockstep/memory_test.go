package lockstep

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/state"
)

// What a burst needed is given back, and what a tick usually needs is not.
func TestSlotMemory(t *testing.T) {
	var all slots
	for _, c := range []struct{ commands, sizeBytes, keep int }{{16, 40, 1}, {10, 16 << 10, 0}, {4 * keepCommands, 1, 0}} {
		s := all.of(1, 2)
		payload := make([]byte, c.sizeBytes)
		for i := range c.commands {
			s.add(Command{Tick: 1, Player: Player(i % 2), Sequence: Sequence(i), Payload: payload})
		}
		if s.shares[0].sizeBytes != uint32(c.commands/2*c.sizeBytes) {
			t.Errorf("player 0 has %d bytes of the tick, want %d", s.shares[0].sizeBytes, c.commands/2*c.sizeBytes)
		}
		all.release(1)
		if cap(s.payloads) > keepPayloads || cap(s.commands) > keepCommands {
			t.Errorf("%d commands of %d bytes: %d bytes and %d commands are kept", c.commands, c.sizeBytes, cap(s.payloads), cap(s.commands))
		}
		if c.keep == 1 && (cap(s.payloads) == 0 || cap(s.commands) == 0) {
			t.Errorf("%d commands of %d bytes: nothing is kept", c.commands, c.sizeBytes)
		}
	}
	if len(all.free) != 1 {
		t.Errorf("got %d slots, want 1 used again", len(all.free))
	}
}

// A value's memory is used again if it is small.
func TestPoolMemory(t *testing.T) {
	type blob struct{ Data []uint8 }
	p := &poolOf[blob]{codec: state.MustCompile[blob]()}
	for range 10 {
		for _, size := range []int{10, keepValue, 3} {
			if _, err := p.decode(p.codec.Append(nil, &blob{Data: make([]uint8, size)})); err != nil {
				t.Fatal(err)
			}
		}
		p.reset()
	}
	kept := 0
	for _, m := range p.items {
		kept += cap(m.Data)
	}
	if len(p.items) != 2 || kept > 100 {
		t.Errorf("got %d values of %d bytes kept, want 2 small ones", len(p.items), kept)
	}
}

// What a panic left behind cannot be copied, but it can be restored over.
func TestBrokenSimulation(t *testing.T) {
	type world struct{ N uint32 }
	g := MustGame(Rules[world, struct{}]{
		Name: "fragile", Build: "1",
		New: func(*world, *Settings, *struct{}) error { return nil },
		Step: func(w *world, turn *Turn) {
			if w.N++; turn.Tick == 2 {
				panic("fault")
			}
		},
	})
	h, err := g.NewHeader(MatchID{}, DefaultSettings(1), &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	other, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	good := sim.AppendState(nil)
	sim.Step(&Frame{Tick: 1})
	fault := sim.Step(&Frame{Tick: 2})
	var p *PanicError
	if !errors.As(fault, &p) || p.Tick != 2 || p.Where != "Step" || len(p.Stack) == 0 {
		t.Fatalf("got %v, want a panic in Step at tick 2", fault)
	}
	if err := sim.Step(&Frame{Tick: 2}); err != fault {
		t.Errorf("step again: got %v", err)
	}
	if err := other.CopyFrom(sim); err != fault || other.Tick() != 0 {
		t.Errorf("copied: got %v, tick %d", err, other.Tick())
	}
	if err := sim.Restore(0, good); err != nil || sim.Tick() != 0 || sim.Step(&Frame{Tick: 1}) != nil {
		t.Errorf("restored: %v, tick %d", err, sim.Tick())
	}
	if err := sim.Restore(0, good[:1]); err == nil || sim.Tick() != 1 {
		t.Errorf("restored from one byte: %v, tick %d", err, sim.Tick())
	}
}
