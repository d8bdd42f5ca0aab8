package desync_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A program of one's own has verify, bisect and explain in at most twelve lines each, from opening the files to the
// text.
func TestVerbsAreShort(t *testing.T) {
	fset := token.NewFileSet()
	lines := make(map[string]int)
	for _, name := range []string{"example_files_test.go", "bisect/example_test.go"} {
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				lines[f.Name.Name] = fset.Position(f.Body.Rbrace).Line - fset.Position(f.Body.Lbrace).Line - 1
			}
		}
	}
	for _, name := range []string{"verifyFile", "bisectFiles", "explainFile"} {
		if n := lines[name]; n == 0 || n > 12 {
			t.Errorf("%s has %d lines, want 1 to 12", name, n)
		}
	}
}

// A file that is no replay, is of another game, or is cut gives a result that says so, and no panic.
func TestVerifyRefuses(t *testing.T) {
	game, file := dots.Short()
	for _, c := range []struct {
		name    string
		content []byte
		games   replay.Games
		class   string
		text    string
	}{
		{"text", []byte("text"), replay.Games{game}, "corrupt", "verdict    not verified: replay: "},
		{"no game", file, nil, "identity", "verdict    not verified: lockstep: other game: got dots, want none; use a program with game \"dots\""},
		{"another game", file, replay.Games{chestGame(pay)}, "identity", "verdict    not verified: lockstep: other game: got dots, want chest; use "},
		{"other games", file, replay.Games{chestGame(pay), laurelGame(5, 1), chestGame(deaf)}, "identity", "verdict    not verified: lockstep: other game: got dots, want chest or laurels; use "},
		{"the second game", file, replay.Games{chestGame(pay), game}, "ok", "verdict    true: every checksum "},
		{"cut", file[:len(file)-20], replay.Games{game}, "torn", "verdict    true up to tick "},
	} {
		v, err := desync.Verify(openFile(t, c.content), c.games, replay.VerifyOptions{})
		var text strings.Builder
		v.WriteText(&text)
		if (err != nil) != (c.class != "ok") || v.Err != err || !strings.Contains(flat(text.String()), flat(c.text)) {
			t.Errorf("%s: got %v and the text\n%s", c.name, err, &text)
		}
		if m := jsonOf(t, v); m["class"] != c.class || (m["error"] != nil) != (err != nil) {
			t.Errorf("%s: got JSON with class %v, error %v, want class %s", c.name, m["class"], m["error"], c.class)
		}
	}
}

// A bisection says where the rules of a match panicked.
func TestBisectionOfAPanic(t *testing.T) {
	game, _ := dots.Short()
	panicked, err := panicBundle(t, "Step", true).Replay(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	f := openFile(t, panicked)
	b, err := bisect.Files(f, f, replay.Games{game}, bisect.Options{})
	var text strings.Builder
	if b.WriteText(&text); err != nil || !strings.HasSuffix(flat(text.String()), "; in A, tick 9: the rules panicked in Step: crash; in B, tick 9: the rules panicked in Step: crash") {
		t.Errorf("got %v and the text\n%s", err, &text)
	}
}

// Names and reasons of a hostile file control no terminal.
func TestTextsAreClean(t *testing.T) {
	game, file := dots.Short()
	hostile := bytes.NewBuffer(nil)
	w := replay.NewWriter(hostile, replay.WriterOptions{})
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var enc record.Encoder
	if err := errors.Join(replay.Play(r, nil, func(rec *record.Record) error {
		if rec.Kind == record.KindHeader {
			h := *rec.Header
			h.Game, h.Build, h.Platform = "\x1b[2Jdots", "\u009b2J", "\u202eexample"
			rec.Header = &h
		}
		return w.Append(enc.Record(rec))
	}), w.Close()); err != nil {
		t.Fatal(err)
	}
	f := openFile(t, hostile.Bytes())
	var text strings.Builder
	info, _ := f.Info()
	v, _ := desync.Verify(f, replay.Games{game}, replay.VerifyOptions{})
	b, _ := bisect.Files(f, openFile(t, file), replay.Games{game}, bisect.Options{})
	if err := errors.Join(info.WriteText(&text), v.WriteText(&text), b.WriteText(&text)); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text.String(), "\x1b\u009b\u202e") || strings.Count(text.String(), "2J") < 3 {
		t.Errorf("got %q", text.String())
	}
}

// A match is verified while it is played.
func TestVerifyLive(t *testing.T) {
	game, file := dots.Short()
	f := openFile(t, file)
	l, err := replay.OpenLive(f.Path(), replay.LiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	v, err := desync.VerifyLive(t.Context(), l, replay.Games{game}, replay.VerifyOptions{})
	if err != nil || v.Ticks != 100 || v.Header.Game != "dots" || v.Verdict.Party != desync.WrongUnknown {
		t.Errorf("got %+v, %v", v, err)
	}
	other, err := replay.OpenLive(f.Path(), replay.LiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if v, err := desync.VerifyLive(t.Context(), other, nil, replay.VerifyOptions{}); !errors.As(err, new(*lockstep.IdentityError)) || v.Verification != nil {
		t.Errorf("without the game: got %+v, %v", v, err)
	}
}

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
