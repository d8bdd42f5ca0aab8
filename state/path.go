package state

import "strconv"

// joinPath appends a field's name or an index in brackets to a path.
func joinPath(path, step string) string {
	if path == "" || step == "" || step[0] == '[' {
		return path + step
	}
	return path + "." + step
}

// indexStep returns the path step to element j.
func indexStep(j int) string { return "[" + strconv.Itoa(j) + "]" }
