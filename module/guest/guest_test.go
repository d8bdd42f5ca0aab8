package guest_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/module/guest"
)

// A machine makes guests in this process, without WebAssembly.
type machine func() (*guest.Guest, error)

// New implements abi.Machine.
func (m machine) New() (abi.Caller, error) { return m() }

func machineOf[S, C any](rules lockstep.Rules[S, C], usual func(players int) C) machine {
	return func() (*guest.Guest, error) { return guest.New(rules, usual) }
}

// A subject is a game and the same rules behind a guest.
type subject struct {
	native, elsewhere *lockstep.Game
	machine           machine
	config            any // of the native game
}

func subjectOf[S, C any](t *testing.T, rules lockstep.Rules[S, C], config C) *subject {
	t.Helper()
	s := &subject{native: lockstep.MustGame(rules), machine: machineOf(rules, func(int) C { return config }), config: &config}
	var err error
	if s.elsewhere, err = lockstep.NewGameElsewhere(s.machine); err != nil {
		t.Fatal(err)
	}
	return s
}

func subjects(t *testing.T) map[string]*subject {
	return map[string]*subject{
		"skirmish":  subjectOf(t, skirmish.Rules(), skirmish.Defaults(4, 60)),
		"platforms": subjectOf(t, platforms.Rules(), platforms.Usual(4)),
		"minimal":   subjectOf(t, minimal.Rules(), minimal.Usual(4)),
	}
}

// An observed is what a simulation lets its observers see.
type observed struct {
	draws  []lockstep.Draw
	phases []string
}

func (o *observed) watch(s *lockstep.Simulation) {
	s.ObserveDraws(func(_ lockstep.Tick, d lockstep.Draw) { o.draws = append(o.draws, d) })
	s.ObservePhases(func(_ lockstep.Tick, name string, sum *checksum.Sum) {
		o.phases = append(o.phases, fmt.Sprint(name, sum.Hash, sum.Sections))
	})
}

// Rules behind a guest do all that they do without one.
func TestSameAsNative(t *testing.T) {
	for name, x := range subjects(t) {
		t.Run(name, func(t *testing.T) {
			h, err := x.native.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(4), x.config)
			if err != nil {
				t.Fatal(err)
			}
			if err := x.elsewhere.CheckIdentity(h); err != nil {
				t.Fatal(err)
			}
			if a, b := x.native.SelfTest(), x.elsewhere.SelfTest(); a != b {
				t.Errorf("got self-test %v, want %v", b, a)
			}
			var sims [2]*lockstep.Simulation
			var seen [2]observed
			for i, g := range []*lockstep.Game{x.native, x.elsewhere} {
				if sims[i], err = g.NewSimulation(h); err != nil {
					t.Fatal(err)
				}
				seen[i].watch(sims[i])
			}
			play(t, x, sims)
			if diff := cmp.Diff(seen[0].draws, seen[1].draws); diff != "" {
				t.Errorf("draws, native and elsewhere: %s", diff)
			}
			if diff := cmp.Diff(seen[0].phases, seen[1].phases); diff != "" {
				t.Errorf("phases, native and elsewhere: %s", diff)
			}
		})
	}
}

// play gives both simulations the same random commands, and compares all that they tell.
func play(t *testing.T, x *subject, sims [2]*lockstep.Simulation) {
	random := locksteptest.RandomBot(x.native, 8, nil)
	var bots []func(*lockstep.Simulation) []any
	for p := range lockstep.Player(4) {
		bots = append(bots, random(p, 7))
	}
	payloads, other := x.native.NewPayloads(), x.elsewhere.NewPayloads()
	sequence := lockstep.Sequence(0)
	for tick := lockstep.Tick(1); tick <= 150; tick++ {
		f := lockstep.Frame{Tick: tick}
		for p, bot := range bots {
			for _, v := range bot(sims[0]) {
				kind, payload, err := payloads.Encode(v)
				if err != nil {
					t.Fatal(err)
				}
				sequence++
				c := lockstep.Command{Tick: tick, Player: lockstep.Player(p), Kind: kind, Sequence: sequence, Payload: bytes.Clone(payload)}
				compareCommand(t, x, sims, c, v, other)
				f.Commands = append(f.Commands, c)
			}
		}
		for _, s := range sims {
			if err := s.Step(&f); err != nil {
				t.Fatal(err)
			}
		}
		compareStates(t, x, sims)
		if tick == 70 {
			restored(t, x, sims[1])
		}
	}
}

