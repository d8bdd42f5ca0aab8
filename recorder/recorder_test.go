package recorder_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/recorder"
)

// A state longer than a line is cut, and the parts are the state again.
func TestLongState(t *testing.T) {
	t.Setenv(recorder.Variable, "")
	for _, size := range []int{4, 5, 12 << 10, 12<<10 + 1, 100_000} {
		var file bytes.Buffer
		r := recorder.New(&file, recorder.Header{Title: "Pong", TickRate: 60, Players: 1, State: "struct { Bytes []uint8 }"})
		state := binary.LittleEndian.AppendUint32(nil, uint32(size-4))
		state = append(state, bytes.Repeat([]byte{7, 8, 9, 10, 11}, size/5)[:size-4]...)
		r.State(77, 0, state)
		var got []byte
		lines := strings.Split(strings.TrimSpace(file.String()), "\n")[1:]
		for i, line := range lines {
			var l struct {
				T, P  uint32
				State string
				More  bool
			}
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			part, err := base64.StdEncoding.DecodeString(l.State)
			if err != nil || l.T != 77 || l.More != (i < len(lines)-1) {
				t.Errorf("%d bytes, line %d: got %.60s, %v", size, i, line, err)
			}
			got = append(got, part...)
		}
		if !bytes.Equal(got, state) {
			t.Errorf("%d bytes: got %d bytes", size, len(got))
		}
		if r.Err() != nil {
			t.Error(r.Err())
		}
	}
}

// A state that the tools would refuse is an error.
func TestLargeState(t *testing.T) {
	t.Setenv(recorder.Variable, "")
	r := recorder.New(io.Discard, recorder.Header{Title: "Pong", TickRate: 60, Players: 1, State: "struct { Bytes []uint8 }"})
	state := binary.LittleEndian.AppendUint32(nil, 8<<20-4)
	state = append(state, make([]byte, 8<<20-4)...)
	r.State(76, 0, state)
	if r.State(77, 0, append(state, 0)); r.Err() == nil || r.Err().Error() != "recorder: state at tick 77: want at most 8388608 bytes in a state" {
		t.Errorf("got %v", r.Err())
	}
}

// A game that is killed has lost no more ticks than the recorder may keep, and its file ends with a whole line.
func TestFlush(t *testing.T) {
	t.Setenv(recorder.Variable, "")
	for _, every := range []uint32{1, 5, 60} {
		var file bytes.Buffer
		r := recorder.New(&file, recorder.Header{Title: "Pong", TickRate: 60, Players: 1})
		r.FlushEvery(every)
		if lines := bytes.Count(file.Bytes(), []byte("\n")); lines != 1 {
			t.Errorf("got %d lines after the beginning, want the header", lines)
		}
		most := 0
		for tick := range uint32(500) {
			r.Command(tick, 0, 1, nil)
			r.Sum(tick+1, 0, 1)
			if !bytes.HasSuffix(file.Bytes(), []byte("}\n")) {
				t.Fatalf("the file ends with %q", file.Bytes()[file.Len()-10:])
			}
			most = max(most, 2*int(tick+1)+1-bytes.Count(file.Bytes(), []byte("\n")))
		}
		if most > 2*int(every) || most < int(every)-1 {
			t.Errorf("every %d ticks: %d lines were not written", every, most)
		}
		r.Flush()
		if lines := bytes.Count(file.Bytes(), []byte("\n")); lines != 1001 {
			t.Errorf("got %d lines after Flush, want 1001", lines)
		}
	}
}

// A failingWriter takes some bytes.
type failingWriter struct{ room int }

var errFull = errors.New("disk full")

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.room -= len(b); w.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// The first error of a write stays.
func TestWriteFails(t *testing.T) {
	t.Setenv(recorder.Variable, "")
	w := &failingWriter{room: 5000}
	r := recorder.New(w, recorder.Header{Title: "Pong", TickRate: 60, Players: 1})
	r.FlushEvery(1)
	for tick := range uint32(500) {
		r.Sum(tick, 0, 1)
	}
	if !errors.Is(r.Err(), errFull) || w.room < -100 {
		t.Errorf("got %v, after the writer was called with %d bytes too many", r.Err(), -w.room)
	}
	if err := r.Close(); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
	short := recorder.New(shortWriter{}, recorder.Header{Title: "Pong", TickRate: 60, Players: 1})
	if err := short.Err(); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
	if _, err := recorder.Create(filepath.Join(t.TempDir(), "no", "folder"), recorder.Header{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if r, err := recorder.Create(filepath.Join(t.TempDir(), "match.jsonl"), recorder.Header{}); r != nil || err == nil {
		t.Errorf("got %v, %v", r, err)
	}
}

type shortWriter struct{}

func (shortWriter) Write(b []byte) (int, error) { return len(b) - 1, nil }

// The environment says which states are wanted.
func TestWanted(t *testing.T) {
	t.Setenv(recorder.Variable, "77,80-82")
	r := recorder.New(io.Discard, recorder.Header{Title: "Pong", TickRate: 60, Players: 1})
	r.Want("5")
	for tick, want := range map[uint32]bool{4: false, 5: true, 6: false, 76: false, 77: true, 78: false, 79: false, 80: true, 81: true, 82: true, 83: false} {
		if r.Wanted(tick) != want {
			t.Errorf("tick %d: got %v", tick, !want)
		}
	}
	t.Setenv(recorder.Variable, "soon")
	if r := recorder.New(io.Discard, recorder.Header{Title: "Pong", TickRate: 60, Players: 1}); r.Err() == nil {
		t.Error("a variable that is no tick is no error")
	}
}

// Six decimals of a tick rate are written, without zeros at the end.
func TestTickRate(t *testing.T) {
	t.Setenv(recorder.Variable, "")
	for rate, want := range map[float64]string{60: "60", 7.5: "7.5", 59.94: "59.94", 1.0 / 3: "0.333333", 0.000001: "0.000001", 999.9999999: "1000", 1000: "1000", 29.97002997: "29.97003"} {
		var file bytes.Buffer
		r := recorder.New(&file, recorder.Header{Title: "Pong", TickRate: rate, Players: 1, By: recorder.NoPlayer})
		if got, want := file.String(), `{"log":1,"title":"Pong","tick_rate_hz":`+want+`,"players":1}`+"\n"; got != want || r.Err() != nil {
			t.Errorf("got %q and %v, want %q", got, r.Err(), want)
		}
	}
}
