package record

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/state"
)

// A Tick is one step of the simulation, and its unit of time. Frame t turns the state after tick t-1 into that after t; 0 is the beginning.
type Tick uint32

// MaxTick is the last possible tick of a match: 6.8 years at 20 ticks a second.
const MaxTick Tick = 1<<32 - 1 - 2*MaxInputDelay

// MaxInputDelay is the largest input delay, in ticks.
const MaxInputDelay = 250

// A Player is a seat of the match, 0 to [MaxPlayers]-1, or [System].
type Player uint8

const (
	// MaxPlayers is the largest number of seats a match can have.
	MaxPlayers = 250

	// System issues the coordinator's own commands: joins, leaves, pauses. It has the highest number, so they run last in every tick: a
	// player that leaves at tick t has commanded up to and including t, and one that joins at t commands from t+1 on.
	System Player = 255
)

// MarshalJSON writes a player as a number. Without it, a list of players would become a string of bytes.
func (p Player) MarshalJSON() ([]byte, error) { return strconv.AppendUint(nil, uint64(p), 10), nil }

// Name returns the player as people read it: "player 3", or "system".
func (p Player) Name() string {
	if p == System {
		return "system"
	}
	return "player " + strconv.Itoa(int(p))
}

// A Sequence numbers the commands of one player, from 1 upwards.
type Sequence uint32

// A CommandKind says which registered type a command's payload has. Kinds of [System] are the engine's (see [Joined]).
type CommandKind uint16

// A Command is what a player wants to happen at a tick. Commands run by (Tick, Player, Sequence); no two are equal in all three.
type Command struct {
	Tick     Tick
	Player   Player
	Sequence Sequence
	Kind     CommandKind

	// Payload is the canonical bytes of the registered type, see package state.
	Payload []byte

	// Value is the decoded payload, a pointer to the registered type. The engine sets it on the commands of a
	// [lockstep.Turn] and on those given to a game's Validate and Describe, and reuses its memory after the call.
	Value any
}

// Compare orders commands canonically: negative if a runs before b, zero only if both are the same command.
func Compare(a, b *Command) int {
	return cmp.Or(
		cmp.Compare(a.Tick, b.Tick),
		cmp.Compare(a.Player, b.Player),
		cmp.Compare(a.Sequence, b.Sequence),
	)
}

// A Frame is all commands of one tick, in canonical order.
type Frame struct {
	Tick     Tick
	Commands []Command

	Asked bool // of a Panic in Validate: the rules are asked about the commands before they run; false of each frame of a log
}

// Clone returns a copy that shares no memory with f. Its commands have no Value.
func (f *Frame) Clone() *Frame {
	c := &Frame{Tick: f.Tick, Commands: slices.Clone(f.Commands), Asked: f.Asked}
	for i := range c.Commands {
		c.Commands[i].Payload, c.Commands[i].Value = slices.Clone(c.Commands[i].Payload), nil
	}
	return c
}

// A CommandType is a kind of command: its number, its name for people, and the Go type of its payload. Make one with [Type].
type CommandType struct {
	Kind CommandKind
	Name string

	payload reflect.Type
	compile func() (*state.Schema, func() pool, error)
	limit   *CommandLimit // nil: none
}

// A CommandDescription is a [CommandType] as the log describes it.
type CommandDescription struct {
	Kind   CommandKind
	Name   string
	Schema []byte // the payload's description, see state.ParseSchema
}

// A CommandLimit allows a player N commands of a kind in every window of the time Per, which is match time: ticks at the full tick rate.
type CommandLimit struct {
	N   int
	Per Time
}

// Bounds of a [CommandLimit].
const (
	MaxLimit    = 1024          // the largest N, which bounds the memory for a player and a kind
	MaxLimitPer = 3600 * Second // the largest Per
	minLimitPer = Millisecond   // the shortest tick
)

