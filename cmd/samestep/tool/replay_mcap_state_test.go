//go:build !js

package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/internal/testing/drift"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// exported writes matches with fields of their states, and reads the file. It returns the warnings, too.
func exported(t *testing.T, games replay.Games, paths []string, files ...[]byte) (read *mcapRead, warnings string) {
	t.Helper()
	var matches []replays.McapMatch
	for i, b := range files {
		matches = append(matches, replays.McapMatch{Reader: replayOf(t, b), Name: string(rune('A' + i)), Bundle: false, Games: games})
	}
	h, err := replayOf(t, files[0]).Next()
	if err != nil {
		t.Fatal(err)
	}
	micros := h.Header.Settings.TickMicros
	var out bytes.Buffer
	fields := replays.McapFields{Paths: paths, Warn: func(match, text string) { warnings += match + ": " + text + "\n" }}
	if err := replays.ExportMCAP(&out, matches, fields); err != nil {
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
		b, err := os.ReadFile(filepath.Join("../../../testdata/replays", name+".ssr"))
		if err != nil {
			t.Fatal(err)
		}
		h, err := replayOf(t, b).Next()
		if err != nil {
			t.Fatal(err)
		}
		g, err := games.Games().Of(h.Header)
		if err != nil {
			t.Fatal(err)
		}
		files, list = append(files, b), append(list, g)
	}
	topics := map[string]string{
		"Units[3].Health": "Units/3/Health", "Units[ID=40].Pos.X": "Units/ID_40/Pos/X", "Players[1].Crystals": "Players/1/Crystals", "Match.Tick": "Match/Tick", "Players[0].Resigns": "Players/0/Resigns",
	}
	read, warnings := exported(t, games.Games(), []string{"Units[3].Health", "Units[ID=40].Pos", "Players[1].Crystals", "Match.Tick", "Players[0].Resigns"}, files...)
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

	alone, _ := exported(t, games.Games(), []string{"Match.Tick"}, files[0])
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
	ourGames, driftGames := games.Games(), replay.Games{lockstep.MustGame(drift.Rules(nil))}
	file := recordDrift(t, 20, nil)
	for path, want := range map[string]string{
		"Spots[8].X": "--path Spots[8].X: no such field in any state", "Spots[": "no such field", "Spot": "no such field", "Spots[1]..X": "no such field",
	} {
		err := replays.ExportMCAP(io.Discard, []replays.McapMatch{{Reader: replayOf(t, file), Name: "A", Bundle: false, Games: driftGames}}, replays.McapFields{Paths: []string{"Seed", path}})
		if !console.IsUsage(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	b, err := os.ReadFile("../../../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	duel := []replays.McapMatch{{Reader: replayOf(t, b), Name: "A", Bundle: false, Games: ourGames}}
	if err := replays.ExportMCAP(io.Discard, duel, replays.McapFields{Paths: []string{"Units"}}); !console.IsUsage(err) || !strings.Contains(err.Error(), "more than 256 fields") {
		t.Errorf("got %v", err)
	}
	duel[0].Reader = replayOf(t, b)
	if err := replays.ExportMCAP(io.Discard, duel, replays.McapFields{Paths: []string{"Match.Tick"}, MaxTicks: 5}); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("got %v, want %v", err, replay.ErrLimit)
	}
}

// The replay in a bundle may have no end: the messages go as far as it does. Another replay without an end is an error.
func TestTornMCAP(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(filepath.Dir(tooltest.DemoBundle(t)), "skirmish.ssr"))
	if err != nil {
		t.Fatal(err)
	}
	for _, bundle := range []bool{true, false} {
		var out bytes.Buffer
		warnings := ""
		fields := replays.McapFields{Warn: func(name, text string) { warnings += name + ": " + text }}
		err := replays.ExportMCAP(&out, []replays.McapMatch{{Reader: replayOf(t, b[:len(b)-60]), Name: "torn", Bundle: bundle, Games: nil}}, fields)
		if bundle != (err == nil) || bundle != strings.HasPrefix(warnings, "torn: the replay is cut after tick ") {
			t.Errorf("bundle %v: got %v, warnings %q", bundle, err, warnings)
		}
		if bundle && readMCAP(t, out.Bytes(), 50_000).counts["/commands"] == 0 {
			t.Error("got no messages")
		}
	}
}
