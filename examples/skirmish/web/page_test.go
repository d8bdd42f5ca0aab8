//go:build !js && !wasip1

package web_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
)

func TestMain(m *testing.M) { browser.Main(m) }

// The page loads and starts its program without errors.
func TestPageLoads(t *testing.T) {
	s := newStage(t, setup{})
	b := browser.Open(t, s.URL)
	b.Until(`globalThis.samestep && document.getElementById("loading").hidden`)
}
