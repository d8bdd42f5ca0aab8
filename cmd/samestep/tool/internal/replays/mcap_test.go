//go:build !js

package replays

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	_ "github.com/seed-49bee653/samestep/cmd/samestep/tool/mcap"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/drift"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// Mismatches are found by tick and player in any order of the file.
func TestMismatches(t *testing.T) {
	var d mismatches
	for _, one := range []mismatch{{hash: 1, tick: 40, player: 3}, {hash: 2, tick: 20, player: 3}, {hash: 3, tick: 40, player: 0}, {hash: 4, tick: 20, player: 3}, {hash: 5, tick: 60}} {
		if err := d.add(&record.Record{Kind: record.KindMismatch, Tick: one.tick, Player: one.player, Hash: one.hash}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.add(&record.Record{Kind: record.KindChecksum, Tick: 20, Hash: 6}); err != nil {
		t.Fatal(err)
	}
	d.order()
	for _, c := range []struct {
		tick lockstep.Tick
		want []uint64 // hashes
	}{{19, nil}, {20, []uint64{4}}, {40, []uint64{3, 1}}, {60, []uint64{5}}, {61, nil}} {
		got := d.of(c.tick)
		if len(got) != len(c.want) {
			t.Fatalf("tick %d: got %v, want %v", c.tick, got, c.want)
		}
		for i := range got {
			if got[i].hash != c.want[i] {
				t.Errorf("tick %d: got %v, want %v", c.tick, got, c.want)
			}
		}
	}
	for _, want := range []bool{true, false} {
		if hash, ok := d.take(40, 3); ok != want || ok && hash != 1 {
			t.Errorf("got %d, %t, want 1, %t", hash, ok, want)
		}
	}
	if _, ok := d.take(20, 2); ok {
		t.Error("got a checksum of a player who agreed")
	}
}

// The number of mismatches is bounded.
func TestMaxMismatches(t *testing.T) {
	d := make(mismatches, maxMismatches-1)
	rec := &record.Record{Kind: record.KindMismatch}
	if err := d.add(rec); err != nil {
		t.Fatal(err)
	}
	if err := d.add(rec); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("got %v, want %v", err, replay.ErrLimit)
	}
}

// The exported file has everything in the replay, ordered by time, matches its schemas, and is readable with the
// format's own library.
func TestExportMCAP(t *testing.T) {
	files, err := filepath.Glob("../../../../../testdata/replays/*.ssr")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d replays, %v", len(files), err)
	}
	mismatches, notes := 0, 0
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := replay.ReadInfo(replayOf(t, b))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := writeMCAP(&out, []mcapMatch{{Reader: replayOf(t, b), Name: path, Bundle: false, Games: ourGames()}}, mcapFields{}); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		read := readMCAP(t, out.Bytes(), info.Header.Settings.TickMicros)
		got := fmt.Sprint(read.counts["/commands"], read.inRates, read.counts["/checksums"], read.counts["/mismatches"])
		if want := fmt.Sprint(info.Commands, info.Commands, info.Checksums, info.Mismatches); got != want {
			t.Errorf("%s: got commands, in rates, checksums and mismatches %s, want %s", path, got, want)
		}
		if read.inChecks != info.Mismatches {
			t.Errorf("%s: the checksums count %d mismatches, want %d", path, read.inChecks, info.Mismatches)
		}
		if seconds := int(info.Ticks) / int(info.Header.Settings.TickRate()); read.counts["/rates"] < min(seconds, 3) || read.counts["/rates"] > seconds+1 {
			t.Errorf("%s: %d rates in %d s", path, read.counts["/rates"], seconds)
		}
		if read.match["match"] != info.Header.Match.String() || read.match["ticks"] != fmt.Sprint(info.Ticks) {
			t.Errorf("%s: the match is %v", path, read.match)
		}
		mismatches += read.counts["/mismatches"]
		notes += read.counts["/log"]
	}
	if mismatches == 0 || notes < 20 {
		t.Errorf("%d mismatches and %d lines of log are in the replays", mismatches, notes)
	}
}

func ourGames() replay.Games { return replay.Games{lockstep.MustGame(skirmish.Rules())} }

