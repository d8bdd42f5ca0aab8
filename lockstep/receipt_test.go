package lockstep_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// The text of a receipt says what to do, and does not say of a player with a seat that it has none.
func TestReceiptTexts(t *testing.T) {
	for want, r := range map[string]lockstep.Receipt{
		"accepted for tick 7":              {Tick: 7},
		"rejected: the player has no seat": {Reason: lockstep.NotSeated},
		"rejected: the match has not begun": {
			Reason: lockstep.NotSeated, Detail: "the match has not begun",
		},
		"rejected: too many commands of this kind: wait 200 ticks: at most 2 in 200 ticks": {
			Reason: lockstep.TooOften, Wait: 200, Detail: "200 ticks: at most 2 in 200 ticks",
		},
		"rejected: refused: no such unit": {Reason: lockstep.Refused, Detail: "no such unit"},
	} {
		if got := r.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
