package locksteptest

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/internal/testing/reach"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// Options describe the match to play and how thoroughly to check it. Only Config may be required.
type Options struct {
	Config  any           // pointer to the game's configuration, which New must accept
	Players uint8         // number of seats; 0 means 4
	Ticks   lockstep.Tick // length of the match; 0 means that of a match of Play alone, at most 1000, and 200 without Play
	Span    lockstep.Tick // number of ticks to simulate from a restored state; 0 means to the end of the match
	Redo    lockstep.Tick // number of ticks to predict and then to compute again; 0 means 8
	Skip    []string      // phases to leave out, of those that the package comment lists after the first ones
	Seed    uint64        // of the match and of all randomness; 0 means 1
	Choices []byte        // random choices to use before those of Seed, from a fuzzer
	Rate    int           // mean number of random commands of a player in 16 ticks; 0 means 8

	// Weights are the relative frequencies of random commands by the name of their kind. A kind without one has 1, and 0
	// excludes a kind, such as one that ends the match.
	Weights map[string]int

	// AllowThin is the reason why the match proves enough although most of its commands do nothing. Without one, such a
	// match fails (see [ErrThin]).
	AllowThin string

	// Every is the interval in ticks at which a state is saved, restored, copied and joined; 0 means a tenth of Ticks. 1 is
	// the most thorough, and simulates Span ticks for each tick and phase.
	Every lockstep.Tick

	// Floor is the least that a match must reach. One below it fails, as one that is thin.
	Floor Floor

	// Changes is the mean number of times in 64 ticks that a player leaves, disconnects, is replaced by a bot or returns, or
	// that the match pauses or changes its speed; 0 means 2, and a negative number none.
	Changes int

	// Play returns the commands of p for the next tick, in addition to random ones: at most 128 pointers to registered
	// types. It reads s, and must depend on nothing else. Nil means none.
	Play func(p lockstep.Player, s *lockstep.Simulation) []any

	// Orders, unless nil, are all commands of the match, by ascending tick, in place of random ones and those of Play.
	Orders []Order

	// Render is called with views of the match, as a client's renderer is, and must only read them. Nil disables it.
	Render func(player.Interpolation)
}

// A Floor is the least that a match must reach, or that all matches of a verdict must reach together. A negative number asks for
// nothing, and 0 for the default.
type Floor struct {
	Ticks int // of one match; the default is 1

	// Kinds is the percentage of the kinds of commands, without those that Weights excludes, of which one must be accepted. The default is
	// 60 for matches together. In a match alone, one command must be accepted.
	Kinds int

	// Fields is the percentage of the state's fields that must change (see [Reached]). The default is 50 for matches together and for
	// a golden match, and 25 for a match alone.
	Fields int
}

// of returns the floor with the defaults of a match alone or of matches together.
func (f Floor) of(together bool) Floor {
	f.Ticks = cmp.Or(f.Ticks, 1)
	if together {
		f.Kinds, f.Fields = cmp.Or(f.Kinds, 60), cmp.Or(f.Fields, 50)
	}
	f.Fields = cmp.Or(f.Fields, 25)
	return f
}

// An Order is a command written down. For one of System, Value points to a lockstep.Joined (also for a return), Left, Lost,
// TakenOver, Paused, Resumed or SpeedSet, and the command comes before those of the players for its tick.
type Order struct {
	Tick   lockstep.Tick // the next tick to be sealed when the command is submitted
	Player lockstep.Player
	Kind   lockstep.Kind // 0: the kind of the type of Value
	Value  any           // a pointer to a registered type
}

const (
	unknown = 200   // ticks of a match without bots: nobody knows its usual length
	longest = 1000  // ticks of a match of bots, at most
	whole   = 20000 // ticks of a match of [Search] in full length, at most
)

func (o Options) filled() Options {
	o.Players = cmp.Or(o.Players, 4)
	o.Ticks = cmp.Or(o.Ticks, unknown)
	o.Every = cmp.Or(o.Every, max(o.Ticks/10, 1))
	o.Span = cmp.Or(o.Span, o.Ticks)
	o.Redo = cmp.Or(o.Redo, 8)
	o.Seed = cmp.Or(o.Seed, 1)
	o.Changes = cmp.Or(o.Changes, 2)
	o.Rate = cmp.Or(o.Rate, 8)
	return o
}

// A goCode is a literal of options in Go.
type goCode []string

func (c *goCode) add(set bool, format string, args ...any) {
	if set {
		*c = append(*c, fmt.Sprintf(format, args...))
	}
}