func replayOf(t *testing.T, b []byte) *replay.Reader {
	t.Helper()
	r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// An mcapRead is the contents of a file.
type mcapRead struct {
	counts   map[string]int // messages by topic
	inRates  int            // commands that the rates sum up
	inChecks int            // mismatches that the checksums count
	match    map[string]string
	values   map[string][]mcapPoint // by topic below /state
}

// An mcapPoint is a value of a field.
type mcapPoint struct {
	tick  lockstep.Tick
	value float64
	text  string
}

// readMCAP reads a file and checks every message against its schema and tick.
func readMCAP(t *testing.T, b []byte, micros uint32) *mcapRead {
	t.Helper()
	r, err := mcap.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	read := &mcapRead{counts: make(map[string]int), values: make(map[string][]mcapPoint)}
	messages, err := r.Messages(mcap.UsingIndex(true), mcap.InOrder(mcap.LogTimeOrder))
	if err != nil {
		t.Fatal(err)
	}
	last := uint64(0)
	for {
		schema, channel, m, err := messages.NextInto(nil)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var form struct {
			Properties map[string]struct{ Type string }
		}
		var value map[string]any
		if err := errors.Join(json.Unmarshal(schema.Data, &form), json.Unmarshal(m.Data, &value)); err != nil {
			t.Fatal(err)
		}
		read.counts[channel.Topic]++
		if len(form.Properties) != len(value) {
			t.Fatalf("%s: got %s, want the fields of %s", channel.Topic, m.Data, schema.Data)
		}
		for name, p := range form.Properties {
			if got := jsonType(value[name]); got != p.Type && (got != "integer" || p.Type != "number") {
				t.Fatalf("%s: %s is %s in %s, want %s", channel.Topic, name, got, m.Data, p.Type)
			}
		}
		tick, ok := value["tick"].(float64)
		if want := uint64(tick) * 1000 * uint64(micros); ok && channel.Topic != "/mismatches" && m.LogTime != want || m.LogTime < last {
			t.Fatalf("%s: got time %d after %d for %s", channel.Topic, m.LogTime, last, m.Data)
		}
		last = m.LogTime
		if topic, ok := strings.CutPrefix(channel.Topic, "/state/"); ok {
			number, _ := value["value"].(float64)
			read.values[topic] = append(read.values[topic], mcapPoint{lockstep.Tick(tick), number, value["text"].(string)})
		}
		if channel.Topic == "/rates" {
			read.inRates += int(value["commands"].(float64))
		}
		if channel.Topic == "/checksums" {
			read.inChecks += int(value["mismatches"].(float64))
		}
	}
	info, err := r.Info()
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range info.MetadataIndexes {
		meta, err := r.GetMetadata(at.Offset)
		if err != nil {
			t.Fatal(err)
		}
		if meta.Name == "match" || meta.Name == "match/b" {
			read.match = meta.Metadata
		}
	}
	return read
}

// jsonType returns the name of a value's type in a JSON schema.
func jsonType(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return fmt.Sprintf("%T", v)
}

// Any number of ticks without commands costs nothing, and every second with commands is counted.
func TestExportMCAPEmptyTicks(t *testing.T) {
	var out bytes.Buffer
	file, err := newMCAPFile(&out)
	if err != nil {
		t.Fatal(err)
	}
	x := &mcapExporter{file: file, header: &lockstep.Header{Settings: lockstep.DefaultSettings(2)}}
	x.writeChannels()
	for _, tick := range []lockstep.Tick{1, 5, 1 << 30, 1<<30 + 100, record.MaxTick} {
		x.tick = tick
		x.rate()
	}
	if file.err != nil {
		t.Fatal(file.err)
	}
	if n := file.sequence[x.channels[onRates]]; n < 5 || n > 12 {
		t.Errorf("wrote %d rates", n)
	}
}

// exported writes matches with fields of their states, and reads the file. It returns the warnings, too.
func exported(t *testing.T, games replay.Games, paths []string, files ...[]byte) (read *mcapRead, warnings string) {
	t.Helper()
	var matches []mcapMatch
	for i, b := range files {
		matches = append(matches, mcapMatch{Reader: replayOf(t, b), Name: string(rune('A' + i)), Bundle: false, Games: games})
	}
	h, err := replayOf(t, files[0]).Next()
	if err != nil {
		t.Fatal(err)
	}
	micros := h.Header.Settings.TickMicros
	var out bytes.Buffer
	fields := mcapFields{Paths: paths, Warn: func(match, text string) { warnings += match + ": " + text + "\n" }}
	if err := writeMCAP(&out, matches, fields); err != nil {
		t.Fatal(err)
	}
	return readMCAP(t, out.Bytes(), micros), warnings
}

// valuesOf returns the texts of fields after each tick, "" where the state lacks one.
func valuesOf(t *testing.T, g *lockstep.Game, b []byte, paths ...string) (texts map[string][]string) {
	t.Helper()
	texts = make(map[string][]string)
	h, err := replayOf(t, b).Next()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := state.ParseSchema(h.Header.StateSchema)
	if err != nil {
		t.Fatal(err)
	}
	c, err := replay.NewCursor(replayOf(t, b), g, 0)
	if err != nil {
		t.Fatal(err)
	}
	for ; err == nil; err = c.Step() {
		now := c.Simulation().AppendState(nil)
		for _, path := range paths {
			text := ""
			v, err := schema.Lookup(now, path)
			if err == nil {
				text = v.String()
			} else if !errors.Is(err, state.ErrPath) {
				t.Fatal(err)
			}
			texts[path] = append(texts[path], text)
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return texts
}

// compareValues compares the points of a topic with the values after each tick. The lines between the points are the
// values, too.
func compareValues(points []mcapPoint, want []string) error {
	if len(points) == 0 {
		return errors.New("no points")
	}
	next := 0
	for tick, text := range want {
		for next < len(points) && points[next].tick < lockstep.Tick(tick) {
			next++
		}
		has := next < len(points) && points[next].tick == lockstep.Tick(tick)
		switch {
		case text == "" && has:
			return fmt.Errorf("a value at tick %d, where the state has none", tick)
		case has && points[next].text != text:
			return fmt.Errorf("got %s at tick %d, want %s", points[next].text, tick, text)
		case text != "" && !has && (next == 0 || next == len(points) || points[next-1].text != text || points[next].text != text):
			return fmt.Errorf("the points beside tick %d do not have the value %s", tick, text)
		}
	}
	for _, p := range points {
		number, err := strconv.ParseFloat(p.text, 64)
		if p.text == "true" {
			number, err = 1, nil
		}
		if p.text != "false" && (err != nil || number != p.value) {
			return fmt.Errorf("got the number %v of %s", p.value, p.text)
		}
	}
	return nil
}

// Every tick of a match has the value that a simulation has, in each of two recordings.
func TestExportStates(t *testing.T) {
	t.Parallel()
	var files [][]byte
	var list []*lockstep.Game
	for _, name := range []string{"duel", "four"} {
		b, err := os.ReadFile(filepath.Join("../../../../../testdata/replays", name+".ssr"))
		if err != nil {
			t.Fatal(err)
		}
		h, err := replayOf(t, b).Next()
		if err != nil {
			t.Fatal(err)
		}
		g, err := ourGames().Of(h.Header)
		if err != nil {
			t.Fatal(err)
		}
		files, list = append(files, b), append(list, g)
	}
	topics := map[string]string{
		"Units[3].Health": "Units/3/Health", "Units[ID=40].Pos.X": "Units/ID_40/Pos/X", "Players[1].Crystals": "Players/1/Crystals", "Match.Tick": "Match/Tick", "Players[0].Resigns": "Players/0/Resigns",
	}
	read, warnings := exported(t, ourGames(), []string{"Units[3].Health", "Units[ID=40].Pos", "Players[1].Crystals", "Match.Tick", "Players[0].Resigns"}, files...)
	if warnings != "" || len(read.values) != 2*(len(topics)+1) { // and Pos.Y
		t.Errorf("got %d topics and the warnings %q", len(read.values), warnings)
	}
	for i, g := range list {
		values := valuesOf(t, g, files[i], slices.Collect(maps.Keys(topics))...)
		for path, topic := range topics {
			topic += []string{"/a", "/b"}[i]
			want := values[path]
			if err := compareValues(read.values[topic], want); err != nil {
				t.Errorf("%s: %v", topic, err)
			}
			for _, tick := range []int{0, len(want) / 2, len(want) - 1} {
				if want[tick] += "1"; compareValues(read.values[topic], want) == nil {
					t.Errorf("control: %s: another value at tick %d is not noticed", topic, tick)
				}
				want[tick] = want[tick][:len(want[tick])-1]
			}
		}
	}
	if n := len(read.values["Players/0/Resigns/a"]); n != 2 {
		t.Errorf("a value that never changes has %d points, want the first and the last", n)
	}
	for _, topic := range []string{"/commands/a", "/commands/b", "/checksums/a", "/checksums/b", "/log/b"} {
		if read.counts[topic] == 0 {
			t.Errorf("no messages on %s", topic)
		}
	}
	if read.match["game"] != "skirmish" {
		t.Errorf("the second match is %v", read.match)
	}

	alone, _ := exported(t, ourGames(), []string{"Match.Tick"}, files[0])
	if err := compareValues(alone.values["Match/Tick"], valuesOf(t, list[0], files[0], "Match.Tick")["Match.Tick"]); err != nil {
		t.Error(err)
	}
}

// recordDrift records a match of package drift, whose rules make a change after each step.
func recordDrift(t *testing.T, ticks int, change func(*drift.World, *lockstep.Turn)) []byte {
	t.Helper()
	g := lockstep.MustGame(drift.Rules(change))
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 10, 40
	h, err := g.NewHeader(lockstep.MatchID{7}, s, &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	c, err := coordinator.New(g, h, w, coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range ticks {
		if _, err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(c.End("done"), w.Close()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func tripped(w *drift.World, t *lockstep.Turn) {
	if t.Tick == 55 {
		w.Spots[2].X += 1000
	}
}

// Where the simulation contradicts the file, and without the game's code, only keyframes have values, and a warning says so.
func TestExportStatesOfAnother(t *testing.T) {
	games := replay.Games{lockstep.MustGame(drift.Rules(nil))}
	file := recordDrift(t, 200, tripped)
	own := valuesOf(t, lockstep.MustGame(drift.Rules(tripped)), file, "Spots[2].X")["Spots[2].X"]
	read, warnings := exported(t, games, []string{"Spots[2].X"}, file)
	if want := "A: after tick 50 the values may not be those of the recording, and after tick 60 only"; !strings.HasPrefix(warnings, want) {
		t.Errorf("got %q, want %q", warnings, want)
	}
	var after []string
	for _, p := range read.values["Spots/2/X"] {
		if p.tick <= 50 || p.tick > 60 {
			if p.text != own[p.tick] {
				t.Errorf("tick %d: got %s, want %s", p.tick, p.text, own[p.tick])
			}
		}
		if p.tick > 60 {
			after = append(after, fmt.Sprint(p.tick))
		}
	}
	if got := strings.Join(after, " "); got != "80 120 160 200" {
		t.Errorf("got values at ticks %s after the contradiction, want those of keyframes", got)
	}

	read, warnings = exported(t, nil, []string{"Spots[2].X"}, file)
	if points := read.values["Spots/2/X"]; len(points) != 6 || points[1] != (mcapPoint{40, points[1].value, own[40]}) {
		t.Errorf("without the game: got %v", points)
	}
	if !strings.HasPrefix(warnings, "A: only the states of keyframes have values") {
		t.Errorf("without the game: got the warnings %q", warnings)
	}
}

// Paths that no state has, and those with too many fields, are wrong usage.
func TestExportStatesUsage(t *testing.T) {
	driftGames := replay.Games{lockstep.MustGame(drift.Rules(nil))}
	file := recordDrift(t, 20, nil)
	for path, want := range map[string]string{
		"Spots[8].X": "--path Spots[8].X: no such field in any state", "Spots[": "no such field", "Spot": "no such field", "Spots[1]..X": "no such field",
	} {
		err := writeMCAP(io.Discard, []mcapMatch{{Reader: replayOf(t, file), Name: "A", Bundle: false, Games: driftGames}}, mcapFields{Paths: []string{"Seed", path}})
		if !console.IsUsage(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	b, err := os.ReadFile("../../../../../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	duel := []mcapMatch{{Reader: replayOf(t, b), Name: "A", Bundle: false, Games: ourGames()}}
	if err := writeMCAP(io.Discard, duel, mcapFields{Paths: []string{"Units"}}); !console.IsUsage(err) || !strings.Contains(err.Error(), "more than 256 fields") {
		t.Errorf("got %v", err)
	}
	duel[0].Reader = replayOf(t, b)
	if err := writeMCAP(io.Discard, duel, mcapFields{Paths: []string{"Match.Tick"}, MaxTicks: 5}); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("got %v, want %v", err, replay.ErrLimit)
	}
}

// The replay in a bundle may have no end: the messages go as far as it does. Another replay without an end is an error.
func TestTornMCAP(t *testing.T) {
	whole, err := os.ReadFile("../../../../../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	var raw bytes.Buffer
	w := replay.NewWriter(&raw, replay.WriterOptions{})
	if err := replay.Cut(w, replayOf(t, whole), 600); err != nil {
		t.Fatal(err)
	}
	b := raw.Bytes()
	for _, bundle := range []bool{true, false} {
		var out bytes.Buffer
		warnings := ""
		fields := mcapFields{Warn: func(name, text string) { warnings += name + ": " + text }}
		err := writeMCAP(&out, []mcapMatch{{Reader: replayOf(t, b[:len(b)-60]), Name: "torn", Bundle: bundle, Games: nil}}, fields)
		if bundle != (err == nil) || bundle != strings.HasPrefix(warnings, "torn: the replay is cut after tick ") {
			t.Errorf("bundle %v: got %v, warnings %q", bundle, err, warnings)
		}
		if bundle && readMCAP(t, out.Bytes(), 50_000).counts["/commands"] == 0 {
			t.Error("got no messages")
		}
	}
}
