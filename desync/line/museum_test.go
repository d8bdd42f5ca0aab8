package line

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A relic is a mistake of this repository's history that made two machines compute different states, or would have done so in
// a match. It is planted again in the code of today.
type relic struct {
	commit, subject string // that mended it
	game            string
	mode            Mode
	platform        string // the other one, of mode Platforms
	reach           []edit // rules in both versions that reach the place, because the example games do not
	mistake         []edit
	tick            lockstep.Tick // the first one that differs; 0 for any
	field           string        // one that differs after it
	panics          string        // or what side B panics with
	lines           []string      // texts of the lines that name the mistake
}

// An edit replaces a text that a file has once.
type edit struct{ file, old, new string }

var relics = []relic{
	{
		commit: "a65c2a3a", subject: "fixed: oracles for every operation, and what they found",
		game: "skirmish", mode: Versions,
		// Of 2^32 sines the table rounded that of this turn and of its opposite the wrong way.
		reach:   []edit{{"examples/skirmish/economy.go", "func (w *World) regrow() {\n", "func (w *World) regrow() {\n\tw.Match.Seed += uint64(fixed.Turn(306654577 - 90 + w.Match.Tick).Sin())\n"}},
		mistake: []edit{{"fixed/tables_data.go", "{3994585418144809575, ", "{3994585418144809576, "}},
		tick:    90, field: "Match.Seed", lines: []string{"fixed.Turn(306654577"},
	},
	{
		commit: "c5f8e594", subject: "fixed, fixed/grid, state, desync: mend what other platforms found",
		game: "skirmish", mode: Platforms, platform: "linux/386",
		// A cell beyond 2^31 passes the check of the bounds as a negative index where an int has 32 bits.
		reach: []edit{{"examples/skirmish/economy.go", "func (w *World) regrow() {\n",
			"func (w *World) regrow() {\n\tif w.Match.Tick == 80 && w.workspace.ground.Open(1<<31) {\n\t\tw.Match.Seed++\n\t}\n"}},
		mistake: []edit{{"fixed/grid/terrain.go", "uint64(c) < uint64(len(g.open)) && g.open[c]", "int(c) < len(g.open) && g.open[c]"}},
		tick:    80, panics: "index out of range", lines: []string{"ground.Open(1<<31)"},
	},
	{
		commit: "ea864ecb", subject: "lockstep, locksteptest: find stale derived data in each tick, and refuse bad games early",
		game: "skirmish", mode: WarmCold,
		// A cache that is stale for one tick in many, and right in all others.
		mistake: []edit{{"examples/skirmish/world.go", "\t\ts.seen[i] = outside{u.Pos, u.Team, u.Kind, u.fights()}\n",
			"\t\tif w.Match.Tick != 97 || s.seen[i].kind == NoUnit {\n\t\t\ts.seen[i] = outside{u.Pos, u.Team, u.Kind, u.fights()}\n\t\t}\n"}},
		tick: 97, field: "Units[", lines: []string{"s.seen[i]", "seen[i].at", ".seen[", "w.Match.Tick != 97"},
	},
	{
		commit: "4ad6bb6c", subject: "fixed/grid: test the moves beside a changed row",
		game: "skirmish", mode: WarmCold,
		// Walls that rise in the match, and a ground that makes only the rows of them anew.
		reach: []edit{{"examples/skirmish/step.go", "\tderive(w)\n\tw.workspace.turn = t\n",
			"\tif t.Tick == 60 {\n\t\tfor x := 6; x < int(w.Map.Size)-6; x++ {\n\t\t\tw.Map.set(x, int(w.Map.Size)/2, x%3 != 0)\n\t\t}\n\t}\n\tderive(w)\n\tw.workspace.turn = t\n"}},
		mistake: []edit{{"fixed/grid/terrain.go", "if g.changed[y] || y > 0 && g.changed[y-1] || y+1 < int(s.Rows) && g.changed[y+1] {", "if g.changed[y] {"}},
		tick:    61, field: "Units[ID=52].Pos", lines: []string{"w.waypoint(u)"}, // where the rules first use it
	},
	{
		commit: "db468d2e", subject: "locksteptest: find rules that write into the configuration",
		game: "platforms", mode: WarmCold,
		mistake: []edit{{"examples/platforms/step.go", "\tall := w.obstacles(c)\n", "\tif w.Tick == 70 {\n\t\tc.MoveStep++\n\t}\n\tall := w.obstacles(c)\n"}},
		tick:    72, field: "Units[0].X", lines: []string{"func step("}, // it gets another configuration
	},
}

