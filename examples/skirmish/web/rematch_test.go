//go:build !js && !wasip1

package web_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// A rematch without a server is a match on the same map, and Play now is another one.
func TestRematchAlone(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	b := browser.Open(t, s.URL)
	b.Click("#now")
	const playing = live + ` && samestep.request() && page.state.net.seat === 0 && page.hud.verdict.match === "Your match"`
	seed := func() string { return browser.Value[string](b, `JSON.parse(samestep.request()).seed`) }
	b.Until(playing)
	first := seed()
	for range 2 {
		b.Until(playing + ` && page.state.net.tick > 20`)
		browser.Value[bool](b, `page.hud.verdict.again.click(), true`)
		b.Until(playing + ` && page.state.net.tick < 20`)
		if again := seed(); again != first {
			t.Errorf("the rematch has the seed %s, want %s as before", again, first)
		}
	}
	b.Visit("#/")
	b.Click("#now")
	b.Until(playing)
	if other := seed(); other == first {
		t.Errorf("another match has the same seed %s", other)
	}
}
