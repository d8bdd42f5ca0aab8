//go:build !js

package replays

import (
	"io"
	"testing"

	"github.com/seed-49bee653/samestep/replay"
)

// Recover names the class of the fault at which a file ends.
func TestRecoveryText(t *testing.T) {
	for err, want := range map[error]string{
		io.ErrUnexpectedEOF: "torn at byte 9: 5 ticks are left", replay.ErrInvalid: "invalid at byte 9: 5 ticks are left", replay.ErrCorrupt: "corrupt at byte 9: 5 ticks are left",
	} {
		if got := recoveryText(&replay.Recovery{Ticks: 5, Damage: &replay.DamageError{Offset: 9, Err: err}}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
