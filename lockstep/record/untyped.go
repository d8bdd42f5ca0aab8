package record

import (
	"reflect"

	"github.com/seed-49bee653/samestep/state"
)

// TypeOf is [Type] for a payload whose Go type is not in this program. Its values are of type *[Untyped].
func TypeOf(kind CommandKind, name string, payload *state.Schema) CommandType {
	return CommandType{Kind: kind, Name: name, payload: reflect.TypeFor[Untyped](), compile: func() (*state.Schema, func() pool, error) {
		return payload, func() pool { return &untypedPool{kind: kind, schema: payload} }, nil
	}}
}

// An untypedPool makes values without a type. It reuses nothing.
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
