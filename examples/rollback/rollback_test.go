package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A recording is what a file has: sums by tick, states, and the number of commands.
type recording struct {
	sums     []string
	states   map[int]*Duel
	commands int
	phases   map[int]string
}

// play plays a match over the network, and reads the recordings of both players.
func play(t *testing.T, args ...string) (list [2]*recording) {
	t.Helper()
	dir := t.TempDir()
	if err := run(append(args, "--dir", dir, "--ticks", "200"), io.Discard); err != nil {
		t.Fatal(err)
	}
	for p := range list {
		file, err := os.ReadFile(filepath.Join(dir, "player"+strconv.Itoa(p)+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		list[p] = &recording{states: map[int]*Duel{}, phases: map[int]string{}}
		for i, line := range bytes.Split(bytes.TrimSpace(file), []byte("\n")) {
			if i > 0 {
				list[p].add(t, line)
			}
		}
		if len(list[p].sums) != 201 {
			t.Fatalf("player %d: got %d sums, want 201", p, len(list[p].sums))
		}
	}
	return list
}

func (r *recording) add(t *testing.T, line []byte) {
	t.Helper()
	var l struct {
		T     int
		S     int
		Sum   string
		State []byte
		Note  string
		Text  string
	}
	if err := json.Unmarshal(line, &l); err != nil {
		t.Fatal(err)
	}
	switch {
	case l.S != 0:
		r.commands++
	case l.Note == "phases":
		r.phases[l.T] = l.Text
	case l.State != nil:
		r.states[l.T] = decode(t, l.State)
	case l.Sum != "" && l.T == len(r.sums):
		r.sums = append(r.sums, l.Sum)
	case l.Sum != "":
		t.Fatalf("got the sum of tick %d, want %d: a tick is recorded once, and in order", l.T, len(r.sums))
	}
}

// decode reads a state without the recorder's code.
func decode(t *testing.T, b []byte) *Duel {
	t.Helper()
	d, r := &Duel{}, bytes.NewReader(b)
	var n uint32
	for _, v := range []any{&d.Tick, &d.Ships, &n} {
		if err := binary.Read(r, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	d.Shots = make([]Shot, n)
	if err := binary.Read(r, binary.LittleEndian, d.Shots); err != nil || r.Len() > 0 {
		t.Fatalf("%v, %d bytes are left", err, r.Len())
	}
	return d
}

func equal(a, b *Duel) bool {
	return a.Tick == b.Tick && a.Ships == b.Ships && slices.Equal(a.Shots, b.Shots)
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

// The recordings of both players agree in each tick, although both have rolled back.
func TestAgreement(t *testing.T) {
	t.Setenv("SAMESTEP_DUMP", "")
	list := play(t)
	if tick := differs(list[0], list[1]); tick >= 0 {
		t.Errorf("the sums differ at tick %d", tick)
	}
	if list[0].commands < 50 || list[0].commands != list[1].commands {
		t.Errorf("got %d and %d commands", list[0].commands, list[1].commands)
	}
}

// A rollback that forgets a field makes the players differ. The sums name the first tick; in a second match, the states of
// that tick and the one before name the field.
func TestTwoPasses(t *testing.T) {
	t.Setenv("SAMESTEP_DUMP", "")
	first := play(t, "--forget")
	tick := differs(first[0], first[1])
	if tick < 1 {
		t.Fatal("the players do not differ")
	}
	if a, b := strings.Fields(first[0].phases[tick]), strings.Fields(first[1].phases[tick]); len(a) != 2 || !strings.HasPrefix(a[0], "steer=") || a[0] == b[0] || first[0].phases[tick-1] != first[1].phases[tick-1] {
		t.Errorf("tick %d: got the phases %q and %q, want the first to differ", tick, a, b)
	}
	t.Setenv("SAMESTEP_DUMP", strconv.Itoa(tick-1)+"-"+strconv.Itoa(tick))
	second := play(t, "--forget")
	for p := range second {
		if at := differs(first[p], second[p]); at >= 0 {
			t.Fatalf("player %d: a second match has other sums from tick %d on", p, at)
		}
		if len(second[p].states) != 2 {
			t.Fatalf("player %d: got %d states, want 2", p, len(second[p].states))
		}
	}
	if a, b := second[0].states[tick-1], second[1].states[tick-1]; !equal(a, b) {
		t.Errorf("the states differ already at tick %d: %+v and %+v", tick-1, a, b)
	}
	a, b := second[0].states[tick], second[1].states[tick]
	for p := range a.Ships {
		a.Ships[p].Cooldown, b.Ships[p].Cooldown = 0, 0
	}
	if a.Ships != b.Ships {
		t.Errorf("the ships differ in more than the cooldowns: %+v and %+v", a.Ships, b.Ships)
	}
}

// Whenever the inputs come, the confirmed states are those of a match without predictions.
func TestSession(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	inputs := [300][2]uint8{}
	for i := range inputs[inputDelay:] {
		inputs[i+inputDelay] = [2]uint8{uint8(r.Uint32N(16)), uint8(r.Uint32N(16))}
	}
	plain, confirmed := newDuel(), 0
	s := newSession(0)
	s.confirm = func(after *Duel, _ [2]uint8) {
		plain.step(inputs[confirmed])
		if confirmed++; !equal(after, plain) {
			t.Fatalf("tick %d: got %+v, want %+v", confirmed, after, plain)
		}
	}
	for int(s.known(0)) < len(inputs) {
		s.add(0, inputs[s.known(0)][0])
		for late := r.Uint32N(9); s.known(1)+late < s.known(0); {
			s.add(1, inputs[s.known(1)][1])
		}
		if err := s.advance(); err != nil {
			t.Fatal(err)
		}
	}
	if s.rollbacks < 50 || confirmed < 280 {
		t.Errorf("got %d rollbacks and %d ticks", s.rollbacks, confirmed)
	}
	for range 2 * window {
		s.add(0, 0)
		if err := s.advance(); err != nil {
			return
		}
	}
	t.Error("a session predicts for ever")
}

func TestUsage(t *testing.T) {
	if err := run([]string{"--dial", "no address"}, io.Discard); err == nil {
		t.Error("no address is an address")
	}
}
