//go:build !js

package tool

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/recorder"
)

// pebbles are the state of a small game with floats.
type pebbles struct {
	Tick uint32
	List []struct {
		ID       uint32
		X, Speed float32
	}
}

// recordPebbles plays 100 ticks on a machine, which from tick 61 on rounds otherwise or not, and records them.
func recordPebbles(t *testing.T, path string, by int, odd bool) {
	t.Helper()
	schema, err := recorder.SchemaOf(pebbles{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := recorder.Create(path, recorder.Header{Title: "Pebbles", TickRate: 30, Players: 2, By: by, Match: "m1", Sections: schema.Fields(), State: schema.String()})
	if err != nil {
		t.Fatal(err)
	}
	var w pebbles
	w.List = append(w.List, make([]struct {
		ID       uint32
		X, Speed float32
	}, 3)...)
	for tick := range uint32(101) {
		if w.Tick = tick; tick > 0 {
			r.Command(tick-1, uint8(tick%2), 7, binary.LittleEndian.AppendUint32(nil, tick))
			for i := range w.List {
				p := &w.List[i]
				p.ID = uint32(10 * i)
				p.Speed += 0.1 * float32(i)
				if odd && tick > 60 && i == 2 {
					p.Speed *= 1.0000001
				}
				p.X += p.Speed
			}
		}
		var sums [2]uint64
		var all []byte
		for i := range sums {
			one := fnv.New64a()
			one.Write(schema.AppendField(nil, &w, i))
			sums[i] = one.Sum64()
			all = schema.AppendField(all, &w, i)
		}
		h := fnv.New64a()
		h.Write(all)
		r.Sum(tick, uint8(by), h.Sum64(), sums[:]...)
		if r.Wanted(tick) {
			r.State(tick, uint8(by), all)
		}
	}
	r.End(100)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// What package recorder writes is what bisect and export read: the first pass names the tick and the states that are missing,
// the second the field, and its values become topics.
func TestRecorded(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a.jsonl"), filepath.Join(t.TempDir(), "b.jsonl")
	pass := func(dump string) string {
		t.Setenv(recorder.Variable, dump)
		recordPebbles(t, a, 0, false)
		recordPebbles(t, b, 1, true)
		return tooltest.Output(t, console.ExitDesync, "replay", "bisect", a, b)
	}
	if out := pass(""); !strings.Contains(out, "diverged   at tick 61\n") || !strings.Contains(out, "SAMESTEP_DUMP=60,61") || !strings.Contains(out, "sections   List\n") {
		t.Errorf("the first pass: got\n%s", out)
	}
	if out := pass("60,61"); !strings.Contains(out, "List[ID=20].Speed") || !strings.Contains(out, "ulp") || strings.Contains(out, "SAMESTEP_DUMP") {
		t.Errorf("the second pass: got\n%s", out)
	}
	if out := tooltest.Output(t, console.ExitError, "replay", "bisect", "--html", a, a, b); !strings.Contains(out, "List[ID=20].Speed") || strings.Contains(out, "\npage ") {
		t.Errorf("with a page that exists: got\n%s", out)
	}

	pass("0-100")
	path := filepath.Join(t.TempDir(), "out.mcap")
	tooltest.Output(t, console.ExitOK, "replay", "export", "--to", "mcap", "--path", "List[ID=20].X", "--path", "List[1].Speed", a, b, path)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]string{}
	r, err := mcap.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	messages, err := r.Messages(mcap.UsingIndex(true), mcap.InOrder(mcap.LogTimeOrder))
	if err != nil {
		t.Fatal(err)
	}
	for {
		_, channel, m, err := messages.NextInto(nil)
		if err != nil {
			break
		}
		if strings.HasPrefix(channel.Topic, "/state/") {
			values[channel.Topic] = append(values[channel.Topic], string(m.Data))
		}
	}
	x, other := values["/state/List/ID_20/X/a"], values["/state/List/ID_20/X/b"]
	if len(values) != 4 || len(x) != 100 || len(other) != 100 {
		t.Fatalf("got %d topics, with %d and %d values", len(values), len(x), len(other))
	}
	if !slices.Equal(x[:60], other[:60]) || x[99] == other[99] {
		t.Errorf("want values that differ at the end only: %v and %v", x[99], other[99])
	}
	tooltest.Output(t, console.ExitUsage, "replay", "export", "--to", "mcap", "--path", "List[3].X", a, path+"2")
}
