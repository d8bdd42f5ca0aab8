package platforms_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Neither views nor answers to commands tell how units move.
func TestViewsKeepSecrets(t *testing.T) {
	locksteptest.CheckView(t, game, locksteptest.Options{Config: &usual, Play: play}, locksteptest.Secrecy[platforms.World]{
		Viewers: []lockstep.Viewer{{}},
		Hidden: func(w *platforms.World, _ lockstep.Viewer) (paths []string) {
			for i := range w.Units {
				for _, field := range []string{"MoveX", "MoveY", "VY", "Inside"} {
					paths = append(paths, fmt.Sprintf("Units[%d].%s", i, field))
				}
			}
			return paths
		},
	})
}
