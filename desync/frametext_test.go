package desync_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A description of a tick's commands can be a thousand times as long as their bytes. Only the printed commands are
// described, and no text is longer than MaxText.
func TestDescribeFrame(t *testing.T) {
	d, err := lockstep.NewDescriber(&lockstep.Header{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	own := make([]lockstep.Command, 100)
	for i := range own {
		own[i] = lockstep.Command{Sequence: lockstep.Sequence(i + 1), Payload: make([]byte, lockstep.MaxPayload)}
	}
	for _, c := range []struct{ others, limit, texts, more int }{
		{0, 20, 20, 80}, {0, 0, 0, 100}, {0, -1, 0, 100}, {0, 1000, 100, 0}, {95, 20, 5, 0}, {100, 20, 0, 0},
	} {
		x := desync.DescribeFrame(&desync.FrameDifference{Tick: 7, A: own, B: own[:c.others]}, d, d, c.limit)
		if len(x.A) != c.texts || x.MoreA != c.more || len(x.B) != 0 || x.MoreB != 0 || x.Tick != 7 {
			t.Errorf("%d others, limit %d: got %d and %d more, B %d and %d more, want %d and %d, and none", c.others, c.limit, len(x.A), x.MoreA, len(x.B), x.MoreB, c.texts, c.more)
		}
		for _, text := range x.A {
			if n := len(text); n < desync.MaxText || n > desync.MaxText+8 {
				t.Errorf("got a text of %d bytes, want it cut to %d", n, desync.MaxText)
			}
		}
	}
	if x := desync.DescribeFrame(&desync.FrameDifference{A: own}, nil, d, 20); len(x.A) != 0 || x.MoreA != len(own) {
		t.Errorf("without a describer: got %d texts and %d more", len(x.A), x.MoreA)
	}
}
