package checksum

import (
	"fmt"

	"github.com/seed-49bee653/samestep/state"
)

// Mismatch says where two sums differ.
type Mismatch struct {
	Section int    // the first section that differs; -1 if only the hashes do, or if a sum lacks sections
	Name    string // of the section; "" if Section is -1
	A, B    uint64 // the sums of that section, or the hashes
}

// String returns the mismatch as "section Units: A != B" or "root: A != B".
func (m Mismatch) String() string {
	name := "root"
	if m.Section >= 0 {
		name = "section " + m.Name
	}
	return fmt.Sprintf("%s: %s != %s", name, FormatHash(m.A), FormatHash(m.B))
}

// Compare reports whether a and b are sums of equal states of schema s, and if not, the first section that differs. A
// sum with another number of sections than s has is compared by its hash alone.
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
