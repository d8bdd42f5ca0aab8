package line

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/local"
	"github.com/seed-49bee653/samestep/replay"
)

// every is the number in SAMESTEP_LINES: the tests plant every such bug of their tables, 1 all of them, which takes minutes.
// It is 0 without the variable.
var every = parseEvery(os.Getenv("SAMESTEP_LINES"))

func parseEvery(text string) int {
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		panic("SAMESTEP_LINES: got " + strconv.Quote(text) + ", want a number from 1 on")
	}
	return n
}

// chosen returns the bugs of a table that the tests plant: the one that SAMESTEP_BUG names, or the first of every so many. A test
// without bugs is skipped: it shows nothing.
func chosen[T any](tb testing.TB, table []T, every int, name func(T) string) (list []T) {
	tb.Helper()
	only := os.Getenv("SAMESTEP_BUG")
	for i, b := range table {
		if only == "" && i%every == 0 || only != "" && name(b) == only {
			list = append(list, b)
		}
	}
	if len(list) == 0 {
		tb.Skipf("the table has no bug %q", only)
	}
	return list
}

// A played game is a game with a replay of a match of bots.
type played struct {
	game  *lockstep.Game
	bot   func(p lockstep.Player, seed uint64) lockstep.Bot
	set   any // its configuration
	seats uint8
	ticks lockstep.Tick
}

func playedGame(name string) played {
	if name == "platforms" {
		c := platforms.Usual(4)
		return played{lockstep.MustGame(platforms.Rules()), platforms.NewBot, &c, 4, 600}
	}
	c := skirmish.Sized(3, 120)
	return played{lockstep.MustGame(skirmish.Rules()), skirmish.NewPlayer, &c, 3, 1500}
}

// record plays a match of bots, and returns its replay.
func (p played) record(tb testing.TB, dir string) string {
	tb.Helper()
	path := filepath.Join(dir, p.game.Name()+".ssr")
	out, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer out.Close()
	w := replay.NewWriter(out, replay.WriterOptions{})
	settings := lockstep.DefaultSettings(p.seats)
	settings.Seed = 3
	var bots []lockstep.Bot
	for i := range p.seats {
		bots = append(bots, p.bot(lockstep.Player(i), 5))
	}
	m, err := local.New(p.game, p.set, local.Options{Settings: settings, Bots: bots, Log: w})
	if err != nil {
		tb.Fatal(err)
	}
	for now := lockstep.Time(0); m.Client().Simulation() == nil || m.Client().Simulation().Tick() < p.ticks; now += lockstep.Time(50 * time.Millisecond) {
		if err := m.Advance(now); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}

// shift comes before the package's code in the version with a bug: lines move, and nothing else changes.
const shift = "\n// A comment.\n//\n// It moves all lines down, as other changes do.\n"

// plant returns the edited file, and the lines of the bug: in it, and in the file as it is.
func (b bug) plant(tb testing.TB, game string) (edits map[string][]byte, inNew, inOld []int) {
	tb.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "examples", game, b.file))
	if err != nil {
		tb.Fatal(err)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if n := bytes.Count(src, []byte(b.old)); n != 1 {
		tb.Fatalf("%s: %d times in %s, want once", b.name, n, b.file)
	}
	at := bytes.Index(src, []byte(b.old))
	head := bytes.Index(src, []byte("\nimport"))
	edited := slices.Concat(src[:at], []byte(b.new), src[at+len(b.old):])
	edited = slices.Concat(edited[:head], []byte(shift), edited[head:])
	return map[string][]byte{path: edited}, ownLines(src[:at], b.new, b.old, strings.Count(shift, "\n")), ownLines(src[:at], b.old, b.new, 0)
}

