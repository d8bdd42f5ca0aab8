package locksteptest_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// The game of this package's tests: herds that wander and can be driven.
type (
	pasture struct {
		Tick  uint32
		Dice  uint64
		Herds []herd
		Most  uint32 `state:"derived"` // the largest herd
		Cache uint32 `state:"derived"` // for faults
		Kept  *drive `state:"derived"` // for faults
	}
	herd struct {
		X, Y  int32
		Size  uint32
		Owner lockstep.Player
		Tame  bool
		Name  [2]uint8
	}
	drive struct {
		Herds []uint16
		X, Y  int16
	}
	breed struct {
		Herd uint16
		Name string
	}
	bred          struct{ Herd uint16 } // an event
	pastureConfig struct{ Herds uint16 }
)

func pastureRules() lockstep.Rules[pasture, pastureConfig] {
	return lockstep.Rules[pasture, pastureConfig]{
		Name: "pasture", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[drive](1, "drive"), lockstep.Type[breed](2, "breed")},
		New: func(w *pasture, s *lockstep.Settings, c *pastureConfig) error {
			if c.Herds == 0 {
				return errors.New("no herds")
			}
			w.Dice = s.Seed
			for i := range c.Herds {
				w.Herds = append(w.Herds, herd{X: int32(i), Size: 1, Owner: lockstep.Player(i % uint16(s.Players))})
			}
			return nil
		},
		Step:   stepPasture,
		Derive: derivePasture,
		Validate: func(w *pasture, _ *pastureConfig, c *lockstep.Command) error {
			if b, ok := c.Value.(*breed); ok && int(b.Herd) >= len(w.Herds) {
				return errors.New("no such herd")
			}
			return nil
		},
	}
}

func derivePasture(w *pasture, _ *pastureConfig) {
	w.Most = 0
	for i := range w.Herds {
		w.Most = max(w.Most, w.Herds[i].Size)
	}
}

func stepPasture(w *pasture, _ *pastureConfig, t *lockstep.Turn) {
	w.Tick++
	for i := range w.Herds {
		w.Dice = w.Dice*6364136223846793005 + 1442695040888963407
		h := &w.Herds[i]
		h.X += int32(w.Dice>>40) % 3
		h.Y -= int32(w.Dice>>50) % 3
	}
	for i := range t.Commands {
		c := &t.Commands[i]
		switch m := c.Value.(type) {
		case *drive:
			for _, id := range m.Herds {
				h := &w.Herds[int(id)%len(w.Herds)]
				h.X, h.Y = h.X+int32(m.X), h.Y+int32(m.Y)
			}
		case *breed:
			h := &w.Herds[int(m.Herd)%len(w.Herds)]
			if h.Size < 2*w.Most {
				h.Size++
			}
			copy(h.Name[:], m.Name)
			lockstep.Emit(t, bred{m.Herd})
		}
	}
	derivePasture(w, nil)
}

func options() locksteptest.Options {
	return locksteptest.Options{Config: &pastureConfig{Herds: 6}, Ticks: 60, Every: 7}
}

func TestCheck(t *testing.T) {
	g := lockstep.MustGame(pastureRules())
	locksteptest.Check(t, g, options())
	for seed := range uint64(20) {
		o := options()
		o.Seed, o.Players = seed, uint8(1+seed%8)
		locksteptest.Check(t, g, o)
	}
	heavy := options()
	heavy.Every, heavy.Span = 1, 5
	locksteptest.Check(t, g, heavy)
	written := options()
	written.Choices = []byte("a match that a fuzzer wrote, or a person")
	locksteptest.Check(t, g, written)
}

// Random commands must reach the rules, or a check would prove nothing.
func TestCommandsArrive(t *testing.T) {
	drives, breeds, refused := 0, 0, 0
	rules := pastureRules()
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		for i := range turn.Commands {
			switch turn.Commands[i].Value.(type) {
			case *drive:
				drives++
			case *breed:
				breeds++
			}
		}
		stepPasture(w, config, turn)
	}
	validate := rules.Validate
	rules.Validate = func(w *pasture, config *pastureConfig, c *lockstep.Command) error {
		err := validate(w, config, c)
		if err != nil {
			refused++
		}
		return err
	}
	played := 0
	o := options()
	o.Play = func(lockstep.Player, *lockstep.Simulation) []any {
		played++
		return []any{&breed{Herd: 1, Name: "ox"}}
	}
	locksteptest.Check(t, lockstep.MustGame(rules), o)
	if drives < 500 || breeds < 100 || refused < 50 || played != 4*60 {
		t.Errorf("got %d drives, %d breeds, %d refused, %d times Play", drives, breeds, refused, played)
	}
}