// Limit returns the type with a limit: a player may issue at most n commands of this kind in any window of the time per, such as
// Limit(30, lockstep.Second). A match with longer ticks than per is refused. The window slides with the ticks in which the commands run. It
// belongs to the seat, so it outlives reconnects, recoveries and substitutes. Further commands are refused with the ticks to wait. Limits
// are no part of a game's identity.
func (t CommandType) Limit(n int, per Time) CommandType {
	t.limit = &CommandLimit{n, per}
	return t
}

func (l *CommandLimit) check() error {
	if l != nil && (l.N < 1 || l.N > MaxLimit || l.Per < minLimitPer || l.Per > MaxLimitPer) {
		return fmt.Errorf("limit: got %d in %d microseconds, want 1 to %d in %d, the shortest tick, to %d: write the unit, such as 200*lockstep.Millisecond",
			l.N, l.Per, MaxLimit, minLimitPer, MaxLimitPer)
	}
	return nil
}

// Type makes M the payload of commands of a kind. M is plain data, as package state describes it.
func Type[M any](kind CommandKind, name string) CommandType {
	return CommandType{Kind: kind, Name: name, payload: reflect.TypeFor[M](), compile: func() (*state.Schema, func() pool, error) {
		codec, err := state.Compile[M]()
		if err != nil {
			return nil, nil, err
		}
		return codec.Schema(), func() pool { return &poolOf[M]{codec: codec} }, nil
	}}
}

type kindEntry struct {
	CommandType
	schema  *state.Schema
	newPool func() pool
}

// kindList is sorted by kind.
type kindList []*kindEntry

// of returns the entry of a kind, or nil.
func (l kindList) of(kind CommandKind) *kindEntry {
	i := sort.Search(len(l), func(i int) bool { return l[i].Kind >= kind })
	if i == len(l) || l[i].Kind != kind {
		return nil
	}
	return l[i]
}

// Kinds are the compiled command types of a game. They are immutable and safe for concurrent use.
type Kinds struct {
	list   kindList
	byType map[reflect.Type]*kindEntry // only looked up, never ranged over
}

// Has reports whether a kind is registered.
func (k *Kinds) Has(kind CommandKind) bool { return k.list.of(kind) != nil }

// Limit returns the limit of a kind. Its N is 0 for none.
func (k *Kinds) Limit(kind CommandKind) CommandLimit {
	if e := k.list.of(kind); e != nil && e.limit != nil {
		return *e.limit
	}
	return CommandLimit{}
}

// Descriptions returns the command types as a header describes them, by ascending kind.
func (k *Kinds) Descriptions() []CommandDescription {
	all := make([]CommandDescription, 0, len(k.list))
	for _, e := range k.list {
		all = append(all, CommandDescription{e.Kind, e.Name, e.schema.AppendDescription(nil)})
	}
	return all
}

// CompileKinds compiles command types. A Go type registered for several kinds belongs to the lowest of them. An error names the command.
func CompileKinds(types []CommandType) (*Kinds, error) {
	//samestep:allow sort kinds are unique, which is checked below
	types = slices.SortedFunc(slices.Values(types), func(a, b CommandType) int { return cmp.Compare(a.Kind, b.Kind) })
	k := &Kinds{byType: make(map[reflect.Type]*kindEntry, len(types))}
	if len(types) > maxKinds {
		return nil, fmt.Errorf("got %d kinds of commands, want at most %d", len(types), maxKinds)
	}
	for _, t := range types {
		schema, newPool, err := t.compile()
		if err != nil {
			return nil, fmt.Errorf("command %d (%s): %w", t.Kind, t.Name, err)
		}
		if other := k.list.of(t.Kind); other != nil {
			return nil, fmt.Errorf("command kind %d is both %s and %s", t.Kind, other.Name, t.Name)
		}
		if i := slices.IndexFunc(k.list, func(e *kindEntry) bool { return e.Name == t.Name }); i >= 0 {
			return nil, fmt.Errorf("command kinds %d and %d are both %s", k.list[i].Kind, t.Kind, t.Name)
		}
		if err := CheckName("name", t.Name); err != nil {
			return nil, fmt.Errorf("command kind %d: %w", t.Kind, err)
		}
		if err := t.limit.check(); err != nil {
			return nil, fmt.Errorf("command %d (%s): %w", t.Kind, t.Name, err)
		}
		e := &kindEntry{t, schema, newPool}
		k.list = append(k.list, e)
		if k.byType[t.payload] == nil {
			k.byType[t.payload] = e
		}
	}
	return k, nil
}