// compareCommand compares what the rules say of a command.
func compareCommand(t *testing.T, x *subject, sims [2]*lockstep.Simulation, c lockstep.Command, value any, payloads interface {
	Decode(*lockstep.Command) error
}) {
	t.Helper()
	native, elsewhere := c, c
	native.Value = value
	if err := payloads.Decode(&elsewhere); err != nil {
		t.Fatal(err)
	}
	texts := [2]string{}
	for i, c := range []*lockstep.Command{&native, &elsewhere} {
		game := []*lockstep.Game{x.native, x.elsewhere}[i]
		words, err := game.Describe(c)
		texts[i] = fmt.Sprint(words, err, sims[i].Validate(c))
	}
	if texts[0] != texts[1] {
		t.Errorf("tick %d: got command %s, want %s", c.Tick, texts[1], texts[0])
	}
}

// compareStates compares states, sums and views.
func compareStates(t *testing.T, x *subject, sims [2]*lockstep.Simulation) {
	t.Helper()
	a, b := sims[0], sims[1]
	if !bytes.Equal(a.AppendState(nil), b.AppendState(nil)) || a.Hash() != b.Hash() {
		t.Fatalf("tick %d: the states differ", a.Tick())
	}
	if x.native.ViewSchema() == nil {
		return
	}
	for p := range lockstep.Player(4) {
		v := a.ViewerOf(p)
		if got := b.ViewerOf(p); got.String() != v.String() {
			t.Fatalf("got viewer %v, want %v", got, v)
		}
		want, errA := a.AppendView(nil, v)
		got, errB := b.AppendView(nil, v)
		if fmt.Sprint(errA) != fmt.Sprint(errB) || !bytes.Equal(got, want) {
			t.Fatalf("tick %d: views of %v differ: %v, %v", a.Tick(), v, errA, errB)
		}
	}
}

