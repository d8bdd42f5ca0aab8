// Package checksum computes a 64-bit hash of a state and a sum of each of its sections, and compares two of them.
//
// A section is a top-level field of the state. Its sum is the xxhash64 (seed 0) of its canonical bytes, as package
// state defines them. The state hash is the xxhash64 (seed 0) of
//
//	size  field
//	16    the ASCII bytes "samestep root 1\n"
//	16    for each section, in order: its size in canonical bytes as a little-endian u64, then its sum as another
//
// Sums are never mixed by XOR or addition: equal errors would cancel each other, and values could change places
// unnoticed. Everything is computed from canonical bytes, so a value and its snapshot have the same sum on every machine.
//
//	var sum checksum.Sum
//	checksum.Of(&sum, codec, &world)
//	fmt.Println(checksum.FormatHash(sum.Hash))
//
//samestep:deterministic
package checksum

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

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

// OfBytes sets dst to the sum of the state with canonical bytes b, as [Of]. Other bytes are a [*state.DecodeError], and dst is unchanged.
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

// Mismatch says where two sums differ.
type Mismatch struct {
	Section int    // index of the first section that differs; -1 if only the hashes differ, or if a sum lacks sections
	Name    string // of the section; "" if Section is -1
	A, B    uint64 // the sums of that section, or the hashes
}

// String returns the mismatch as "section Units: A != B" or "hash: A != B".
func (m Mismatch) String() string {
	name := "hash"
	if m.Section >= 0 {
		name = "section " + m.Name
	}
	return fmt.Sprintf("%s: %s != %s", name, FormatHash(m.A), FormatHash(m.B))
}

// Compare reports whether a and b are sums of equal states. m names the first section that differs, if both have the sections of s.
func Compare(a, b Sum, s *state.Schema) (m Mismatch, equal bool) {
	n := s.NumSections()
	if len(a.Sections) == n && len(b.Sections) == n {
		for i := range n {
			if a.Sections[i] != b.Sections[i] {
				return Mismatch{i, s.SectionName(i), a.Sections[i], b.Sections[i]}, false
			}
		}
	}
	if a.Hash != b.Hash {
		return Mismatch{-1, "", a.Hash, b.Hash}, false
	}
	return Mismatch{}, true
}

// ErrText means that a text is not 16 lower-case hexadecimal digits.
var ErrText = errors.New("checksum: want 16 lower-case hexadecimal digits")

// FormatHash returns a hash, or any 64-bit sum, as 16 hexadecimal digits.
func FormatHash(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// ParseHash reads what [FormatHash] returns, and nothing else. It returns [ErrText].
func ParseHash(text string) (uint64, error) {
	if len(text) != 16 {
		return 0, fmt.Errorf("%w, got %d bytes", ErrText, len(text))
	}
	hash, err := strconv.ParseUint(text, 16, 64)
	if err != nil || FormatHash(hash) != text {
		return 0, fmt.Errorf("%w, got %q", ErrText, text)
	}
	return hash, nil
}
