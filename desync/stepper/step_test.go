package stepper_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/desync/stepper"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

var hitOptions = stepper.Options{Lines: 20, Commands: 20, Fields: 1000}

// stepOf accounts for a tick of a match with rules that are odd.
func stepOf(t *testing.T, r *replay.Reader, odd string, tick lockstep.Tick, o stepper.Options) *stepper.Step {
	t.Helper()
	x, err := stepper.New(r, lockstep.MustGame(hitRules(odd))).Step(tick, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// linesOf returns the text without the checksum of the state.
func linesOf(t *testing.T, x interface{ WriteText(io.Writer) error }) string {
	t.Helper()
	var b strings.Builder
	if err := x.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`  [0-9a-f]{16}`).ReplaceAllString(b.String(), "")
}

// Each command has what it changed on top of those before it. A command that comes too late is refused.
func TestStep(t *testing.T) {
	r := hitReplay(t, false)
	for _, c := range []struct {
		name    string
		tick    lockstep.Tick
		options stepper.Options
		want    string
	}{
		{"commands", 4, hitOptions, `
tick       4  simulated from the keyframe of tick 3, agrees
             with the file at tick 4
commands   #1 player 0: hit {"Unit":7,"By":2}
             changes 1 field in 1 place
             Units[ID=7].Health 10 → 8
           #2 player 0: hit {"Unit":9,"By":1}
             changes 1 field in 1 place
             Units[ID=9] present → absent
           #1 player 1: hit {"Unit":9,"By":1}
             refused when it ran: unit 9 is dead
             changes nothing
phases     before the first: changes 1 field in 1 place
             Tick 3 → 4
           hits: changes 2 fields in 1 place
             Units[ID=7].Health 10 → 8 (+1 more unit)
           deaths: changes 3 fields in 2 places
             Units[ID=9] present → absent
             Rand.Hi RAND
events     stepper_test.death{Unit:9}
draws      wind: 2 draws, of 3, 4
           Rand: 1 draw
changes    5 fields in 4 places
             Units[ID=9] present → absent
             Rand.Hi RAND
             Units[ID=7].Health 10 → 8
             Tick 3 → 4
`},
		{"refused", 5, stepper.Options{Path: "Units", Lines: 20, Commands: 20, Fields: 1000}, `
tick       5  simulated from the keyframe of tick 3, agrees
             with the file at tick 5
commands   #2 player 1: hit {"Unit":9,"By":5}
             refused, if it came now: there is no unit 9
             refused when it ran: unit 9 is dead
             changes nothing
phases     before the first: changes nothing
           hits: changes nothing
           deaths: changes nothing
draws      wind: 2 draws, of 3, 4
           Rand: 1 draw
changes    nothing
`},
		{"limits", 4, stepper.Options{Lines: 1, Commands: 1, Fields: 2}, `
tick       4  simulated from the keyframe of tick 3, agrees
             with the file at tick 4
commands   #1 player 0: hit {"Unit":7,"By":2}
             changes 1 field in 1 place
             Units[ID=7].Health 10 → 8
           and 2 commands more
             changes 1 field in 1 place
             Units[ID=9] present → absent
phases     before the first: changes 1 field in 1 place
             Tick 3 → 4
           hits: changes 2 fields in 1 place
             Units[ID=7].Health 10 → 8 (+1 more unit)
           deaths: changes 3 fields in 2 places
             Units[ID=9] present → absent
             and 2 more fields in 1 more place
events     stepper_test.death{Unit:9}
draws      wind: 2 draws, of 3, …
           Rand: 1 draw
changes    5 fields in 4 places
             Units[ID=9] present → absent
             and 4 more fields in 3 more places
`},
		{"a path by ID", 4, stepper.Options{Path: "Units[ID=7]", Lines: 20, Commands: 1, Fields: 1000}, `
tick       4  simulated from the keyframe of tick 3, agrees
             with the file at tick 4
commands   #1 player 0: hit {"Unit":7,"By":2}
             changes 1 field in 1 place
             Units[ID=7].Health 10 → 8
           and 2 commands more
             changes nothing
phases     before the first: changes nothing
           hits: changes 1 field in 1 place
             Units[ID=7].Health 10 → 8
           deaths: changes nothing
events     stepper_test.death{Unit:9}
draws      wind: 2 draws, of 3, 4
           Rand: 1 draw
changes    1 field in 1 place
             Units[ID=7].Health 10 → 8
`},
	} {
		got := linesOf(t, stepOf(t, r, "", c.tick, c.options))
		got = regexp.MustCompile(`Rand.Hi \d+ → .*(\n {15}.*)?`).ReplaceAllString(got, "Rand.Hi RAND")
		if diff := cmp.Diff(c.want[1:], got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// A Stepper that goes to and fro gives what a new one gives.
func TestStepInAnyOrder(t *testing.T) {
	r := hitReplay(t, false)
	s := stepper.New(r, lockstep.MustGame(hitRules("")))
	for _, tick := range []lockstep.Tick{4, 5, 6, 5, 1, 2, 6} {
		x, err := s.Step(tick, hitOptions)
		if err != nil {
			t.Fatal(err)
		}
		y := stepOf(t, r, "", tick, hitOptions)
		if !bytes.Equal(x.Before(), y.Before()) || !bytes.Equal(x.After(), y.After()) || x.Checksum != y.Checksum || !slices.EqualFunc(x.Commands, y.Commands, func(a, b stepper.Command) bool { return a.Text == b.Text }) {
			t.Errorf("tick %d: got %+v, want %+v", tick, x, y)
		}
	}
	var missing *replay.TickError
	if _, err := s.Step(7, hitOptions); !errors.As(err, &missing) || *missing != (replay.TickError{Tick: 7, First: 1, Last: 6}) {
		t.Errorf("tick 7: got %v", err)
	}
	late := stepper.New(r, lockstep.MustGame(hitRules(""))) // stands at a later keyframe
	if _, err := late.Step(7, hitOptions); !errors.As(err, &missing) || *missing != (replay.TickError{Tick: 7, First: 1, Last: 6}) {
		t.Errorf("tick 7 at once: got %v", err)
	}
	if _, err := s.Step(0, hitOptions); err == nil || !strings.Contains(err.Error(), "want at least 1") {
		t.Errorf("tick 0: got %v", err)
	}
	o := hitOptions
	o.Path = "Unit"
	if _, err := s.Step(4, o); !errors.Is(err, state.ErrPath) {
		t.Errorf("got %v, want a path error", err)
	}
	o.Path, o.MaxTicks = "", 1
	if _, err := s.Step(6, o); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("got %v, want a limit error", err)
	}
}

// Rules that forget a derived field, that panic, and that contradict the file.
func TestStepOfOddRules(t *testing.T) {
	r := hitReplay(t, false)
	if x := stepOf(t, r, "", 5, hitOptions); x.Stale || x.Panic != "" || x.Desync != 0 || x.Agreed != 5 {
		t.Errorf("right rules: got %+v", x)
	}
	if x := stepOf(t, r, "stale", 5, hitOptions); !x.Stale || !strings.Contains(linesOf(t, x), "\nstale ") {
		t.Errorf("a stale field: got %+v", x)
	}
	if x := stepOf(t, r, "hard", 5, hitOptions); x.Desync != 4 || !strings.Contains(linesOf(t, x), "contradicts the file at tick 4") {
		t.Errorf("other rules: got %+v", x)
	}
	s := stepper.New(r, lockstep.MustGame(hitRules("panic")))
	x, err := s.Step(4, hitOptions)
	if err != nil || !strings.Contains(x.Panic, "no") || x.After() != nil || !strings.Contains(x.Commands[0].Panic, "no") {
		t.Errorf("a panic: got %+v, %v", x, err)
	}
	if text := linesOf(t, x); strings.Contains(text, "deaths: changes") || !strings.Contains(text, "deaths: what it changed is unknown: the rules panicked in it\n") {
		t.Errorf("a panic: got\n%s", text)
	}
	if x, err := s.Step(3, hitOptions); err != nil || x.Panic != "" {
		t.Errorf("after a panic: got %+v, %v", x, err)
	}
}

// Two sides differ in the commands, or in what the rules make of them.
func TestPairSteps(t *testing.T) {
	for _, c := range []struct {
		name string
		less bool
		odd  string
		tick lockstep.Tick
		want []string // lines that the text has
	}{
		{"the same", false, "", 4, []string{"before     the tick: nothing differs", "after      the tick: nothing differs", "           the same"}},
		{"a command is missing", true, "", 4, []string{`             A  #1 player 0: hit {"Unit":7,"By":2}`, "             B  none", "phase      hits: the states begin to differ in it", "             Units[ID=7].Health 8 → 10"}},
		{"other rules", false, "hard", 4, []string{"before     the tick: nothing differs", "phase      hits: the states begin to differ in it", "after      the tick: 1 field differs in 1 place, A → B", "             Units[ID=7].Health 8 → 6"}},
		{"after other rules", false, "hard", 5, []string{"before     the tick: 1 field differs in 1 place, A → B"}},
		{"a panic", false, "panic", 4, []string{"after      the tick: unknown", "panic      "}},
	} {
		a := stepOf(t, hitReplay(t, false), "", c.tick, hitOptions)
		b := stepOf(t, hitReplay(t, c.less), c.odd, c.tick, hitOptions)
		p, err := stepper.PairSteps(a, b, [2]string{"one", "two"}, hitOptions)
		if err != nil {
			t.Fatal(err)
		}
		text := linesOf(t, p)
		for _, want := range c.want {
			if !strings.Contains(text, "\n"+want) {
				t.Errorf("%s: got\n%s\nwant the line %q", c.name, text, want)
			}
		}
		if p.Same != (c.name == "the same") {
			t.Errorf("%s: got same %v", c.name, p.Same)
		}
	}
	hits := stepOf(t, hitReplay(t, false), "", 4, hitOptions)
	game, file, _ := dots.Record(t, 4, replay.WriterOptions{})
	walk, err := stepper.New(dots.Open(t, file), game).Step(4, hitOptions)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stepper.PairSteps(hits, walk, [2]string{"one", "two"}, hitOptions); !errors.As(err, new(*lockstep.IdentityError)) {
		t.Errorf("two games: got %v", err)
	}
}

// A state of a player may be anything.
func TestStepOfHostilePlayer(t *testing.T) {
	x := stepOf(t, hitReplay(t, false), "", 4, hitOptions)
	for name, content := range map[string][]byte{"nothing": {}, "too short": {1, 2}, "too long": make([]byte, 1<<16)} {
		var file bytes.Buffer
		z := zip.NewWriter(&file)
		for _, f := range []struct {
			name    string
			content []byte
		}{
			{"manifest.json", []byte(`{"format":1,"tick":4,"exhibits":[{"tick":3,"player":"p"},{"tick":4,"player":"p"}]}`)},
			{"p", content},
		} {
			w, err := z.Create(f.name)
			if err == nil {
				_, err = w.Write(f.content)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := replay.OpenBundle(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		y, err := x.OfPlayer(b, hitOptions)
		if err == nil {
			_, err = stepper.PairSteps(x, y, [2]string{"a", "b"}, hitOptions)
		}
		if !errors.As(err, new(*state.DecodeError)) {
			t.Errorf("%s: got %v, want an error of the state", name, err)
		}
	}
}
