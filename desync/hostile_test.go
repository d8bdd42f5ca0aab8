package desync_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// plain is the bundle of a desync with one altered field.
var plain = sync.OnceValue(func() []byte {
	tb := &testing.T{}
	x := newTable(tb, func(w *world, t *turn, step step) bool { step(w, t); w.Units[5].Health--; return true }, false)
	x.play(tb, 400)
	return x.bundle(tb)
})

// unpacked returns the files of a bundle.
func unpacked(tb testing.TB, archive []byte) map[string][]byte {
	tb.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		tb.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			tb.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			tb.Fatal(err)
		}
	}
	return files
}

// packed makes a bundle of files and a manifest.
func packed(tb testing.TB, files map[string][]byte, change func(m *replay.Manifest)) []byte {
	tb.Helper()
	var m replay.Manifest
	if err := json.Unmarshal(files["manifest.json"], &m); err != nil {
		tb.Fatal(err)
	}
	if change != nil {
		change(&m)
	}
	table, err := json.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name]
		if name == "manifest.json" {
			content = table
		}
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write(content)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return archive.Bytes()
}

func explain(archive []byte, o desync.Options) (*desync.Explanation, error) {
	b, err := replay.OpenBundle(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	return desync.Explain(b, o)
}

// A contradictory or malformed bundle is rejected with a typed error.
func TestRefusals(t *testing.T) {
	files := unpacked(t, plain())
	for _, test := range []struct {
		name    string
		archive []byte
		options desync.Options
		want    string
	}{
		{"tick 0", packed(t, files, func(m *replay.Manifest) { m.Tick = 0 }), desync.Options{}, "a desync at tick 0"},
		{"agreed later", packed(t, files, func(m *replay.Manifest) { m.Agreed = m.Tick }), desync.Options{}, "agreed at tick 160, want before tick 160"},
		{"exhibits in disorder", packed(t, files, func(m *replay.Manifest) { slices.Reverse(m.Exhibits) }), desync.Options{}, "exhibit 1 is of tick 140"},
		{"an exhibit of another time", packed(t, files, func(m *replay.Manifest) { m.Exhibits[0].Tick = 20 }), desync.Options{}, "exhibit 0 is of tick 20"},
		{"too many exhibits", packed(t, files, func(m *replay.Manifest) { m.Exhibits = make([]replay.BundleExhibit, 513) }), desync.Options{}, "513 exhibits, want at most 512"},
		{"no checksum", packed(t, files, func(m *replay.Manifest) { m.Groups[1].Checksum = "<b>" }), desync.Options{}, "group 1: checksum: want 16"},
		{"a state that is not there", packed(t, files, func(m *replay.Manifest) { m.Exhibits[0].Player = "states/none" }), desync.Options{}, "states/none"},
		{"a state outside", packed(t, files, func(m *replay.Manifest) { m.Exhibits[0].Player = "../../etc/passwd" }), desync.Options{}, "not a bundle"},
		{"a replay over the limit", plain(), desync.Options{MaxReplay: 1000}, "more than 1000 bytes"},
		{"a bomb", packed(t, with(files, "replay.ssr", make([]byte, 64<<20)), nil), desync.Options{MaxReplay: 1 << 20}, "more than 1048576 bytes"},
		{"states over the limit", plain(), desync.Options{MaxStates: 1000}, "states of more than 1000 bytes in all"},
	} {
		if e, err := explain(test.archive, test.options); !errors.Is(err, replay.ErrBundle) || !strings.Contains(err.Error(), test.want) || e != nil {
			t.Errorf("%s: got error %v, want %q", test.name, err, test.want)
		}
	}
	for name, file := range map[string][]byte{"empty": nil, "text": []byte(strings.Repeat("no replay ", 99)), "cut in the header": files["replay.ssr"][:60]} {
		var damage *replay.DamageError
		if _, err := explain(packed(t, with(files, "replay.ssr", file), nil), desync.Options{}); !errors.As(err, &damage) {
			t.Errorf("a replay that is %s: got error %v", name, err)
		}
	}
}

func with(files map[string][]byte, name string, content []byte) map[string][]byte {
	files = maps.Clone(files)
	files[name] = content
	return files
}

// A wrong part of a bundle is reported, and the rest is explained.
func TestPartsThatAreWrong(t *testing.T) {
	files := unpacked(t, plain())
	cut := len(files["replay.ssr"]) * 3 / 4
	broken := skirmish.Rules()
	broken.Step = func(w *world, _ *skirmish.Config, t *turn) {
		if t.Tick == 150 {
			panic("no")
		}
	}
	panics := lockstep.MustGame(broken)
	find := desync.Options{Game: findGame, Budget: 10 * time.Millisecond} // the notes are not about trials
	for _, test := range []struct {
		name    string
		archive []byte
		options desync.Options
		note    string
		fields  int
	}{
		{"player's state is none", packed(t, with(files, "states/160-player.state", []byte("nonsense")), nil), find, "the player's state of tick 160 is invalid", 0},
		{"player's state is another", packed(t, with(files, "states/160-player.state", files["states/140-player.state"]), nil), find, "that player 2 sent has checksum", -1},
		{"a state that differs where the checksums agreed", packed(t, with(files, "states/140-player.state", files["states/160-player.state"]), nil), find, "the states of tick 140 already differ", 1},
		{"no states", packed(t, files, func(m *replay.Manifest) { m.Exhibits = nil }), find, "the bundle has no state of the player", 0},
		{"only the player's", packed(t, files, func(m *replay.Manifest) { m.Exhibits[0].Referee, m.Exhibits[1].Referee = "", "" }), find, "", 1},
		{"the replay is cut", packed(t, with(files, "replay.ssr", files["replay.ssr"][:cut]), nil), find, "the bundle's replay cannot be read to its end", 1},
		{"the replay is damaged", packed(t, with(files, "replay.ssr", flipped(files["replay.ssr"], cut)), nil), find, "the bundle's replay cannot be read to its end", 1},
		{"it is of another match", packed(t, files, func(m *replay.Manifest) { m.Match = "ff" }), find, "names match ff, but its replay is of match 07", 1},
		{"the desync is too far away", packed(t, files, nil), desync.Options{Game: findGame, MaxTicks: 20}, "too long", 1},
		{"the desync is after the end of the log", packed(t, files, func(m *replay.Manifest) { m.Tick, m.Exhibits = 4_000_000_000, nil }), find, "could not be simulated again", 0},
		{"the game panics", plain(), desync.Options{Game: func(*lockstep.Header) (*lockstep.Game, error) { return panics, nil }}, "the game panicked in Step: no", 1},
		{"no game", plain(), desync.Options{Game: func(*lockstep.Header) (*lockstep.Game, error) { return nil, errors.New("unheard of") }}, "unheard of", 1},
		{"a small budget", plain(), desync.Options{Game: findGame, Budget: 300 * time.Microsecond}, "the draws could not be counted: desync: out of time for trials", 1},
	} {
		e, err := explain(test.archive, test.options)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if notes := strings.Join(e.Notes, "\n"); !strings.Contains(notes, test.note) || test.fields >= 0 && e.Fields.Total != test.fields {
			t.Errorf("%s: got %d fields, want %d; notes %q, want %q", test.name, e.Fields.Total, test.fields, notes, test.note)
		}
		if err := errors.Join(e.WriteText(io.Discard), e.WriteHTML(io.Discard)); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func flipped(b []byte, at int) []byte {
	b = slices.Clone(b)
	b[at] ^= 1
	return b
}

// A truncated bundle is rejected wherever it is cut.
func TestCutBundles(t *testing.T) {
	whole := plain()
	for n := 0; n < len(whole); n += 997 {
		if _, err := explain(whole[:n], withGame(t)); !errors.Is(err, replay.ErrBundle) {
			t.Errorf("cut after %d of %d bytes: got error %v", n, len(whole), err)
		}
	}
}

// FuzzExplain gives Explain a bundle with an arbitrary manifest, states and replay. Explain returns, with or without an
// error, and its result can be printed.
func FuzzExplain(f *testing.F) {
	files := unpacked(f, plain())
	replayFile, wrong := files["replay.ssr"], files["states/160-player.state"]
	f.Add(files["manifest.json"], wrong[:100], uint16(0), byte(1))
	f.Add(files["manifest.json"], wrong, uint16(9000), byte(0))
	f.Add([]byte(`{"format":1,"tick":160,"exhibits":[{"tick":160,"referee":"replay.ssr","player":"manifest.json"}]}`), []byte{}, uint16(40), byte(255))
	f.Add(bytes.Replace(files["manifest.json"], []byte("{"), []byte(`{"resimulation":{"from":158,"to":160,"first":159,"altered":160,"right":["0000000000000001"],
		"runs":[["0000000000000001","0000000000000002"],["0000000000000001","0000000000000003"]]},`), 1), wrong, uint16(9000), byte(0))
	f.Fuzz(func(t *testing.T, table, wrong []byte, at uint16, flip byte) {
		var archive bytes.Buffer
		z := zip.NewWriter(&archive)
		damaged := slices.Clone(replayFile)
		damaged[int(at)%len(damaged)] ^= flip
		for name, content := range map[string][]byte{
			"manifest.json": table, "replay.ssr": damaged, "states/160-player.state": wrong,
			"states/140-player.state": files["states/140-player.state"], "states/160-referee.state": files["states/160-referee.state"],
		} {
			w, err := z.Create(name)
			if err == nil {
				_, err = w.Write(content)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		e, err := explain(archive.Bytes(), desync.Options{Game: findGame, Budget: 20 * time.Millisecond, MaxTicks: 2000, MaxReplay: 1 << 20, MaxStates: 1 << 22})
		if err != nil {
			return
		}
		if err := errors.Join(e.WriteText(io.Discard), e.WriteHTML(io.Discard)); err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(e); err != nil {
			t.Fatal(err)
		}
	})
}
