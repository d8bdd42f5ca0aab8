//go:build !js && !wasip1

package web_test

import "testing"

// The page loads, starts its program, and has nothing to complain about.
func TestPageLoads(t *testing.T) {
	s := newStage(t, setup{})
	b := newTab(t, s.url)
	b.until(`document.getElementById("loading").hidden`)
}
