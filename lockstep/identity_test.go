package lockstep_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// bankVariant is a bank with another state, configuration or command.
func bankVariant[S, C, M any](name, build string, kind lockstep.Kind, command string) *lockstep.Game {
	return lockstep.MustGame(lockstep.Rules[S, C]{
		Name: name, Build: build,
		Commands: []lockstep.CommandType{lockstep.Type[testgame.Earn](1, "earn"), lockstep.Type[M](kind, command), lockstep.Type[testgame.Crash](9, "crash")},
		New:      func(*S, *lockstep.Settings, *C) error { return nil },
		Step:     func(*S, *C, *lockstep.Turn) {},
	})
}

// Two machines that differ are told in what, to the field.
func TestIdentity(t *testing.T) {
	type widePile struct {
		Coins  int64
		Seat   uint16
		Active bool
		Pad    [6]uint8
	}
	type wideBank struct {
		Tick  uint32
		Die   uint64
		Piles []widePile
		Log   []uint16
	}
	type shortBank struct {
		Tick  uint32
		Die   uint64
		Piles []testgame.Pile
	}
	type longBank struct {
		Tick  uint32
		Die   uint64
		Piles []testgame.Pile
		Log   []uint16
		More  bool
	}
	type renamedBank struct {
		Now   uint32
		Die   uint64
		Piles []testgame.Pile
		Log   []uint16
	}
	type paddedPile struct {
		Coins  int64
		Seat   lockstep.Player
		Active bool
		Pad    [7]uint8
	}
	type paddedBank struct {
		Tick  uint32
		Die   uint64
		Piles []paddedPile
		Log   []uint16
	}
	type otherConfig struct{ Begin int64 }
	type otherGive struct {
		To    lockstep.Player
		Coins []uint32
	}
	same := bankVariant[testgame.Bank, testgame.BankConfig, testgame.Give]
	ours, h := testgame.NewBankMatch(t, 2)
	for _, c := range []struct {
		game             *lockstep.Game
		field, got, want string
	}{
		{same("casino", "1", 2, "give"), "game", "bank", "casino"},
		{same("bank", "2", 2, "give"), "build", "1", "2"},
		{same("bank", "1", 3, "give"), "command", `2 "give"`, `3 "give"`},
		{same("bank", "1", 2, "donate"), "command", `2 "give"`, `2 "donate"`},
		{bankVariant[testgame.Bank, testgame.BankConfig, otherGive]("bank", "1", 2, "give"), "schema of command give, field Coins[]", "uint16", "uint32"},
		{bankVariant[wideBank, testgame.BankConfig, testgame.Give]("bank", "1", 2, "give"), "state schema, field Piles[].Seat", "Seat uint8", "Seat uint16"},
		{bankVariant[shortBank, testgame.BankConfig, testgame.Give]("bank", "1", 2, "give"), "state schema, field Log", "Log slice", "none"},
		{bankVariant[longBank, testgame.BankConfig, testgame.Give]("bank", "1", 2, "give"), "state schema, field More", "none", "More bool"},
		{bankVariant[renamedBank, testgame.BankConfig, testgame.Give]("bank", "1", 2, "give"), "state schema, field Now", "Tick uint32", "Now uint32"},
		{bankVariant[paddedBank, testgame.BankConfig, testgame.Give]("bank", "1", 2, "give"), "state schema, field Piles[].Pad", "Pad array of 6", "Pad array of 7"},
		{bankVariant[testgame.Bank, otherConfig, testgame.Give]("bank", "1", 2, "give"), "configuration schema, field Begin", "Start int64", "Begin int64"},
	} {
		err := c.game.CheckIdentity(h)
		var id *lockstep.IdentityError
		if !errors.As(err, &id) || *id != (lockstep.IdentityError{Field: c.field, Got: c.got, Want: c.want}) {
			t.Errorf("got %v, want other %s: got %s, want %s", err, c.field, c.got, c.want)
		}
		if _, err := c.game.NewSimulation(h); !errors.As(err, &id) {
			t.Errorf("%s: a simulation is made: %v", c.field, err)
		}
	}
	for _, c := range []struct {
		field  string
		change func(h *lockstep.Header)
	}{
		{"protocol", func(h *lockstep.Header) { h.Protocol++ }},
		{"engine", func(h *lockstep.Header) { h.Engine = "samestep/2" }},
		{"number of command kinds", func(h *lockstep.Header) { h.Commands = h.Commands[:2] }},
	} {
		other := *h
		c.change(&other)
		var id *lockstep.IdentityError
		if err := ours.CheckIdentity(&other); !errors.As(err, &id) || id.Field != c.field {
			t.Errorf("got %v, want other %s", err, c.field)
		}
	}
	if err := same("bank", "1", 2, "give").CheckIdentity(h); err != nil {
		t.Errorf("the same game: %v", err)
	}
}

