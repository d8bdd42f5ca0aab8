package replay_test

import (
	"errors"
	"io"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A Cursor that compares reports each contradiction once, goes on, and simulates the same as one that does not compare.
func TestCursorCompares(t *testing.T) {
	g, file, _ := recordMatch(t, 130, replay.WriterOptions{FlushTicks: 10})
	spoiled := change(t, file, func(r *record.Record) {
		r.Hash += b2i(r.Kind == record.KindChecksum && (r.Tick == 70 || r.Tick == 90))
	})
	silent, err := replay.NewCursor(open(t, spoiled), g, 55)
	if err != nil {
		t.Fatal(err)
	}
	c, err := replay.NewCursor(open(t, spoiled), g, 55)
	if err != nil {
		t.Fatal(err)
	}
	c.Compare()
	var wrong []lockstep.Tick
	for {
		at := c.Tick()
		frame, err := c.Frame()
		var desync *lockstep.DesyncError
		if errors.As(err, &desync) {
			wrong = append(wrong, desync.Tick)
			continue
		}
		if err == io.EOF {
			break
		}
		if err != nil || frame.Tick != at+1 || c.Tick() != at {
			t.Fatalf("after tick %d: got frame %v, error %v, at tick %d", at, frame, err, c.Tick())
		}
		if at == 80 && c.Agreed() != 80 || at == 90 && c.Agreed() != 80 {
			t.Errorf("at tick %d: got agreed %d", at, c.Agreed())
		}
		if err := errors.Join(c.Step(), silent.Step()); err != nil {
			t.Fatal(err)
		}
		if c.Simulation().Hash() != silent.Simulation().Hash() {
			t.Fatalf("tick %d: the states differ", c.Tick())
		}
	}
	if len(wrong) != 2 || wrong[0] != 70 || wrong[1] != 90 || c.Tick() != 130 || silent.Agreed() != 0 {
		t.Errorf("got contradictions at %v, and the end at tick %d", wrong, c.Tick())
	}
}