// The game is not at fault if a coordinator rejects too many commands.
func TestTooManyCommands(t *testing.T) {
	o := options()
	o.Choices = bytes.Repeat([]byte{0x93}, 9600)
	locksteptest.Check(t, lockstep.MustGame(pastureRules()), o)
	values := make([]any, 129)
	for i := range values {
		values[i] = &breed{Herd: 1}
	}
	o.Play = func(lockstep.Player, *lockstep.Simulation) []any { return values }
	_, err := locksteptest.Run(lockstep.MustGame(pastureRules()), o)
	if err == nil || !strings.Contains(err.Error(), "play: tick 1: 129 commands of player 0 for one tick, want at most 128") {
		t.Errorf("got %v", err)
	}
	values = values[:128]
	if testenv.Small(t) {
		o.Ticks = 20
	}
	locksteptest.Check(t, lockstep.MustGame(pastureRules()), o)
}

// Each kind of nondeterminism is found in its phase and its field.
func TestFaults(t *testing.T) {
	counter := uint32(0)
	var kept *pasture
	seen := map[string]bool{}
	for name, c := range map[string]struct {
		phase string // or phases, where chance decides
		field string
		fault func(r *lockstep.Rules[pasture, pastureConfig])
	}{
		"a global in New": {"new", "Dice", func(r *lockstep.Rules[pasture, pastureConfig]) {
			good := r.New
			r.New = func(w *pasture, s *lockstep.Settings, c *pastureConfig) error {
				err := good(w, s, c)
				counter++
				w.Dice += uint64(counter)
				return err
			}
		}},
		"the order of a map": {"two runs, or follower", "Herds[", func(r *lockstep.Rules[pasture, pastureConfig]) {
			r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
				stepPasture(w, config, turn)
				sizes := map[int]uint32{}
				for i := range w.Herds {
					sizes[i] = w.Herds[i].Size
				}
				place := int32(0)
				for i := range sizes {
					w.Herds[i].X += place // depends on the order
					place++
				}
			}
		}},
		"a global in Step": {"two runs", "Dice", func(r *lockstep.Rules[pasture, pastureConfig]) {
			r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
				stepPasture(w, config, turn)
				counter++
				w.Dice += uint64(counter)
			}
		}},
		"a Validate that changes the state": {"validate", "Herds[1].Size", func(r *lockstep.Rules[pasture, pastureConfig]) {
			r.Validate = func(w *pasture, _ *pastureConfig, c *lockstep.Command) error {
				if _, ok := c.Value.(*breed); ok {
					w.Herds[1].Size++
				}
				return nil
			}
		}},
		"a hidden field that decides": {"cold twin", "Herds[0].Size", func(r *lockstep.Rules[pasture, pastureConfig]) {
			r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
				stepPasture(w, config, turn)
				w.Cache++ // is in no snapshot, and Derive does not rebuild it
				if w.Cache%16 == 0 {
					w.Herds[0].Size++
				}
			}
		}},
		"a Derive that is wrong": {"cold twin", "Herds[", func(r *lockstep.Rules[pasture, pastureConfig]) {
			r.Derive = func(w *pasture, _ *pastureConfig) { w.Most = 0 }
		}},
		"a field that only a new machine lacks": {"cold twin", "Herds[0].Size", func(r *lockstep.Rules[pasture, pastureConfig]) {
			r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
				stepPasture(w, config, turn)
				if w.Cache = min(w.Cache+1, 20); w.Cache < 20 {
					w.Herds[0].Size++
				}
			}
		}},
		"something of New that is not in the state": {"follower", "Herds[0].Size", func(r *lockstep.Rules[pasture, pastureConfig]) {
			good := r.New
			r.New = func(w *pasture, s *lockstep.Settings, c *pastureConfig) error {
				w.Cache = 7 // who has the log never runs New
				return good(w, s, c)
			}
			r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
				stepPasture(w, config, turn)
				if w.Cache != 7 {
					w.Herds[0].Size++
				}
			}
		}},
		"a Validate that knows the order of arrival": {"two runs", "", func(r *lockstep.Rules[pasture, pastureConfig]) {
			r.Validate = func(w *pasture, _ *pastureConfig, c *lockstep.Command) error {
				counter++
				return fmt.Errorf("refused, the %dth", counter)
			}
		}},
		"a Validate that believes what is derived": {"cold twin", "", func(r *lockstep.Rules[pasture, pastureConfig]) {
			r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
				stepPasture(w, config, turn)
				w.Cache = w.Tick // Derive does not rebuild it
			}
			r.Validate = func(w *pasture, _ *pastureConfig, c *lockstep.Command) error {
				if w.Cache != w.Tick {
					return errors.New("not in step")
				}
				return nil
			}
		}},
		"a panic in Step": {"panic", "", func(r *lockstep.Rules[pasture, pastureConfig]) {
			r.Step = func(w *pasture, _ *pastureConfig, turn *lockstep.Turn) {
				if turn.Tick == 9 {
					panic("fault")
				}
			}
		}},
		"a panic in Validate": {"panic", "", func(r *lockstep.Rules[pasture, pastureConfig]) {
			r.Validate = func(*pasture, *pastureConfig, *lockstep.Command) error { panic("fault") }
		}},
		"a panic in Derive": {"new", "", func(r *lockstep.Rules[pasture, pastureConfig]) {
			r.Derive = func(w *pasture, _ *pastureConfig) { panic("fault") }
		}},
		"a world that is kept": {"two runs", "Dice", func(r *lockstep.Rules[pasture, pastureConfig]) {
			r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
				stepPasture(w, config, turn)
				if kept != nil && kept != w {
					kept.Dice++ // another match
				}
				kept = w
			}
		}},
		"a Step that writes into the configuration": {"configuration", "", func(r *lockstep.Rules[pasture, pastureConfig]) {
			r.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
				stepPasture(w, config, turn)
				config.Herds++
			}
		}},
		"a configuration that is refused": {"new", "", func(r *lockstep.Rules[pasture, pastureConfig]) {
			r.New = func(*pasture, *lockstep.Settings, *pastureConfig) error { return errors.New("fault") }
		}},
	} {
		rules := pastureRules()
		c.fault(&rules)
		o := options()
		o.Every = 20
		if name == "a Derive that is wrong" {
			o.Every, o.Span = 1, 2 // Step rebuilds the field as well
		}
		_, err := locksteptest.Run(lockstep.MustGame(rules), o)
		var f *locksteptest.Failure
		if !errors.As(err, &f) {
			t.Errorf("%s: not found: %v", name, err)
			continue
		}
		seen[f.Phase] = true
		if !strings.Contains(c.phase, f.Phase) || !strings.HasPrefix(f.Field, c.field) || c.field == "" && f.Err == nil {
			t.Errorf("%s: got %v, want phase %s, field %s", name, f, c.phase, c.field)
		}
	}
	for _, phase := range []string{"new", "two runs", "follower", "validate", "configuration", "cold twin"} {
		if !seen[phase] {
			t.Errorf("no fault was found in phase %s", phase)
		}
	}
}

