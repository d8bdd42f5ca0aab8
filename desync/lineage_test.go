package desync_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// origin returns the state after 90 ticks of a match of a seed, and writes the match to a file.
func origin(t *testing.T, path string, seed uint64) (*lockstep.Game, *replay.Origin) {
	t.Helper()
	s := lockstep.DefaultSettings(2)
	s.Seed, s.CheckEvery = seed, 10
	g, h := dots.New(t, s)
	h.Match = lockstep.MatchID{byte(seed)}
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	c, err := coordinator.New(g, h, w, coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 130 {
		if _, err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	dots.Finish(t, c, w, "done")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := replay.ReadOrigin(dots.Open(t, file.Bytes()), g, "dots", 90, replay.SimulateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g, o
}

// A match that claims to have begun in the state of another one is verified against it, also without its own end.
func TestFollowLineage(t *testing.T) {
	dir := t.TempDir()
	g, ours := origin(t, filepath.Join(dir, "1.ssr"), 1)
	_, other := origin(t, filepath.Join(dir, "2.ssr"), 2)
	for _, row := range []struct {
		name  string
		from  *replay.Origin
		ends  bool
		class replay.Class
		want  []string
	}{
		{"true", ours, true, replay.ClassOK, []string{"simulated  41 ticks", "its first state is that of " + filepath.Join(dir, "1.ssr"), "true: every checksum"}},
		{"torn", ours, false, replay.ClassTorn, []string{"its first state is that of", "true up to tick 131"}},
		{"false", other, true, replay.ClassDesync, []string{"its first state is ANOTHER one", `FALSE LINEAGE: replay: the match did not begin in the state of its parent "dots"`}},
		{"false and torn", other, false, replay.ClassDesync, []string{"FALSE LINEAGE"}},
	} {
		h := *ours.Header
		h.Match = lockstep.MatchID{9}
		m, err := ours.Recovery.Begin(0, &h, host.Origin{Lineage: row.from.Lineage}, host.Options{Random: func([]byte) {}})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		w := replay.NewWriter(&file, replay.WriterOptions{})
		for m.Now() < 131 {
			r := m.Ready()
			_ = r.AppendTo(w) // its error is that of Close
			m.Advance(r.Next)
		}
		if row.ends {
			if err := m.Admin().End(0, "enough"); err != nil {
				t.Fatal(err)
			}
		}
		_ = m.Ready().AppendTo(w)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "child.ssr")
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, way := range []struct {
			name   string
			verify func(*replay.File) *desync.Verification
		}{{"whole", verifyWhole(g)}, {"live", verifyLive(t, g)}} {
			f, err := replay.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			v := way.verify(f)
			err = v.FollowLineage(f, replay.Games{g}.OfFile, []string{dir}, replay.SimulateOptions{})
			f.Close()
			var text strings.Builder
			if werr := v.WriteText(&text); werr != nil || replay.ClassOf(err) != row.class {
				t.Errorf("%s, %s: got %v, %v, want %s", row.name, way.name, err, werr, row.class)
			}
			for _, want := range row.want {
				if !strings.Contains(flat(text.String()), flat(want)) {
					t.Errorf("%s, %s: got\n%s\nwant %s", row.name, way.name, &text, want)
				}
			}
		}
	}
}

// verifyWhole verifies a file.
func verifyWhole(g *lockstep.Game) func(*replay.File) *desync.Verification {
	return func(f *replay.File) *desync.Verification {
		v, _ := desync.Verify(f, replay.Games{g}, replay.VerifyOptions{}) // the error is in v
		return v
	}
}

// verifyLive verifies a file like a match that is being played.
func verifyLive(t *testing.T, g *lockstep.Game) func(*replay.File) *desync.Verification {
	return func(f *replay.File) *desync.Verification {
		l, err := replay.OpenLive(f.Path(), replay.LiveOptions{Idle: time.Millisecond, Poll: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		v, _ := desync.VerifyLive(t.Context(), l, replay.Games{g}, replay.VerifyOptions{}) // the error is in v
		return v
	}
}
