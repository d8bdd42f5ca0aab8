package record_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A panic comes back as it was written, with the beginnings of its texts, and moves neither the tick nor the sequences.
func TestPanic(t *testing.T) {
	var enc record.Encoder
	p := &record.Panic{Where: "Step", Text: strings.Repeat("é", record.MaxNote), Stack: "goroutine 1\n" + strings.Repeat("x", record.MaxStack), Frame: record.Frame{Tick: 9, Commands: []record.Command{
		{Tick: 9, Player: 0, Sequence: 4, Kind: 1, Payload: []byte{1}}, {Tick: 9, Player: 0, Sequence: 7, Kind: 1, Payload: []byte{}}, {Tick: 9, Player: record.System, Sequence: 1, Kind: 3, Payload: []byte{0}},
	}}}
	dec := record.DecoderAt(8)
	enc.BeginKeyframe()
	enc.Keyframe(8, 0, []record.LastSequence{{Player: 0, Sequence: 3}}, nil)
	raw := enc.Panic(p)
	r, rest, err := dec.Decode(raw)
	if err != nil || len(rest) > 0 {
		t.Fatal(err, rest)
	}
	want := *p
	want.Text, want.Stack = p.Text[:record.MaxNote], p.Stack[:record.MaxStack]
	if r.Kind != record.KindPanic || r.Tick != 8 || r.Ticks() != 0 || len(r.Frame.Commands) != 0 || !reflect.DeepEqual(r.Panic, &want) {
		t.Errorf("got %+v, want %+v", r.Panic, &want)
	}
	if again := enc.Record(r); string(again) != string(raw) {
		t.Errorf("written back as %x, want %x", again, raw)
	}
	if dec.Tick() != 8 || dec.Last(0) != 0 || enc.Last(0) != 3 {
		t.Errorf("the place has moved: tick %d, sequences %d and %d", dec.Tick(), dec.Last(0), enc.Last(0))
	}
}

// A panic of another form is refused.
func TestPanicRefused(t *testing.T) {
	for name, values := range map[string][]any{
		"no stack":                  {"Step", "oh"},
		"a value too many":          {"Step", "oh", "", 0},
		"half a command":            {"Step", "oh", "", 0, 1},
		"a number for a text":       {"Step", 1, ""},
		"a text too long":           {"Step", strings.Repeat("x", record.MaxNote+1), ""},
		"a stack too long":          {"Step", "oh", strings.Repeat("x", record.MaxStack+1)},
		"a player without a seat":   {"Step", "oh", "", 250, 1, 1, []byte{}},
		"a sequence of zero":        {"Step", "oh", "", 0, 0, 1, []byte{}},
		"a payload too long":        {"Step", "oh", "", 0, 1, 1, make([]byte, record.MaxPayload+1)},
		"commands in another order": {"Step", "oh", "", 1, 1, 1, []byte{}, 0, 1, 1, []byte{}},
		"a command twice":           {"Step", "oh", "", 1, 1, 1, []byte{}, 1, 1, 1, []byte{}},
	} {
		var body, w pack.Writer
		body.Begin(nil)
		body.Array(len(values))
		for _, v := range values {
			switch v := v.(type) {
			case string:
				body.String(v)
			case int:
				body.Uint(uint64(v))
			case []byte:
				body.Binary(v)
			}
		}
		w.Begin(nil)
		w.Array(2)
		w.Uint(uint64(record.KindPanic))
		w.Binary(body.Bytes())
		dec := record.DecoderAt(8)
		if r, _, err := dec.Decode(w.Bytes()); !errors.Is(err, record.ErrMalformed) {
			t.Errorf("%s: got %v, %v", name, r, err)
		}
	}
	dec := record.DecoderAt(1<<32 - 1)
	if _, _, err := dec.Decode(panicAt(t, 8)); !errors.Is(err, record.ErrOutOfPlace) {
		t.Errorf("after the last tick: got %v", err)
	}
	dec = record.DecoderAt(8)
	if _, _, err := dec.Decode(panicAt(t, 8)); err != nil {
		t.Errorf("after tick 8: got %v", err)
	}
}

// panicAt returns the bytes of a panic after a tick.
func panicAt(t *testing.T, at record.Tick) []byte {
	t.Helper()
	var enc record.Encoder
	enc.BeginKeyframe()
	enc.Keyframe(at, 0, nil, nil)
	return enc.Panic(&record.Panic{Where: "Step", Text: "oh"})
}
