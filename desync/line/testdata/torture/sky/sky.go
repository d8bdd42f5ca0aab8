// Package sky is a module of the workspace.
package sky

// Cloud returns what is above a place.
func Cloud(x int64) int64 {
	c := x * 3
	return c ^ 5
}
