package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A recording is what a file has: the sums and sections by tick, and the states.
type recording struct {
	file     []byte
	sums     []string
	sections [][]string
	states   map[int]*World
	phases   map[int]string
}

// record plays a match on a machine, and reads its recording.
func record(t *testing.T, args ...string) *recording {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recording.jsonl")
	if err := run(append(args, "--out", path), io.Discard); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rec := &recording{file: file, states: map[int]*World{}, phases: map[int]string{}}
	for i, line := range bytes.Split(bytes.TrimSpace(file), []byte("\n")) {
		var l struct {
			T        int
			Sum      string
			Sections []string
			State    []byte
			Note     string
			Text     string
		}
		if i == 0 {
			continue
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if l.Sum != "" {
			if l.T != len(rec.sums) {
				t.Fatalf("line %d: got the sum of tick %d, want %d", i+1, l.T, len(rec.sums))
			}
			rec.sums, rec.sections = append(rec.sums, l.Sum), append(rec.sections, l.Sections)
		}
		if l.Note == "phases" {
			rec.phases[l.T] = l.Text
		}
		if l.State != nil {
			rec.states[l.T] = decode(t, l.State)
		}
	}
	return rec
}

// decode reads a state without the recorder's code.
func decode(t *testing.T, b []byte) *World {
	t.Helper()
	w, r := &World{}, bytes.NewReader(b)
	read := func(v any) {
		if err := binary.Read(r, binary.LittleEndian, v); err != nil {
			t.Fatalf("%v in %s", err, base64.StdEncoding.EncodeToString(b))
		}
	}
	var n uint32
	read(&w.Tick)
	read(&w.Seed)
	read(&n)
	w.Players = make([]Player, n)
	read(w.Players)
	read(&n)
	w.Marbles = make([]Marble, n)
	read(w.Marbles)
	if r.Len() != 0 {
		t.Fatalf("%d bytes are left", r.Len())
	}
	return w
}

// differs returns the first tick with different sums, or -1.
func differs(a, b *recording) int {
	for i := range a.sums {
		if a.sums[i] != b.sums[i] {
			return i
		}
	}
	return -1
}

// Two machines that round otherwise compute different states. The sums name the first tick; in a second run, the states of
// that tick and the one before name the fields.
func TestTwoPasses(t *testing.T) {
	t.Setenv("SAMESTEP_DUMP", "")
	a, b := record(t, "--by", "0"), record(t, "--by", "1", "--math", "fused")
	if len(a.sums) != 601 || len(b.sums) != 601 || len(a.states) != 0 {
		t.Fatalf("got %d and %d sums, and %d states", len(a.sums), len(b.sums), len(a.states))
	}
	tick := differs(a, b)
	if tick < 10 {
		t.Fatalf("got the first difference at tick %d, want one after some ticks", tick)
	}
	for i, name := range []string{"Tick", "Seed", "Players", "Marbles"} {
		if same := a.sections[tick][i] == b.sections[tick][i]; same != (name != "Marbles") {
			t.Errorf("tick %d, section %s: got the same sums: %v", tick, name, same)
		}
	}
	one, other := strings.Fields(a.phases[tick]), strings.Fields(b.phases[tick])
	if len(one) != 5 || one[0] != other[0] || one[1] != other[1] || one[2] == other[2] || !strings.HasPrefix(one[2], "collide=") || one[4] != other[4] {
		t.Errorf("tick %d: got the phases and draws %q and %q, want the collisions to differ first", tick, one, other)
	}

	t.Setenv("SAMESTEP_DUMP", strconv.Itoa(tick-1)+","+strconv.Itoa(tick))
	a2, b2 := record(t, "--by", "0"), record(t, "--by", "1", "--math", "fused")
	if differs(a, a2) >= 0 || differs(b, b2) >= 0 {
		t.Error("a second run has other sums")
	}
	if len(a2.states) != 2 || len(b2.states) != 2 {
		t.Fatalf("got %d and %d states, want 2", len(a2.states), len(b2.states))
	}
	var moved int
	for i, m := range a2.states[tick].Marbles {
		before, other := a2.states[tick-1].Marbles[i], b2.states[tick].Marbles[i]
		if before != b2.states[tick-1].Marbles[i] {
			t.Errorf("marble %d differs already at tick %d", i, tick-1)
		}
		if m == other {
			continue
		}
		moved++
		if m.X != other.X || m.Y != other.Y || math.Abs(float64(m.VX-other.VX)) > 1e-6 {
			t.Errorf("marble %d: got %+v and %+v, want only the last bits of a speed to differ", i, m, other)
		}
	}
	if moved == 0 || moved > 2 {
		t.Errorf("%d marbles differ at tick %d, want those of one collision", moved, tick)
	}
}

// Control: machines that round in the same way write the same sums, with another player's number.
func TestSameMachines(t *testing.T) {
	t.Setenv("SAMESTEP_DUMP", "")
	a, b := record(t, "--by", "0"), record(t, "--by", "1")
	if tick := differs(a, b); tick >= 0 {
		t.Errorf("the sums differ at tick %d", tick)
	}
	if bytes.Equal(a.file, b.file) {
		t.Error("the recordings do not say whose they are")
	}
}

// The game is one: marbles collide, and players score.
func TestGame(t *testing.T) {
	w := newWorld(players, 24, 7, arithmetics["plain"])
	scored, touched := false, false
	for range 6000 {
		w.step(shotsOf(w.Tick, 7))
		for _, m := range w.Marbles {
			touched = touched || m.ID >= players && m.LastBy >= 0
			if !(m.X > -1 && m.X < width+1 && m.Y > -1 && m.Y < height+1) {
				t.Fatalf("tick %d: marble %d has left the table: %+v", w.Tick, m.ID, m)
			}
		}
		scored = scored || w.Players[0].Score > 0
	}
	if !scored || !touched {
		t.Errorf("scored: %v, touched: %v", scored, touched)
	}
}

func TestUsage(t *testing.T) {
	if err := run([]string{"--math", "magic"}, io.Discard); err == nil {
		t.Error("an arithmetic that does not exist is taken")
	}
}
