//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/examples/skirmish/maps"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	pageprogram "github.com/seed-49bee653/samestep/page/program"
)

// On a page without a server, the form begins a match in the page: on the chosen map, with the chosen speed, seed and number of
// bots of the chosen strength. The page loaded again, and a rematch, play the same match. Play now needs no form.
func TestCreateAlone(t *testing.T) {
	testenv.Night(t)
	browser.Needs(t)
	t.Parallel()
	files, err := program()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(files.Over(http.HandlerFunc(http.NotFound)))
	t.Cleanup(server.Close)
	listed := pageprogram.Game{Game: game, Bots: []string{"normal", "easy", "hard"}}
	for _, s := range maps.Scenarios() {
		listed.Scenarios = append(listed.Scenarios, pageprogram.Scenario{Name: s.Name, Players: s.Players})
	}
	b := browser.Open(t, "about:blank", "404")
	b.Before(fmt.Sprintf("{ const load = globalThis.fetch; globalThis.fetch = (url, ...rest) => /games/.test(url) ? Promise.resolve(new Response(`%s`)) : load(url, ...rest); }", pageprogram.List(listed)))
	b.Do(chromedp.Navigate(server.URL))
	b.Shown(".creation", "There is no server here")
	b.Until(`globalThis.samestep && !document.querySelector(".creation [name=bots]").checkVisibility()`)
	browser.Value[bool](b, `((form) => {
		const set = (name, value) => ((form.elements[name].value = value), form.elements[name].dispatchEvent(new Event("change")));
		set("scenario", "crossroads"); set("players", "3"); set("bot", "hard"); set("tick_rate", "30"); set("seed", "77");
		return true;
	})(document.querySelector(".creation form"))`)
	b.Shot("form")
	b.Click(".creation [type=submit]")
	const playing = live + ` && page.state.net.seat === 0 && page.state.seats.length === 3 && page.state.seats.filter((s) => s.presence === "bot").length === 2`
	request := func() string {
		t.Helper()
		b.Until(playing)
		return browser.Value[string](b, `(({ seed, tick_micros, players, config: { Map, Teams } }) => [seed, tick_micros, players, Teams, Map[0].Name].join())(JSON.parse(samestep.request()))`)
	}
	const want = "77,33333,3,3,crossroads.map"
	if got := request(); got != want {
		t.Errorf("got the match %s, want %s", got, want)
	}
	b.Until(playing + ` && page.state.net.tick > 20`)
	browser.Value[bool](b, `page.hud.verdict.again.click(), true`)
	b.Until(playing + ` && page.state.net.tick < 20`)
	if got := request(); got != want {
		t.Errorf("the rematch is %s, want %s", got, want)
	}
	b.Do(chromedp.Reload())
	if got := request(); got != want {
		t.Errorf("the page loaded again plays %s, want %s", got, want)
	}
	if hash := browser.Value[string](b, `location.hash`); hash != "#/now?players=3&tick_rate=30&seed=77&scenario=crossroads&bot=hard" {
		t.Errorf("got the address %s", hash)
	}
	b.Until(playing + ` && page.state.net.tick > 20`)
	b.NeverDiffered()
	browser.Value[bool](b, `page.hud.verdict.update({ ...page.state, panel: { ...page.state.panel, winner: 1 } }), true`) // which keeps the replay
	b.Visit("#/replay/:solo")
	b.Until(`globalThis.viewer?.about?.last > 10`)

	b.Visit("#/now?bot=perfect")
	b.Shown("#game", `bot: got "perfect", want easy, normal or hard`)
	b.Visit("#/")
	b.Click("#now")
	b.Until(live + ` && page.state.seats.length === 2`)
}
