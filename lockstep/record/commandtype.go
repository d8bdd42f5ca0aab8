package record

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/seed-49bee653/samestep/state"
)

// A CommandType is a registered kind of command: its number in the log, its name for people, and the Go type of its
// payload. Make one with [Type].
type CommandType struct {
	Kind CommandKind
	Name string

	payload reflect.Type
	compile func() (*state.Schema, func() pool, error)
	limit   *CommandLimit // nil: none
}

// A CommandLimit allows a player N commands of a kind in every window of the time Per, which is match time: ticks at the full
// tick rate.
type CommandLimit struct {
	N   int
	Per Time
}

// Bounds of a [CommandLimit].
const (
	MaxLimit    = 1024          // the largest N, which bounds the memory for a player and a kind
	MaxLimitPer = 3600 * Second // the largest Per
)

// Limit returns the type with a limit: a player may issue at most n commands of this kind in any window of the time per,
// such as Limit(30, lockstep.Second). The window slides with the ticks in which the commands run. It belongs to the seat,
// not to a connection, so it outlives reconnects, recoveries and substitutes. While the match is paused it stands
// still. Further commands are refused with the ticks to wait. Limits are no part of a game's identity.
func (t CommandType) Limit(n int, per Time) CommandType {
	t.limit = &CommandLimit{n, per}
	return t
}

// check refuses limits out of range.
func (l *CommandLimit) check() error {
	if l != nil && (l.N < 1 || l.N > MaxLimit || l.Per < 1 || l.Per > MaxLimitPer) {
		return fmt.Errorf("limit: got %d in %d microseconds, want 1 to %d in 1 to %d", l.N, l.Per, MaxLimit, MaxLimitPer)
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

// A kindEntry is a compiled CommandType.
type kindEntry struct {
	CommandType
	schema  *state.Schema
	newPool func() pool
}

// Kinds are the compiled command types of a game. They are immutable and safe for concurrent use.
type Kinds struct {
	list   []*kindEntry // by ascending kind
	byKind map[CommandKind]*kindEntry
	byType map[reflect.Type]*kindEntry
}

// Has reports whether a kind is registered.
func (k *Kinds) Has(kind CommandKind) bool { return k.byKind[kind] != nil }

// Limit returns the limit of a kind. Its N is 0 for none.
func (k *Kinds) Limit(kind CommandKind) CommandLimit {
	if e := k.byKind[kind]; e != nil && e.limit != nil {
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

// CompileKinds compiles command types. A Go type registered for several kinds belongs to the lowest of them. An error
// names the command.
func CompileKinds(types []CommandType) (*Kinds, error) {
	//samestep:allow sort kinds are unique, which is checked below
	types = slices.SortedFunc(slices.Values(types), func(a, b CommandType) int { return cmp.Compare(a.Kind, b.Kind) })
	k := &Kinds{
		byKind: make(map[CommandKind]*kindEntry, len(types)), // only looked up, never ranged over
		byType: make(map[reflect.Type]*kindEntry, len(types)),
	}
	if len(types) > maxKinds {
		return nil, fmt.Errorf("got %d kinds of commands, want at most %d", len(types), maxKinds)
	}
	for _, t := range types {
		schema, newPool, err := t.compile()
		if err != nil {
			return nil, fmt.Errorf("command %d (%s): %w", t.Kind, t.Name, err)
		}
		if other := k.byKind[t.Kind]; other != nil {
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
		k.byKind[t.Kind] = e
		if k.byType[t.payload] == nil {
			k.byType[t.payload] = e
		}
	}
	return k, nil
}

// A pool makes values of one payload type and reuses them.
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

// keepValue is the largest canonical size whose memory is reused. Otherwise a player could make the pool keep large
// values.
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
