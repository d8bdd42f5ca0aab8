package locksteptest_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A badGame breaks a good game's rules, or their use, in a way that one phase alone has to find.
type badGame struct {
	name, phase, want string
	spoil             func(r *lockstep.Rules[pasture, pastureConfig], o *locksteptest.Options)
}

var badGames = []badGame{
	{"an element that reads the next one", "each", "with the elements of Turn.Each backwards: Herds[0].X: got", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
			stepPasture(w, config, turn)
			turn.Each(len(w.Herds), func(i int, _ *lockstep.Turn) {
				w.Herds[i].X += 1 + w.Herds[(i+1)%len(w.Herds)].X&3
			})
		}
	}},
	{"a cache that is stale for a tick", "cold twin", "derived data is stale: a restored copy computes Herds[", staleCache},
	{"Derive adds to what was there", "restore", "Dice: got", addingDerive},
	{"Derive adds to what was there", "copy", "Dice: got", addingDerive},
	{"a command is kept", "restore", "Dice: got", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
			if w.Kept != nil {
				w.Dice += uint64(w.Kept.X) // the engine's memory, which it uses again
			}
			stepPasture(w, config, turn)
			for i := range turn.Commands {
				if d, ok := turn.Commands[i].Value.(*drive); ok {
					w.Kept = d
				}
			}
		}
	}},
	{"Derive runs once", "derived", "Herds[0].X: got", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		start := r.New
		r.New = func(w *pasture, s *lockstep.Settings, c *pastureConfig) error {
			err := start(w, s, c)
			w.Herds[1].Name[0] = 1 + uint8(s.Seed) // the same for the whole match
			return err
		}
		r.Derive = func(w *pasture, config *pastureConfig) {
			derivePasture(w, config)
			if w.Cache == 0 {
				w.Cache = uint32(w.Herds[1].Name[0])
			}
		}
		r.Commands = r.Commands[:1] // names stay
		r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
			stepPasture(w, config, turn)
			w.Herds[0].X += int32(w.Cache)
		}
	}},
	{"a cache that is filled as the match goes", "late join", "Herds[0].Size: got", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
			stepPasture(w, config, turn)
			if w.Cache = min(w.Cache+1, 20); w.Cache < 20 {
				w.Herds[0].Size++
			}
		}
	}},
	{"values are kept by tick", "redo", "Dice: got", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		type entry struct{ tick, value uint32 }
		var ring [16]entry
		r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
			stepPasture(w, config, turn)
			e := &ring[w.Tick%16]
			if e.tick != w.Tick {
				*e = entry{w.Tick, w.Herds[0].Size + uint32(w.Herds[0].X)}
			}
			w.Dice += uint64(e.value)
		}
	}},
	{"a refusal is remembered", "refused", "Dice: got", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		angry := ^uint32(0)
		validate := r.Validate
		r.Validate = func(w *pasture, config *pastureConfig, c *lockstep.Command) error {
			err := validate(w, config, c)
			if err != nil {
				angry = w.Tick + 1
			}
			return err
		}
		r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
			stepPasture(w, config, turn)
			if angry == w.Tick {
				w.Dice++
			}
		}
	}},
	{"Derive corrects the state", "fields", "Herds[0].Tame: got false, want true", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		r.Derive = func(w *pasture, config *pastureConfig) {
			derivePasture(w, config)
			for i := range w.Herds {
				w.Herds[i].Tame = false
			}
		}
	}},
	{"Describe panics", "round trip", "the game panicked in Describe: no words", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		r.Describe = func(*lockstep.Command) string { panic("no words") }
	}},
	{"Describe wavers", "round trip", `described twice: got "1 times", then "2 times"`, func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		n := 0
		r.Describe = func(*lockstep.Command) string {
			n++
			return strings.Repeat("1", n%2) + strings.Repeat("2", 1-n%2) + " times"
		}
	}},
	{"Describe changes the command", "round trip", "the command is changed by Describe", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		r.Describe = func(c *lockstep.Command) string {
			if d, ok := c.Value.(*drive); ok {
				d.X |= 1 << 14
			}
			return "x"
		}
	}},
	{"a goroutine for each processor", "machine", "Dice: got", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
			stepPasture(w, config, turn)
			w.Dice += uint64(runtime.GOMAXPROCS(0))
		}
	}},
	{"a cache that the collector empties", "machine", "Dice: got", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		var cache weak.Pointer[[64]uint64]
		r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
			stepPasture(w, config, turn)
			if w.Tick == 1 {
				cache = weak.Make(new([64]uint64))
			}
			if cache.Value() == nil {
				w.Dice++
			}
		}
	}},
	{"the renderer writes", "reading", "tick 7: Herds[2].X: got", func(_ *lockstep.Rules[pasture, pastureConfig], o *locksteptest.Options) {
		o.Render = func(v player.Interpolation) { lockstep.World[pasture](v.Current).Herds[2].X++ }
	}},
	{"the renderer writes into the state before", "reading", "tick 6: Tick: got", func(_ *lockstep.Rules[pasture, pastureConfig], o *locksteptest.Options) {
		o.Render = func(v player.Interpolation) { lockstep.World[pasture](v.Previous).Tick = 0 }
	}},
	{"the renderer uses the game's own cache", "reading", "tick 8: Dice: got", func(r *lockstep.Rules[pasture, pastureConfig], o *locksteptest.Options) {
		r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
			stepPasture(w, config, turn)
			w.Dice += uint64(w.Cache)
		}
		o.Render = func(v player.Interpolation) { lockstep.World[pasture](v.Current).Cache = 3 }
	}},
	{"View writes", "views", "Herds[2].X: got", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		r.Validate, r.View = nil, lockstep.View(func(w *pasture, c *pastureConfig, viewer lockstep.Viewer, v *meadow) error {
			w.Herds[2].X++
			return seeMeadow(w, c, viewer, v)
		}, nil)
	}},
	{"View counts", "views", "a view for player:0 differs when it is made again", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		n := uint32(0)
		r.Validate, r.View = nil, lockstep.View(func(w *pasture, c *pastureConfig, viewer lockstep.Viewer, v *meadow) error {
			err := seeMeadow(w, c, viewer, v)
			for i := range v.Herds {
				n++
				v.Herds[i].Size = n
			}
			return err
		}, nil)
	}},
	{"View panics", "views", "the game panicked in View: no sight", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		r.Validate, r.View = nil, lockstep.View(func(*pasture, *pastureConfig, lockstep.Viewer, *meadow) error { panic("no sight") }, nil)
	}},
	{"ids do not ascend", "views", "got 1 after 1, want ascending ids", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		r.Validate, r.View = nil, lockstep.View(func(_ *pasture, _ *pastureConfig, _ lockstep.Viewer, v *meadow) error {
			*v = meadow{Herds: []grazing{{ID: 1}, {ID: 1}}}
			return nil
		}, nil)
	}},
	{"an answer that depends on what is hidden", "answers", "the answer to a command reveals what is hidden: player ", func(r *lockstep.Rules[pasture, pastureConfig], o *locksteptest.Options) {
		r.Validate, r.View = nil, telling()
		o.AllowThin = "half of the commands are refused"
	}},
	{"a view that cannot be sent", "views", "feed: Name: a view has no strings", func(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
		r.Validate, r.View = nil, lockstep.View(func(*pasture, *pastureConfig, lockstep.Viewer, *struct{ Name string }) error { return nil }, nil)
	}},
}

