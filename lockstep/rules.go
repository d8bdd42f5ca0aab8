package lockstep

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// The values of a game and its commands are those of the log. Package record documents them.
type (
	Tick          = record.Tick
	Player        = record.Player
	Sequence      = record.Sequence
	Kind          = record.CommandKind
	Command       = record.Command
	CommandType   = record.CommandType
	Frame         = record.Frame
	Header        = record.Header
	MatchID       = record.MatchID
	Settings      = record.Settings
	IdentityError = record.IdentityError
	Asset         = record.Asset
	Log           = record.Log
	Time          = record.Time
)

// Units of [Time].
const (
	Millisecond = record.Millisecond
	Second      = record.Second
)

// The commands of [System], see package record.
type (
	Joined        = record.Joined
	Left          = record.Left
	Lost          = record.Lost
	TakenOver     = record.TakenOver
	Paused        = record.Paused
	Resumed       = record.Resumed
	SpeedSet      = record.SpeedSet
	InputDelaySet = record.InputDelaySet
)

// Limits and names of the log.
const (
	System       = record.System       // issues the commands of the engine itself, see [record.System]
	MaxPlayers   = record.MaxPlayers   // the largest number of seats of a match
	MaxPayload   = record.MaxPayload   // the largest payload of a command, in bytes
	MaxStateSize = record.MaxStateSize // the largest state, in canonical bytes
)

// DefaultSettings returns settings with 20 ticks a second, a checksum every second, a keyframe every minute, and the seed 0: none.
func DefaultSettings(players uint8) Settings { return record.DefaultSettings(players) }

// TickPeriod returns the TickMicros of [Settings] for a number of ticks per second, 1 to 1000.
func TickPeriod(rate uint16) uint32 { return record.TickPeriod(rate) }

// Type returns the command type of kind, with payloads of type M. See [record.CommandType.Limit] for how often a player may issue it.
func Type[M any](kind Kind, name string) CommandType { return record.Type[M](kind, name) }

// Rules are written by a game author. S is the state and C the match configuration, both plain data as package state
// describes it. All results depend on the arguments alone (see the determinism contract in the package comment).
//
// Every function gets the match's configuration, which is in the header of the match. It is read-only, and neither part
// of a checksum nor of a keyframe: maps and balance belong there, not in the state.
type Rules[S, C any] struct {
	// Name identifies the game, and Build the version of its rules, which changes whenever the same commands may lead
	// to another state. Machines with different Name or Build never play together.
	Name  string
	Build string

	// Commands are the kinds of commands that players can issue.
	Commands []CommandType

	// Assets lists the files that a match with this configuration needs, such as its map: at most [record.MaxAssets], with different
	// names. Usually the configuration has them in a field. Nil if no match needs files.
	Assets func(config *C) []Asset

	// Load reads the contents of the assets, in the order of the list, into fields of config with the tag `state:"derived"`,
	// where the other functions find them. The engine has compared the contents with sizes and sums. They are read-only and stay
	// unchanged. An error rejects the configuration. A list that is empty needs no Load, so the fields stay zero. Want with Assets.
	Load func(config *C, contents [][]byte) error

	// New initializes *world, which is zero, to the state at tick 0. An error rejects the configuration. Of settings only the seed, the
	// players and the period of a tick reach the simulation: the others are 0.
	New func(world *S, settings *Settings, config *C) error

	// Step advances world by one tick. It must handle any well-formed commands, which were validated in an earlier state, and those of [System].
	// [Turn.Refuse] tells a player why one came to nothing.
	Step func(world *S, config *C, turn *Turn)

	// Derive rebuilds the fields with the tag `state:"derived"` after world was restored or copied. Nil if there are none.
	Derive func(world *S, config *C)

	// Validate returns an error, which its player sees, to refuse a command. It reads the state before the tick being
	// sealed, and changes nothing. Nil accepts every well-formed command, and so must rules with a View: an answer that depends
	// on the whole state tells what the view hides, so their View refuses commands.
	Validate func(world *S, config *C, command *Command) error

	// Result is the type of the results with which [Turn.End] ends a match, such as Result[Victory](). Without it the rules end none.
	Result ResultType

	// View makes what a viewer may see of a state, and refuses commands by it, such as View(fogged, refuse). Package feed sends it.
	View ViewType

	// ViewOf names whose view a player gets, such as that of its team, so that all of the team share one. Nil gives each player its own.
	ViewOf func(world *S, player Player) Viewer

	// Describe describes a command in words, for people. If it is nil or returns "", tools print the fields.
	Describe func(command *Command) string

	// SelfTest runs some computations of the kind that Step uses, such as fixed-point arithmetic, and returns a hash of
	// the results. It takes less than a millisecond, and runs once for each [NewGame]. A server rejects a client with
	// another result before the match (see [SelfTest]). Nil if the engine's own test covers everything.
	SelfTest func() uint64
}

