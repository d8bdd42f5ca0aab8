//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/internal/site"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/page"
	pageprogram "github.com/seed-49bee653/samestep/page/program"

	"github.com/seed-49bee653/samestep/examples/skirmish/web"
	"github.com/seed-49bee653/samestep/lockstep"
)

// The lobby needs no program: it lists the matches and their players, and offers to play only where a seat is free. Its rows keep
// the focus and a press while it asks the server again. The user's own seat is offered to rejoin.
func TestLobby(t *testing.T) {
	s := newStage(t, setup{host: host.Options{Grace: 600 * lockstep.Second}})
	first := s.Seat(game, 0, func(*player.Client) {})
	<-first.Ready()
	first.Close()
	b := browser.Open(t, "about:blank")
	b.Before(`if (!sessionStorage.loads) WebAssembly.instantiateStreaming = () => new Promise(() => {})`)
	b.Do(chromedp.Navigate(s.URL))
	b.Shown("#lobby .cards", "1 of 2 seats taken")
	b.Shown("#lobby .people", "player-0 (away)")
	b.Shown(".creation [name=players] + *, .creation", "Players")
	b.Shot("without program")

	press := func(kind input.DispatchMouseEventType) {
		at := browser.Value[[]float64](b, `(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector("#lobby .cards button:last-child").getBoundingClientRect())`)
		b.Do(chromedp.MouseEvent(kind, at[0], at[1], chromedp.ButtonLeft, chromedp.ClickCount(1)))
	}
	browser.Value[bool](b, `document.querySelector("#lobby .cards button:last-child").scrollIntoView({ block: "center" }), true`)
	press(chromedp.MousePressed)
	browser.Value[bool](b, `globalThis.row = document.activeElement, globalThis.before = document.querySelector("#lobby .cards span").textContent, true`)
	b.Until(`document.querySelector("#lobby .cards span").textContent !== before`) // the clock of the match goes on
	if !browser.Value[bool](b, `row === document.activeElement && row.matches("#lobby .cards button")`) {
		t.Error("the button has lost the focus when the list was updated")
	}
	press(chromedp.MouseReleased)
	b.Until(`location.hash === "#/watch/arena"`)
	b.Shown("#loading", "Loading the game")
	b.Click(`#loading a`)

	s.bot(1)
	b.Until(`document.querySelector("#lobby .cards button").hidden`) // a player who is away still has the seat
	browser.Value[bool](b, `sessionStorage.loads = 1, true`)
	b.Do(chromedp.Navigate(s.URL + "/#/play/arena?token=token-of-player-0"))
	b.Do(chromedp.Reload())
	b.Until(live)
	b.Agree(1)
	b.Visit("#/")
	b.Shown("#lobby .cards button", "Rejoin")
	b.Shown("#lobby .people", "(you)")
	b.Click("#lobby .cards button")
	b.Until(live + " && page.state.net.seat === 0")
	b.NeverDiffered()
}

// A guest takes the name of the lobby, and another one during the match. The seat stays, and the lobby has the name.
func TestRename(t *testing.T) {
	s := newStage(t, setup{guests: true})
	b := browser.Open(t, s.URL)
	b.Shown("#lobby .cards", "0 of 2 seats taken")
	b.Do(chromedp.SendKeys(chromedp.CSS("#name"), "Ann"))
	b.Click("#lobby .cards button")
	b.Until(live + ` && page.state.seats[0]?.name === "Ann"`)
	b.Click("#game .menu span button")
	b.Shown("dialog.rename", "Rename")
	browser.Value[bool](b, `document.querySelector("dialog.rename input").value = "Bea", true`)
	b.Click("dialog.rename .main")
	b.Until(live + ` && page.state.net.seat === 0 && page.state.seats[0].name === "Bea" && page.state.seats.length === 1`)
	b.Agree(1)
	b.NeverDiffered()
	b.Visit("#/")
	b.Shown("#lobby .people", "Bea (you)")
}

