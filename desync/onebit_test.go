package desync_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
)

// A single flipped bit of a state is called so, and neither a rounding, nor a bool, nor two bits.
func TestSingleFlippedBit(t *testing.T) {
	of := func(by int, x float32, n uint32, on byte) recorded {
		b := append(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)), n), on)
		return recorded{
			by: by, typed: "struct { X float32; N uint32; On bool }",
			extra: []string{fmt.Sprintf(`{"t":6,"p":%d,"state":"%s"}`, by, base64.StdEncoding.EncodeToString(b))},
		}
	}
	a := of(0, 9, 4000, 0)
	for name, c := range map[string]struct {
		b       recorded
		flipped bool
	}{
		"a bit of a number":        {of(1, 9, 4000^1<<20, 0), true},
		"its lowest bit":           {of(1, 9, 4001, 0), true},
		"a bit of a float":         {of(1, math.Float32frombits(math.Float32bits(9)^1<<30), 4000, 0), true},
		"a rounding":               {of(1, math.Nextafter32(9, 10), 4000, 0), false},
		"a bool":                   {of(1, 9, 4000, 1), false},
		"two bits":                 {of(1, 9, 4003, 0), false},
		"two bits of two fields":   {of(1, math.Float32frombits(math.Float32bits(9)^1<<30), 4001, 0), false},
		"a bit that carries along": {of(1, 9, 3999, 0), false},
	} {
		d, err := desync.CompareRecordings([]*desync.Recording{a.read(t, "a")}, []*desync.Recording{c.b.read(t, "b")}, desync.RecordingOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := d.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(text.String(), "in 1 place: a single flipped bit"); d.Flipped != c.flipped || said != c.flipped {
			t.Errorf("%s: got %v, want %v:\n%s", name, d.Flipped, c.flipped, &text)
		}
	}
}

// So is one of a command, which a machine has received otherwise.
func TestSingleFlippedBitOfCommand(t *testing.T) {
	for command, want := range map[string]bool{"Aw==": true, "Ag==": false, "AQE=": false} { // the other machine has 01
		a, b := recorded{by: 0, command: "AQ=="}, recorded{by: 1, command: command, wrong: 5}
		d, err := desync.CompareRecordings([]*desync.Recording{a.read(t, "a")}, []*desync.Recording{b.read(t, "b")}, desync.RecordingOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(d.Notes, "\n"), "the commands of tick 5 differ in a single flipped bit"); got != want || d.Cause != desync.CauseCommands {
			t.Errorf("%s: got %v, %s, want %v", command, d.Notes, d.Cause, want)
		}
	}
}
