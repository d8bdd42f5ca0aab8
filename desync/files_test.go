package desync_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A program of one's own has verify, bisect and explain in at most twelve lines each, from opening the files to the
// text.
func TestVerbsAreShort(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "example_files_test.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := make(map[string]int)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			lines[f.Name.Name] = fset.Position(f.Body.Rbrace).Line - fset.Position(f.Body.Lbrace).Line - 1
		}
	}
	for _, name := range []string{"verifyFile", "bisectFiles", "explainFile"} {
		if n := lines[name]; n == 0 || n > 12 {
			t.Errorf("%s has %d lines, want 1 to 12", name, n)
		}
	}
}

// openFile opens bytes as a file.
func openFile(t *testing.T, content []byte) *replay.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// jsonOf returns a result as JSON.
func jsonOf(t *testing.T, v any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	m := make(map[string]any)
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// A file that is no replay, is of another game, or is cut gives a result that says so, and no panic.
func TestVerifyRefuses(t *testing.T) {
	game, file := exampleFile()
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

// A failed bisection says why, as text and as JSON.
func TestBisectFilesRefuses(t *testing.T) {
	game, file := exampleFile()
	good, bad := openFile(t, file), openFile(t, []byte("text"))
	for name, files := range map[string][2]*replay.File{"the first": {bad, good}, "the second": {good, bad}} {
		b, err := desync.BisectFiles(files[0], files[1], replay.Games{game}, desync.BisectOptions{})
		var text strings.Builder
		if b.WriteText(&text); !errors.Is(err, replay.ErrFormat) || !strings.HasPrefix(text.String(), "verdict    not compared: "+bad.Path()+": ") {
			t.Errorf("%s: got %v and the text\n%s", name, err, &text)
		}
		if m := jsonOf(t, b); m["class"] != "corrupt" || m["tick"] != nil {
			t.Errorf("%s: got %v", name, m)
		}
	}
	b, err := desync.BisectFiles(good, good, nil, desync.BisectOptions{})
	if m := jsonOf(t, b); err != nil || !b.Same || m["same"] != true || m["tick"] != nil || m["agreed"] != 100. {
		t.Errorf("equal files: got %v, %v", m, err)
	}
}

// Where nothing differs, a bisection says up to where, of how many ticks, and what else the replays have.
func TestBisectionSaysHowFar(t *testing.T) {
	game, whole := exampleFile()
	var short bytes.Buffer
	w := replay.NewWriter(&short, replay.WriterOptions{})
	if err := replay.Cut(w, openReplay(t, whole), 55); err != nil {
		t.Fatal(err)
	}
	panicked, err := panicBundle(t, "Step", true).Replay(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		a, b []byte
		want string
	}{
		{"the same", whole, whole, "no checksum differs up to tick 100: 6 ticks of both compared"},
		{"a short one", whole, short.Bytes(), "up to tick 40: 3 ticks of both compared; A goes on to tick 100; B goes on to tick 55"},
		{"a panic", panicked, panicked, "; in A, tick 9: the rules panicked in Step: crash; in B, tick 9: the rules panicked in Step: crash"},
	} {
		b, err := desync.BisectFiles(openFile(t, c.a), openFile(t, c.b), replay.Games{game}, desync.BisectOptions{})
		var text strings.Builder
		if b.WriteText(&text); err != nil || !strings.HasSuffix(strings.Join(strings.Fields(text.String()), " "), c.want) {
			t.Errorf("%s: got %v and the text\n%s\nwant %s", c.name, err, &text, c.want)
		}
	}
	if _, err := desync.BisectFile(openFile(t, whole), []desync.Report{{Tick: 33}}, nil, desync.BisectOptions{}); !errors.Is(err, desync.ErrNothingCompared) {
		t.Errorf("reports of ticks without a checksum: got %v, want %v", err, desync.ErrNothingCompared)
	}
}

// Names and reasons of a hostile file control no terminal.
func TestTextsAreClean(t *testing.T) {
	game, file := exampleFile()
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
	b, _ := desync.BisectFiles(f, openFile(t, file), replay.Games{game}, desync.BisectOptions{})
	if err := errors.Join(info.WriteText(&text), v.WriteText(&text), b.WriteText(&text)); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(text.String(), "\x1b\u009b\u202e") || strings.Count(text.String(), "2J") < 3 {
		t.Errorf("got %q", text.String())
	}
}

// A match is verified while it is played.
func TestVerifyLive(t *testing.T) {
	game, file := exampleFile()
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