// A match without a server connects to none, and nothing says that it does.
func TestPlayNowConnectsToNothing(t *testing.T) {
	s := newStage(t, setup{})
	b := browser.Open(t, s.URL)
	b.Until(`globalThis.samestep && globalThis.page`)
	browser.Value[bool](b, `(() => {
		const { banner } = page.hud, said = (globalThis.said = []);
		const look = () => {
			if (!page.root.hidden && banner.checkVisibility()) said.push(banner.textContent);
			if (document.querySelector(".countdown")?.textContent.startsWith("Your match begins")) globalThis.counted = true;
		};
		new MutationObserver(look).observe(banner, { attributes: true, childList: true, subtree: true, characterData: true });
		const next = () => (look(), requestAnimationFrame(next));
		return requestAnimationFrame(next), true;
	})()`)
	b.Click("#now")
	b.Until(live + ` && page.state.net.seat === 0 && globalThis.counted`)
	b.Agree(1)
	if said := browser.Value[[]string](b, `[...new Set(said)]`); len(said) > 0 {
		t.Errorf("the page says %q", said)
	}
}

// A player without a name is called by the colour, in the user's language.
func TestColourNames(t *testing.T) {
	s := newStage(t, setup{})
	b := browser.Open(t, "about:blank")
	b.Before(`if (location.protocol === "http:") localStorage.setItem("samestep language", "de")`)
	b.Do(chromedp.Navigate(s.URL + "/#/watch/arena"))
	b.Until(live)
	b.Shown("#game .scores", "Blau")
	b.Shown("#game .scores", "Rot")
}

// One click plays a match without a server: against a bot, after a countdown, also when the server cannot be reached. The page
// plays its replay. A new version of the page replaces the kept one as a whole.
func TestPlayWithoutServer(t *testing.T) {
	testenv.Long(t)
	browser.Needs(t)
	t.Parallel()
	old, err := program()
	if err != nil {
		t.Fatal(err)
	}
	files, err := site.Build(t.Context(), site.BuildOptions{Packages: programs, Quality: 5})
	if err != nil {
		t.Fatal(err)
	}
	next, err := site.NewWith(map[string][]byte{"games.json": pageprogram.List(), "version-of-tomorrow.js": []byte("// of another version")}, web.Page(), page.Parts(), files)
	if err != nil {
		t.Fatal(err)
	}
	var serves atomic.Pointer[site.Site] // nil: the server cannot be reached
	serves.Store(old)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := serves.Load()
		if now == nil {
			panic(http.ErrAbortHandler)
		}
		now.Over(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("[]")) })).ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b := browser.Open(t, server.URL, "ERR_", "Failed to load resource")
	b.Shown("#lobby .cards", "There are no matches")
	b.Until(`backdrop.renderer.drawn > 10`)
	b.Shot("landing")
	b.Until(`globalThis.kept || navigator.serviceWorker.ready.then(() => (globalThis.kept = true)) && globalThis.kept`)

	serves.Store(nil)
	b.Do(chromedp.Reload())
	b.Shown("#lobby [role=alert]", "Cannot load the list of matches")
	b.Click("#now")
	b.Shown(".countdown", "Your match begins")
	b.Until(live + ` && page.state.net.seat === 0 && page.state.seats.length === 2`)
	b.Agree(2)
	b.NeverDiffered()
	b.Shot("alone")
	if browser.Value[bool](b, `page.hud.verdict.update(page.state), page.hud.verdict.copy.hidden`) == false {
		t.Error("it offers a link to a match that nobody else has")
	}
	browser.Value[bool](b, `page.hud.verdict.update({ ...page.state, panel: { ...page.state.panel, winner: 1 } }), true`) // which keeps the replay
	b.Visit("#/")
	b.Click(`#lobby a[href^="#/replay/%3Asolo"]`)
	b.Until(`viewer.about?.last > 20`)

	serves.Store(next)
	browser.Value[bool](b, `performance.now = () => 1e9, true`) // minutes later
	b.Visit("#/")
	b.Shown("#lobby .good", "new version")
	before := browser.Value[string](b, `document.querySelector('meta[name="program"]').content`)
	b.Click("#lobby .good button")
	b.Until(`!document.querySelector("#lobby .good")?.checkVisibility() && globalThis.samestep && document.querySelector('meta[name="program"]').content !== ` + "`" + before + "`")
	if mixed := browser.Value[int](b, `new Set(performance.getEntriesByType("resource").map((e) => /\/page\/([0-9a-f]+)\//.exec(e.name)?.[1]).filter(Boolean)).size`); mixed != 1 {
		t.Errorf("the page has files of %d versions", mixed)
	}
	b.Click(`#lobby a[href^="#/replay/%3Asolo"]`) // of before the page was loaded again
	b.Until(`viewer.about?.last > 20 && viewer.playing`)
	browser.Value[bool](b, `localStorage.removeItem("samestep solo"), true`)
	b.Visit("#/")
	b.Visit("#/replay/:solo")
	b.Shown(`#viewer [role="alert"]`, "Your match cannot be loaded: this browser has kept none")
}