// A header that comes from an attacker is checked against the game without a
// panic, and only the game's own is accepted.
func FuzzIdentity(f *testing.F) {
	_, log := testgame.SampleLog(f)
	f.Add(log[0].Bytes)
	g, h := testgame.NewBankMatch(f, 2)
	f.Fuzz(func(t *testing.T, b []byte) {
		var dec record.Decoder
		r, _, err := dec.Decode(b)
		if err != nil || r.Kind != record.KindHeader || g.CheckIdentity(r.Header) != nil {
			return
		}
		if !bytes.Equal(r.Header.StateSchema, h.StateSchema) || r.Header.Game != "bank" || r.Header.Build != "1" {
			t.Fatalf("accepted: %+v", r.Header)
		}
		if _, err := g.NewSimulation(r.Header); err != nil {
			t.Logf("refused later: %v", err) // its configuration
		}
	})
}

func TestNewGameErrors(t *testing.T) {
	type refused struct {
		Units []struct{ Speed float64 }
	}
	step := func(*testgame.Bank, *struct{}, *lockstep.Turn) {}
	make := func(*testgame.Bank, *lockstep.Settings, *struct{}) error { return nil }
	for name, c := range map[string]struct {
		rules lockstep.Rules[testgame.Bank, struct{}]
		want  string
	}{
		"no name":        {lockstep.Rules[testgame.Bank, struct{}]{Build: "1", New: make, Step: step}, `lockstep: game : name "": want 1 to 128 bytes of UTF-8`},
		"no build":       {lockstep.Rules[testgame.Bank, struct{}]{Name: "x", New: make, Step: step}, `lockstep: game x: build "": want 1 to 128 bytes of UTF-8`},
		"bad name":       {lockstep.Rules[testgame.Bank, struct{}]{Name: "x", Build: "\xff", New: make, Step: step}, `lockstep: game x: build "` + "\uFFFD" + `": want 1 to 128 bytes of UTF-8`},
		"no step":        {lockstep.Rules[testgame.Bank, struct{}]{Name: "x", Build: "1", New: make}, "lockstep: game x: want New and Step"},
		"one kind twice": {lockstep.Rules[testgame.Bank, struct{}]{Name: "x", Build: "1", New: make, Step: step, Commands: []lockstep.CommandType{lockstep.Type[testgame.Earn](1, "a"), lockstep.Type[testgame.Give](1, "b")}}, "lockstep: game x: command kind 1 is both a and b"},
		"one name twice": {lockstep.Rules[testgame.Bank, struct{}]{Name: "x", Build: "1", New: make, Step: step, Commands: []lockstep.CommandType{lockstep.Type[testgame.Earn](1, "a"), lockstep.Type[testgame.Give](2, "a")}}, "lockstep: game x: command kinds 1 and 2 are both a"},
		"a kind unnamed": {lockstep.Rules[testgame.Bank, struct{}]{Name: "x", Build: "1", New: make, Step: step, Commands: []lockstep.CommandType{lockstep.Type[testgame.Earn](1, "")}}, `lockstep: game x: command kind 1: name "": want 1 to 128 bytes of UTF-8`},
		"a float":        {lockstep.Rules[testgame.Bank, struct{}]{Name: "x", Build: "1", New: make, Step: step, Commands: []lockstep.CommandType{lockstep.Type[refused](1, "aim")}}, "Units[].Speed"},
	} {
		if _, err := lockstep.NewGame(c.rules); err == nil || !bytes.Contains([]byte(err.Error()), []byte(c.want)) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	if _, err := lockstep.NewGame(lockstep.Rules[refused, struct{}]{Name: "x", Build: "1"}); err == nil {
		t.Error("a state with a float is accepted")
	}
}

// A state with derived fields needs a Derive, also if it only has to leave them alone.
func TestDerivedFieldsNeedDerive(t *testing.T) {
	type unit struct {
		X    int32
		path []uint16 `state:"derived"`
	}
	type world struct {
		Units []unit
		Near  [4]uint8 `state:"derived"`
	}
	rules := lockstep.Rules[world, struct{}]{
		Name: "x", Build: "1",
		New:  func(*world, *lockstep.Settings, *struct{}) error { return nil },
		Step: func(w *world, _ *struct{}, _ *lockstep.Turn) { w.Units[0].path = nil },
	}
	_, err := lockstep.NewGame(rules)
	if want := "lockstep: game x: Near is derived: want Derive, which rebuilds it after a restore"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	rules.Derive = func(*world, *struct{}) {}
	g, err := lockstep.NewGame(rules)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.DerivedFields(); !slices.Equal(got, []string{"Near", "Units[].path"}) {
		t.Errorf("got %q", got)
	}
	if got := lockstep.MustGame(testgame.BankRules()).DerivedFields(); got != nil {
		t.Errorf("got %q, want none", got)
	}
}

// A configuration is a pointer to a value of the game's type.
func TestNewHeaderRefuses(t *testing.T) {
	g := lockstep.MustGame(testgame.BankRules())
	for name, config := range map[string]any{"nothing": nil, "a value": testgame.BankConfig{}, "another type": new(int), "a nil pointer": (*testgame.BankConfig)(nil)} {
		if _, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), config); err == nil {
			t.Errorf("%s is taken for a configuration", name)
		}
	}
	rules := testgame.BankRules()
	rules.New = func(_ *testgame.Bank, s *lockstep.Settings, c *testgame.BankConfig) error {
		if c.Start == 7 {
			panic("no start")
		}
		return fmt.Errorf("no start %d for %d players", c.Start, s.Players)
	}
	g = lockstep.MustGame(rules)
	_, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.BankConfig{Start: 8})
	if err == nil || err.Error() != "lockstep: bank: no start 8 for 2 players" {
		t.Errorf("got %v, want New's refusal", err)
	}
	_, err = g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.BankConfig{Start: 7})
	if fault := (*lockstep.PanicError)(nil); !errors.As(err, &fault) || fault.Where != "New" {
		t.Errorf("got %v, want a panic in New", err)
	}
}