// line returns the options as Go code that plays the same match.
func (o Options) line() string {
	var c goCode
	c.add(o.Config != nil, "Config: %s", configCode(o.Config))
	c.add(true, "Players: %d, Ticks: %d, Every: %d, Span: %d, Redo: %d, Seed: %d, Rate: %d, Changes: %d",
		o.Players, o.Ticks, o.Every, o.Span, o.Redo, o.Seed, o.Rate, o.Changes)
	c.add(len(o.Skip) > 0, "Skip: %#v", o.Skip)
	c.add(len(o.Weights) > 0, "Weights: %#v", o.Weights)
	c.add(len(o.Choices) > 0, "Choices: []byte(%q)", o.Choices)
	c.add(o.Orders != nil, "Orders: (the %d of the test)", len(o.Orders))
	c.add(o.Play != nil, "Play: (that of the test)")
	c.add(o.Render != nil, "Render: (that of the test)")
	return "locksteptest.Options{" + strings.Join(c, ", ") + "}"
}

// checkName tells a check from others of a test.
func checkName(g *lockstep.Game, o Options) string { return g.Name() + " " + o.filled().line() }

// longConfig is the number of characters from which on a configuration is not written as Go code.
const longConfig = 1000

// configCode returns a configuration as Go code.
func configCode(config any) string {
	if config == nil {
		return ""
	}
	text, err := (&literals{}).of(config)
	if err != nil || len(text) > longConfig {
		return "(that of the test)" // it has no name there, or nobody would read it
	}
	return text
}

// PanicPhase is the phase of a failure that is no difference: the rules panic in the match that is played first.
const PanicPhase = "panic"

// Phases of which failures say more.
const (
	eachPhase     = "each"
	coldTwinPhase = "cold twin"
	outsidePhase  = "outside"
)

// A Failure tells where two computations of one match differ.
type Failure struct {
	Phase string        // as in the package comment
	From  lockstep.Tick // tick of the saved state, in phases that have one
	Tick  lockstep.Tick // the first tick at which they differ
	Field string        // the first field that differs; empty if Err is set
	Got   string        // its value in the phase
	Want  string        // its value in the match that was played first
	More  int           // number of other fields that differ
	Stale string        // in the phase "cold twin": the derived field at tick From that decides, and its values
	Under string        // in the phases "each" and "outside": what was another; without it, the match has the same result
	Err   error         // any other error, such as a panic

	Options Options // they play the same match again

	game   *lockstep.Game
	played []order // up to the failure
}

func (f *Failure) Error() string {
	if f.Phase == PanicPhase {
		return "locksteptest: the rules panic: " + f.Err.Error()
	}
	s := "locksteptest: " + f.Phase
	if f.From > 0 {
		s += fmt.Sprintf(" of tick %d", f.From)
	}
	s += fmt.Sprintf(": tick %d: ", f.Tick)
	if f.Under != "" {
		s += "with " + f.Under + ": "
	}
	switch {
	case f.Phase == coldTwinPhase:
		s += f.stale()
	case f.Err != nil:
		s += f.Err.Error()
	default:
		s += fmt.Sprintf("%s: got %s, want %s", f.Field, f.Got, f.Want)
	}
	if f.More > 0 {
		s += fmt.Sprintf(" (and %d more fields)", f.More)
	}
	return s
}

// Unwrap returns f.Err.
func (f *Failure) Unwrap() error { return f.Err }

// stale says what the failure of a cold twin means.
func (f *Failure) stale() string {
	s := "data outside of the state decides: a restored copy "
	if f.Stale != "" {
		s = "derived data is stale: a restored copy "
	}
	if f.Err != nil {
		s += "fails: " + f.Err.Error()
	} else {
		s += fmt.Sprintf("computes %s: got %s, want %s", f.Field, f.Got, f.Want)
	}
	if f.Stale != "" {
		s += fmt.Sprintf(", from the derived field %s", f.Stale)
	}
	return s
}

// section returns the name of the section of a field.
func section(path string) string {
	if end := strings.IndexAny(path, ".["); end >= 0 {
		return path[:end]
	}
	return path
}

type (
	// Reached says what some matches of one game did, so that a verdict on them says what it is worth.
	Reached = reach.Reached

	// Accepted is how many commands of a kind were accepted.
	Accepted = reach.Accepted
)

// ErrThin reports a match that proves too little: more than 80 % of its commands were refused or changed nothing. The error
// tells for each kind how many were refused and why, and the last tick with a command that changed something.
//
// Where bots play (Options.Play), refused commands do not count: bots carry the match, and random commands are added.
//
// A match that its rules end in its first fifth proves too little as well, and so does one of rules with views in which the phase
// answers compared none to a command of some kind. Matches of Options.Orders and Options.Choices, and others with
// less than 20 commands, are never thin.
var ErrThin = errors.New("the match proves too little")

