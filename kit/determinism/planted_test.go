package determinism_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/kit/determinism"
)

// A plant is a mistake in a correct simulation: new lines after an existing one. The marked line must be found.
type plant struct {
	rule, file string
	imports    string
	after      string // a text that is in the file once
	lines      string
}

// The mistakes are typical ones, in typical places.
var plants = []plant{
	{"float", "combat.go", "", "armor := uint32(w.workspace.seen[j].kind.Traits().Armor)",
		"damage = uint32(float64(damage) * 1.1) // planted"},
	{"fixedpoint", "zones.go", "", "offset := u.Pos.Sub(w.Zones[zone].Pos)",
		"offset.X = offset.X * w.Zones[zone].Radius // planted"},
	{"statetype", "world.go", "", "NextID UnitID",
		"Speed int // planted"},
	{"maprange", "victory.go", "", "teams, last := 0, uint8(0)",
		"byTeam := map[uint8]int{0: 1, 1: 2}\nfor team := range byTeam { // planted\nlast = team\n}"},
	{"syncmap", "economy.go", "sync", "best, nearest := -1, square(farField)",
		"var seen sync.Map\nseen.Range(func(k, _ any) bool { // planted\nbest = k.(int)\nreturn false\n})"},
	{"reflectmap", "obey.go", "reflect", "p := uint8(c.Player)",
		"if m := reflect.ValueOf(c.Value); m.Kind() == reflect.Map {\np = uint8(m.MapKeys()[0].Uint()) // planted\n}"},
	{"sort", "start.go", "sort", "middle := w.Map.middle()",
		"sort.Slice(w.Units, func(i, j int) bool { return w.Units[i].Health < w.Units[j].Health }) // planted"},
	{"order", "economy.go", "", "born.Team = u.Team",
		"w.Match.NextID += w.spawn(born) // planted"},
	{"global", "fog.go", "", "fog, shape := &w.Fog[team], w.Map.shape()",
		"zoneNames[0] = \"seen\" // planted"},
	{"readonly", "refuse.go", "", "func refuse(v *View, c *lockstep.Command) error {",
		"v.Ended++ // planted"},
	{"goroutine", "flow.go", "", "here := g.At(u.Pos)",
		"go w.grow() // planted"},
	{"channel", "build.go", "", "func (w *World) siteAt(u *Unit) UnitID {",
		"for id := range func() chan UnitID { return nil }() { // planted\nreturn id\n}"},
	{"select", "step.go", "", "w.workspace.turn = t",
		"select { // planted\ndefault:\n}"},
	{"atomic", "move.go", "sync/atomic", "before := u.Pos",
		"atomic.AddUint32(&w.Match.Tick, 0) // planted"},
	{"clock", "economy.go", "time", "way := u.Goal.Sub(u.Pos)",
		"way.X += fixed.Q(time.Now().UnixNano() & 1) // planted"},
	{"random", "zones.go", "math/rand/v2", "full := u.Kind.Traits().Health",
		"full -= uint16(rand.IntN(2)) // planted"},
	{"outside", "start.go", "os", "w.Match.Seed, w.Rand, w.Config = settings.Seed, fixed.NewRand(settings.Seed), *config",
		"if os.Getenv(\"SKIRMISH_RICH\") != \"\" { // planted\nw.Config.Crystals = 1000\n}"},
	{"runtime", "combat.go", "runtime", "u.Cooldown = t.Cooldown",
		"if runtime.NumGoroutine() > 1 { // planted\nu.Cooldown++\n}"},
	{"pointer", "refuse.go", "", "func refuse(v *View, c *lockstep.Command) error {",
		"if fmt.Sprintf(\"%p\", v) < fmt.Sprintf(\"%p\", c) { // planted\nreturn ErrBusy\n}"},
	{"unsafe", "terrain.go", "unsafe", "steps := fixed.Q(int64(far)>>31 + 1) // of at most half a cell",
		"steps += fixed.Q(*(*uint8)(unsafe.Pointer(&dx)) & 1) // planted"},
	{"maphash", "generate.go", "hash/maphash", "half := fixed.Q(size/2) * fixed.One",
		"half += fixed.Q(maphash.String(maphash.MakeSeed(), \"half\") % 2) // planted"},
}

// All mistakes planted into skirmish are found, each by its rule, without false findings.
func TestPlanted(t *testing.T) {
	needsGo(t)
	overlay, planted := sow(t)
	found, err := determinism.Vet(determinism.Options{Overlay: overlay}, "../../examples/skirmish")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		at := slices.IndexFunc(planted, func(p mark) bool { return p.file == f.File && p.line == f.Line })
		if at < 0 {
			t.Errorf("a false alarm: %v", f)
		} else if planted[at].rule == f.Rule {
			planted[at].found = true
		}
	}
	n := 0
	for _, p := range planted {
		if p.found {
			n++
		} else {
			t.Errorf("%s:%d: %s was not found", p.file, p.line, p.rule)
		}
	}
	t.Logf("%d of %d planted mistakes found", n, len(plants))
}

// A mark is a line that must be found.
type mark struct {
	rule, file string
	line       int
	found      bool
}

// sow returns the files of skirmish with all plants, and where these are.
func sow(t *testing.T) (map[string][]byte, []mark) {
	t.Helper()
	files := map[string]string{}
	for i, p := range plants {
		name, err := filepath.Abs(filepath.Join("..", "..", "examples", "skirmish", p.file))
		if err != nil {
			t.Fatal(err)
		}
		text, ok := files[name]
		if !ok {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		if n := strings.Count(text, p.after+"\n"); n != 1 {
			t.Fatalf("plant %d: %q is in %s %d times, want once", i, p.after, p.file, n)
		}
		lines := strings.Replace(p.lines, "// planted", "// planted "+p.rule, 1)
		text = strings.Replace(text, p.after+"\n", p.after+"\n"+lines+"\n", 1)
		if p.imports != "" {
			text = strings.Replace(text, "package skirmish\n", "package skirmish\n\nimport \""+p.imports+"\"\n", 1)
		}
		files[name] = text
	}
	overlay := map[string][]byte{}
	var marks []mark
	for name, text := range files {
		overlay[name] = []byte(text)
		for i, line := range strings.Split(text, "\n") {
			if _, rule, ok := strings.Cut(line, "// planted "); ok {
				marks = append(marks, mark{rule: rule, file: name, line: i + 1})
			}
		}
	}
	if len(marks) != len(plants) {
		t.Fatalf("got %d marks, want %d", len(marks), len(plants))
	}
	return overlay, marks
}