// restored replaces the state by its own, through the bytes and through another instance.
func restored(t *testing.T, x *subject, s *lockstep.Simulation) {
	t.Helper()
	other, err := x.elsewhere.AwaitState(s.Header())
	if err == nil {
		err = other.Restore(s.Tick(), s.AppendState(nil))
	}
	if err == nil {
		err = s.CopyFrom(other)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The harness for determinism finds nothing behind a guest, and does find a mistake.
func TestHarness(t *testing.T) {
	x := subjects(t)["minimal"]
	o := locksteptest.Options{Config: configOf(t, x), Ticks: 60, AllowThin: "a small game"}
	if _, err := locksteptest.Run(x.elsewhere, o); err != nil {
		t.Error(err)
	}
	rules := minimal.Rules()
	step, calls := rules.Step, 0
	rules.Step = func(w *minimal.World, c *minimal.Config, turn *lockstep.Turn) {
		step(w, c, turn)
		if calls++; calls == 40 {
			*w = minimal.World{}
		}
	}
	wrong, err := lockstep.NewGameElsewhere(machineOf(rules, nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := locksteptest.Run(wrong, o); err == nil {
		t.Error("got no failure of rules that count their calls")
	}
}

// configOf returns the configuration of a subject as rules elsewhere have it.
func configOf(t *testing.T, x *subject) any {
	t.Helper()
	var text bytes.Buffer
	if err := x.native.WriteConfig(&text, x.config); err != nil {
		t.Fatal(err)
	}
	config, err := x.elsewhere.ReadConfig(text.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// A guest refuses what a host must not send, and goes on.
func TestRefusals(t *testing.T) {
	x := subjects(t)["skirmish"]
	g, err := x.machine()
	if err != nil {
		t.Fatal(err)
	}
	usual, err := g.Call(abi.Usual, []byte{2})
	if err != nil {
		t.Fatal(err)
	}
	match := abi.Matches.Append(nil, &abi.Match{Seed: 1, Players: 4, TickMicros: 50_000, Config: slices.Clone(usual)})
	for _, row := range []struct {
		f    abi.Function
		in   []byte
		want string
	}{
		{abi.Create, nil, "New before Configure"},
		{abi.Configure, []byte{1}, "state: "},
		{abi.Usual, nil, "got 0 bytes, want a number of players in one"},
		{abi.Configure, match, ""},
		{abi.Save, nil, "Save before New or Restore"},
		{abi.Load, []byte{1}, "state: "},
		{abi.Create, nil, ""},
		{abi.Step, []byte{1}, "state: "},
		{abi.Step, abi.Frames.Append(nil, &abi.Frame{Tick: 9}), "not the next frame"},
		{abi.Step, abi.Frames.Append(nil, &abi.Frame{Tick: 1, Commands: []abi.Command{{Tick: 1, Kind: 999, Sequence: 1}}}), "unknown command kind 999 of player 0"},
		{abi.Step, abi.Frames.Append(nil, &abi.Frame{Tick: 1}), ""},
		{abi.Restore, abi.States.Append(nil, &abi.State{Canonical: []byte{1}}), "state"},
		{abi.ViewerOf, nil, "got 0 bytes, want a player in one"},
		{abi.View, []byte("nobody"), "viewer"},
		{abi.Function(99), nil, "got function 99, want one of version 1"},
		{abi.Save, nil, ""},
	} {
		_, err := g.Call(row.f, row.in)
		if got := fmt.Sprint(err); row.want == "" && err != nil || row.want != "" && (err == nil || !bytes.Contains([]byte(got), []byte(row.want))) {
			t.Errorf("%v: got %v, want %q", row.f, err, row.want)
		}
	}
}

// A panic of the rules is a fault, with the place.
func TestPanic(t *testing.T) {
	rules := minimal.Rules()
	rules.Step = func(*minimal.World, *minimal.Config, *lockstep.Turn) { panic("out of cheese") }
	g, err := lockstep.NewGameElsewhere(machineOf(rules, nil))
	if err != nil {
		t.Fatal(err)
	}
	h, err := lockstep.MustGame(minimal.Rules()).NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(2), new(minimal.Usual(2)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Step(&lockstep.Frame{Tick: 1})
	p, fault := (*lockstep.PanicError)(nil), (*abi.Fault)(nil)
	if !errors.As(err, &p) || p.Where != "Step" || !errors.As(p.Value.(error), &fault) || fault.Text != "out of cheese" || !bytes.Contains(p.Stack, []byte("guest_test.go")) {
		t.Errorf("got %v, want the panic and its stack", err)
	}
}

// A guest answers the calls of a module for rules in Go.
func ExampleGuest() {
	g, err := guest.New(minimal.Rules(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var caller abi.Caller = g
	text, _ := caller.Call(abi.Describe, nil)
	d, _ := abi.ParseDescription(text)
	fmt.Println(d.Game, d.Build)
	// Output: minimal 1
}

// The refusals of a step pass a guest, in the order of its frame, and a step without them answers as before.
func TestStepRefuses(t *testing.T) {
	x := subjectOf(t, testgame.ShopRules(false), testgame.ShopConfig{Coins: 10})
	var sims [2]*lockstep.Simulation
	for i, g := range []*lockstep.Game{x.native, x.elsewhere} {
		header, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), [2]any{x.config, configOf(t, x)}[i])
		if err != nil {
			t.Fatal(err)
		}
		if sims[i], err = g.NewSimulation(header); err != nil {
			t.Fatal(err)
		}
	}
	type purchase struct{ player, price uint32 }
	var f lockstep.Frame
	for i, bought := range []struct {
		want int // refusals
		list []purchase
	}{{3, []purchase{{1, 7}, {1, 7}, {1, 8}, {0, 11}}}, {1, []purchase{{0, 20}}}, {0, []purchase{{0, 2}}}} {
		f.Tick, f.Commands = lockstep.Tick(i+1), nil
		for k, c := range bought.list {
			value := &testgame.Buy{Price: c.price}
			kind, payload, err := x.native.NewPayloads().Encode(value)
			if err != nil {
				t.Fatal(err)
			}
			f.Commands = append(f.Commands, lockstep.Command{Tick: f.Tick, Player: lockstep.Player(c.player), Sequence: lockstep.Sequence(k + 1), Kind: kind, Payload: payload})
		}
		var got [2][]string
		for n, sim := range sims {
			if err := sim.StepInOrderGiven(&f); err != nil {
				t.Fatal(err)
			}
			for k := range f.Commands {
				if reason, refused := sim.Refused(&f.Commands[k]); refused {
					got[n] = append(got[n], fmt.Sprintf("%d.%d %s", f.Commands[k].Player, f.Commands[k].Sequence, reason))
				}
			}
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" || len(got[0]) != bought.want {
			t.Errorf("tick %d: got %v (-native +elsewhere):\n%s", i+1, got[0], diff)
		}
	}
}