// A simulation with a float is rejected before it runs.
func TestFloatIsRefused(t *testing.T) {
	type field struct{ Speed float32 }
	type world struct{ Units []field }
	_, err := lockstep.NewGame(lockstep.Rules[world, struct{}]{
		Name: "floats", Build: "1",
		New:  func(*world, *lockstep.Settings, *struct{}) error { return nil },
		Step: func(*world, *struct{}, *lockstep.Turn) {},
	})
	if err == nil || !strings.Contains(err.Error(), "Units[].Speed") {
		t.Errorf("got %v, want an error that names Units[].Speed", err)
	}
}

// Check fails a test and prints the line that plays the same match again.
func TestCheckFails(t *testing.T) {
	rules := pastureRules()
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		stepPasture(w, config, turn)
		w.Cache++
		w.Dice += uint64(w.Cache)
	}
	var said recorder
	func() {
		defer func() { recover() }()
		locksteptest.Check(&said, lockstep.MustGame(rules), options())
	}()
	for _, want := range []string{
		"cold twin of tick 1: tick 2: derived data is stale: a restored copy computes Dice: got ",
		"{Config: (that of the test), Players: 4, Ticks: 60, Every: 7, Span: 60, Redo: 8, Seed: 1, Rate: 8, Changes: 2}",
		"go test -count=1 -run '^TestHerds$/^a\\+b$' .",
	} {
		if !strings.Contains(said.text, want) {
			t.Errorf("got %q, want %q in it", said.text, want)
		}
	}
}

