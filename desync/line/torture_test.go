package line

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// torture copies the module with all that is hard to give probes, and completes its go.mod. In a workspace it finds the module
// sky by go.work, else by replace and with a vendor folder.
func torture(t *testing.T, workspace bool) (dir string) {
	t.Helper()
	needsGo(t)
	testenv.Long(t)
	more := "\nrequire example.com/ground v0.0.0\n\nreplace example.com/ground => ./ground\n"
	if !workspace {
		more += "\nrequire example.com/sky v0.0.0\n\nreplace example.com/sky => ./sky\n"
	}
	dir = foreign(t, "torture", more)
	if workspace {
		write(t, filepath.Join(dir, "go.work"), "go 1.26.0\n\nuse (\n\t.\n\t./server\n\t./sky\n)\n")
	} else {
		goCommand(t, dir, "mod", "tidy")
		goCommand(t, dir, "mod", "vendor")
	}
	return dir
}

// foreign copies a module of testdata, and completes its go.mod.
func foreign(t *testing.T, name, more string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	const engine = "github.com/seed-49bee653/samestep"
	for _, file := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(b), "module "+engine, "module example.com/"+name, 1)
		if file == "go.mod" {
			text += "\nrequire " + engine + " v0.0.0\n\nreplace " + engine + " => " + root + "\n" + more
		}
		write(t, filepath.Join(dir, file), text)
	}
	return dir
}

func goCommand(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("go", args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", args[0], err, out)
	}
}

// The copies with probes of a module with all that is hard compute what the sources compute, and name a line in each of it.
func TestTorture(t *testing.T) {
	dir := torture(t, true)
	x := recorded(t, dir, "torture")
	x.sameAsPlain(t)
	if every == 0 {
		return // SAMESTEP_LINES is not set: the bugs are built one after the other
	}
	named := 0
	list := chosen(t, slices.Sorted(maps.Keys(hardLines)), every, func(name string) string { return name })
	for _, name := range list {
		l := hardLines[name]
		r, err := x.try(t.Context(), t, edit{l.file, l.old, l.new})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if l.names(r) {
			named++
			continue
		}
		var text bytes.Buffer
		r.WriteText(&text)
		t.Errorf("%s: want a line with %q\n%s", name, l.line, &text)
	}
	t.Logf("%d of %d named", named, len(list))
}

// A vendor folder does not stand in the way.
func TestTortureVendor(t *testing.T) {
	testenv.Night(t)
	recorded(t, torture(t, false), "torture").sameAsPlain(t)
}

// The rules may be in another module of the workspace than the program that the folder has.
func TestTortureFromServer(t *testing.T) {
	dir := torture(t, true)
	one := &side{name: "A", dir: filepath.Join(dir, "server"), folder: t.TempDir()}
	if err := one.build(context.Background(), "torture"); err != nil {
		t.Fatal(err)
	}
	if r := one.source.Rules; len(r) != 1 || r[0].Package != "example.com/torture/rules" || len(one.source.Sites) < 100 {
		t.Errorf("got %+v and %d probes", r, len(one.source.Sites))
	}
}

// A tortured module is built with probes, and has played a match.
type tortured struct {
	game     string
	dir, log string
	woven    *side
	p        weave.Program
}

// recorded plays a match with the sources as they are, and builds the copies.
func recorded(t *testing.T, dir, game string) *tortured {
	x := &tortured{game: game, dir: dir, log: filepath.Join(t.TempDir(), game+".ssr")}
	goCommand(t, dir, "run", "./record", x.log)
	var err error
	if x.woven, err = x.version(t, nil); err != nil {
		t.Fatal(err)
	}
	return x
}

// version builds the copies of the sources with edits.
func (x *tortured) version(t *testing.T, edits map[string][]byte) (*side, error) {
	one := &side{name: "A", dir: x.dir, edits: edits, folder: t.TempDir()}
	if x.woven != nil {
		one.name, one.known = "B", x.woven.source.Packages()
	}
	p, err := one.weave(x.game)
	if err != nil {
		return nil, err
	}
	if x.woven == nil {
		x.p = p
	}
	return one, one.compile(context.Background(), p, "build")
}

// try compares the sources as they are with a version that has edits. Files are relative to the module.
func (x *tortured) try(ctx context.Context, t *testing.T, edits ...edit) (*Result, error) {
	t.Helper()
	b, err := x.version(t, editing(t, x.dir, nil, edits))
	if err != nil {
		return nil, err
	}
	return between(ctx, x.log, [2]*side{x.woven, b}, t.TempDir())
}