// CheckName returns an error unless name can stand in a header.
func CheckName(what, name string) error {
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) {
		return fmt.Errorf("%s %q: want 1 to %d bytes of UTF-8", what, pack.Clip(name, MaxName), MaxName)
	}
	return nil
}

type pool interface {
	// decode returns a pointer to the value of canonical bytes, valid until reset.
	decode(canonical []byte) (any, error)
	// append appends the canonical bytes of a value, given by pointer.
	append(dst []byte, value any) []byte
	reset()
}

type poolOf[M any] struct {
	codec *state.Codec[M]
	items []*M
	used  int
}

// keepValue is the largest canonical size whose memory is reused. Otherwise a player could make the pool keep large values.
const keepValue = 4 << 10

func (p *poolOf[M]) decode(canonical []byte) (any, error) {
	if len(canonical) > keepValue {
		m := new(M)
		return m, p.codec.Decode(canonical, m)
	}
	if p.used == len(p.items) {
		p.items = append(p.items, new(M))
	}
	m := p.items[p.used]
	if err := p.codec.Decode(canonical, m); err != nil {
		return nil, err
	}
	p.used++
	return m, nil
}

func (p *poolOf[M]) append(dst []byte, value any) []byte { return p.codec.Append(dst, value.(*M)) }

func (p *poolOf[M]) reset() { p.used = 0 }

// TypeOf is [Type] for a payload whose Go type is not in this program. Its values are of type *[Untyped].
func TypeOf(kind CommandKind, name string, payload *state.Schema) CommandType {
	return CommandType{Kind: kind, Name: name, payload: reflect.TypeFor[Untyped](), compile: func() (*state.Schema, func() pool, error) {
		return payload, func() pool { return &untypedPool{kind: kind, schema: payload} }, nil
	}}
}

type untypedPool struct {
	kind   CommandKind
	schema *state.Schema
}

func (p *untypedPool) decode(canonical []byte) (any, error) {
	if err := p.schema.Validate(canonical); err != nil {
		return nil, err
	}
	return &Untyped{p.kind, append([]byte(nil), canonical...)}, nil
}

func (p *untypedPool) append(dst []byte, value any) []byte {
	return append(dst, value.(*Untyped).Canonical...)
}

func (p *untypedPool) reset() {}

// Untyped is a value in canonical bytes whose Go type is not in this program: a command, configuration or result of rules elsewhere.
type Untyped struct {
	Kind      CommandKind // of a command
	Canonical []byte
}

// Payloads turns payloads into values of their registered types and back, and reuses its memory. It belongs to one goroutine.
type Payloads struct {
	kinds *Kinds
	buf   []byte              // the last encoded payload
	pools map[*kindEntry]pool // only looked up, never ranged over
	used  []pool              // since the last reset
}

// NewPayloads returns the payload codec of these commands and of those of [System].
func (k *Kinds) NewPayloads() *Payloads {
	return &Payloads{kinds: k, pools: make(map[*kindEntry]pool)}
}

func (p *Payloads) pool(e *kindEntry) pool {
	q := p.pools[e]
	if q == nil {
		//samestep:allow unseen one of Type in this package
		q = e.newPool()
		p.pools[e] = q
	}
	return q
}

func (k *Kinds) entry(p Player, kind CommandKind) *kindEntry {
	if p == System {
		return systemKinds.of(kind)
	}
	return k.list.of(kind)
}

