package client

import (
	"testing"
	"time"
)

func TestForesight(t *testing.T) {
	f := foresight{most: 6, now: 6}
	for _, row := range []struct {
		took  time.Duration
		times int
		now   int
	}{
		{5 * time.Millisecond, 1000, 6},
		{31 * time.Millisecond, 1, 3},
		{31 * time.Millisecond, 1, 1},
		{time.Second, 5, 1},
		{20 * time.Millisecond, 1000, 1}, // neither busy nor quick
		{5 * time.Millisecond, quickTimes - 1, 1},
		{5 * time.Millisecond, 1, 2},
		{5 * time.Millisecond, 10 * quickTimes, 6},
	} {
		for range row.times {
			before := f.now
			if changed := f.took(row.took); changed != (f.now != before) {
				t.Errorf("%v: from %d to %d, reported as %v", row.took, before, f.now, changed)
			}
		}
		if int(f.now) != row.now {
			t.Errorf("after %d times %v: got %d, want %d", row.times, row.took, f.now, row.now)
		}
	}
	var none foresight
	if none.took(time.Second) || none.now != 0 {
		t.Errorf("a session that predicts nothing: %+v", none)
	}
}