// ownLines returns the numbers of the lines of a text that another text in its place does not have. If only the order of lines
// differs, they are all lines. before is the file before it, and moved how many lines are added to that.
func ownLines(before []byte, text, other string, moved int) (all []int) {
	first := bytes.Count(before, []byte("\n")) + 1 + moved
	lines, others := strings.Split(text, "\n"), strings.Split(other, "\n")
	own := func(lines, others []string) bool {
		return slices.ContainsFunc(lines, func(l string) bool { return strings.TrimSpace(l) != "" && !slices.Contains(others, l) })
	}
	order := !own(lines, others) && !own(others, lines)
	for i, l := range lines {
		if order && i < len(lines)-1 || strings.TrimSpace(l) != "" && !slices.Contains(others, l) {
			all = append(all, first+i)
		}
	}
	return all
}

// A score counts how well bugs were named.
type score struct {
	planted, line, function int
	missed                  []string
}

// good reports whether enough bugs were named: 90 % on the line or in its expression, and all in the function.
func (s *score) good() bool { return s.line*100 >= s.planted*90 && s.function == s.planted }

// judge adds a result to a score.
func (s *score) judge(b bug, game string, r *Result, inNew, inOld []int, sides [2]*side) {
	s.planted++
	if r.Tick == 0 || r.Finding == nil || r.Finding.Place() == nil {
		s.missed = append(s.missed, fmt.Sprintf("%s: nothing found (tick %d)", b.name, r.Tick))
		return
	}
	f := r.Finding
	lines, side := inNew, 1
	if f.Where[1] == nil {
		lines, side = inOld, 0
	}
	at := f.Where[side]
	file := "examples/" + game + "/" + b.file
	onLine := at.File == file && slices.Contains(lines, at.Line)
	if side == 1 && f.Where[0] != nil && f.Where[0].File == file && slices.Contains(inOld, f.Where[0].Line) {
		onLine = true
	}
	if b.also != "" && strings.Contains(at.Source, b.also) {
		onLine = true
	}
	if b.not != "" && strings.Contains(at.Source, b.not) {
		onLine = false
	}
	inFunc := onLine || s.functionOf(file, at, inNew, inOld, sides)
	if onLine {
		s.line++
	}
	if inFunc {
		s.function++
	}
	if !onLine {
		var text bytes.Buffer
		r.WriteText(&text)
		s.missed = append(s.missed, fmt.Sprintf("%s: want line %v (%v before), function %v\n%s", b.name, inNew, inOld, inFunc, &text))
	}
}

// functionOf reports whether a place is in a function with a line of the bug.
func (s *score) functionOf(file string, at *Place, inNew, inOld []int, sides [2]*side) bool {
	for i, lines := range [2][]int{inOld, inNew} {
		for _, site := range sides[i].source.Sites {
			if site.File != file || shortFunc(site.Func) != at.Func {
				continue
			}
			last := 0
			first := 1 << 30
			for _, other := range sides[i].source.Sites {
				if other.Func == site.Func {
					first, last = min(first, other.Line), max(last, other.Line)
				}
			}
			if slices.ContainsFunc(lines, func(l int) bool { return l >= first && l <= last+1 }) {
				return true
			}
			break
		}
	}
	return false
}

// TestBugs plants the bugs of the table, and compares the line that is named with the planted one.
func TestBugs(t *testing.T) {
	needsGo(t)
	for name, table := range bugs {
		if every == 0 && name == "skirmish" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if every == 0 {
				table = table[:2]
			}
			s := newBench(t, name).table(table, max(every, 1), bench.plain)
			t.Logf("%s: %d bugs, %d on the line, %d in the function", name, s.planted, s.line, s.function)
			if !s.good() {
				t.Errorf("got %d of %d on the line and %d in the function, want 90 %% and all", s.line, s.planted, s.function)
			}
		})
	}
}

func needsGo(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("short: builds several versions of a game")
	}
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
}

// A bench tries bugs on one game.
type bench struct {
	t      *testing.T
	name   string
	dir    string
	replay string
	a      *side
	read   map[string]*weave.Source // by their edits: the sources as they are, and those of the last bug
}

