//go:build !js

package tool

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/nullgame"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// import reads the export of every golden replay, and exporting the result prints the same lines. The same players
// mismatch in both.
func TestExportImport(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/replays/*.ssr")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden replays", err)
	}
	more, err := filepath.Glob("../../../testdata/replays/versions/*.ssr")
	if err != nil || len(more) == 0 {
		t.Fatal("no golden replays of versions", err)
	}
	differed := 0
	for _, file := range append(files, more...) {
		t.Run(filepath.Base(file), func(t *testing.T) { differed += exportImport(t, file) })
	}
	if differed == 0 {
		t.Error("no golden replay has a mismatch")
	}
}

// Commands of another game may have any kind that a header can name.
func TestExportImportKinds(t *testing.T) {
	kinds := []lockstep.Kind{0, 12, 255, 256, 1000, math.MaxUint16}
	g, err := nullgame.Of(kinds)
	if err != nil {
		t.Fatal(err)
	}
	h, err := g.NewHeader(lockstep.MatchID{7}, lockstep.DefaultSettings(2), &nullgame.Config{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "match.ssr")
	if err := files.Create(file, func(f *os.File) error {
		w := replay.NewWriter(f, replay.WriterOptions{})
		c, err := coordinator.New(g, h, w, coordinator.Options{})
		if err != nil {
			return err
		}
		if _, err := c.Join(0); err != nil {
			return err
		}
		payloads := g.NewPayloads()
		for n, kind := range kinds {
			payload, err := payloads.EncodeAs(kind, &nullgame.Opaque{Data: []byte{byte(n)}})
			if err != nil {
				return err
			}
			if got := c.Submit(0, lockstep.Sequence(n+1), kind, payload); got.Reason != lockstep.Accepted {
				t.Fatalf("kind %d: got %v", kind, got.Reason)
			}
			if _, err := c.Tick(); err != nil {
				return err
			}
		}
		if err := c.End("over"); err != nil {
			return err
		}
		return w.Close()
	}); err != nil {
		t.Fatal(err)
	}
	exportImport(t, file)
	text := tooltest.Output(t, console.ExitOK, "replay", "export", file)
	for _, kind := range kinds {
		if line := fmt.Sprintf(`"k":%d,`, kind); !strings.Contains(text, line) {
			t.Errorf("the export lacks %s:\n%s", line, text)
		}
	}
}

// exportImport returns the number of players with mismatches in a replay.
func exportImport(t *testing.T, file string) (differed int) {
	mismatches, seats := mismatchesIn(t, file)
	if seats == 0 { // torn: take the part before the tear
		whole := filepath.Join(t.TempDir(), "whole.ssr")
		tooltest.Output(t, console.ExitOK, "replay", "recover", file, whole)
		file = whole
		mismatches, seats = mismatchesIn(t, file)
	}
	lines := filepath.Join(t.TempDir(), "lines.jsonl")
	text := tooltest.Output(t, console.ExitOK, "replay", "export", file)
	if err := os.WriteFile(lines, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "again.ssr")
	tooltest.Output(t, console.ExitOK, "replay", "import", lines, again)
	if second := tooltest.Output(t, console.ExitOK, "replay", "export", again); second != text {
		t.Errorf("exported again, there are other lines:\n%s", firstDifference(text, second))
	}
	tied := false // each of two differs from the other, and none is the majority
	for _, tick := range mismatches {
		tied = tied || reporters(text, tick) == 2
	}
	for p := range seats {
		want := console.ExitOK
		if tick, differs := mismatches[lockstep.Player(p)]; differs {
			want, differed = console.ExitDesync, differed+1
			found := tooltest.Output(t, want, "replay", "bisect", again, "--player", fmt.Sprint(p))
			if !strings.Contains(found, fmt.Sprintf("at tick %d at the latest", tick)) {
				t.Errorf("player %d differs at tick %d: got\n%s", p, tick, found)
			}
			continue
		}
		if !strings.Contains(text, fmt.Sprintf(`"p":%d,"sum"`, p)) {
			want = console.ExitError // who reported nothing does not agree
		}
		if !tied {
			tooltest.Output(t, want, "replay", "bisect", again, "--player", fmt.Sprint(p))
		}
	}
	return differed
}

// mismatchesIn returns the first mismatching tick of each player and the number of seats, or 0 if the replay cannot be
// read to its end.
func mismatchesIn(t *testing.T, file string) (map[lockstep.Player]lockstep.Tick, int) {
	f, err := replay.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		t.Fatal(err)
	}
	first, seats := make(map[lockstep.Player]lockstep.Tick), 0
	err = replay.Play(r, nil, func(rec *record.Record) error {
		switch rec.Kind {
		case record.KindHeader:
			seats = int(rec.Header.Settings.Players)
		case record.KindMismatch:
			if _, ok := first[rec.Player]; !ok {
				first[rec.Player] = rec.Tick
			}
		}
		return nil
	})
	if err != nil {
		return first, 0
	}
	return first, seats
}

// Export prints every check for a player without commands whose checksum mismatched once, and none for a player without
// any reports.
func TestExportReporters(t *testing.T) {
	g := nullgame.New()
	s := lockstep.DefaultSettings(3)
	s.CheckEvery, s.KeyframeEvery = 1, 0
	h, err := g.NewHeader(lockstep.MatchID{1}, s, &nullgame.Config{})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	_, payload, err := g.NewPayloads().Encode(&nullgame.Opaque{Data: []byte{7}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := replay.NewWriter(&out, replay.WriterOptions{})
	var enc record.Encoder
	add := func(record []byte) {
		if err := w.Append(record); err != nil {
			t.Fatal(err)
		}
	}
	add(enc.Header(h))
	add(enc.Keyframe(0, sim.Hash(), nil, sim.AppendState(nil)))
	for tick := range lockstep.Tick(4) {
		f := lockstep.Frame{Tick: tick + 1}
		if tick == 0 {
			f.Commands = []lockstep.Command{{Tick: 1, Player: 0, Sequence: 1, Kind: h.Commands[0].Kind, Payload: payload}}
		}
		add(enc.Frame(&f))
		add(enc.Checksum(tick+1, 10))
		if tick == 2 {
			add(enc.Mismatch(2, 1, 11)) // of the check before
		}
	}
	add(enc.End("over"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "match.ssr")
	if err := os.WriteFile(file, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	got := ""
	for line := range strings.Lines(tooltest.Output(t, console.ExitOK, "replay", "export", file)) {
		if strings.Contains(line, `"sum"`) {
			got += line
		}
	}
	want := ""
	for tick := 1; tick <= 4; tick++ {
		differs := 10
		if tick == 2 {
			differs = 11
		}
		want += fmt.Sprintf(`{"t":%d,"p":0,"sum":"%016x"}`+"\n", tick, 10)
		want += fmt.Sprintf(`{"t":%d,"p":1,"sum":"%016x"}`+"\n", tick, differs)
	}
	if got != want {
		t.Errorf("got checksums\n%swant\n%s", got, want)
	}
}

// firstDifference returns the first line that differs.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d: %s\nand then: %s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, and then %d", len(x), len(y))
}

// reporters returns the number of checksums of a tick in the lines.
func reporters(lines string, tick lockstep.Tick) (n int) {
	for line := range strings.Lines(lines) {
		if strings.HasPrefix(line, fmt.Sprintf(`{"t":%d,`, tick)) && strings.Contains(line, `"sum"`) {
			n++
		}
	}
	return n
}
