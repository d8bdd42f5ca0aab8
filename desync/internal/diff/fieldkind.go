package diff

import (
	"encoding/binary"
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

// Kind returns a path without indexes and IDs, and without the parts of a field: "Units[].Pos" for "Units[17].Pos.X".
func Kind(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		b.WriteByte(path[i])
		if path[i] == '[' {
			for i+1 < len(path) && path[i+1] != ']' {
				i++
			}
		}
	}
	return groupOf(b.String())
}

// groupOf returns the field of an element, or of a section, that contains a field of the schema: "Units[].Pos" for
// "Units[].Pos.X".
func groupOf(node string) string {
	list, field, ok := strings.Cut(node, "[].")
	if !ok {
		return node
	}
	field, _, _ = strings.Cut(field, ".")
	return list + "[]." + field
}

// Kinds counts the fields in a list by the field of the schema.
func Kinds(l []state.Difference) map[string]int {
	n := make(map[string]int)
	for i := range l {
		n[Kind(l[i].Path)]++
	}
	return n
}

// FoldedPath divides a path such as "Units[17].Pos.X" into its section, its list element, if any, and the rest.
func FoldedPath(path string) (section, element, name string) {
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		return path, "", path
	}
	section = path[:end]
	if open := strings.IndexByte(path, '['); open >= 0 {
		end := open + strings.IndexByte(path[open:], ']') + 1
		if rest := strings.TrimPrefix(path[end:], "."); rest != "" {
			return section, path[:end], rest
		}
		return section, "", path[len(section):]
	}
	return section, "", path[end+1:]
}

// Number returns the canonical bytes of an integer or a bool as a number.
func Number(b []byte) uint64 {
	var whole [8]byte
	copy(whole[:], b)
	return binary.LittleEndian.Uint64(whole[:])
}

// SetNumber sets canonical bytes to the low bytes of a number.
func SetNumber(b []byte, n uint64) {
	var whole [8]byte
	binary.LittleEndian.PutUint64(whole[:], n)
	copy(b, whole[:])
}