// TestMuseum plants the mistakes of the repository's history again: the tick, a field and the line are named.
func TestMuseum(t *testing.T) {
	if every == 0 {
		t.Skip("SAMESTEP_LINES is not set: builds and runs seven versions of games")
	}
	dir := t.TempDir()
	files := map[string]string{}
	for _, r := range relics {
		t.Run(r.commit, func(t *testing.T) {
			if r.mode == Platforms && (runtime.GOOS != "linux" || runtime.GOARCH != "amd64") {
				t.Skip("runs programs for linux/386, on linux/amd64 only")
			}
			if files[r.game] == "" {
				files[r.game] = playedGame(r.game).record(t, dir)
			}
			found := r.find(t, files[r.game])
			var text bytes.Buffer
			found.WriteText(&text)
			f := found.Finding
			if found.Mode != r.mode || f == nil || !r.names(f.Where[0]) && !r.names(f.Where[1]) && !r.names(f.Written) {
				t.Errorf("want a line with one of %q:\n%s", r.lines, &text)
			}
			if r.tick > 0 && found.Tick != r.tick || found.Tick == 0 {
				t.Errorf("got tick %d, want %d", found.Tick, r.tick)
			}
			if r.panics != "" && !strings.Contains(found.Panics[1], r.panics) {
				t.Errorf("got the panic %q, want %q", found.Panics[1], r.panics)
			}
			if r.panics == "" && !slices.ContainsFunc(found.Fields, func(x Field) bool { return strings.HasPrefix(x.Path, r.field) }) {
				t.Errorf("got fields %v, want %s", found.Fields, r.field)
			}
		})
	}
}

func (r *relic) names(p *Place) bool {
	return p != nil && slices.ContainsFunc(r.lines, func(l string) bool { return strings.Contains(p.Source, l) })
}

// find looks for the line.
func (r *relic) find(t *testing.T, path string) *Result {
	f, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := searchIn(t, f)
	s.result.Mode = r.mode
	root := filepath.Join("..", "..")
	s.dir, s.Last = root, 400
	whole := editing(t, root, editing(t, root, nil, r.reach), r.mistake)
	switch s.Edits = whole; r.mode {
	case Versions:
		a, b := s.side("A", s.dir), s.side("B", s.dir)
		a.edits, b.edits = editing(t, root, nil, r.reach), whole
		if err = s.build(context.Background(), a, b); err == nil {
			err = s.two(context.Background(), [2]*side{a, b})
		}
	case Platforms:
		s.Platform = r.platform
		err = s.platforms(context.Background())
	default:
		err = s.alone(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.result
}

// editing returns edits of files in a folder, and some more.
func editing(t *testing.T, dir string, before map[string][]byte, more []edit) map[string][]byte {
	t.Helper()
	all := maps.Clone(before)
	if all == nil {
		all = map[string][]byte{}
	}
	for _, e := range more {
		path, err := filepath.Abs(filepath.Join(dir, filepath.FromSlash(e.file)))
		if err != nil {
			t.Fatal(err)
		}
		src, ok := all[path]
		if !ok {
			if src, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		if n := bytes.Count(src, []byte(e.old)); n != 1 {
			t.Fatalf("%s: has %d times %q, want once", e.file, n, e.old)
		}
		all[path] = bytes.Replace(src, []byte(e.old), []byte(e.new), 1)
	}
	return all
}

// The page of the museum has a row of each relic, and quotes commits of this repository.
func TestMuseumIsListed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "engine-tests.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([0-9a-f]{8})` (.*?) \\|").FindAllStringSubmatch(string(page), -1)
	for _, r := range relics {
		if !slices.ContainsFunc(rows, func(row []string) bool { return row[1] == r.commit && row[2] == r.subject }) {
			t.Errorf("docs/engine-tests.md has no row of %s %s", r.commit, r.subject)
		}
	}
	if len(rows) < len(relics) {
		t.Fatalf("got %d rows, want %d", len(rows), len(relics))
	}
	for _, row := range rows {
		out, err := exec.Command("git", "show", "-s", "--format=%s", row[1]).Output()
		if err != nil {
			continue // no git, or only the latest commits
		}
		if got := strings.TrimSpace(string(out)); got != row[2] {
			t.Errorf("%s: got the subject %q, want %q", row[1], row[2], got)
		}
	}
}
