package checksum

import (
	"fmt"

	"github.com/seed-49bee653/samestep/state"
)

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

// Compare reports whether a and b are sums of equal states of schema s. If they differ, m names the first section that
// does. If a sum does not have exactly the sections of s, Compare looks at the hashes alone.
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