// Reset makes the memory of the decoded values available again.
func (p *Payloads) Reset() {
	for _, q := range p.used {
		q.reset()
	}
	p.used = p.used[:0]
}

// Decode sets c.Value to the decoded payload, a pointer that is valid until Reset. An error wraps [ErrUnknownKind] or [ErrMalformed].
func (p *Payloads) Decode(c *Command) error {
	if err := p.decode(c); err != nil {
		return fmt.Errorf("lockstep: %w", err)
	}
	return nil
}

func (p *Payloads) decode(c *Command) error {
	e := p.kinds.entry(c.Player, c.Kind)
	if e == nil {
		return fmt.Errorf("%w %d of %s", ErrUnknownKind, c.Kind, c.Player.Name())
	}
	if len(c.Payload) > MaxPayload {
		return fmt.Errorf("%s: %w: got %d bytes, want at most %d", e.Name, ErrMalformed, len(c.Payload), MaxPayload)
	}
	var err error
	q := p.pool(e)
	if c.Value, err = q.decode(c.Payload); err != nil {
		return fmt.Errorf("%s: %w", e.Name, malformed{err})
	}
	p.used = append(p.used, q)
	return nil
}

// Encode returns the kind and the canonical payload, valid until the next call, of a command given as a pointer to its registered type.
func (p *Payloads) Encode(value any) (CommandKind, []byte, error) {
	if u, ok := value.(*Untyped); ok && u != nil {
		b, err := p.EncodeAs(u.Kind, u)
		return u.Kind, b, err
	}
	t := reflect.TypeOf(value)
	if t == nil || t.Kind() != reflect.Pointer || p.kinds.byType[t.Elem()] == nil {
		return 0, nil, fmt.Errorf("lockstep: got a command of type %T, want a pointer to a registered type", value)
	}
	kind := p.kinds.byType[t.Elem()].Kind
	b, err := p.EncodeAs(kind, value)
	return kind, b, err
}

// EncodeAs is Encode for a type that is registered for several kinds.
func (p *Payloads) EncodeAs(kind CommandKind, value any) ([]byte, error) {
	e := p.kinds.list.of(kind)
	if e == nil || reflect.TypeOf(value) != reflect.PointerTo(e.payload) {
		return nil, fmt.Errorf("lockstep: got a command of kind %d and type %T, want a registered pair", kind, value)
	}
	if reflect.ValueOf(value).IsNil() {
		return nil, fmt.Errorf("lockstep: %s: got a nil %T, want a value", e.Name, value)
	}
	if u, ok := value.(*Untyped); ok {
		if err := e.schema.Validate(u.Canonical); err != nil {
			return nil, fmt.Errorf("lockstep: %s: %w", e.Name, err)
		}
	}
	b := p.encode(e, value)
	if len(b) > MaxPayload {
		return nil, fmt.Errorf("lockstep: %s: got a payload of %d bytes, want at most %d", e.Name, len(b), MaxPayload)
	}
	return b, nil
}

func (p *Payloads) encode(e *kindEntry, value any) []byte {
	p.buf = p.pool(e).append(p.buf[:0], value)
	return p.buf
}

// ReadJSON returns the command of a kind that a JSON object describes, as a pointer that is valid until Reset. A field that the object
// lacks is zero. An error wraps [ErrUnknownKind], or is that of [state.Schema.AppendJSON], which names the field.
func (p *Payloads) ReadJSON(kind CommandKind, text []byte) (any, error) {
	e := p.kinds.list.of(kind)
	if e == nil {
		return nil, fmt.Errorf("lockstep: %w %d", ErrUnknownKind, kind)
	}
	var err error
	if p.buf, err = e.schema.AppendJSON(p.buf[:0], nil, text, MaxPayload); err != nil {
		return nil, fmt.Errorf("lockstep: %s: %w", e.Name, err)
	}
	c := Command{Kind: kind, Payload: p.buf}
	err = p.Decode(&c)
	return c.Value, err
}

