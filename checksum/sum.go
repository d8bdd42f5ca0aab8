package checksum

import (
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/state"
)

// Sum is the checksum of one state.
type Sum struct {
	Root     uint64   // of the whole state
	Sections []uint64 // of each section, in order
}

// rootPrefix begins the bytes that a root is the hash of, so that it is never the hash of anything else.
const rootPrefix = "samestep root 1\n"

// Of sets dst to the sum of v. It reuses the memory of dst.Sections and allocates nothing else.
func Of[T any](dst *Sum, c *state.Codec[T], v *T) {
	var root, section xxhash.Digest
	startRoot(&root)
	dst.Sections = dst.Sections[:0]
	for i := range c.Schema().NumSections() {
		section.Reset()
		size := c.WriteSection(&section, i, v)
		dst.add(&root, size, section.Sum64())
	}
	dst.Root = root.Sum64()
}

// OfBytes sets dst to the sum of the state whose canonical bytes are b: the same that [Of] gives for the value. It
// returns a [*state.DecodeError] if b is not in canonical form, and leaves dst as it is.
func OfBytes(dst *Sum, s *state.Schema, b []byte) error {
	var buf [64][]byte
	parts, err := s.Split(buf[:0], b)
	if err != nil {
		return err
	}
	var root xxhash.Digest
	startRoot(&root)
	dst.Sections = dst.Sections[:0]
	for _, part := range parts {
		//samestep:allow unseen xxHash64 is the same function in assembly and in Go
		dst.add(&root, len(part), xxhash.Sum64(part))
	}
	dst.Root = root.Sum64()
	return nil
}

// RootOf returns the root of a state whose sections have these sizes in canonical bytes, and these sums.
func RootOf(sizesBytes []int, sums []uint64) uint64 {
	var root xxhash.Digest
	startRoot(&root)
	for i, sum := range sums {
		addRoot(&root, sizesBytes[i], sum)
	}
	return root.Sum64()
}

func startRoot(root *xxhash.Digest) {
	root.Reset()
	//samestep:allow unsafe the library reads the bytes of a string in place
	//samestep:allow unseen xxHash64 is the same function in assembly and in Go
	root.WriteString(rootPrefix)
}

// add appends a section and writes its size and sum to the root.
func (s *Sum) add(root *xxhash.Digest, sizeBytes int, sum uint64) {
	addRoot(root, sizeBytes, sum)
	s.Sections = append(s.Sections, sum)
}

func addRoot(root *xxhash.Digest, sizeBytes int, sum uint64) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], uint64(sizeBytes))
	binary.LittleEndian.PutUint64(b[8:], sum)
	//samestep:allow unseen xxHash64 is the same function in assembly and in Go
	root.Write(b[:])
}

// Clone returns a sum that shares no memory with s.
func (s Sum) Clone() Sum { return Sum{s.Root, slices.Clone(s.Sections)} }