// staleCache keeps the number of large herds, and forgets to count again when a command lets a herd grow. Every eighth tick
// repairs the cache, so a state that is saved there shows nothing.
func staleCache(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
	count := func(w *pasture) {
		w.Cache = 0
		for i := range w.Herds {
			w.Cache += min(w.Herds[i].Size/2, 1)
		}
	}
	r.Derive = func(w *pasture, config *pastureConfig) {
		derivePasture(w, config)
		count(w)
	}
	r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		if turn.Tick%8 == 7 {
			w.Herds[0].X += int32(w.Cache)
		}
		stepPasture(w, config, turn)
		if turn.Tick%8 == 0 {
			count(w)
		}
	}
}

func addingDerive(r *lockstep.Rules[pasture, pastureConfig], _ *locksteptest.Options) {
	r.Derive = func(w *pasture, _ *pastureConfig) {
		for i := range w.Herds {
			w.Most = max(w.Most, w.Herds[i].Size) // on top of what it was before
		}
	}
	r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		w.Dice += uint64(w.Most)
		stepPasture(w, config, turn)
	}
}

// Each phase alone finds a game that misbehaves in its way, and accepts a good one.
func TestPhases(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // what is collected in the meantime is not what is tested
	found := map[string]bool{}
	for _, bad := range badGames {
		if runtime.GOOS == "js" && bad.name == "a goroutine for each processor" {
			continue // there is one
		}
		rules, o := pastureRules(), options()
		bad.spoil(&rules, &o)
		var f *locksteptest.Failure
		err := locksteptest.RunPhase(lockstep.MustGame(rules), o, bad.phase)
		if !errors.As(err, &f) || f.Phase != bad.phase || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: got %v, want phase %s, %q", bad.name, err, bad.phase, bad.want)
		}
		found[bad.phase] = true
	}
	for _, phase := range locksteptest.PhaseNames() {
		if !found[phase] && phase != "outside" { // TestOutside has its games
			t.Errorf("no game misbehaves in phase %q", phase)
		}
		if err := locksteptest.RunPhase(lockstep.MustGame(pastureRules()), options(), phase); err != nil {
			t.Errorf("%s: %v", phase, err)
		}
	}
}

