package checksum

import (
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/state"
)

// Sum is the checksum of one state.
type Sum struct {
	Hash     uint64   // of the whole state, see the package comment
	Sections []uint64 // the sum of each section, in order
}

// hashPrefix begins the input of every state hash, so that no other xxhash64 has the same input.
const hashPrefix = "samestep root 1\n"

// Of sets dst to the sum of v. It reuses the memory of dst.Sections and allocates nothing more.
func Of[T any](dst *Sum, c *state.Codec[T], v *T) {
	var hash, section xxhash.Digest
	startHash(&hash)
	dst.Sections = dst.Sections[:0]
	for i := range c.Schema().NumSections() {
		section.Reset()
		size := c.WriteSection(&section, i, v)
		dst.add(&hash, size, section.Sum64())
	}
	dst.Hash = hash.Sum64()
}

// OfBytes sets dst to the sum of the state with canonical bytes b, which is the one that [Of] gives for the value. If b is
// not canonical, it returns a [*state.DecodeError] and leaves dst unchanged.
func OfBytes(dst *Sum, s *state.Schema, b []byte) error {
	var buf [64][]byte
	parts, err := s.Split(buf[:0], b)
	if err != nil {
		return err
	}
	var hash xxhash.Digest
	startHash(&hash)
	dst.Sections = dst.Sections[:0]
	for _, part := range parts {
		//samestep:allow unseen xxHash64 is the same function in assembly and in Go
		dst.add(&hash, len(part), xxhash.Sum64(part))
	}
	dst.Hash = hash.Sum64()
	return nil
}

// HashOf returns the hash of a state from the sums of its sections and their sizes in canonical bytes.
func HashOf(sizesBytes []int, sums []uint64) uint64 {
	var hash xxhash.Digest
	startHash(&hash)
	for i, sum := range sums {
		addHash(&hash, sizesBytes[i], sum)
	}
	return hash.Sum64()
}

func startHash(hash *xxhash.Digest) {
	hash.Reset()
	//samestep:allow unsafe the library reads the bytes of a string in place
	//samestep:allow unseen xxHash64 is the same function in assembly and in Go
	hash.WriteString(hashPrefix)
}

// add appends the sum of a section and adds the section to the hash.
func (s *Sum) add(hash *xxhash.Digest, sizeBytes int, sum uint64) {
	addHash(hash, sizeBytes, sum)
	s.Sections = append(s.Sections, sum)
}

func addHash(hash *xxhash.Digest, sizeBytes int, sum uint64) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], uint64(sizeBytes))
	binary.LittleEndian.PutUint64(b[8:], sum)
	//samestep:allow unseen xxHash64 is the same function in assembly and in Go
	hash.Write(b[:])
}

// Clone returns a sum that shares no memory with s.
func (s Sum) Clone() Sum { return Sum{s.Hash, slices.Clone(s.Sections)} }
