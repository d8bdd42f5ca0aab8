package desync_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// The first divergent tick of a late joiner is after its initial state, even if it never agreed at a check.
func TestLateJoinerBegan(t *testing.T) {
	x := newTable(t, func(w *world, turn *turn, step step) bool {
		step(w, turn)
		if turn.Tick != 155 {
			return false
		}
		w.Units[3].Health++
		return true
	}, false)
	x.play(t, 400)
	r := x.report
	if r == nil || r.Agreed == 0 {
		t.Fatalf("got %+v", r)
	}
	evidence := &host.Evidence{Report: *r, Began: r.Agreed}
	evidence.Report.Agreed = 0
	evidence.Exhibits = []host.Exhibit{{Tick: r.Tick, Referee: x.match.Referee().State(r.Tick), Player: x.copies[r.Player].State(r.Tick)}}
	if err := x.writer.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, began := range []lockstep.Tick{r.Agreed, 0, r.Tick} {
		evidence.Began = began
		var archive bytes.Buffer
		if err := replay.WriteBundle(&archive, x.header, evidence, bytes.NewReader(x.log.Bytes())); err != nil {
			t.Fatal(err)
		}
		e, err := desync.Explain(open(t, archive.Bytes()), desync.Options{})
		if began == r.Tick {
			if err == nil {
				t.Error("a state of the tick itself: accepted")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := (desync.Span{From: began + 1, To: r.Tick}); e.First != want {
			t.Errorf("began at tick %d: got %+v, want %+v", began, e.First, want)
		}
		if text := strings.Join(e.Lines(), "\n"); strings.Contains(text, ", was sent the state of tick ") != (began > 0) {
			t.Errorf("began at tick %d: got\n%s", began, text)
		}
	}
}