// Only the seed, the players and the period of a tick reach the simulation: how a match is checked and played live changes no state.
func TestSettingsThatReachTheSimulation(t *testing.T) {
	type world struct{ Seen []uint64 }
	type none struct{}
	g := lockstep.MustGame(lockstep.Rules[world, none]{
		Name: "seen", Build: "1", Step: func(*world, *none, *lockstep.Turn) {},
		New: func(w *world, s *lockstep.Settings, _ *none) error {
			w.Seen = []uint64{s.Seed, uint64(s.Players), uint64(s.TickMicros), uint64(s.CheckEvery), uint64(s.KeyframeEvery)}
			if s.Relay {
				w.Seen = nil
			}
			return nil
		},
	})
	hash := func(change func(*lockstep.Settings)) uint64 {
		s := lockstep.DefaultSettings(2)
		change(&s)
		h, err := g.NewHeader(lockstep.MatchID{}, s, &none{})
		if err != nil {
			t.Fatal(err)
		}
		sim, err := g.NewSimulation(h)
		if err != nil {
			t.Fatal(err)
		}
		return sim.Hash()
	}
	usual := hash(func(*lockstep.Settings) {})
	for name, row := range map[string]struct {
		change  func(*lockstep.Settings)
		reaches bool
	}{
		"seed":           {func(s *lockstep.Settings) { s.Seed++ }, true},
		"players":        {func(s *lockstep.Settings) { s.Players++ }, true},
		"tick micros":    {func(s *lockstep.Settings) { s.TickMicros++ }, true},
		"check every":    {func(s *lockstep.Settings) { s.CheckEvery++ }, false},
		"keyframe every": {func(s *lockstep.Settings) { s.KeyframeEvery++ }, false},
		"relay":          {func(s *lockstep.Settings) { s.Relay = true }, false},
	} {
		if got := hash(row.change) != usual; got != row.reaches {
			t.Errorf("%s: changes the state: %v, want %v", name, got, row.reaches)
		}
	}
}
