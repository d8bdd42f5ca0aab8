//go:build !js

package live

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/stale"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/twin"
)

// Two spectators in one folder find the same difference: each has its bundle.
func TestBundlesOfOneTick(t *testing.T) {
	t.Chdir(t.TempDir())
	h, err := lockstep.MustGame(stale.Rules(stale.None)).NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(1), &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for range 3 {
		var l heavyLog
		l.take((&record.Encoder{}).Header(h))
		name, err := l.bundle(h, host.TwinEvidence(&twin.Difference{Tick: 9, Since: 8}, lockstep.System, nil), "spectator", nil)
		if err != nil {
			t.Fatal(err)
		}
		names[name] = true
		l.close()
	}
	if len(names) != 3 || !names["01000000-twin-9-spectator.zip"] || !names["01000000-twin-9-spectator-3.zip"] {
		t.Errorf("got %v, want three names", names)
	}
}