// A Turn is the argument of Step: one tick and its commands. Step may read it and [Emit] events, and must not keep any of it.
type Turn struct {
	Tick     Tick
	Commands []Command // in canonical order, with Value set

	observed bool
	events   []any        // emitted by this Step, delivered when it has returned
	result   *resultCodec // nil if the rules have none
	ended    bool         // by this Step
	ending   []byte       // the result's canonical bytes

	refusals []refusal // of this Step, ascending by player and sequence

	drawing bool
	draws   []Draw // of this Step, delivered like events
	phase   string // the present one, while draws are observed

	phased   func(name string, sum *checksum.Sum)   // nil unless phases are observed; sum is nil if it is to be computed
	stepping func(t *Turn, phase string, over bool) // of a Follower's options, or nil

	flight *flight.Ring // of a Follower, or nil

	use   use
	loops any // an *each; nil before the first Each
}

// Phase marks the beginning of a part of Step, such as "combat". An observer (see [Simulation.ObservePhases]) gets the sum of the state at
// each mark, to tell in which part of a tick two states began to differ, and [FollowerOptions] have one that measures. Without one, it
// costs five comparisons.
func (t *Turn) Phase(name string) {
	if t.use != useStep {
		t.alone("Turn.Phase")
	}
	if t.phased != nil {
		t.phased(name, nil)
	}
	if t.drawing {
		t.phase = name
	}
	if t.stepping != nil {
		//samestep:allow unseen an observer, from which nothing comes back
		t.stepping(t, name, false)
	}
	if t.flight != nil {
		t.flight.Phase(name)
	}
}

// A Draw is one use of randomness that leaves no trace in the state, such as a number that depends only on a seed, an entity and the tick.
type Draw struct {
	Purpose string // in the game's words
	Entity  uint32 // the entity that uses it
	Phase   string // the part of Step that [Turn.Phase] has marked last; "" for none
}

// Drew reports a draw to an observer (see [Simulation.ObserveDraws]), which counts draws by purpose to find the cause of a desync, and to
// the flight record, which tells the phase and stream in which they began to differ. Without both, it costs two comparisons. The state
// tells the number of draws from a generator in it, but not their phases.
func (t *Turn) Drew(purpose string, entity uint32) {
	if t.use == useEach {
		t.usable("Turn.Drew")
	}
	if t.drawing {
		t.draws = append(t.draws, Draw{purpose, entity, t.phase})
	}
	if t.flight != nil {
		t.flight.Drew(purpose, entity)
	}
}

// Emit passes an event, such as an effect, a sound or a statistic, to the observer of the simulation. Each confirmed tick delivers its
// events once, after Step, in order of emission. Events are not part of the state, and the game cannot read them back. Without an
// observer, as on a server, Emit costs two comparisons and allocates nothing.
func Emit[E any](t *Turn, event E) {
	if t.use == useEach {
		t.usable("Emit")
	}
	if t.observed {
		t.events = append(t.events, event)
	}
}

// End ends the match with this tick: no tick follows, and its log ends with the result, a value of the type that [Rules] name or a pointer
// to one. Nil ends it without a result. A second call in a tick replaces the result of the first one.
//
// Every machine computes the end. That of the referee decides, and a machine that computes another one has a desync. A predicted end ends
// nothing. Without a referee the match goes on until its server ends it. End panics in a game whose Rules have no Result.
func (t *Turn) End(result any) {
	t.alone("Turn.End")
	if t.result == nil {
		panic("lockstep: Turn.End: the Rules of the game have no Result: want Result: lockstep.Result[T](), and in a test the Turn of a Simulation")
	}
	t.ending = t.result.append(t.ending[:0], result)
	if n := len(t.ending); n > record.MaxResult {
		panic(fmt.Sprintf("lockstep: Turn.End: got a result of %d bytes, want at most %d", n, record.MaxResult))
	}
	t.ended = true
}

// Refuse answers a command of this tick that Step does not carry out, such as the second of two purchases when there is money for one: its
// player reads the reason, as that of Validate. The command stays in the log. The answer is neither state nor checksum, the game cannot
// read it back, and [Simulation.Refused] has it until the next tick. What the player must not know has no place in the reason, of which
// at most [record.MaxNote] bytes are kept. A second reason replaces the first.
//
// Refuse panics in Each, and for a command that is not of this tick or is the engine's.
func (t *Turn) Refuse(c *Command, reason string) {
	t.alone("Turn.Refuse")
	if c.Player == System || !t.has(c) {
		panic(fmt.Sprintf("lockstep: Turn.Refuse: got command %d of %s, want a player's command of tick %d", c.Sequence, c.Player.Name(), t.Tick))
	}
	one := refusal{c.Player, c.Sequence, pack.Clip(reason, record.MaxNote)}
	if i, again := t.refusal(c); again {
		t.refusals[i] = one
	} else {
		t.refusals = slices.Insert(t.refusals, i, one)
	}
}

