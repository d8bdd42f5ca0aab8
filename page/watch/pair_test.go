package watch_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
)

// without returns a replay without the commands of a tick, and without the checksums and states after it.
func without(t testing.TB, file []byte, tick lockstep.Tick) []byte {
	t.Helper()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, e := replay.NewWriter(&out, replay.WriterOptions{}), record.Encoder{}
	for rec, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Tick >= tick && (rec.Kind == record.KindChecksum || rec.Kind == record.KindKeyframe) {
			continue
		}
		raw := []byte(nil)
		if rec.Kind == record.KindFrame && rec.Tick == tick {
			raw = e.Empty(1)
		} else {
			raw = e.Record(rec)
		}
		if err := w.Append(raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// find searches for a difference, in small steps.
func find(t testing.TB, v *watch.Viewer, back bool) *watch.Comparison {
	t.Helper()
	for v.Find(back); !v.Work(7); {
	}
	if v.Fault() != nil || v.Other().Tick() != v.Tick() {
		t.Fatalf("got ticks %d and %d, %v", v.Tick(), v.Other().Tick(), v.Fault())
	}
	return v.Comparison()
}

// Two replays of one match go along, and a search finds where they part.
func TestCompare(t *testing.T) {
	const parted = 600
	file := golden(t, "duel")
	whole, err := watch.Open(file, game)
	if err != nil {
		t.Fatal(err)
	}
	at := whole.Commands(parted, 2)[1].Tick // the first command after it
	v := open(t, "duel")
	other, err := watch.Open(without(t, file, at), game)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Compare(other); err != nil {
		t.Fatal(err)
	}
	c := find(t, v, false)
	first := v.Tick()
	if c.None || first < at || first > at+20 || c.Total == 0 || len(c.Fields) == 0 || c.Commands == nil || *c.Commands != at {
		t.Errorf("without the commands of tick %d: found %d, %+v", at, first, c)
	}
	t.Logf("%d: %v", first, c.Fields[0])
	if c := find(t, v, true); !c.None || v.Tick() != first {
		t.Errorf("before the first difference: got tick %d, %+v", v.Tick(), c)
	}
	find(t, v, false)
	second := v.Tick()
	if find(t, v, true); second <= first || v.Tick() != first {
		t.Errorf("got %d after the first difference %d, and back at %d", second, first, v.Tick())
	}
	for v.Seek(first - 1); !v.Work(9); {
	}
	if d := v.Differences(10); d.Total != 0 {
		t.Errorf("before they part: got %v", d)
	}
	for v.Seek(v.Last()); !v.Work(100); {
	}
	if d := v.Differences(10); d.Total < 10 || len(d.List) != 10 {
		t.Errorf("at the end: got %d fields, %d of them listed", d.Total, len(d.List))
	}
	if c := find(t, v, true); v.Tick() <= first || c.None {
		t.Errorf("back from the end: got tick %d, %+v", v.Tick(), c)
	}
	same := open(t, "duel")
	if err := same.Compare(open(t, "duel")); err != nil {
		t.Fatal(err)
	}
	if c := find(t, same, false); !c.None || c.Total != 0 || len(c.Turns) != 0 || c.Commands != nil || same.Tick() != 0 {
		t.Errorf("twice the same replay: got tick %d, %+v", same.Tick(), c)
	}
	if open(t, "duel").Comparison() != nil {
		t.Error("one replay alone is compared")
	}
}

// bundle returns a bundle of the duel in which player 1 has another health of a unit from a tick on.
func bundle(tick lockstep.Tick, state func(*watch.Viewer) []byte, panicked ...*record.Panic) ([]byte, error) {
	file, err := os.ReadFile(goldens + "duel.ssr")
	if err != nil {
		return nil, err
	}
	v, err := watch.Open(file, game)
	if err != nil {
		return nil, err
	}
	for v.Seek(tick); !v.Work(100); {
	}
	_, now := v.States()
	e := &host.Evidence{
		Report:   coordinator.DesyncReport{Tick: tick, Player: 1, Agreed: tick - 20},
		Exhibits: []host.Exhibit{{Tick: tick, Referee: now.AppendState(nil), Player: state(v)}},
	}
	for _, p := range panicked {
		e.Exhibits, e.Panic = nil, p
	}
	var out bytes.Buffer
	err = replay.WriteBundle(&out, v.Header(), e, bytes.NewReader(file))
	return out.Bytes(), err
}

// The bundle of a panic has nothing to compare. It says what panicked.
func TestOpenPanic(t *testing.T) {
	file, err := bundle(400, damaged, &record.Panic{Where: record.InStep, Text: "index out of range"})
	if err != nil {
		t.Fatal(err)
	}
	v, err := watch.Open(file, game)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := v.About().Damage, "the rules panicked on the machine of player 1 in tick 400: index out of range"; got != want || v.Comparison() != nil {
		t.Errorf("got %q and the comparison %v, want %q", got, v.Comparison(), want)
	}
}

// damaged returns the state in which a unit has other health.
func damaged(v *watch.Viewer) []byte {
	s, err := game.NewSimulation(v.Header())
	if err != nil {
		panic(err)
	}
	_, now := v.States()
	if err := s.CopyFrom(now); err != nil {
		panic(err)
	}
	lockstep.World[skirmish.World](s).Units[3].Health -= 7
	return s.AppendState(nil)
}

func ExampleViewer_Compare() {
	file, err := bundle(400, damaged)
	if err != nil {
		panic(err)
	}
	v, err := watch.Open(file, game) // the match, and the player's state beside it
	if err != nil {
		panic(err)
	}
	for v.Find(false); !v.Work(100); {
	}
	var c *watch.Comparison = v.Comparison()
	fmt.Println(v.Tick(), v.Other().Tick(), c.Total, c.Fields[0].Path)
	fmt.Println(c.Note)
	// Output:
	// 400 400 1 Units[ID=4].Health
	// Player 1 sent its state of tick 400. From there on it is simulated with the commands of the match; before, the match is shown. Both last agreed at tick 380.
}

// Hostile bundles are refused.
func TestBundle(t *testing.T) {
	for name, state := range map[string]func(*watch.Viewer) []byte{
		"junk": func(*watch.Viewer) []byte { return []byte("junk") }, "cut": func(v *watch.Viewer) []byte { return damaged(v)[:100] },
	} {
		file, err := bundle(400, state)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := watch.Open(file, game); err == nil || !strings.Contains(err.Error(), "state of tick 400") {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := watch.Open(file[:len(file)/2], game); !errors.Is(err, replay.ErrBundle) {
			t.Errorf("%s, cut: got %v", name, err)
		}
	}
	file, err := bundle(400, func(*watch.Viewer) []byte { return nil })
	if err != nil {
		t.Fatal(err)
	}
	v, err := watch.Open(file, game)
	if err != nil {
		t.Fatal(err)
	}
	if c := find(t, v, false); !c.None || !strings.Contains(c.Note, "no state of player 1") {
		t.Errorf("without the player's state: got %+v", c)
	}
	if err := open(t, "duel").Compare(open(t, "four")); err != nil {
		t.Errorf("two matches of one game: %v", err)
	}
	foreign, err := os.ReadFile(marbles)
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := watch.OpenRecording(foreign)
	if err != nil {
		t.Fatal(err)
	}
	if err := open(t, "duel").Compare(recorded); !errors.Is(err, watch.ErrPair) {
		t.Errorf("with a recording of another engine: got %v", err)
	}
}