// The orders of the phase each have every element once.
func TestOrdersOfEach(t *testing.T) {
	for n := range 300 {
		for name, order := range map[string]func(k, n int) int{"mixed": locksteptest.Permuted, "backwards": program.Backwards} {
			seen := make([]bool, n)
			for k := range n {
				seen[order(k, n)] = true
			}
			if slices.Contains(seen, false) {
				t.Fatalf("%s order of %d: got %v", name, n, seen)
			}
			order(n, n) // the end
		}
	}
	if locksteptest.Permuted(1, 100) == locksteptest.Permuted(0, 100)+1 {
		t.Error("the mixed order is the ascending one")
	}
}

// A failure on several goroutines alone names them.
func TestRaceOfEach(t *testing.T) {
	if runtime.GOARCH == "wasm" {
		t.Skip("there is one thread")
	}
	rules, o := pastureRules(), options()
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		stepPasture(w, config, turn)
		var inside atomic.Int32
		meets := make([]bool, len(w.Herds))
		turn.Each(len(w.Herds), func(i int, _ *lockstep.Turn) {
			inside.Add(1)
			for n := 0; n < 2000 && inside.Load() < 2; n++ {
				runtime.Gosched()
			}
			meets[i] = inside.Load() > 1
			inside.Add(-1)
		})
		if slices.Contains(meets, true) {
			w.Dice++
		}
	}
	var f *locksteptest.Failure
	err := locksteptest.RunPhase(lockstep.MustGame(rules), o, "each")
	if !errors.As(err, &f) || f.Under != "the elements of Turn.Each on 2 goroutines" {
		t.Errorf("got %v", err)
	}
}

// A skipped phase finds nothing, and only existing phases can be skipped.
func TestSkip(t *testing.T) {
	rules, o := pastureRules(), options()
	rules.Describe = func(*lockstep.Command) string { panic("no words") }
	o.Skip = []string{"round trip"}
	locksteptest.Check(t, lockstep.MustGame(rules), o)
	o.Skip = []string{"trip"}
	if _, err := locksteptest.Run(lockstep.MustGame(rules), o); err == nil || !strings.Contains(err.Error(), `got "trip" in Skip`) {
		t.Errorf("got %v", err)
	}
}

// The package comment lists all phases in their order.
func TestPhasesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("check.go")
	if err != nil {
		t.Fatal(err)
	}
	rest := string(doc)
	for _, phase := range locksteptest.PhaseNames() {
		_, after, ok := strings.Cut(rest, "\n//\t"+phase+" ")
		if !ok {
			t.Errorf("phase %q is not in the table, or not behind the one before it", phase)
			continue
		}
		rest = after
	}
}

// The settings of the program are restored.
func TestMachineRestores(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	percent := debug.SetGCPercent(77)
	defer debug.SetGCPercent(percent)
	locksteptest.Check(t, lockstep.MustGame(pastureRules()), options())
	if got := debug.SetGCPercent(77); got != 77 || runtime.GOMAXPROCS(0) != processors {
		t.Errorf("got %d processors and %d %%, want %d and 77", runtime.GOMAXPROCS(0), got, processors)
	}
}