// The printed options can be pasted into a test if their types are accessible there. Check logs how many commands were refused.
func TestCheckLines(t *testing.T) {
	rules := minimal.Rules()
	var said recorder
	o := locksteptest.Options{Config: &minimal.Config{Size: 9, Coins: 2}, Ticks: 20, Render: func(player.Interpolation) {}}
	locksteptest.Check(&said, lockstep.MustGame(rules), o)
	if !strings.HasPrefix(said.log, "locksteptest: seed 1: 0 of ") || !strings.Contains(said.log, " commands refused; 1 match, 20 ticks; accepted: 52 go; 4 of 11 fields of the state changed, not Rand.Hi, ") {
		t.Errorf("got %q", said.log)
	}
	rules.Validate = func(*minimal.World, *minimal.Config, *lockstep.Command) error { return errors.New("no") }
	o.AllowThin = "this test is about lines"
	locksteptest.Check(&said, lockstep.MustGame(rules), o)
	if n := strings.Fields(said.log); n[3] != n[5] {
		t.Errorf("all were refused: got %q", said.log)
	}
	rules.Step = func(*minimal.World, *minimal.Config, *lockstep.Turn) { panic("no way") }
	func() {
		defer func() { recover() }()
		locksteptest.Check(&said, lockstep.MustGame(rules), o)
	}()
	want := "locksteptest.Options{Config: &minimal.Config{Size: 9, Coins: 2}, Players: 4, Ticks: 20, Every: 2, Span: 20, Redo: 8, Seed: 1, Rate: 8, Changes: 2, Render: (that of the test)}\n"
	if !strings.Contains(said.text, want) {
		t.Errorf("got %q, want %q in it", said.text, want)
	}
}

// limitedRules are rules with a limit for each kind, as a game has it for chat or votes.
func limitedRules(rules lockstep.Rules[pasture, pastureConfig]) lockstep.Rules[pasture, pastureConfig] {
	rules.Commands = []lockstep.CommandType{
		lockstep.Type[drive](1, "drive").Limit(2, lockstep.Second/2),
		lockstep.Type[breed](2, "breed").Limit(5, lockstep.Second),
	}
	return rules
}

// The limits of kinds refuse many commands, and the game is not at fault.
func TestLimits(t *testing.T) {
	g := lockstep.MustGame(limitedRules(pastureRules()))
	for seed := range uint64(20) {
		o := options()
		o.Seed, o.Rate = seed+1, 12
		locksteptest.Check(t, g, o)
	}
	o := options()
	o.Choices = []byte(strings.Repeat("\x93\x07many commands", 700))
	locksteptest.Check(t, g, o)
}

// A failure of a game with limits happens again from a list of its commands, and gets small.
func TestShrinkLimited(t *testing.T) {
	rules := limitedRules(greedyRules())
	for seed := range uint64(5) {
		o := options()
		o.Seed, o.Rate, o.Ticks = seed+1, 12, 100
		big := find(t, rules, o)
		small := big.Shrink(locksteptest.ShrinkOptions{})
		if small.Phase != big.Phase || len(small.Options.Orders) != 2 {
			t.Errorf("seed %d: %v became %v with the orders %+v", seed, big, small, small.Options.Orders)
		}
		again := find(t, rules, small.Options)
		if again.Error() != small.Error() {
			t.Errorf("seed %d: got %v, want %v", seed, again, small)
		}
	}
}