// Check returns [ErrThin] if matches have reached less than the floor. They are those of a verdict together, or one alone. Of their
// options it needs Play, Weights and AllowThin.
func (f Floor) Check(r *Reached, o *Options, together bool) error {
	all := f.of(together).misses(r, o)
	if len(all) == 0 || o.AllowThin != "" {
		return nil
	}
	cure := "let bots play (Play)"
	if o.Play != nil {
		cure = "let the bots do more (Play)"
	}
	return fmt.Errorf("locksteptest: %w: %s\n\treached: %s\n%s, let more players play, play longer (Ticks: %d) if the rules do not end the match before, ask for less (Floor), or say why that is enough (AllowThin)",
		ErrThin, strings.Join(all, "; "), r, cure, 5*r.Longest)
}

// misses returns in words what is below the floor, or nothing.
func (f Floor) misses(r *Reached, o *Options) (all []string) {
	if int(r.Longest) < f.Ticks {
		all = append(all, fmt.Sprintf("got a match of %d ticks, want %d", r.Longest, f.Ticks))
	}
	var none []string
	asked := 0
	for _, k := range r.Accepted {
		if weight, ok := o.Weights[k.Kind]; ok && weight == 0 {
			continue
		}
		if asked++; k.N == 0 {
			none = append(none, k.Kind)
		}
	}
	switch {
	case f.Kinds >= 0 && r.Commands() == 0 && (asked > 0 || o.Play != nil && len(r.Accepted) > 0):
		all = append(all, "no command was accepted")
	case 100*(asked-len(none)) < f.Kinds*asked:
		all = append(all, fmt.Sprintf("commands of %d of %s were accepted, want %d %%: not %s", asked-len(none), words.Count(asked, "kind"), f.Kinds, reach.Names(none)))
	}
	if changed := r.Fields - len(r.Still); 100*changed < f.Fields*r.Fields {
		all = append(all, fmt.Sprintf("%d of %s of the state changed, want %d %%: not %s", changed, words.Count(r.Fields, "field"), f.Fields, reach.Names(r.Still)))
	}
	return all
}

// An order is a submitted command.
type order struct {
	tick     lockstep.Tick // the next tick to be sealed
	player   lockstep.Player
	sequence lockstep.Sequence
	kind     lockstep.Kind
	payload  []byte
	receipt  lockstep.Receipt
	system   any // the value of a command of System, which has no kind, payload and receipt
}

func (o *order) differs(got any) error {
	return fmt.Errorf("command %d of player %d, kind %d: got %v, want %v", o.sequence, o.player, o.kind, got, o.receipt)
}

// literals writes plain data as Go expressions, and collects the imports that they need.
type literals struct {
	own     string   // import path of the test, whose types need no package name
	imports []string // import paths
}

var errUnnamed = errors.New("has a type that this package cannot name")

// of returns an expression for a value: plain data, or a pointer to it.
func (l *literals) of(value any) (string, error) {
	v := reflect.ValueOf(value)
	if v.Kind() != reflect.Pointer {
		return l.value(v)
	}
	s, err := l.value(v.Elem())
	return "&" + s, err
}

func (l *literals) value(v reflect.Value) (string, error) {
	switch {
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), nil
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), nil
	case v.Kind() == reflect.String:
		return strconv.Quote(v.String()), nil
	case v.Kind() == reflect.Slice && v.Len() == 0:
		return "nil", nil
	}
	name, err := l.name(v.Type())
	if err != nil {
		return "", err
	}
	var parts []string
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() || v.Field(i).IsZero() {
				continue
			}
			s, err := l.value(v.Field(i))
			if err != nil {
				return "", err
			}
			parts = append(parts, field.Name+": "+s)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			s, err := l.value(v.Index(i))
			if err != nil {
				return "", err
			}
			parts = append(parts, s)
		}
	default:
		return "", fmt.Errorf("a value of type %s is not plain data", v.Type())
	}
	return name + "{" + strings.Join(parts, ", ") + "}", nil
}

// name returns the name of a type in the test's package.
func (l *literals) name(t reflect.Type) (string, error) {
	if t.Name() == "" {
		switch t.Kind() {
		case reflect.Slice:
			s, err := l.name(t.Elem())
			return "[]" + s, err
		case reflect.Array:
			s, err := l.name(t.Elem())
			return fmt.Sprintf("[%d]%s", t.Len(), s), err
		}
		return "", fmt.Errorf("%s %w", t, errUnnamed)
	}
	switch path := t.PkgPath(); {
	case path == "" || path == l.own:
		return t.Name(), nil
	case !token.IsExported(t.Name()) || strings.Contains(t.Name(), "["):
		return "", fmt.Errorf("%s %w", t, errUnnamed)
	default:
		l.add(path)
		return t.String(), nil
	}
}

func (l *literals) add(path string) {
	if !slices.Contains(l.imports, path) {
		l.imports = append(l.imports, path)
	}
}
