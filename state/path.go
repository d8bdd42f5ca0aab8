package state

import "strconv"

// joinPath puts a field's name or an index in brackets behind a path.
func joinPath(path, step string) string {
	if path == "" || step == "" || step[0] == '[' {
		return path + step
	}
	return path + "." + step
}

// indexStep is the step of a path to element j.
func indexStep(j int) string { return "[" + strconv.Itoa(j) + "]" }
