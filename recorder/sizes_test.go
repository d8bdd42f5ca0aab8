package recorder_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/recorder"
)

// A sized is a type as text, with bytes of a value of it.
type sized struct {
	text  string
	value func() []byte
}

// randomSized returns a type for a state, with at most the levels.
func randomSized(random *rand.Rand, levels int) sized {
	elem := func() sized { return randomSized(random, levels-1) }
	repeat := func(n int, of sized) (b []byte) {
		for range n {
			b = append(b, of.value()...)
		}
		return b
	}
	kind := random.IntN(6)
	if levels == 0 {
		kind = random.IntN(2)
	}
	switch kind {
	case 0:
		return sized{"string", func() []byte {
			size := random.IntN(9)
			return append(binary.LittleEndian.AppendUint32(nil, uint32(size)), make([]byte, size)...)
		}}
	case 1:
		names := []string{"bool", "byte", "int8", "int16", "uint16", "int32", "uint32", "float32", "int64", "uint64", "float64"}
		i := random.IntN(len(names))
		return sized{names[i], func() []byte { return make([]byte, []int{1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8}[i]) }}
	case 2:
		of := elem()
		return sized{"[]" + of.text, func() []byte {
			n := random.IntN(4)
			return append(binary.LittleEndian.AppendUint32(nil, uint32(n)), repeat(n, of)...)
		}}
	case 3:
		of, n := elem(), 1+random.IntN(3)
		return sized{fmt.Sprintf("[%d ]%s", n, of.text), func() []byte { return repeat(n, of) }}
	default:
		return randomStruct(random, levels)
	}
}

// randomStruct returns a struct for a state, with at most the levels.
func randomStruct(random *rand.Rand, levels int) sized {
	var text strings.Builder
	var fields []sized
	text.WriteString("struct {")
	for i := range 1 + random.IntN(3) {
		of := randomSized(random, levels-1)
		fmt.Fprintf(&text, " F%d, _%d %s%s", i, i, of.text, []string{";", "\n", " \t\r\n\n"}[random.IntN(3)])
		fields = append(fields, of, of)
	}
	text.WriteString("}")
	return sized{text.String(), func() (b []byte) {
		for _, f := range fields {
			b = append(b, f.value()...)
		}
		return b
	}}
}

// sizedScripts returns recordings of states, some of which have a byte too much or too few.
func sizedScripts(random *rand.Rand, n int) (scripts []string) {
	for range n {
		of := randomStruct(random, 4)
		var b strings.Builder
		b.WriteString(typed(of.text))
		for tick := range 4 {
			state := of.value()
			switch random.IntN(12) {
			case 0:
				state = append(state, 0)
			case 1:
				state = state[:len(state)-1]
			case 2:
				state[random.IntN(len(state))] = 1 // which may be a count
			}
			fmt.Fprintf(&b, "state %d 0 %s\n", tick, word(string(state)))
		}
		scripts = append(scripts, b.String())
	}
	return scripts
}

// A state of another size than its schema says is found when it is recorded.
func TestSizes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		of := randomStruct(random, 4)
		state := of.value()
		for more := -1; more <= 1; more++ {
			_, output := play(t, typed(of.text)+"state 7 0 "+word(string(append(state, 0)[:len(state)+more]))+"\n")
			got := fmt.Sprintf("got %d bytes, want ", len(state)+more)
			if more == 0 && output != "" || more != 0 && !strings.Contains(output, got) || more > 0 && !strings.HasSuffix(output, fmt.Sprintf("want %d\n", len(state))) {
				t.Fatalf("%s: a state of %d bytes, and %d more: got %q", of.text, len(state), more, output)
			}
		}
	}
}

// Checking a state allocates nothing.
func TestSizesAllocate(t *testing.T) {
	t.Setenv(recorder.Variable, "")
	r := recorder.New(io.Discard, recorder.Header{Title: "Pong", TickRate: 60, Players: 1, State: everySchema.String()})
	state, tick := everySchema.Append(nil, &everyValues), uint32(0)
	if n := testing.AllocsPerRun(100, func() { r.State(tick, 0, state); tick++ }); n != 0 || r.Err() != nil {
		t.Errorf("got %v allocations, and the error %v", n, r.Err())
	}
}

// Phases and draws allocate nothing.
func TestPhasesAllocate(t *testing.T) {
	t.Setenv(recorder.Variable, "")
	r := recorder.New(io.Discard, recorder.Header{Title: "Pong", TickRate: 60, Players: 1})
	tick := uint32(0)
	if n := testing.AllocsPerRun(500, func() {
		for range 20 {
			r.Phase(tick, "a phase with a long name"[2:7], 1<<63)
			r.Draws(tick, "dice", 1<<63)
		}
		r.Sum(tick, 0, 1)
		tick++
	}); n != 0 || r.Err() != nil {
		t.Errorf("got %v allocations, and the error %v", n, r.Err())
	}
}

// Observing a state allocates nothing, and records the state if it is wanted.
func TestObserveAllocates(t *testing.T) {
	t.Setenv(recorder.Variable, "100-9999")
	r := recorder.New(io.Discard, recorder.Header{Title: "Pong", TickRate: 60, Players: 1, Sections: everySchema.Fields(), State: everySchema.String()})
	tick := uint32(0)
	if n := testing.AllocsPerRun(500, func() { r.Observe(tick, 0, everySchema, &everyValues); tick++ }); n != 0 || r.Err() != nil {
		t.Errorf("got %v allocations, and the error %v", n, r.Err())
	}
}
