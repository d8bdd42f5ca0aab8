//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// On a tablet with the names of sixteen players above the map, the panels and the banner are below the names. A chat
// message is on one line.
func TestBarsOnTablet(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{players: 16, units: 320})
	b := browser.Open(t, s.URL+"/#/play/arena?token=token-of-player-0", "WebSocket connection to")
	b.Until(live)
	browser.Value[bool](b, `new MutationObserver((changes) => { // lines do not stay for long
		for (const change of changes) for (const line of change.addedNodes) if (line.matches(".chat")) globalThis.said = line.innerText;
	}).observe(document.querySelector(".news"), { childList: true }), true`)
	b.Do(chromedp.EmulateViewport(820, 1180, chromedp.EmulateTouch, chromedp.EmulatePortrait))
	b.Click(`.menu button[title^="checksums"]`)
	const below = `(e => e.checkVisibility() && e.getBoundingClientRect().top >= document.querySelector(".top").getBoundingClientRect().bottom)`
	b.Until(`document.querySelectorAll(".scores details .score").length === 12`) // the names do not fit into one line
	b.Until(below + `(document.querySelector(".side.checks"))`)
	b.Until(`page.covered.above === document.querySelector(".top").offsetHeight`)
	b.Click(`.menu button[title^="chat"]`)
	b.Keys("hello there\r")
	b.Until(`/^(player-0|Blue) hello there$/.test(globalThis.said)`) // the name is not known if it came before the state
	b.Shot("tablet")
	s.Closed.Store(true)
	s.Cut()
	b.Shown(".banner", "Disconnected")
	b.Until(below + `(document.querySelector(".banner"))`)
	s.Closed.Store(false)
	b.Until(live + ` && page.state.link.losses > 0`)
	b.NeverDiffered()
}

// While a match is on hold, the banner says why.
func TestHeldIsShown(t *testing.T) {
	s := newStage(t, setup{})
	b := s.play(0)
	b.Until(`page.state.seats.some((seat) => seat.name === "player-0")`) // it can come after the first state
	for _, row := range []struct{ held, says string }{
		{"the disk is full", "The match is on hold: the disk is full, 4 s of 6"},
		{"", ""},
	} {
		says := browser.Value[string](b, fmt.Sprintf(`(() => {
			page.hud.update({ ...page.state, lines: [], link: { ...page.state.link, held: %q, hold: "server", held_for: [0], since_ms: 4200, until_ms: 2100, losses: 1 } }, page.renderer);
			return page.hud.banner.checkVisibility() ? page.hud.banner.textContent : "";
		})()`, row.held))
		if says != row.says {
			t.Errorf("held by %q: the page says %q, want %q", row.held, says, row.says)
		}
	}
}

// silence holds back what comes from the server while globalThis.silent is true, until speak is called.
const silence = `(() => {
	const { addEventListener } = WebSocket.prototype, late = [];
	WebSocket.prototype.addEventListener = function (name, f, ...rest) {
		addEventListener.call(this, name, name === "message" ? (e) => (globalThis.silent ? late.push(() => this.readyState === WebSocket.OPEN && f(e)) : f(e)) : f, ...rest);
	};
	globalThis.speak = () => ((globalThis.silent = false), late.splice(0).forEach((f) => f()), true);
})()`

// When nothing comes from the server, the page says so at once, and for how long; when it comes, all is well again.
func TestStallIsShown(t *testing.T) {
	s := newStage(t, setup{noDatagrams: true})
	b := browser.Open(t, "about:blank")
	b.Before(silence)
	b.Do(chromedp.Navigate(s.URL + "/#/play/arena?token=token-of-player-0"))
	b.Until(live)
	b.Agree(1)
	browser.Value[bool](b, `globalThis.silent = true`)
	b.Until(`/^Nothing comes from the server, [1-9]\d* s/.test(page.hud.banner.checkVisibility() && page.hud.banner.textContent)`)
	b.Until(`document.querySelector(".word").textContent === "no answer"`)
	b.Shot("stalled")
	browser.Value[bool](b, `speak()`)
	b.Until(`!page.hud.banner.checkVisibility() && page.state.link.losses === 0`)
	b.Agree(1)
	b.NeverDiffered()
}

// In the lobby, the banner shows who is ready and the configuration, and has a button for the user to say that he is ready.
func TestLobbyIsShown(t *testing.T) {
	s := newStage(t, setup{host: host.Options{Start: host.StartPolicy{Players: 2, Ready: true}}})
	b := s.play(0)
	watching := browser.Open(t, s.URL+"/#/watch/arena")
	for _, tab := range []*browser.Tab{b, watching} {
		tab.Shown(".banner", "Waiting for a player: 1 seat is free")
		tab.Until(`/, [1-9]\d* s/.test(page.hud.banner.textContent)`)
		tab.Until(`document.querySelector(".strip").dataset.link === "held"`)
	}
	other := s.Seat(game, 1, func(*player.Client) {})
	<-other.Ready()
	b.Until(`/Waiting until you, player-1 are ready.*player-0: not ready.*player-1: not ready/.test(page.hud.banner.textContent)`)
	b.Click(`.banner button`)
	b.Until(`/Waiting until player-1 is ready.*player-0: ready/.test(page.hud.banner.textContent)`)
	b.Until(`page.state.net.tick === 0`)
	b.Until(`/^Size: \d+$/m.test(page.hud.banner.querySelector("details pre").textContent)`)
	b.Shot("lobby of a match")
	other.Do(func(c *player.Client) { c.SetReady(true) })
	b.Until(`page.state.net.tick > 5 && !page.hud.banner.checkVisibility()`)
	b.NeverDiffered()
}