// Receipts that contradict a limit are found, as those of a coordinator that counts wrongly.
func TestWrongCount(t *testing.T) {
	const accepted, tooOften = lockstep.Accepted, lockstep.TooOften
	for _, row := range []struct {
		name     string
		receipts []locksteptest.Counted // 2 drives are allowed in 10 ticks
		want     string
	}{
		{"right", []locksteptest.Counted{{1, accepted, 0}, {2, accepted, 0}, {3, tooOften, 8}, {10, tooOften, 1}, {11, accepted, 0}, {12, accepted, 0}}, ""},
		{"refused ones do not count", []locksteptest.Counted{{1, accepted, 0}, {1, lockstep.Refused, 0}, {1, accepted, 0}}, ""},
		{"one too many", []locksteptest.Counted{{1, accepted, 0}, {2, accepted, 0}, {3, accepted, 0}},
			"command 3 of player 0, kind 1: got accepted for tick 4, want a wait of 8 ticks: at most 2 in 10 ticks"},
		{"one too few", []locksteptest.Counted{{1, accepted, 0}, {2, tooOften, 9}}, "want a wait of 0 ticks"},
		{"a short window", []locksteptest.Counted{{1, accepted, 0}, {2, accepted, 0}, {10, accepted, 0}}, "want a wait of 1 ticks"},
		{"a long window", []locksteptest.Counted{{1, accepted, 0}, {2, accepted, 0}, {11, tooOften, 1}}, "want a wait of 0 ticks"},
		{"a wrong wait", []locksteptest.Counted{{1, accepted, 0}, {1, accepted, 0}, {5, tooOften, 5}}, "want a wait of 6 ticks"},
		{"refused within none", []locksteptest.Counted{{1, accepted, 0}, {1, accepted, 0}, {5, lockstep.Refused, 0}}, "want a wait of 6 ticks"},
	} {
		err := locksteptest.CheckCounts(lockstep.MustGame(limitedRules(pastureRules())), 1, row.receipts)
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
}

// Changes of the players and of the match reach the rules, unless they are disabled.
func TestChanges(t *testing.T) {
	seen := map[string]int{}
	rules := pastureRules()
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		for i := range turn.Commands {
			if c := &turn.Commands[i]; c.Player == lockstep.System && turn.Tick > 1 {
				seen[fmt.Sprintf("%T", c.Value)]++
			}
		}
		stepPasture(w, config, turn)
	}
	o := options()
	o.Changes = -1
	locksteptest.Check(t, lockstep.MustGame(rules), o)
	if len(seen) > 0 {
		t.Errorf("without changes: got %v", seen)
	}
	o.Changes = 32
	for seed := range uint64(8) {
		o.Seed = seed
		locksteptest.Check(t, lockstep.MustGame(rules), o)
	}
	for _, name := range []string{"Joined", "Left", "Lost", "TakenOver", "Paused", "Resumed", "SpeedSet"} {
		if seen["*record."+name] == 0 {
			t.Errorf("no %s in %v", name, seen)
		}
	}
}

// A fault that depends on two losses of players is shrunk to these.
func TestShrinkChanges(t *testing.T) {
	rules := pastureRules()
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		stepPasture(w, config, turn)
		for i := range turn.Commands {
			if _, ok := turn.Commands[i].Value.(*lockstep.Lost); ok {
				w.Cache++
				w.Herds[0].Size = w.Cache // the first one for some, a later one for others
			}
		}
	}
	o := options()
	o.Changes = 32
	small := find(t, rules, o).Shrink(locksteptest.ShrinkOptions{})
	orders := small.Options.Orders
	if len(orders) != 2 || orders[0].Player != lockstep.System || orders[1].Player != lockstep.System || small.Field != "Herds[0].Size" {
		t.Fatalf("got %v of orders %+v", small, orders)
	}
	var b strings.Builder
	if err := small.WriteTest(&b, locksteptest.Source{Package: "locksteptest_test", Path: "github.com/seed-49bee653/samestep/kit/locksteptest", Game: "game()"}); err != nil {
		t.Fatal(err)
	}
	if want := "Player: 255, Kind: 0, Value: &record.Lost{}},"; !strings.Contains(b.String(), want) {
		t.Errorf("got %s, want %s in it", b.String(), want)
	}
}

