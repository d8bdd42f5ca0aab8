//go:build !js

package mirror

import (
	"testing"
	"time"
)

// A match is dark after nothing has come for a time although its owner has more, and as long as that lasts.
func TestGap(t *testing.T) {
	var g gap
	begin := time.Unix(1e9, 0)
	for i, x := range []struct {
		seconds float64
		at      uint64
		behind  bool
		lasts   float64
		dark    bool
	}{
		{0, 1, false, 0, false},
		{1, 1, false, 0, false},    // nothing comes, and the owner has no more: a pause
		{3600, 1, true, 0, false},  // the first tick after it
		{3609, 1, true, 9, false},  //
		{3609, 2, true, 9, false},  // something comes, slowly
		{3618, 2, true, 18, false}, //
		{3619, 2, true, 19, true},  //
		{3700, 2, true, 100, true}, //
		{3701, 3, true, 101, false},
		{3711, 3, true, 111, true},
		{3712, 3, false, 0, false}, // the owner is gone, or all is there
		{3713, 3, true, 0, false},
	} {
		now, was := begin.Add(time.Duration(x.seconds*float64(time.Second))), g.dark
		if changed := g.look(now, x.at, x.behind, 10*time.Second); changed != (x.dark != was) || g.dark != x.dark || g.lasts(now).Seconds() != x.lasts {
			t.Errorf("step %d: got changed %t, dark %t, %v; want dark %t, %vs", i, changed, g.dark, g.lasts(now), x.dark, x.lasts)
		}
	}
}