type refusal struct {
	player   Player
	sequence Sequence
	reason   string
}

// refusal returns the place of the refusal of a command, and whether there is one.
func (t *Turn) refusal(c *Command) (place int, refused bool) {
	return slices.BinarySearchFunc(t.refusals, c, func(r refusal, c *Command) int {
		return cmp.Or(cmp.Compare(r.player, c.Player), cmp.Compare(r.sequence, c.Sequence))
	})
}

// has reports whether a command is one of the tick.
func (t *Turn) has(c *Command) bool {
	same := func(o Command) bool { return o.Player == c.Player && o.Sequence == c.Sequence }
	i, _ := slices.BinarySearchFunc(t.Commands, c, func(o Command, c *Command) int { return record.Compare(&o, c) })
	return i < len(t.Commands) && same(t.Commands[i]) || slices.ContainsFunc(t.Commands, same) // in any order: StepInOrderGiven
}

func (t *Turn) forgetRefusals() {
	clear(t.refusals) // for the garbage collector
	t.refusals = t.refusals[:0]
}

func (t *Turn) noEnd() { t.ended, t.ending = false, t.ending[:0] }

// A use says whose a Turn is.
type use uint8

const (
	useStep    use = iota
	useEach        // of Step while an Each runs: nobody may use it
	useElement     // of an element
)

// usable panics in an element that uses the Turn of Step: it would depend on the order of the elements.
func (t *Turn) usable(what string) {
	if t.use == useEach {
		panic("lockstep: " + what + " with the Turn of Step in Turn.Each: want that of the element")
	}
}

// alone panics in an element.
func (t *Turn) alone(what string) {
	t.usable(what)
	if t.use == useElement {
		panic("lockstep: " + what + " in Turn.Each: want it before or after")
	}
}

// A ResultType is the type of the result with which the rules of a game end a match. Make one with [Result].
type ResultType struct {
	compile func() (*resultCodec, error)
}

// Result makes R, plain data of at most [record.MaxResult] canonical bytes, the type of a game's results; struct{} is for no result.
func Result[R any]() ResultType {
	return ResultType{func() (*resultCodec, error) {
		codec, err := state.Compile[R]()
		if err != nil {
			return nil, err
		}
		c := &resultCodec{schema: codec.Schema()}
		c.append = func(dst []byte, result any) []byte {
			switch r := result.(type) {
			case nil:
				return dst
			case *R:
				return codec.Append(dst, r)
			case R:
				return codec.Append(dst, &r)
			}
			panic(fmt.Sprintf("lockstep: Turn.End: got a result of type %T, want one of type %T, or nil", result, *new(R)))
		}
		c.decode = func(b []byte) (any, error) {
			r := new(R)
			return r, codec.Decode(b, r)
		}
		return c, nil
	}}
}

type resultCodec struct {
	schema *state.Schema
	append func(dst []byte, result any) []byte
	decode func(b []byte) (any, error)
}

func (c *resultCodec) description() []byte {
	if c == nil {
		return nil
	}
	return c.schema.AppendDescription(nil)
}

func (c *resultCodec) difference(got, want []byte) string {
	if len(got) == 0 || len(want) == 0 {
		return fmt.Sprintf("got %d bytes, want %d", len(got), len(want))
	}
	found, err := c.schema.Diff(got, want, 1)
	if err != nil || len(found.List) == 0 {
		return fmt.Sprintf("got %x, want %x", got, want)
	}
	d := found.List[0]
	return fmt.Sprintf("%s: got %s, want %s", d.Path, d.A, d.B)
}

// A Viewer is for whom a view is made. Its text is "player:1", "team:0", "spectator", or "role:" and a name that the game knows.
type Viewer struct {
	As     viewerKind
	Number uint8  // of the player or the team
	Role   string // with AsRole
}

// A viewerKind says what a [Viewer] is.
type viewerKind uint8

// The kinds of viewers.
const (
	AsSpectator viewerKind = iota
	AsPlayer
	AsTeam
	AsRole
)

