package desync

import (
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

// fieldKind returns a path without indexes and IDs, and without the parts of a field: "Units[].Pos" for "Units[17].Pos.X".
func fieldKind(path string) string {
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

// kindsOf counts the fields in a list by the field of the schema.
func kindsOf(l []state.Difference) map[string]int {
	n := make(map[string]int)
	for i := range l {
		n[fieldKind(l[i].Path)]++
	}
	return n
}