// While the program loads, the button of a match at once and the screen of a match show how much has arrived.
func TestLoadingIsShown(t *testing.T) {
	s := newStage(t, setup{})
	b := browser.Open(t, "about:blank")
	b.Before(`{
		const load = globalThis.fetch;
		globalThis.fetch = async (url, ...rest) => {
			if (!String(url).endsWith(".wasm")) return load(url, ...rest);
			const answer = await load(url, ...rest), bytes = new Uint8Array(await answer.arrayBuffer()), third = Math.floor(bytes.length / 3);
			const body = new ReadableStream({
				async start(controller) {
					controller.enqueue(bytes.subarray(0, third));
					await new Promise((resolve) => (globalThis.goOn = resolve));
					controller.enqueue(bytes.subarray(third));
					controller.close();
				},
			});
			return new Response(body, { headers: { "Content-Type": "application/wasm", "X-Decoded-Length": String(bytes.length) } });
		};
	}`)
	b.Do(chromedp.Navigate(s.URL))
	b.Until(`globalThis.goOn && Math.round(parseFloat(document.querySelector("#now i").style.width)) === 33`)
	b.Visit("#/watch/arena")
	b.Shown("#loading", "Loading the game: 33 %")
	browser.Value[bool](b, `goOn(), true`)
	b.Until(live)
	b.Until(`!document.querySelector("#loading").checkVisibility()`)
}

// The form of a match has the speed by its name or as a number, and the seed; the match has them.
func TestCreateWithSpeedAndSeed(t *testing.T) {
	s := newStage(t, setup{})
	b := browser.Open(t, s.URL)
	b.Until(`document.querySelector(".creation [name=tick_rate]")?.options.length === 3`)
	for _, row := range []struct {
		name, speed string
		rate        uint16
		seed        uint64
	}{
		{"fast", `form.elements.tick_rate.value = "30"`, 30, 123},
		{"odd", `number.value = "17"; number.dispatchEvent(new Event("input"))`, 17, 4294967295},
	} {
		browser.Value[bool](b, fmt.Sprintf(`((form, number) => {
			%s;
			Object.assign(form.elements.name, { value: %q }), Object.assign(form.elements.seed, { value: "%d" }), Object.assign(form.elements.token, { value: "token-of-the-admin" });
			form.elements.bots.value = "0";
			form.requestSubmit();
			return true;
		})(document.querySelector(".creation form"), document.querySelector(".creation [aria-label='Ticks a second']"))`, row.speed, row.name, row.seed))
		b.Until(fmt.Sprintf(live+` && page.hud.name === %q`, row.name))
		for _, m := range s.Server.Matches() {
			if v := m.Status(); v.Name == row.name && (v.Settings.TickRate() != row.rate || v.Settings.Seed != row.seed) {
				t.Errorf("%s: got %+v", row.name, v.Settings)
			}
		}
		b.Visit("#/")
	}
	if n := len(s.Server.Matches()); n != 3 {
		t.Errorf("got %d matches, want 3", n)
	}
}
