package lockstep

import (
	"fmt"
	"reflect"

	"github.com/seed-49bee653/samestep/state"
)

// A CommandType is a registered kind of command: its number in the log, its
// name for people, and the Go type of its payload. Make one with [Type].
type CommandType struct {
	Kind Kind
	Name string

	payload reflect.Type
	compile func() (*state.Schema, func() pool, error)
}

// Type registers M, plain data as package state describes it, as the payload
// of commands of a kind.
func Type[M any](kind Kind, name string) CommandType {
	return CommandType{kind, name, reflect.TypeFor[M](), func() (*state.Schema, func() pool, error) {
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

// compileKinds returns the entries of types by kind and by Go type. A Go type
// registered for several kinds is found by the first of them.
func compileKinds(types []CommandType) (map[Kind]*kindEntry, map[reflect.Type]*kindEntry, error) {
	byKind := make(map[Kind]*kindEntry, len(types)) // only looked up, never ranged over
	byType := make(map[reflect.Type]*kindEntry, len(types))
	if len(types) > maxKinds {
		return nil, nil, fmt.Errorf("got %d kinds of commands, want at most %d", len(types), maxKinds)
	}
	for _, t := range types {
		schema, newPool, err := t.compile()
		if err != nil {
			return nil, nil, fmt.Errorf("command %d (%s): %w", t.Kind, t.Name, err)
		}
		if other := byKind[t.Kind]; other != nil {
			return nil, nil, fmt.Errorf("command kind %d is both %s and %s", t.Kind, other.Name, t.Name)
		}
		if err := checkName("name", t.Name); err != nil {
			return nil, nil, fmt.Errorf("command kind %d: %w", t.Kind, err)
		}
		if err := checkDescription(schema); err != nil {
			return nil, nil, fmt.Errorf("command %d (%s): %w", t.Kind, t.Name, err)
		}
		e := &kindEntry{t, schema, newPool}
		byKind[t.Kind] = e
		if byType[t.payload] == nil {
			byType[t.payload] = e
		}
	}
	return byKind, byType, nil
}

// A pool makes values of one payload type and uses them again.
type pool interface {
	// decode returns a pointer to the value of canonical bytes, valid until reset.
	decode(canonical []byte) (any, error)
	// append appends the canonical bytes of a value given by pointer.
	append(dst []byte, value any) []byte
	reset()
}

type poolOf[M any] struct {
	codec *state.Codec[M]
	items []*M
	used  int
}

// keepValue is the canonical size up to which a value's memory is used again.
// A player who sends larger ones cannot make us keep many of them.
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
