package locksteptest

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// An order is a submitted command.
type order struct {
	tick     lockstep.Tick // the next tick to be sealed
	player   lockstep.Player
	sequence lockstep.Sequence
	kind     lockstep.Kind
	payload  []byte
	receipt  lockstep.Receipt
	system   any // the value of a command of System, which has no kind, payload and receipt
}

// differs returns the error of a result that is not the receipt of the first run.
func (o *order) differs(got any) error {
	return fmt.Errorf("command %d of player %d, kind %d: got %v, want %v", o.sequence, o.player, o.kind, got, o.receipt)
}
