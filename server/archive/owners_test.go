//go:build !js

package archive_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A crash between Played and the move of the log leaves the subjects beside no replay. The next start keeps them, because the log is
// still among those of matches that are not over, and its players may read the replay.
func TestOwnersOutliveCrash(t *testing.T) {
	r := newRig(t, nil)
	const name = "m0-00000001.ssr"
	logs := filepath.Join(r.live, "live")
	if err := os.Mkdir(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, logs, name, matchOf(t, "00000001"), 0)
	for _, path := range []string{name, "gone-00000002.ssr"} {
		if err := r.Played(filepath.Join(r.live, path), map[lockstep.Player]string{0: "ada"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(r.Adopt(r.live), os.Rename(filepath.Join(logs, name), filepath.Join(r.live, name))); err != nil {
		t.Fatal(err)
	}
	r.Add(filepath.Join(r.live, name)) // as the recovery of the server does
	r.settle(t)
	if e, err := r.Get(t.Context(), name); err != nil || e.Subjects[0] != "ada" {
		t.Errorf("got %+v, %v, want the subject of seat 0", e, err)
	}
	same(t, "left", names(t, r.live), []string{"live"})
}
