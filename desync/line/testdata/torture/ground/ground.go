// Package ground is a module that replace takes from a folder.
package ground

// Height returns the height at a place.
func Height(x int32) int32 {
	if x%7 == 3 {
		return 1
	}
	return 0
}
