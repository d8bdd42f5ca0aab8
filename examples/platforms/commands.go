package platforms

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// The kinds of commands.
const (
	KindMove lockstep.Kind = 1 + iota
	KindJump
)

// MaxTargets limits the targets of a command.
const MaxTargets = 256

// The commands of players. Number is the player's own number of the command, which orders those of one tick. Targets
// are IDs, ascending. One may be there twice, and those that are not the player's units are ignored.
type (
	// Move lets units walk to the left (X is -1), to the right (1), or not at all (0).
	Move struct {
		Number  uint64
		Targets []uint64
		X       int8
	}

	// Jump lets units jump that stand on something.
	Jump struct {
		Number  uint64
		Targets []uint64
	}
)

// An Order is a command of a tick, in the form that both kinds share. Its Targets are only valid while it is observed.
type Order struct {
	Player  lockstep.Player
	Number  uint64
	Kind    lockstep.Kind
	Targets []uint64
	X       int8 // 0 for a jump
}

// Ticked is the event of each tick: its commands, in the order in which they run.
type Ticked struct{ Orders []Order }

// Errors of refused commands.
var (
	// ErrTargets: no, too many or unordered targets.
	ErrTargets = errors.New("platforms: bad targets")

	// ErrDirection: a Move whose X is not -1, 0 or 1.
	ErrDirection = errors.New("platforms: bad direction")
)

// orderOf returns the Order of a command. It returns false for those of the engine.
func orderOf(c *lockstep.Command) (Order, bool) {
	switch v := c.Value.(type) {
	case *Move:
		return Order{c.Player, v.Number, KindMove, v.Targets, min(max(v.X, -1), 1)}, true
	case *Jump:
		return Order{c.Player, v.Number, KindJump, v.Targets, 0}, true
	}
	return Order{}, false
}

// ordered returns the commands of a turn in the order in which they run.
func ordered(turn *lockstep.Turn) []Order {
	var all []Order
	for i := range turn.Commands {
		if o, ok := orderOf(&turn.Commands[i]); ok {
			all = append(all, o)
		}
	}
	slices.SortStableFunc(all, func(a, b Order) int {
		return cmp.Or(
			cmp.Compare(a.Player, b.Player), cmp.Compare(a.Number, b.Number),
			cmp.Compare(b.Kind, a.Kind), // by name: JUMP is before MOVE
			slices.Compare(a.Targets, b.Targets), cmp.Compare(a.X, b.X),
		)
	})
	return all
}

// obey runs a command.
func (w *World) obey(o *Order) {
	if int(o.Player) >= len(w.Units) || !slices.Contains(o.Targets, uint64(w.UnitID(o.Player))) {
		return
	}
	if u := &w.Units[o.Player]; o.Kind == KindMove {
		u.MoveX = o.X
	} else {
		u.MoveY = 1
	}
}

func describe(c *lockstep.Command) string {
	o, ok := orderOf(c)
	switch {
	case !ok:
		return ""
	case o.Kind == KindJump:
		return fmt.Sprintf("player %d lets %v jump", o.Player, o.Targets)
	}
	return fmt.Sprintf("player %d lets %v walk %s", o.Player, o.Targets, [...]string{"to the left", "no more", "to the right"}[o.X+1])
}
