package state

import (
	"strconv"
	"strings"
)

// joinPath appends a field's name or an index in brackets to a path.
func joinPath(path, step string) string {
	if path == "" || step == "" || step[0] == '[' {
		return path + step
	}
	return path + "." + step
}

// indexStep returns the path step to element j.
func indexStep(j int) string { return "[" + strconv.Itoa(j) + "]" }

// isWithin reports whether a path is that of whole or of a part of it, both with indexes only.
func isWithin(path, whole string) bool {
	rest, ok := strings.CutPrefix(path, whole)
	return ok && (whole == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}