// The strip says how many players there are and who is away, and names all of them when pointed at.
func TestPlayersAreShown(t *testing.T) {
	s := newStage(t, setup{host: host.Options{Grace: 60 * lockstep.Second}})
	b := s.play(0)
	other := s.Seat(game, 1, func(*player.Client) {})
	b.Until(`document.querySelector(".strip .players b").textContent === "2"`)
	b.Until(`/: player-0, player-1$/.test(document.querySelector(".strip .players").title)`)
	other.Close()
	b.Until(`document.querySelector(".strip .players b").textContent === "2, player-1 away"`)
	b.Until(`[...document.querySelectorAll("li.seat")].some((li) => li.textContent === "player-1 is away: the connection ended")`)
	b.Shot("a player is away")
	b.NeverDiffered()
}

// The strip says how the connection shows: how often the picture stood still or was corrected, and what is lost on a path of
// datagrams, if there is one.
func TestConnectionIsShown(t *testing.T) {
	b := newStage(t, setup{noDatagrams: true}).play(0)
	for _, name := range []string{"stalls", "corrections"} {
		b.Until(fmt.Sprintf(`/^\d+, \d+\.\d a minute$/.test(document.querySelector(".strip .%s b").textContent)`, name))
	}
	b.Until(`/^\d+$/.test(document.querySelector(".strip .late b").textContent)`)
	b.Until(`document.querySelector(".strip .loss b").textContent === "–"`)
	b.Until(`/^[0-9a-f]{8} · [0-9a-f]{16}$/.test(document.querySelector(".strip .ids b").textContent)`)
	for _, row := range [][2]string{
		{"{ stalls: 3, corrections: 40, watched_ms: 120_000 }", "3, 1.5 a minute|40, 20.0 a minute|–"},
		{"{ stalls: 0, watched_ms: 0 }", "–|–|–"},
		{"{ stalls: 0, corrections: 0, watched_ms: 60_000, datagrams: true, loss_in_ppm: 31_250, loss_out_ppm: 0, repeats: 12 }", "0, 0.0 a minute|0, 0.0 a minute|3.1 % · 0.0 %, 12 again"},
	} {
		b.Until(fmt.Sprintf(`page.hud.strip.update({ ...page.state, net: { ...page.state.net, ...%s } }, 10)
			?? ["stalls", "corrections", "loss"].map((name) => document.querySelector(`+"`.strip .${name} b`"+`).textContent).join("|") === %q`, row[0], row[1]))
	}
	b.NeverDiffered()
}

// When the state of another player differs, everybody reads who it is.
func TestMismatchIsShown(t *testing.T) {
	s := newStage(t, setup{host: host.Options{Desync: host.LogDesynced}})
	b := s.play(0)
	other := s.Seat(game, 1, func(*player.Client) {})
	<-other.Ready()
	other.Do(func(c *player.Client) {
		if err := c.Corrupt("Units[0].Health"); err != nil {
			t.Error(err)
		}
	})
	b.Until(`/equal, player-1 differed at [0-9]+$/.test(document.querySelector(".strip .sums b").textContent)`)
	b.Click(`.menu button[title^="checksums"]`)
	b.Shown(".side .groups", "player-1")
	b.Shown(".side .groups", "the match")
	b.Shot("mismatch")
	b.NeverDiffered()
}

// Equal lines in a row are one line with a count. What the page counts is in the singular if there is one.
func TestLinesAreCounted(t *testing.T) {
	s := newStage(t, setup{})
	b := s.play(0)
	lines := browser.Value[string](b, `(() => {
		const { news } = page.hud, line = (sort, player, text) => news.tell({ sort, player, text });
		news.begin();
		for (const text of ["far", "far", "far", "near", "far"]) line("problem", -1, text);
		line("seat", 1, "is away"), line("seat", 0, "is away");
		return [...news.list.children].map((item) => item.textContent).join("; ");
	})()`)
	if want := "far ×3; near; far; Red is away; Blue is away"; lines != want {
		t.Errorf("the news are %q, want %q", lines, want)
	}
	for _, row := range []struct {
		agreed, differing, every int
		says                     string
	}{
		{0, 0, 1, "0 checksums agree with the match, one every tick, none differ."},
		{1, 1, 5, "1 checksum agrees with the match, one every 5 ticks, 1 differs."},
		{2, 2, 5, "2 checksums agree with the match, one every 5 ticks, 2 differ."},
	} {
		says := browser.Value[string](b, fmt.Sprintf(`(({ checks }, { state }) => {
			checks.update({ ...state, net: { ...state.net, agreed: %d, differing: %d }, match: { ...state.match, check_every: %d } });
			return checks.agreement.textContent;
		})(page.hud, page)`, row.agreed, row.differing, row.every))
		if says != row.says {
			t.Errorf("the page says %q, want %q", says, row.says)
		}
	}
	waits := browser.Value[string](b, `["ready", "return"].flatMap((hold) => [[1], [0], [0, 1]].map((held_for) => {
		page.hud.link.update({ ...page.state, seats: [{ seat: 0, name: "Ann" }, { seat: 1, name: "Bob" }], link: { ...page.state.link, held: "x", hold, held_for, since_ms: 0, until_ms: 0 } });
		return page.hud.banner.querySelector("strong").textContent;
	})).join("; ")`)
	if want := "Waiting until Bob is ready; Waiting until you are ready; Waiting until you, Bob are ready; Waiting until Bob comes back; Waiting until you come back; Waiting until you, Bob come back"; waits != want {
		t.Errorf("the banner says %q, want %q", waits, want)
	}
}