// Changes can be written as orders, at any place of their tick.
func TestWrittenChanges(t *testing.T) {
	rules := pastureRules()
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		for i := range turn.Commands {
			if _, ok := turn.Commands[i].Value.(*lockstep.Left); ok && turn.Tick != 3 {
				panic("left at another tick")
			}
			if _, ok := turn.Commands[i].Value.(*breed); ok && turn.Commands[i].Player == 1 {
				panic("somebody commands who has left")
			}
		}
		stepPasture(w, config, turn)
	}
	o := options()
	o.Orders = []locksteptest.Order{
		{Tick: 3, Player: 1, Value: &breed{}},
		{Tick: 3, Player: lockstep.System, Value: &lockstep.Left{Player: 1}},
		{Tick: 7, Player: lockstep.System, Value: &lockstep.Paused{Player: 0}},
		{Tick: 8, Player: lockstep.System, Value: &lockstep.Resumed{Player: 0}},
	}
	locksteptest.Check(t, lockstep.MustGame(rules), o)
	o.Orders = o.Orders[:3]
	if _, err := locksteptest.Run(lockstep.MustGame(rules), o); err == nil || !strings.Contains(err.Error(), "play: tick 8: the match is paused, and nobody resumes it") {
		t.Errorf("got %v", err)
	}
	o.Orders[2].Value = &breed{}
	if _, err := locksteptest.Run(lockstep.MustGame(rules), o); err == nil || !strings.Contains(err.Error(), "play: tick 7: unsupported command of System") {
		t.Errorf("got %v", err)
	}
}

// A seed and a player determine the commands of a random bot, and its rate their number.
func TestRandomBot(t *testing.T) {
	g := lockstep.MustGame(pastureRules())
	play := func(p lockstep.Player, seed uint64, rate int) (all []any) {
		bot := locksteptest.RandomBot(g, rate, nil)(p, seed)
		for range 400 {
			all = append(all, bot(nil)...)
		}
		return all
	}
	drives, breeds := 0, 0
	for _, v := range play(0, 1, 16) {
		switch v.(type) {
		case *drive:
			drives++
		case *breed:
			breeds++
		}
	}
	if drives+breeds != 400 || min(drives, breeds) < 150 {
		t.Errorf("got %d drives and %d breeds of 400 calls", drives, breeds)
	}
	if !reflect.DeepEqual(play(0, 1, 16), play(0, 1, 16)) || reflect.DeepEqual(play(0, 1, 16), play(1, 1, 16)) ||
		reflect.DeepEqual(play(0, 1, 16), play(0, 2, 16)) {
		t.Error("the seed and the player do not determine the commands")
	}
	if n := len(play(0, 1, 4)); n < 60 || n > 140 {
		t.Errorf("got %d commands of 400 calls, want about 100", n)
	}
	if n := len(play(0, 1, 0)); n != 0 {
		t.Errorf("got %d commands, want none", n)
	}
}

func ExampleRandomBot() {
	game := lockstep.MustGame(minimal.Rules())
	bot := locksteptest.RandomBot(game, 16, nil)(0, 1)
	for range 3 {
		fmt.Println(len(bot(nil)), "command")
	}
	// Output:
	// 1 command
	// 1 command
	// 1 command
}

// A recorder is a test that only records its failure.
type recorder struct {
	testing.TB
	text string
	log  string
	dir  string
}

func (r *recorder) Helper() {}

func (r *recorder) Name() string { return "TestHerds/a+b" }

func (r *recorder) ArtifactDir() string { return r.dir }

func (r *recorder) Fatalf(format string, args ...any) {
	r.text = fmt.Sprintf(format, args...)
	panic("failed")
}

func (r *recorder) Logf(format string, args ...any) { r.log = fmt.Sprintf(format, args...) }

func (r *recorder) Errorf(format string, args ...any) { r.text = fmt.Sprintf(format, args...) }