// ParseViewer reads the text of a viewer.
func ParseViewer(text string) (Viewer, error) {
	kind, rest, _ := strings.Cut(text, ":")
	number, err := strconv.ParseUint(rest, 10, 8)
	switch {
	case text == "spectator":
		return Viewer{}, nil
	case kind == "player" && err == nil:
		return Viewer{As: AsPlayer, Number: uint8(number)}, nil
	case kind == "team" && err == nil:
		return Viewer{As: AsTeam, Number: uint8(number)}, nil
	case kind == "role" && rest != "" && len(rest) <= 64:
		return Viewer{As: AsRole, Role: rest}, nil
	}
	return Viewer{}, fmt.Errorf("got the viewer %q, want player:N, team:N, spectator or role:NAME", text)
}

// String returns the text of the viewer.
func (v Viewer) String() string {
	switch v.As {
	case AsPlayer:
		return fmt.Sprintf("player:%d", v.Number)
	case AsTeam:
		return fmt.Sprintf("team:%d", v.Number)
	case AsRole:
		return "role:" + v.Role
	}
	return "spectator"
}

// A ViewType is what viewers of a match may see. Make one with [View].
type ViewType struct {
	compile func() (*viewCodec, error)
}

// View makes V, which is plain data, the type of a game's views. see sets *view, which is zero except for the memory of its slices, to
// what a viewer may see of a world. It depends on nothing else. The error refuses a viewer.
//
// refuse returns an error, which the command's player sees, to refuse a command. view is what the player may see of the state before the
// tick being sealed. It depends on its arguments alone and changes neither, so no answer tells what a view hides. Step must let a command
// fail quietly for any other reason, unless what it says with [Turn.Refuse] is no secret. Nil accepts every well-formed command; so does a player's lack of a view.
func View[S, C, V any](see func(world *S, config *C, viewer Viewer, view *V) error, refuse func(view *V, command *Command) error) ViewType {
	return ViewType{func() (*viewCodec, error) {
		codec, err := state.Compile[V]()
		if err != nil {
			return nil, err
		}
		c := &viewCodec{
			decode: func(b []byte, v any) error { return codec.Decode(b, v.(*V)) },
			schema: codec.Schema(), tags: state.Tags(reflect.TypeFor[V](), "feed"), of: reflect.TypeFor[V](), world: reflect.TypeFor[S](), config: reflect.TypeFor[C](),
			maker: func() func(world, config any, viewer Viewer, dst []byte) ([]byte, error) {
				v := new(V)
				return func(world, config any, viewer Viewer, dst []byte) ([]byte, error) {
					*v = *new(V)
					if err := see(world.(*S), config.(*C), viewer, v); err != nil {
						return dst, err
					}
					return codec.Append(dst, v), nil
				}
			},
		}
		if refuse != nil {
			c.read = func(b []byte) (any, error) { v := new(V); return v, codec.Decode(b, v) }
			c.refuse = func(view any, command *Command) error { return refuse(view.(*V), command) }
		}
		return c, nil
	}}
}

type viewCodec struct {
	schema            *state.Schema
	tags              []state.Tag // how fields are sent
	of, world, config reflect.Type
	decode            func(b []byte, v any) error
	maker             func() func(world, config any, viewer Viewer, dst []byte) ([]byte, error)
	read              func(b []byte) (view any, err error)
	refuse            func(view any, c *Command) error // nil if the rules refuse no command
}

func compileView[S, C any](t ViewType) (*viewCodec, error) {
	if t.compile == nil {
		return nil, nil
	}
	c, err := t.compile()
	if err != nil {
		return nil, err
	}
	if c.world != reflect.TypeFor[S]() || c.config != reflect.TypeFor[C]() {
		return nil, fmt.Errorf("it is made from %v and %v, want %v and %v", c.world, c.config, reflect.TypeFor[S](), reflect.TypeFor[C]())
	}
	return c, nil
}

// glimpses are what players see of a state, for their commands of one tick.
type glimpses struct {
	list []glimpse
	buf  []byte // scratch
}

type glimpse struct {
	viewer Viewer
	view   any // nil: the viewer gets none
}

// of returns what a viewer sees, or nil. make makes the bytes of its view, once. The view is read from these, so a view of which a
// field is derived, or shares memory with the state, tells no more than it shows.
func (g *glimpses) of(viewer Viewer, codec *viewCodec, make func(dst []byte, viewer Viewer) ([]byte, error)) any {
	for i := range g.list {
		if g.list[i].viewer == viewer {
			return g.list[i].view
		}
	}
	one := glimpse{viewer: viewer}
	var err error
	if g.buf, err = make(g.buf[:0], viewer); err == nil {
		if one.view, err = codec.read(g.buf); err != nil {
			panic(err) // a codec reads what it has written
		}
	}
	g.list = append(g.list, one)
	return one.view
}

func (g *glimpses) forget() {
	clear(g.list) // for the garbage collector
	g.list = g.list[:0]
}
