package coordinator

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A slot releases the memory of a burst, and keeps the memory that a usual tick needs.
func TestSlotMemory(t *testing.T) {
	var all slots
	for _, c := range []struct{ commands, sizeBytes, keep int }{{16, 40, 1}, {10, 16 << 10, 0}, {4 * keepCommands, 1, 0}} {
		s := all.of(1, 2)
		payload := make([]byte, c.sizeBytes)
		for i := range c.commands {
			s.add(lockstep.Command{Tick: 1, Player: lockstep.Player(i % 2), Sequence: lockstep.Sequence(i), Payload: payload})
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
