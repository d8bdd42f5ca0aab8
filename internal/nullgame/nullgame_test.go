package nullgame_test

import (
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/seed-49bee653/samestep/internal/nullgame"
	"github.com/seed-49bee653/samestep/lockstep"
)

// The state depends on the order and content of commands.
func TestHash(t *testing.T) {
	g := nullgame.New()
	settings := lockstep.DefaultSettings(2)
	settings.Seed = 0
	h, err := g.NewHeader(lockstep.MatchID{}, settings, &nullgame.Config{})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := g.NewPayloads().EncodeAs(255, &nullgame.Opaque{Data: []byte("hi")})
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Step(&lockstep.Frame{Tick: 1, Commands: []lockstep.Command{{Tick: 1, Player: 1, Sequence: 7, Kind: 255, Payload: payload}}}); err != nil {
		t.Fatal(err)
	}
	want := fnv.New64a()
	want.Write([]byte("\x01\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x00\xff\x00\x00\x00hi"))
	if w := lockstep.World[nullgame.World](sim); w.Hash != want.Sum64() || w.Count != 1 || w.Tick != 1 {
		t.Errorf("got %+v, want hash %x", w, want.Sum64())
	}
}

func ExampleNew() {
	g := nullgame.New()
	payload, err := g.NewPayloads().EncodeAs(12, &nullgame.Opaque{Data: []byte{1, 2}})
	fmt.Printf("% x %v\n", payload, err)
	// Output: 02 00 00 00 01 02 <nil>
}
