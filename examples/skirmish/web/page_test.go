//go:build !js && !wasip1

package web_test

import "testing"

// The page loads and starts its program without errors.
func TestPageLoads(t *testing.T) {
	s := newStage(t, setup{})
	b := newTab(t, s.url)
	b.until(`document.getElementById("loading").hidden`)
}
