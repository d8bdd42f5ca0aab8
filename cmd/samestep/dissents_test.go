package main

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// Dissents are found by tick and player, however they stand in the file.
func TestDissents(t *testing.T) {
	var d dissents
	for _, one := range []dissent{{root: 1, tick: 40, player: 3}, {root: 2, tick: 20, player: 3}, {root: 3, tick: 40, player: 0}, {root: 4, tick: 20, player: 3}, {root: 5, tick: 60}} {
		if err := d.add(&record.Record{Kind: record.KindDissent, Tick: one.tick, Player: one.player, Root: one.root}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.add(&record.Record{Kind: record.KindChecksum, Tick: 20, Root: 6}); err != nil {
		t.Fatal(err)
	}
	d.order()
	for _, c := range []struct {
		tick lockstep.Tick
		want []uint64 // roots
	}{{19, nil}, {20, []uint64{4}}, {40, []uint64{3, 1}}, {60, []uint64{5}}, {61, nil}} {
		got := d.of(c.tick)
		if len(got) != len(c.want) {
			t.Fatalf("tick %d: got %v, want %v", c.tick, got, c.want)
		}
		for i := range got {
			if got[i].root != c.want[i] {
				t.Errorf("tick %d: got %v, want %v", c.tick, got, c.want)
			}
		}
	}
	for _, want := range []bool{true, false} {
		if root, ok := d.take(40, 3); ok != want || ok && root != 1 {
			t.Errorf("got %d, %t, want 1, %t", root, ok, want)
		}
	}
	if _, ok := d.take(20, 2); ok {
		t.Error("got a checksum of a player who agreed")
	}
}

// The number of dissents is bounded.
func TestMaxDissents(t *testing.T) {
	d := make(dissents, maxDissents-1)
	rec := &record.Record{Kind: record.KindDissent}
	if err := d.add(rec); err != nil {
		t.Fatal(err)
	}
	if err := d.add(rec); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("got %v, want %v", err, replay.ErrLimit)
	}
}