// benches are those of the games that a test has tried bugs on. Their folders outlive the test.
var (
	benches      = map[string]bench{}
	benchFolders []string
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range benchFolders {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// newBench returns the bench of a game, which all tests share.
func newBench(t *testing.T, name string) bench {
	t.Helper()
	x, ok := benches[name]
	if !ok {
		dir, err := os.MkdirTemp("", "line-bench-*")
		if err != nil {
			t.Fatal(err)
		}
		benchFolders = append(benchFolders, dir)
		x = bench{name: name, dir: dir, a: &side{name: "A", dir: filepath.Join("..", ".."), folder: filepath.Join(dir, "A")}, read: map[string]*weave.Source{}}
		x.replay = playedGame(name).record(t, dir)
		if err := x.a.build(context.Background(), name); err != nil {
			t.Fatal(err)
		}
		benches[name] = x
	}
	x.t = t
	return x
}

// A planted bug is one version with a bug, and where the bug is.
type planted struct {
	edits        map[string][]byte
	inNew, inOld []int // lines
}

// A build makes the two sides for a planted bug.
type build func(bench, planted) [2]*side

// table plants bug 0, bug step, bug 2*step and so on of the list.
func (x bench) table(list []bug, step int, build build) (s score) {
	for _, b := range chosen(x.t, list, step, func(b bug) string { return b.name }) {
		x.try(&s, b, build)
	}
	return s
}

// try plants a bug, and adds the result to a score.
func (x bench) try(s *score, b bug, build build) {
	var v planted
	v.edits, v.inNew, v.inOld = b.plant(x.t, x.name)
	sides := build(x, v)
	r, err := between(context.Background(), x.replay, sides, x.t.TempDir())
	if err != nil {
		x.t.Fatal(b.name, err)
	}
	missed := len(s.missed)
	s.judge(b, x.name, r, v.inNew, v.inOld, sides)
	for _, m := range s.missed[missed:] {
		x.t.Log(m)
	}
}

// version builds a version. change may break its woven copies, or what Align looks at.
func (x bench) version(edits map[string][]byte, change func(*side, weave.Program)) *side {
	one := &side{name: "B", dir: x.a.dir, edits: edits, known: x.a.source.Packages(), folder: x.t.TempDir()}
	p, err := x.weave(one)
	if err != nil {
		x.t.Fatal(err)
	}
	if change != nil {
		change(one, p)
	}
	if err := one.compile(context.Background(), p, "build"); err != nil {
		x.t.Fatal(err)
	}
	return one
}

// weave does what [side.weave] does. It reads the sources of a bug once: that takes as long as the build.
func (x bench) weave(one *side) (p weave.Program, err error) {
	key := fmt.Sprintf("%q", one.edits)
	read, ok := x.read[key]
	if !ok {
		if p, err = one.weave(x.name); err != nil {
			return p, err
		}
		for other := range x.read {
			if other != fmt.Sprintf("%q", map[string][]byte(nil)) { // memory is scarce
				delete(x.read, other)
			}
		}
		x.read[key] = one.source
		return p, nil
	}
	again := *read
	one.source = &again
	woven := filepath.Join(one.folder, "woven")
	if err := os.MkdirAll(woven, 0o700); err != nil {
		return p, err
	}
	return one.source.Write(woven)
}

func (x bench) plain(v planted) [2]*side { return [2]*side{x.a, x.version(v.edits, nil)} }

// between compares two sides that are built.
func between(ctx context.Context, path string, sides [2]*side, folder string) (*Result, error) {
	f, err := replay.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, err := f.Header()
	if err != nil {
		return nil, err
	}
	s := &search{file: f, head: h, folder: folder, result: &Result{Mode: Versions}}
	return s.result, s.two(ctx, sides)
}

// searchIn returns a search without sources.
func searchIn(t *testing.T, f *replay.File) *search {
	h, err := f.Header()
	if err != nil {
		t.Fatal(err)
	}
	x, err := NewFinder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return &search{file: f, head: h, finder: x, folder: t.TempDir(), result: &Result{}}
}
