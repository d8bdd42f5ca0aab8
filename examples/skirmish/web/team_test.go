//go:build !js && !wasip1

package web_test

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A player allies with another one, hides from spectators, and surrenders with the ally, by the buttons of a panel.
func TestTeamPanel(t *testing.T) {
	s := newStage(t, setup{players: 3})
	accepted, voted := false, false
	s.Seat(game, 1, func(c *player.Client) {
		w := lockstep.World[skirmish.World](c.Simulation())
		if w.Offers(0, 1) && !accepted {
			_, err := c.Submit(&skirmish.Accept{From: 0})
			accepted = err == nil
		}
		if votes, needed := w.Votes(0); votes == 1 && needed == 2 && !voted {
			_, err := c.Submit(&skirmish.Surrender{})
			voted = err == nil
		}
	})
	b := s.play(0)
	b.Click(`.menu button[title^="alliances"]`)
	b.Shown(".affairs .votes", "0 of 1 vote to surrender")
	b.Click(`.affairs [data-action="surrender"]`) // would be final, so it asks first
	b.Shown(".affairs .own", "Really surrender?")
	b.Click(`.affairs [data-action="permit"]`)
	b.Shown(".affairs .own", "Show to spectators")
	b.Click(`.affairs [data-action="propose:1"]`)
	b.Until(`document.querySelectorAll(".affairs .others li.ally").length === 1`)
	b.Shown(".affairs .votes", "0 of 2 votes")
	s.until("the players are allies", func(w *skirmish.World) bool {
		return w.Players[0].Team == w.Players[1].Team && w.Players[0].Secret && !w.Players[0].Resigns
	})
	b.Shot("team")
	eve := browser.Open(t, s.URL+"/#/watch/arena")
	eve.Until(live)
	eve.Shown(".hint", "You do not see what 2 of the players see")
	eve.Until(`page.state.panel.affairs === null && document.querySelector('.menu button[title^="alliances"]').hidden`)
	b.Click(`.affairs [data-action="surrender"]`)
	b.Shown(".victory", "Defeat")
	eve.Shown(".victory", "Team 3 has won")
	b.NeverDiffered()
	eve.NeverDiffered()
}

// A match without a server offers no vote and nothing about spectators, of which it has none. It can be given up.
func TestTeamPanelAlone(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	b := browser.Open(t, s.URL)
	b.Click("#now")
	b.Until(live + ` && page.state.net.seat === 0`)
	b.Click(`.menu button[title="surrender"]`)
	b.Shown(".affairs .own", "Surrender")
	if shown := browser.Value[string](b, `document.querySelector(".affairs").innerText`); strings.Contains(shown, "ote") || strings.Contains(shown, "pectator") {
		t.Errorf("the panel says %q", shown)
	}
	b.Shot("alone")
	b.Click(`.affairs [data-action="surrender"]`)
	b.Shown(".affairs .own", "Really surrender?")
	b.Click(`.affairs [data-action="surrender"]`)
	b.Shown(".victory", "Defeat")
}
