//go:build !js

package replays

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// Mismatches are found by tick and player in any order of the file.
func TestMismatches(t *testing.T) {
	var d mismatches
	for _, one := range []mismatch{{hash: 1, tick: 40, player: 3}, {hash: 2, tick: 20, player: 3}, {hash: 3, tick: 40, player: 0}, {hash: 4, tick: 20, player: 3}, {hash: 5, tick: 60}} {
		if err := d.add(&record.Record{Kind: record.KindMismatch, Tick: one.tick, Player: one.player, Hash: one.hash}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.add(&record.Record{Kind: record.KindChecksum, Tick: 20, Hash: 6}); err != nil {
		t.Fatal(err)
	}
	d.order()
	for _, c := range []struct {
		tick lockstep.Tick
		want []uint64 // hashes
	}{{19, nil}, {20, []uint64{4}}, {40, []uint64{3, 1}}, {60, []uint64{5}}, {61, nil}} {
		got := d.of(c.tick)
		if len(got) != len(c.want) {
			t.Fatalf("tick %d: got %v, want %v", c.tick, got, c.want)
		}
		for i := range got {
			if got[i].hash != c.want[i] {
				t.Errorf("tick %d: got %v, want %v", c.tick, got, c.want)
			}
		}
	}
	for _, want := range []bool{true, false} {
		if hash, ok := d.take(40, 3); ok != want || ok && hash != 1 {
			t.Errorf("got %d, %t, want 1, %t", hash, ok, want)
		}
	}
	if _, ok := d.take(20, 2); ok {
		t.Error("got a checksum of a player who agreed")
	}
}

// The number of mismatches is bounded.
func TestMaxMismatches(t *testing.T) {
	d := make(mismatches, maxMismatches-1)
	rec := &record.Record{Kind: record.KindMismatch}
	if err := d.add(rec); err != nil {
		t.Fatal(err)
	}
	if err := d.add(rec); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("got %v, want %v", err, replay.ErrLimit)
	}
}