// plain builds the same program without probes.
func (x *tortured) plain(t *testing.T) *side {
	t.Helper()
	var all struct{ Replace map[string]string }
	b, err := os.ReadFile(x.p.Overlay)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	for path := range all.Replace {
		if filepath.Base(filepath.Dir(path)) != weave.MainDir {
			delete(all.Replace, path)
		}
	}
	if len(all.Replace) != 1 {
		t.Fatalf("got %d programs", len(all.Replace))
	}
	if b, err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	one := &side{name: "plain", dir: x.dir, source: new(weave.Source), folder: t.TempDir()}
	p := x.p
	p.Overlay = filepath.Join(one.folder, "overlay.json")
	write(t, p.Overlay, string(b))
	if err := one.compile(context.Background(), p, "build"); err != nil {
		t.Fatal(err)
	}
	return one
}

// sameAsPlain compares the state hashes of all ticks with those of the sources as they are: without recording, and with.
func (x *tortured) sameAsPlain(t *testing.T) {
	t.Helper()
	f, err := replay.Open(x.log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := &search{file: f, folder: t.TempDir(), result: &Result{}}
	log, err := s.log("log", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	head, err := f.Header()
	if err != nil {
		t.Fatal(err)
	}
	plain := x.plain(t)
	j, err := plain.run(context.Background(), "hashes", program.Job{Kind: program.Hashes, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	want, err := j.hashes()
	if err != nil || len(want) < 50 {
		t.Fatalf("got %d ticks, %v", len(want), err)
	}
	j, err = x.woven.run(context.Background(), "hashes", program.Job{Kind: program.Hashes, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	got, err := j.hashes()
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %d ticks, %v, want %d", len(got), err, len(want))
	}
	for tick := 1; tick < len(want); tick++ {
		job := program.Job{Kind: program.Trace, Log: log, Tick: uint32(tick)}
		done, err := x.woven.run(context.Background(), "trace", job)
		if err != nil {
			t.Fatal(err)
		}
		r := done.result.Runs[0]
		if got[tick] == want[tick] && r.Hash == want[tick] && r.Events > 100 {
			continue
		}
		expected, err := plain.run(context.Background(), "trace", job)
		if err != nil {
			t.Fatal(err)
		}
		t.Fatalf("tick %d: got state %016x with probes, and %016x while recording %d events, panic %q, want %016x: %v",
			tick, got[tick], r.Hash, r.Events, r.Panic, want[tick], differing(t, head, expected, done))
	}
}

// differing returns the fields in which the states after a tick differ.
func differing(t *testing.T, h *lockstep.Header, a, b *job) []Field {
	t.Helper()
	schema, err := state.ParseSchema(h.StateSchema)
	if err != nil {
		t.Fatal(err)
	}
	var states [2][]byte
	for i, j := range []*job{a, b} {
		if states[i], err = os.ReadFile(filepath.Join(j.Folder, j.result.Runs[0].State)); err != nil {
			t.Fatal(err)
		}
	}
	fields, _, err := fieldsOf(schema, states[0], states[1])
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

// One build serves several files.
func TestFinderBuildsOnce(t *testing.T) {
	dir := torture(t, true)
	log := filepath.Join(t.TempDir(), "torture.ssr")
	goCommand(t, dir, "run", "./record", log)
	x, err := NewFinder()
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	path := filepath.Join(dir, "rules", "rules.go")
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Source: dir, Edits: map[string][]byte{path: bytes.Replace(src, []byte("c.Speed / 2"), []byte("c.Speed * 2"), 1)}}
	var built [2]any
	var all Summary
	for i := range 2 {
		f, err := replay.Open(log)
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Find(context.Background(), f, o)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(x.side("B", dir, "", "torture").binary)
		if err != nil {
			t.Fatal(err)
		}
		built[i] = info.ModTime()
		all.Add(fmt.Sprint(i), r, nil)
	}
	if built[0] != built[1] || len(x.sides) != 2 {
		t.Errorf("got builds at %v, and %d sides", built, len(x.sides))
	}
	if len(all.Groups) != 1 || all.Groups[0].Count != 2 || all.Groups[0].Line == nil || all.Groups[0].Result.Tick != lockstep.Tick(1) {
		t.Errorf("got %+v", all.Groups)
	}
}
