package feed

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/seed-49bee653/samestep/state"
)

// MaxDescription limits the bytes of a plan's description.
const MaxDescription = 32 << 10

var errDescription = errors.New("feed: not the description of a plan")

// AppendDescription appends what a receiver needs to know of a plan, which [ParsePlan] reads: the description of the schema,
// and what the tags of the fields say of ids and steps.
func (p *Plan) AppendDescription(dst []byte) []byte {
	schema := p.schema.AppendDescription(nil)
	dst = append(binary.AppendUvarint(dst, uint64(len(schema))), schema...)
	dst = binary.AppendUvarint(dst, uint64(len(p.options)))
	for _, o := range p.options {
		dst = append(binary.AppendUvarint(dst, uint64(len(o.Path))), o.Path...)
		id := byte(0)
		if o.ID {
			id = 1
		}
		dst = append(dst, id, byte(o.Step))
	}
	return dst
}

// ParsePlan reads a description. It takes only what [Plan.AppendDescription] writes.
func ParsePlan(b []byte) (*Plan, error) {
	if len(b) > MaxDescription {
		return nil, errDescription
	}
	rest := b
	text := func() ([]byte, bool) {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > uint64(len(rest)-size) {
			return nil, false
		}
		one := rest[size : size+int(n)]
		rest = rest[size+int(n):]
		return one, true
	}
	description, ok := text()
	if !ok {
		return nil, errDescription
	}
	schema, err := state.ParseSchema(description)
	if err != nil {
		return nil, err
	}
	n, size := binary.Uvarint(rest)
	if size <= 0 || n > uint64(len(rest)) {
		return nil, errDescription
	}
	rest = rest[size:]
	var list []option
	for range n {
		path, ok := text()
		if !ok || len(rest) < 2 || rest[0] > 1 {
			return nil, errDescription
		}
		list = append(list, option{Path: string(path), ID: rest[0] == 1, Step: int8(rest[1]), Every: 1, Weight: 1})
		rest = rest[2:]
	}
	p, err := newPlan(schema, list)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(p.AppendDescription(nil), b) {
		return nil, errDescription
	}
	return p, nil
}
