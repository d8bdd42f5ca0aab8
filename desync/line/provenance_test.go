package line

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// repository returns a repository with two commits of a game, and their revisions.
func repository(t *testing.T) (dir string, revisions [2]string) {
	t.Helper()
	_, err := exec.LookPath("git")
	testenv.Or(t, "git", err)
	dir = filepath.Join(t.TempDir(), "hex")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		out, err := git(dir, append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q")
	for i, text := range []string{"one", "two"} {
		write(t, filepath.Join(dir, "go.mod"), "module example.com/hex\n\n// "+text+"\n\nreplace example.com/engine => ../engine\n\nreplace example.com/art v1.0.0 => ./art\n")
		run("add", ".")
		run("commit", "-qm", text)
		revisions[i] = run("rev-parse", "HEAD")
	}
	run("tag", "v1.0.0", revisions[0])
	return dir, revisions
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The notes say how the working tree differs from what recorded the replay, and what to do.
func TestCompareSources(t *testing.T) {
	dir, revisions := repository(t)
	changed := filepath.Join(t.TempDir(), "hex")
	if err := os.CopyFS(changed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(changed, "new.go"), "package hex")
	old, now := revisions[0][:12], revisions[1][:12]
	use := "add the flag, or use the folder that the command makes\n--source " + old + "\ngit worktree add ../hex-" + old + " " + old
	for _, row := range []struct {
		name    string
		dir     string
		other   string
		sources record.Sources
		want    string
	}{
		{"the same", dir, "", record.Sources{Module: "m", Revision: revisions[1]}, ""},
		{"an old replay", dir, "", record.Sources{}, ""},
		{"a module only", dir, "", record.Sources{Module: "m"}, ""},
		{"another revision", dir, "", record.Sources{Module: "m", Revision: revisions[0]}, "the replay was recorded by revision " + old + ", and DIR is at " + now + ": " + use},
		{"which is side B", dir, "v1.0.0", record.Sources{Module: "m", Revision: revisions[0]}, ""},
		{"a tag", dir, "", record.Sources{Module: "m", Version: "v1.0.0"}, "\n--source v1.0.0\ngit"},
		{"a version of the go command", dir, "", record.Sources{Module: "m", Version: "v1.0.1-0.20260101000000-" + old}, use},
		{"changes", changed, "", record.Sources{Module: "m", Revision: revisions[1]}, "DIR has changes since revision " + now},
		{"another one and changes", changed, "", record.Sources{Module: "m", Revision: revisions[0]}, "DIR is at " + now + " with changes: " + use},
		{"a recorder with changes", dir, "", record.Sources{Module: "m", Revision: revisions[1], Modified: true}, "uncommitted changes on top of revision " + revisions[1]},
		{"an unknown revision", dir, "", record.Sources{Module: "m", Revision: "abcdef123456"}, "does not have\ngit fetch"},
		{"no repository", t.TempDir(), "", record.Sources{Module: "m", Revision: revisions[1]}, "is not in a git repository"},
		{"a command for the shell", dir, "", record.Sources{Module: "m", Revision: "$(rm)"}, ""},
		{"a flag", dir, "", record.Sources{Module: "m", Revision: "--help"}, ""},
	} {
		s := sourceTree{"DIR", row.dir, false, row.other}
		if got := strings.Join(s.compare(&lockstep.Header{Sources: row.sources.String()}), "\n"); !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// A bundle tells what the player's program was.
func TestProposeSides(t *testing.T) {
	h := &lockstep.Header{Platform: "linux/amd64 go1.26", Sources: "example.com/hex 3b18e512dba7"}
	for _, row := range []struct{ name, platform, sources, want string }{
		{"the same", "linux/amd64 go1.26", "example.com/hex 3b18e512dba7", ""},
		{"nothing known", "linux/amd64 go1.26", "", ""},
		{"another revision", "linux/amd64 go1.26", "example.com/hex a1b2c3d4e5f60718", "player 1 played with revision a1b2c3d4e5f60718: compare with\n--source 3b18e512dba7 --other a1b2c3d4e5f6"},
		{"a version", "linux/amd64 go1.26", "example.com/hex v1.3.0", "compare with\n--source 3b18e512dba7 --other v1.3.0"},
		{"changes", "linux/amd64 go1.26", "example.com/hex 3b18e512dba7 modified", "uncommitted changes on top of revision 3b18e512dba7"},
		{"another module", "linux/amd64 go1.26", "example.com/fork 3b18e512dba7", "with module example.com/fork"},
		{"another platform", "js/wasm go1.26", "example.com/hex 3b18e512dba7", "compare with\n--platform js/wasm"},
	} {
		n := proposeSides(h, &replay.Manifest{Player: 1, Participants: []replay.BundleParticipant{
			{Player: 0, Platform: "plan9/386 go1.26", Sources: "example.com/hex 0000"}, {Player: 1, Platform: row.platform, Sources: row.sources},
		}})
		if got := strings.Join(n, "\n"); !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// The flags name each revision that is known, and contain nothing that a shell could run.
func TestRevisions(t *testing.T) {
	for _, row := range []struct {
		name, recorder, player string
		tie                    bool
		want                   string
	}{
		{"two", "m 3b18e512dba70000", "m a1b2c3d4e5f60718", false, " --source 3b18e512dba7 --other a1b2c3d4e5f6"},
		{"only the player's", "m", "m v1.3.0", false, " --other v1.3.0"},
		{"a long tag", "m v1.3.0-release.12", "m v1.3.0", false, " --source v1.3.0-release.12 --other v1.3.0"},
		{"the same", "m 3b18e512dba7", "m 3b18e512dba7", false, ""},
		{"only the recorder's", "m 3b18e512dba7", "m", false, ""},
		{"another module", "m 3b18e512dba7", "fork a1b2c3d4e5f6", false, ""},
		{"nobody knows who is wrong", "m 3b18e512dba7", "m a1b2c3d4e5f6", true, ""},
		{"a command for the shell", "m 3b18e512dba7", "m $(rm)", false, ""},
	} {
		m := &replay.Manifest{Player: 1, Tie: row.tie, Participants: []replay.BundleParticipant{{Player: 0, Sources: "m 0000"}, {Player: 1, Sources: row.player}}}
		if got := Revisions(&lockstep.Header{Sources: row.recorder}, m); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// A checkout names the folders outside of the repository as the working tree does.
func TestAnchor(t *testing.T) {
	dir, _ := repository(t)
	got, err := checkout(dir, "v1.0.0", filepath.Join(t.TempDir(), "far", "away"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(got, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"// one", "example.com/engine => " + filepath.Join(filepath.Dir(dir), "engine"), "example.com/art v1.0.0 => ./art"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("got %s, want %s", b, want)
		}
	}
}

// An error of the sources in a folder tells what to do if they are not those of the game.
func TestRecordedBy(t *testing.T) {
	dir, _ := repository(t)
	fault := errors.New("it does not build")
	for _, row := range []struct{ name, sources, dir, want string }{
		{"other module", "example.com/chess v1.0.0", dir, "it does not build; it needs the Go sources of module example.com/chess: run it in their folder, or name the folder with --source DIR"},
		{"no module", "example.com/chess", t.TempDir(), "it does not build; it needs the Go sources of module example.com/chess: run it in their folder, or name the folder with --source DIR"},
		{"not known", "", dir, `it does not build; it needs the Go sources of game "hex": run it in their folder, or name the folder with --source DIR`},
		{"its module", "example.com/hex v1.0.0", dir, "it does not build; the replay was recorded by module example.com/hex v1.0.0"},
	} {
		err := recordedBy(&lockstep.Header{Game: "hex", Sources: row.sources}, row.dir, "--source", fault)
		if !errors.Is(err, fault) || err.Error() != row.want {
			t.Errorf("%s: got %q, want %q", row.name, err, row.want)
		}
	}
}

// The command that explains a bundle again runs the program that has the game, and from its sources alone: in this working tree if it
// has them. So whoever runs what is printed does not read the same advice again.
func TestAtRecorder(t *testing.T) {
	dir, revisions := repository(t)
	old, now := revisions[0][:12], revisions[1][:12]
	if err := os.MkdirAll(filepath.Join(dir, "cmd", "play"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".git", "info", "exclude"), "cmd\n")
	write(t, filepath.Join(dir, "cmd", "play", "main.go"), "package main\n\nfunc main() {}\n")
	t.Chdir(dir)
	const stock, play = "example.com/engine/cmd/samestep", "example.com/hex/cmd/play"
	for _, row := range []struct {
		name, revision, own, want string
	}{
		{"the stock program, here", revisions[1], stock, "go run -buildvcs=true " + play + " desync explain b.zip"},
		{"the game's program, here", revisions[1], "example.com/hex/cmd/server", "go run -buildvcs=true example.com/hex/cmd/server desync explain b.zip"},
		{"the stock program", revisions[0], stock, "git worktree add ../hex-" + old + " " + old + " && (cd ../hex-" + old + " && go run -buildvcs=true " + play + " desync explain b.zip)"},
		{"a program that does not know itself", revisions[1], "", "go run -buildvcs=true " + play + " desync explain b.zip"},
		{"a module whose name begins like the game's", revisions[1], "example.com/hexagon", "go run -buildvcs=true " + play + " desync explain b.zip"},
	} {
		if got := AtRecorder(record.Sources{Module: "example.com/hex", Revision: row.revision}, row.own, "desync", "explain", "b.zip"); got != row.want {
			t.Errorf("%s: got\n%s\nwant\n%s", row.name, got, row.want)
		}
	}
	write(t, filepath.Join(dir, "new.go"), "package hex")
	if got := AtRecorder(record.Sources{Module: "example.com/hex", Revision: now}, stock); !strings.HasPrefix(got, "git worktree add ../hex-"+now) {
		t.Errorf("a working tree with changes: got %s", got)
	}
	write(t, filepath.Join(dir, "main.go"), "package main")
	if err := os.Remove(filepath.Join(dir, "new.go")); err != nil {
		t.Fatal(err)
	}
	if got := gameProgram("."); got != "." {
		t.Errorf("a module with two programs: got %s", got)
	}
}

// A number that overflows on a platform with 32 bits is named.
func TestPlatformBug(t *testing.T) {
	needsGo(t)
	if every == 0 || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("SAMESTEP_LINES is not set, or this is not linux/amd64: builds the standard library for 386")
	}
	edits, _, _ := bug{name: "int", file: "step.go", old: "\tu.X = to\n", new: "\twide := int(to) * (1 << 30)\n\tu.X = int64(wide) / (1 << 30)\n"}.plant(t, "platforms")
	f, err := replay.Open(playedGame("platforms").record(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := searchIn(t, f)
	s.dir, s.Edits, s.Platform = filepath.Join("..", ".."), edits, "linux/386"
	if err := s.platforms(context.Background()); err != nil {
		t.Fatal(err)
	}
	if p := s.result.Finding; p == nil || !strings.HasPrefix(p.Place().Source, "wide := ") {
		t.Errorf("got %+v, want the line of wide", p)
	}
}

// A version is a folder or a git revision, also from a folder inside of the repository.
func TestCheckout(t *testing.T) {
	_, err := exec.LookPath("git")
	testenv.Or(t, "git", err)
	repo := t.TempDir()
	inner := filepath.Join(repo, "game")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(inner, "a.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one"}, {"tag", "v1"}} {
		if _, err := git(repo, args...); err != nil {
			t.Fatal(err)
		}
	}
	write("new")
	dir, err := checkout(inner, "v1", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a.go")); err != nil || string(b) != "old" {
		t.Errorf("got %q, %v, want the text of v1", b, err)
	}
	if dir, err := checkout(inner, inner, t.TempDir()); err != nil || dir != inner {
		t.Errorf("got %q, %v", dir, err)
	}
	for _, other := range []string{"v2", "--help", ""} {
		if _, err := checkout(inner, other, t.TempDir()); !errors.Is(err, ErrOther) {
			t.Errorf("%q: got %v", other, err)
		}
	}
}

func TestPlatform(t *testing.T) {
	for _, bad := range []string{"js", "plan9/amd64", "linux/riscv65"} {
		if _, _, err := platform(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func TestText(t *testing.T) {
	r := &Result{
		Mode: Versions, Sides: [2]string{".", "v1"}, Tick: 78, Fields: []Field{{"Units[0].Cooldown", [2]string{"16", "17"}}},
		Finding: &Finding{
			Reason: Value, Text: "u.Cooldown = 17", Entity: "Unit 1", Values: [2]string{"16", "17"},
			Where:   [2]*Place{{"a.go", 10, "hold.hit", "u.Cooldown = 16"}, {"a.go", 14, "hold.hit", "u.Cooldown = 17"}},
			Path:    []Place{{"a.go", 2, "hold.step", "hit(u)"}, {"a.go", 14, "hold.hit", "u.Cooldown = 17"}},
			Written: &Place{"b.go", 3, "hold.x", "y = 1"}, WrittenTick: 70,
			Writes: []Write{{Place{"a.go", 14, "hold.hit", ""}, "Cooldown", "", "Unit 1", [2]string{"16", ""}, true}},
		},
	}
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	const want = `sides      A: .
           B: v1
diverged   at tick 78
state      Units[0].Cooldown: 16 | 17
line       a.go:14  in hold.hit
               u.Cooldown = 17
           on A: a.go:10
               u.Cooldown = 16
because    u.Cooldown = 17 is 16 | 17
entity     Unit 1
written by b.go:3 in tick 70  y = 1
called     hold.hit at a.go:14
           hold.step at a.go:2
then       a.go:14  Unit 1 Cooldown: 16 | –  <- the field that differs
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}
