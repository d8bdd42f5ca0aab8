package matchlog_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/recorder"
	"github.com/seed-49bee653/samestep/state"
)

// The reader reads what package recorder writes.
func TestRecorder(t *testing.T) {
	t.Setenv(recorder.Variable, "")
	path := filepath.Join(t.TempDir(), "match.jsonl")
	r, err := recorder.Create(path, recorder.Header{Title: "Pong \"2\"", TickRate: 7.5, Players: 2, By: recorder.NoPlayer})
	if err != nil {
		t.Fatal(err)
	}
	r.Note(0, recorder.NoPlayer, "map", "\x01\\")
	r.Command(3, 1, 12, []byte{1, 2})
	r.Command(3, 1, 13, nil)
	r.Sum(4, 0, 0xc126f8bd03a9a491)
	r.Sum(2, 1, 1) // a sum may be late
	r.Note(4, 1, "chat", "gg ✓")
	r.End(9)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := testgame.LoadRecorded(path)
	if err != nil {
		t.Fatal(err)
	}
	if h := m.Header; h.Title != "Pong \"2\"" || h.TickMicros != 133333 || h.Players != 2 || m.Ticks != 9 {
		t.Errorf("got header %+v and %d ticks", h, m.Ticks)
	}
	want := []matchlog.Entry{
		{Tick: 0, Player: matchlog.Nobody, Topic: "map", Text: "\x01\\"},
		{Tick: 3, Player: 1, Sequence: 1, Kind: 12, Payload: []byte{1, 2}},
		{Tick: 3, Player: 1, Sequence: 2, Kind: 13},
		{Tick: 4, Player: 0, Checksum: true, Hash: 0xc126f8bd03a9a491},
		{Tick: 2, Player: 1, Checksum: true, Hash: 1},
		{Tick: 4, Player: 1, Topic: "chat", Text: "gg ✓"},
	}
	if len(m.Entries) != len(want) {
		t.Fatalf("got %d entries, want %d", len(m.Entries), len(want))
	}
	for i, got := range m.Entries {
		w := want[i]
		if !bytes.Equal(got.Payload, w.Payload) {
			t.Errorf("entry %d: got payload %x, want %x", i, got.Payload, w.Payload)
		}
		got.Payload, w.Payload = nil, nil
		if got.Tick != w.Tick || got.Player != w.Player || got.Checksum != w.Checksum || got.Hash != w.Hash || got.Topic != w.Topic || got.Text != w.Text || got.Sequence != w.Sequence || got.Kind != w.Kind {
			t.Errorf("entry %d: got %+v, want %+v", i, got, w)
		}
	}
}

// A recorder takes the largest state that the reader takes, and no larger one.
func TestRecorderLimits(t *testing.T) {
	t.Setenv(recorder.Variable, "")
	for _, more := range []int{0, 1} {
		r := recorder.New(io.Discard, recorder.Header{Title: "Pong", TickRate: 60, Players: 1, State: "struct { Bytes []uint8 }"})
		state := make([]byte, matchlog.MaxState+more)
		binary.LittleEndian.PutUint32(state, uint32(len(state)-4))
		if r.State(0, 0, state); (r.Err() == nil) != (more == 0) {
			t.Errorf("%d bytes more than the limit: got %v", more, r.Err())
		}
	}
}

// The recorder takes every type of states that the reader takes.
func TestRecorderTakesTypes(t *testing.T) {
	t.Setenv(recorder.Variable, "")
	const valid = "struct { Tick uint32; Names [2]string\n Units []struct { ID, Of uint16; At [3][2]float32 }; _ bool }"
	random := rand.New(rand.NewPCG(1, 2))
	taken, refused := 0, 0
	for range 5000 {
		text := []byte(valid)
		for range random.IntN(4) {
			const some = "{}[];,\n 12aF_"
			i, c := random.IntN(len(text)), some[random.IntN(len(some))]
			text = slices.Replace(text, i, i+random.IntN(2), c)
		}
		_, err := state.ParseType(string(text))
		if err != nil {
			refused++
			continue
		}
		taken++
		if err := recorder.New(io.Discard, recorder.Header{Title: "Pong", TickRate: 60, Players: 1, State: string(text)}).Err(); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	if taken < 300 || refused < 300 {
		t.Errorf("%d types are valid and %d are not, want 300 of each", taken, refused)
	}
}
