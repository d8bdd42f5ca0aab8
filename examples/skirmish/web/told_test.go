//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// inGerman makes a tab's pages German.
const inGerman = `if (location.protocol === "http:") localStorage.setItem("samestep language", "de")`

// news waits until the news have a line.
func news(b *browser.Tab, text string) {
	b.T.Helper()
	b.Until(fmt.Sprintf(`[...document.querySelectorAll(".news li")].some((li) => li.textContent === %q)`, text))
}

// The German page says in German who joins, who is away, for whom the match waits, and why an order is refused. The page refuses one
// order, and the server another.
func TestMatchInGerman(t *testing.T) {
	testenv.Night(t)
	pace := host.Rate{N: int(40 * lockstep.Second), Per: 60 * lockstep.Second, Burst: int(40 * lockstep.Second)}
	s := newStage(t, setup{
		host: host.Options{Grace: 60 * lockstep.Second, Wait: host.WaitPolicy{Bound: 30 * lockstep.Second}, Rates: host.Rates{Pace: pace}},
		rules: func(r *lockstep.Rules[skirmish.World, skirmish.Config]) {
			r.View, r.ViewOf = lockstep.ViewType{}, nil
			r.Validate = func(*skirmish.World, *skirmish.Config, *lockstep.Command) error {
				return fmt.Errorf("%w: 30, a %v costs 50", skirmish.ErrPoor, skirmish.Soldier)
			}
		},
	})
	open := func(seat int) *browser.Tab {
		b := browser.Open(t, "about:blank")
		b.Before(inGerman)
		b.Before(silence)
		b.Do(chromedp.Navigate(fmt.Sprintf("%s/#/play/arena?token=token-of-player-%d", s.URL, seat)))
		b.Until(live)
		return b
	}
	b := open(0)
	other := open(1)
	news(b, "player-1 ist beigetreten")

	browser.Value[bool](b, `samestep.button("train:archer"), true`)
	news(b, "Das geht nur in einem fertigen Gebäude dieser Art: Kaserne")
	selectUnits(b, 0, int(skirmish.Worker))
	browser.Value[bool](b, `samestep.button("stop"), true`)
	news(b, "abgelehnt: Das kostet mehr, als du hast: 30; Kosten: 50 (Soldat)")
	b.Shot("refused")

	other.Agree(1)
	browser.Value[bool](other, `globalThis.silent = true`)
	b.Until(`/^Warte auf player-1, [1-9]\d* von [1-3]\d s$/.test(page.hud.banner.checkVisibility() && page.hud.banner.textContent)`)
	news(b, "Die Partie steht: Die Partie wartet auf Spieler, die hinterherhinken oder weg sind")
	b.Shot("waiting")
	browser.Value[bool](other, `speak()`)
	b.Until(`!page.state.link.held && !page.hud.banner.checkVisibility()`)
	other.Visit("#/")
	news(b, "player-1 ist weg: Die Verbindung brach ab")
	b.NeverDiffered()
}

// The page finds each sentence by its own row, whatever the values are, and leaves others as they are.
func TestSentencesAreTold(t *testing.T) {
	s := newStage(t, setup{})
	b := browser.Open(t, "about:blank")
	b.Before(inGerman)
	b.Do(chromedp.Navigate(s.URL))
	b.Until(`document.querySelector("#lobby h1")`)
	browser.Value[bool](b, `(async () => {
		const at = (name) => performance.getEntriesByType("resource").find((e) => e.name.endsWith("/" + name)).name;
		const { told } = await import(at("text.js")), { sentences, worded } = await import(at("sentences.js")), wrong = [];
		const filled = (text, player) => text.replace(/\{(\w+)\}/g, (_, name) => (name === "player" ? player : worded.includes(name) ? "Xyz" : "7"));
		for (const [english, german] of Object.entries({ ...sentences, "End of season": "End of season", constructor: "constructor" })) {
			const got = told(filled(english, "player 0")), want = filled(german, "Spieler 0");
			if (got !== want) wrong.push(english + ": got " + got + ", want " + want);
		}
		globalThis.wrong = wrong;
	})(), true`)
	b.Until(`globalThis.wrong`)
	for _, text := range browser.Value[[]string](b, `wrong`) {
		t.Error(text)
	}
}

// The commands of a replay are sentences with the names of the players, in the user's language.
func TestReplayInGerman(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	s.recorded("roster.ssr")
	for _, row := range []struct {
		before string
		want   []string
	}{
		{inGerman, []string{"bot 0 tritt bei", "ein Bot spielt für bot 1 weiter", "bot 2 geht endgültig", "bot 1 lässt bauen: Einheit 39, Kaserne, bei 4,27", "bot 0 bewegt Einheit 30 nach 6.875,54.25, danach"}},
		{"", []string{"bot 0 joins", "a bot takes over for bot 1", "bot 2 leaves for good", "bot 1 lets unit 39 build a barracks at 4,27", "bot 0 moves unit 30 to 6.875,54.25 afterwards"}},
	} {
		b := browser.Open(t, "about:blank")
		b.Before(row.before)
		b.Do(chromedp.Navigate(s.URL + "/#/replay/roster.ssr"))
		b.Until(browser.There)
		shown := browser.Value[[]string](b, `[...document.querySelectorAll(".commands span")].map((e) => e.textContent)`)
		for _, want := range row.want {
			if !slices.Contains(shown, want) {
				t.Errorf("got %q, want %q among them", shown, want)
			}
		}
	}
}
