package state

import (
	"fmt"

	"github.com/cespare/xxhash/v2"
)

// description is a schema as plain data. Replays store its canonical form, so the strict decoder of states reads schemas
// too, and each schema has exactly one description.
type description struct {
	Nodes []describedNode // preorder
}

// maxDescriptionBytes is the size of the longest description within the limits.
const maxDescriptionBytes = countSize + MaxNodes*(1+1+4+countSize+MaxNameBytes)

var descriptions = MustCompile[description]()

// AppendDescription appends the description of s, which [ParseSchema] reads.
func (s *Schema) AppendDescription(dst []byte) []byte {
	d := description{Nodes: make([]describedNode, len(s.nodes))}
	for i := range s.nodes {
		n := &s.nodes[i]
		d.Nodes[i] = describedNode{Kind: n.kind, FractionBits: n.fraction, Count: uint32(n.count), Name: n.name}
	}
	//samestep:allow global a Codec never changes
	return descriptions.Append(dst, &d)
}

// ParseSchema reads a description. It accepts only what [Schema.AppendDescription] writes. The error wraps a
// [*DecodeError] for malformed bytes, or is a [*SchemaError] for a schema that is not allowed.
func ParseSchema(src []byte) (*Schema, error) {
	if len(src) > maxDescriptionBytes {
		return nil, &SchemaError{0, fmt.Sprintf("a description of %d bytes, at most %d are allowed", len(src), maxDescriptionBytes)}
	}
	var d description
	//samestep:allow global a Codec never changes
	if err := descriptions.Decode(src, &d); err != nil {
		return nil, fmt.Errorf("state: bad schema description: %w", err)
	}
	return newSchema(d.Nodes)
}

// Fingerprint computes the xxhash64 of the description. Equal schemas have equal fingerprints.
//
//samestep:allow unseen xxHash64 is the same function in assembly and in Go
func (s *Schema) Fingerprint() uint64 { return xxhash.Sum64(s.AppendDescription(nil)) }
