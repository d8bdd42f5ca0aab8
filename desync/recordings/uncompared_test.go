package recordings

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
)

// Two recordings of which nothing could be compared are an error, which names what each has. One state, or commands that
// differ, are a comparison.
func TestUncompared(t *testing.T) {
	d := &Divergence{A: Side{Recording: &Recording{Ticks: 60}}, B: Side{Recording: &Recording{First: 100, Ticks: 160}}, Cause: CauseNone}
	if err := d.Uncompared(); !errors.Is(err, desync.ErrNothingCompared) || !strings.Contains(err.Error(), "A has ticks 0 to 59, and B has ticks 100 to 159") {
		t.Errorf("got %v", err)
	}
	for _, d := range []*Divergence{{Known: true, Cause: CauseNone}, {Cause: CauseCommands}} {
		if err := d.Uncompared(); err != nil {
			t.Errorf("%+v: got %v", d, err)
		}
	}
}
