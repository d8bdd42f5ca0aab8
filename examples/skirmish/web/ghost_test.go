//go:build !js && !wasip1

package web_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// When the user has corrupted a unit, a ghost shows the match's unit until both are the same again.
func TestGhostOfTheMatch(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{checkEvery: 60})
	b := s.play(0)
	b.Agree(1)
	browser.Value[bool](b, `globalThis.ghosts = () => {
		const { words, effects } = page.renderer.frame, all = [];
		for (let i = effects.start; i < effects.end; i += 5) if ((words[i] & 255) === 16) all.push({ owner: (words[i] >> 8) & 255, match: words[i + 3], here: words[i + 4] });
		return all;
	}, true`)
	b.Until(`globalThis.ghosts().length === 0`)
	b.Click(`.menu button[title^="checksums"]`)
	b.Click(`#corrupt`)
	b.Until(`(([g]) => g && g.owner === 0 && g.match > 0 && g.here === (g.match ^ 1))(globalThis.ghosts())`) // one bit
	b.Shot("ghost")
	b.Shown(".report", "Compared at tick")
	b.Until(`page.state.desync.healed || (([g]) => g && g.here === (g.match ^ 1))(globalThis.ghosts())`) // now of the server's state
	b.Shot("compared")
	b.Shown(".report", "Repaired")
	b.Until(`globalThis.ghosts().length === 0`)
	b.Agree(1)
}