// EncodeSystem is Encode for a command of [System], such as a *Joined.
func (p *Payloads) EncodeSystem(value any) (CommandKind, []byte) {
	e := systemTypes[reflect.TypeOf(value).Elem()]
	return e.Kind, p.encode(e, value)
}

// The commands of [System]. They reach Step like any other command, as pointers to these types. A game may ignore them.
type (
	// Joined: from the next tick on Player can command.
	Joined struct{ Player Player }

	// Left: Player has given up the seat for good.
	Left struct{ Player Player }

	// Lost: Player's connection is gone and may come back.
	Lost struct{ Player Player }

	// TakenOver: a bot plays for Player from the next tick on. A later Joined gives the seat back.
	TakenOver struct{ Player Player }

	// Paused: no tick follows until the match is resumed. Player asked for it.
	Paused struct{ Player Player }

	// Resumed: the match goes on. Player asked for it.
	Resumed struct{ Player Player }

	// SpeedSet: from here on the match runs at Percent of its tick rate.
	SpeedSet struct{ Percent uint16 }

	// InputDelaySet: from here on a command runs Ticks after it is received.
	InputDelaySet struct{ Ticks uint16 }
)

// The kinds of the commands of System, numbered apart from the game's. The numbers are part of the log.
var systemKinds, systemTypes, systemDescriptions = mustCompileKinds(
	Type[Joined](1, "joined"),
	Type[Left](2, "left"),
	Type[Lost](3, "lost"),
	Type[TakenOver](4, "taken over"),
	Type[Paused](5, "paused"),
	Type[Resumed](6, "resumed"),
	Type[SpeedSet](7, "speed set"),
	Type[InputDelaySet](8, "input delay set"),
)

// SystemValue returns the value of a command of [System], such as a *Joined. The error wraps [ErrUnknownKind] or [ErrMalformed].
func SystemValue(c *Command) (any, error) {
	e := systemKinds.of(c.Kind)
	if c.Player != System || e == nil {
		return nil, fmt.Errorf("lockstep: %w %d of %s, want one of the system", ErrUnknownKind, c.Kind, c.Player.Name())
	}
	//samestep:allow unseen one of Type in this package
	v, err := e.newPool().decode(c.Payload)
	if err != nil {
		return nil, fmt.Errorf("lockstep: %s: %w", e.Name, malformed{err})
	}
	return v, nil
}

// SystemDescriptions returns the commands of [System], described as in a header.
func SystemDescriptions() []CommandDescription { return slices.Clone(systemDescriptions) }

func mustCompileKinds(types ...CommandType) (kindList, map[reflect.Type]*kindEntry, []CommandDescription) {
	k, err := CompileKinds(types)
	if err != nil {
		panic(err) // the types are above
	}
	return k.list, k.byType, k.Descriptions()
}

// Time is a moment on the caller's clock of any origin, or a duration, in microseconds. Earlier moments count as the last one given.
type Time int64

// Units of [Time].
const (
	Millisecond Time = 1000
	Second           = 1000 * Millisecond
)

// Milliseconds returns a duration in milliseconds, rounded down.
func (t Time) Milliseconds() int64 { return int64(t / Millisecond) }

// Limits of a match's speed, in percent of its tick rate.
const (
	MinSpeed = 10
	MaxSpeed = 1000
)

// CheckSpeed returns an error if a speed is out of its range.
func CheckSpeed(percent uint16) error {
	if percent < MinSpeed || percent > MaxSpeed {
		return fmt.Errorf("lockstep: speed: got %d percent, want %d to %d", percent, MinSpeed, MaxSpeed)
	}
	return nil
}

// CheckInputDelay returns an error if an input delay is out of its range.
func CheckInputDelay(ticks Tick) error {
	if ticks < 1 || ticks > MaxInputDelay {
		return fmt.Errorf("lockstep: input delay: got %d ticks, want 1 to %d", ticks, MaxInputDelay)
	}
	return nil
}