// Written orders are played, and no others.
func TestOrders(t *testing.T) {
	var drives, breeds int
	rules := pastureRules()
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		for i := range turn.Commands {
			switch v := turn.Commands[i].Value.(type) {
			case *drive:
				if turn.Tick != 4 || turn.Commands[i].Player != 1 || v.Y != -9 {
					panic("another drive")
				}
				drives++
			case *breed:
				if turn.Tick != 12 || turn.Commands[i].Player != 2 {
					panic("another breed")
				}
				breeds++
			}
		}
		stepPasture(w, config, turn)
	}
	o := options()
	o.Orders = []locksteptest.Order{
		{Tick: 3, Player: 1, Kind: 1, Value: &drive{Herds: []uint16{1}, Y: -9}},
		{Tick: 11, Player: 2, Value: &breed{Name: "ox"}},
	}
	locksteptest.Check(t, lockstep.MustGame(rules), o)
	if drives == 0 || breeds == 0 {
		t.Errorf("got %d drives, %d breeds, want some", drives, breeds)
	}
	for want, orders := range map[string][]locksteptest.Order{
		"tick 5: an order for tick 4":               {{Tick: 5, Value: &breed{}}, {Tick: 4, Value: &breed{}}},
		"tick 1: an order of player 9 of 4":         {{Tick: 1, Player: 9, Value: &breed{}}},
		"tick 60: an order for tick 61":             {{Tick: 60, Value: &breed{}}, {Tick: 61, Value: &breed{}}},
		"tick 2: lockstep: got a command of type ":  {{Tick: 2, Value: 7}},
		"tick 2: lockstep: got a command of kind 1": {{Tick: 2, Kind: 1, Value: &breed{}}},
	} {
		o.Orders = orders
		if _, err := locksteptest.Run(lockstep.MustGame(rules), o); err == nil || !strings.Contains(err.Error(), "play: "+want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A pond has derived fields of many types.
type (
	pond struct {
		Drawn uint64
		Fish  []fish
		links *link            `state:"derived"`
		byAge map[uint32][]int `state:"derived"`
		names map[string]*fish `state:"derived"`
		tools [2]any           `state:"derived"`
		count func() int       `state:"derived"`
		room  []float64        `state:"derived"`
	}
	fish struct {
		Age   uint32
		depth int `state:"derived"`
	}
	link struct {
		next *link // to itself
		ages []uint32
	}
)

func derivePond(p *pond, _ *struct{}) {
	p.links, p.byAge, p.names, p.tools = &link{}, map[uint32][]int{}, map[string]*fish{}, [2]any{uint8(1), "rod"}
	p.links.next, p.count, p.room = p.links, func() int { return len(p.Fish) }, p.room[:0]
	for i := range p.Fish {
		f := &p.Fish[i]
		f.depth = int(f.Age) * 2
		p.byAge[f.Age] = append(p.byAge[f.Age], i)
		p.names[strings.Repeat("f", i)] = f
		p.links.ages = append(p.links.ages, f.Age)
	}
}

// readPond returns a number that depends on each derived field.
func readPond(p *pond) uint64 {
	n := uint64(len(p.byAge) + 10*len(p.byAge[2]) + 100*len(p.room))
	if p.names["f"] != nil {
		n += 1000
	}
	if p.links != nil {
		n += 2000 * uint64(p.links.ages[0])
	}
	for i := range p.Fish {
		n += 100000 * uint64(p.Fish[i].depth)
	}
	for _, c := range fmt.Sprintf("%T %v", p.tools[0], p.tools) {
		n = 31*n + uint64(c)
	}
	return n
}

// The failure of a cold twin names the derived field that is stale, whatever its type, and not its consequence in the state. It
// does so only if the field decides, and not if it differs beside what does.
func TestStaleField(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*pond)
		want  string
	}{
		"nothing":         {func(*pond) {}, ""},
		"a nil slice":     {func(p *pond) { p.room = nil }, ""},
		"a number":        {func(p *pond) { p.Fish[1].depth++ }, "from the derived field Fish[1].depth: got 4, want 5"},
		"a map's list":    {func(p *pond) { p.byAge[2] = nil }, "from the derived field byAge[2]: got 1 elements, want 0"},
		"a map's key":     {func(p *pond) { p.names["x"] = p.names["f"]; delete(p.names, "f") }, "from the derived field names[f]: got "},
		"a map":           {func(p *pond) { delete(p.byAge, 2) }, "from the derived field byAge: got 3 entries, want 2"},
		"a pointer":       {func(p *pond) { p.links = nil }, "from the derived field links: got "},
		"behind a cycle":  {func(p *pond) { p.links.ages[0] = 7 }, "from the derived field links.ages[0]: got 1, want 7"},
		"an interface":    {func(p *pond) { p.tools[1] = "net" }, "from the derived field tools[1]: got rod, want net"},
		"another type":    {func(p *pond) { p.tools[0] = int8(1) }, "from the derived field tools[0]: got 1, want 1"},
		"the whole cache": {func(p *pond) { p.room = append(p.room, 1) }, "from the derived field room: got 0 elements, want 1"},
	} {
		for _, innocent := range []bool{false, true} {
			drawn := uint64(0)
			g := lockstep.MustGame(lockstep.Rules[pond, struct{}]{
				Name: "pond", Build: "1", Derive: derivePond,
				New: func(p *pond, s *lockstep.Settings, _ *struct{}) error {
					drawn, p.Fish = 0, []fish{{Age: 1}, {Age: 2}, {Age: 3}}
					return nil
				},
				Step: func(p *pond, setup *struct{}, turn *lockstep.Turn) {
					if !innocent {
						p.Drawn += readPond(p)
					}
					derivePond(p, setup)
					c.spoil(p)
					if drawn = max(drawn, uint64(turn.Tick)); innocent && drawn == 20 && turn.Tick == 10 {
						p.Drawn++ // the match was played before, so this is another machine
					}
				},
			})
			want := c.want
			if innocent {
				want = "data outside of the state decides: a restored copy computes Drawn: got "
			}
			err := locksteptest.RunPhase(g, locksteptest.Options{Ticks: 20, Players: 1, AllowThin: "no commands"}, "cold twin")
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s, innocent %t: got %v, want %q", name, innocent, err, want)
			}
		}
	}
}
