//go:build !js && !wasip1

package web_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// live is true when the page plays or watches a match, and has drawn it.
const live = `page.state && page.state.link.state === "live" && page.state.panel && page.renderer.drawn > 0`

// play opens the match as a player.
func (s *stage) play(seat int) *browser.Tab {
	s.T.Helper()
	b := browser.Open(s.T, fmt.Sprintf("%s/#/play/arena?token=token-of-player-%d", s.URL, seat))
	b.Until(live)
	return b
}

// A spot is a unit and its place on the screen.
type spot struct {
	ID   skirmish.UnitID
	X, Y float64
}

// units returns the player's units of a kind that no panel covers.
func units(b *browser.Tab, owner, kind int) []spot {
	b.T.Helper()
	return browser.Value[[]spot](b, fmt.Sprintf(`(() => {
		const { frame } = page.renderer, units = [];
		for (let i = frame.units.start; i < frame.units.end; i += 6) {
			const look = frame.words[i + 3];
			if ((look & 255) !== %d || ((look >> 8) & 255) !== %d) continue;
			const X = (frame.words[i] / 1024 - frame.x) * frame.cell + innerWidth / 2, Y = (frame.words[i + 1] / 1024 - frame.y) * frame.cell + innerHeight / 2;
			if (document.elementFromPoint(X, Y) === page.moving) units.push({ ID: frame.words[i + 2], X, Y });
		}
		return units;
	})()`, kind, owner))
}

// rightClick clicks with the right button.
func rightClick(b *browser.Tab, x, y float64) {
	b.T.Helper()
	b.Do(chromedp.MouseClickXY(x, y, chromedp.ButtonRight))
}

// selectUnits drags a box around units until they are selected.
func selectUnits(b *browser.Tab, owner, kind int) []spot {
	b.T.Helper()
	b.Until(fmt.Sprintf(`(() => { const { frame } = page.renderer; for (let i = frame.units.start; i < frame.units.end; i += 6) if ((frame.words[i + 3] & 0xffff) === %d) return true; })()`, kind|owner<<8))
	units := units(b, owner, kind)
	if len(units) == 0 {
		b.Shot("nobody")
		b.T.Fatal("no unit is where it can be clicked")
	}
	left, top, right, bottom := units[0].X, units[0].Y, units[0].X, units[0].Y
	for _, u := range units {
		left, top, right, bottom = min(left, u.X), min(top, u.Y), max(right, u.X), max(bottom, u.Y)
	}
	b.Do(
		chromedp.MouseEvent(chromedp.MousePressed, left-12, top-12, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent(chromedp.MouseMoved, (left+right)/2, (top+bottom)/2, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, right+12, bottom+12, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, right+12, bottom+12, chromedp.ButtonLeft, chromedp.ClickCount(1)),
	)
	b.Until(`page.state.panel.chosen?.length > 0`)
	return units
}

// A user loads the page, joins, selects units with the mouse, gives an order and sees the units move. Page and server
// agree at every check.
func TestPlayByMouse(t *testing.T) {
	s := newStage(t, setup{})
	s.bot(1)
	b := s.play(0)
	units := selectUnits(b, 0, int(skirmish.Worker))
	b.Shot("selected")
	rightClick(b, 640, 300)
	s.until("a worker goes where it was told", func(w *skirmish.World) bool {
		moving := 0
		for i := range w.Units {
			if u := &w.Units[i]; u.Owner == 0 && u.Kind == skirmish.Worker && u.Task == skirmish.Moving {
				moving++
			}
		}
		return moving > 0
	})
	b.Until(fmt.Sprintf(`(() => { // some of them is elsewhere on the screen
		const { frame } = page.renderer, was = new Map(%s);
		for (let i = frame.units.start; i < frame.units.end; i += 6) {
			const [x, y] = was.get(frame.words[i + 2]) ?? [];
			const X = (frame.words[i] / 1024 - frame.x) * frame.cell + innerWidth / 2, Y = (frame.words[i + 1] / 1024 - frame.y) * frame.cell + innerHeight / 2;
			if (x !== undefined && Math.hypot(X - x, Y - y) > frame.cell) return true;
		}
	})()`, entries(units)))
	b.Agree(2)
	b.NeverDiffered()
	b.Shot("moved")
	b.Dark(true)
	b.Shot("dark")
}

// entries returns the places of units as a JavaScript value.
func entries(units []spot) string {
	text := "["
	for _, u := range units {
		text += fmt.Sprintf("[%d,[%g,%g]],", u.ID, u.X, u.Y)
	}
	return text + "]"
}

// A second page joins late. Both agree with the match.
func TestLateJoin(t *testing.T) {
	s := newStage(t, setup{})
	s.bot(1)
	first := s.play(0)
	s.until("three seconds of the match", func(w *skirmish.World) bool { return w.Match.Tick > 60 })
	second := browser.Open(t, s.URL+"/#/")
	second.Shown("#lobby .cards", "arena")
	second.Until(`!document.querySelector("#lobby .cards button").checkVisibility()`) // all seats are taken
	second.Click(`#lobby .cards button:last-child`)
	second.Until(live)
	second.Agree(2)
	first.Agree(2)
	second.NeverDiffered()
	first.NeverDiffered()
	if seat := browser.Value[int](second, "page.state.net.seat"); seat != -1 {
		t.Errorf("who watches has seat %d", seat)
	}
	second.Shot("watching")
}

// The connection fails for a while. The page shows it, reconnects, and plays on.
func TestCutAndResume(t *testing.T) {
	s := newStage(t, setup{})
	b := browser.Open(t, s.URL+"/#/play/arena?token=token-of-player-0", "WebSocket connection to")
	b.Until(live)
	b.Agree(1)
	s.Closed.Store(true)
	s.Cut()
	b.Shown(".banner", "Disconnected")
	b.Shown(".banner", "attempt")
	b.Until(`page.state.link.attempt >= 2`)
	b.Shot("lost")
	b.Shown(".banner", "Your seat is kept for")
	b.Shown(".banner", "the server cannot be reached; attempt")
	if tried := browser.Value[int](b, `(() => {
		const { retry } = samestep;
		globalThis.tried = 0;
		samestep.retry = () => (tried++, retry());
		dispatchEvent(new Event("online"));
		return tried;
	})()`); tried != 1 {
		t.Errorf("a browser that is online again tried %d times", tried)
	}
	b.Shown(".banner", "attempt")
	b.Click(".banner button") // try again now
	b.Until("tried === 2")
	s.Closed.Store(false) // the page tries again by itself, too
	b.Until(live + ` && page.state.link.losses > 0`)
	b.Agree(2)
	b.NeverDiffered()
	if seat := browser.Value[int](b, "page.state.net.seat"); seat != 0 {
		t.Errorf("after the cut: got seat %d, want 0", seat)
	}
}

// The browser takes datagrams beside its WebSocket, also at another port, and they are back after the connection was cut.
func TestDatagramsInPage(t *testing.T) {
	for name, elsewhere := range map[string]bool{"the page's port": false, "another port": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, setup{datagramsElsewhere: elsewhere})
			b := s.play(0)
			b.Until("page.state.net.datagrams")
			b.Agree(1)
			s.Cut()
			b.Until("page.state.link.losses > 0 && page.state.net.datagrams")
			b.Agree(1)
			b.NeverDiffered()
		})
	}
}

// A match that its players give up ends. The page says so, and offers its replay as soon as the server has it.
func TestReplayAfterTheEnd(t *testing.T) {
	s := newStage(t, setup{})
	other := s.Seat(game, 1, func(*player.Client) {})
	b := s.play(0)
	b.Agree(1)
	if _, err := other.Submit(&skirmish.Surrender{}); err != nil {
		t.Fatal(err)
	}
	b.Until(`page.state.link.state === "ended" && /^arena-[0-9a-f]{8}[.]ssr$/.test(page.state.replay)`)
	b.Until(`document.querySelector(".verdict").checkVisibility()`)
	before := s.Match.Status()
	browser.Value[bool](b, `(() => {
		const { fetch } = globalThis;
		globalThis.fetch = (url, options) => {
			if (options?.method !== "POST") return fetch(url, options);
			globalThis.fetch = fetch;
			globalThis.sent = options.body;
			return Promise.resolve(new Response("", { status: 403 }));
		};
		page.hud.verdict.again.click();
		return true;
	})()`)
	b.Shown(".verdict .problem", "only an admin")
	if sent, want := browser.Value[string](b, `sent`), `{"name":"arena.2","like":"`+before.Match+`"}`; sent != want {
		t.Errorf("the request for a rematch is %s, want %s", sent, want)
	}
	b.Click(`.verdict a[href^="#/replay/arena-"]`)
	b.Until(`viewer.playing && viewer.state?.tick > 2`)
	b.Click(`.controls .main`)
	b.Until(browser.There)
	if ended := browser.Value[string](b, `viewer.about.ended`); ended != "the rules ended the match" {
		t.Errorf("the replay ended as %q", ended)
	}
}

// A planted desync is found, explained and repaired. Other players notice nothing.
func TestCorruptAndHeal(t *testing.T) {
	s := newStage(t, setup{})
	b, other := s.play(0), s.play(1)
	b.Agree(1)
	b.Click(`.menu button[title^="checksums"]`)
	b.Click(`#corrupt`)
	b.Shown(".report", "Found at tick")
	b.Shown(".report", "Units")
	b.Shown(".report", "Health")
	b.Shown(".report", "Repaired")
	b.Until(`page.renderer.sweptAt !== undefined`) // the healing runs over the map
	b.Agree(2)
	b.Shot("healed")
	other.Agree(2)
	other.NeverDiffered()
	if browser.Value[int](b, "page.state.net.differing") == 0 {
		t.Error("the page did not count its desync")
	}
}

// A user who cannot join sees the reason, and can watch.
func TestBadTickets(t *testing.T) {
	s := newStage(t, setup{players: 1})
	<-s.bot(0).Ready()
	for _, row := range []struct{ name, token, says string }{
		{"wrong token", "token-that-nobody-has", "token"},
		{"full match", "token-of-a-guest", "seat"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := browser.Open(t, s.URL+"/#/play/arena?token="+row.token)
			b.Shown(".banner.failed", row.says)
			b.Shot("refused")
			b.Click(`.banner a[href^="#/watch"]`)
			b.Until(live)
			b.Agree(1)
			b.NeverDiffered()
		})
	}
	t.Run("no such match", func(t *testing.T) {
		b := browser.Open(t, s.URL+"/#/watch/nowhere")
		b.Shown(".banner.failed", "no such match")
		b.Shot("nowhere")
		b.Click(`.banner a[href="#/"]`)
		b.Shown("#lobby .cards", "arena")
	})
}

// A page with another build is refused, with the difference.
func TestOtherBuild(t *testing.T) {
	s := newStage(t, setup{rules: func(r *lockstep.Rules[skirmish.World, skirmish.Config]) { r.Build = "2-of-tomorrow" }})
	b := browser.Open(t, s.URL+"/#/play/arena?token=token-of-player-0")
	b.Shown(".banner.failed", "build")
	b.Shot("refused")
	b.Click(`.banner a[href="#/"]`)
	b.Shown("#lobby .cards", "arena")
}

// A user joins from the lobby and gives an order without a mouse.
func TestPlayByKeyboard(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	b := browser.Open(t, s.URL)
	b.Shown("#lobby .cards", "arena")
	b.TabTo(`e => e.id === "token"`)
	b.Keys("token-of-player-0")
	b.TabTo(`e => e.textContent === "Play"`)
	b.Keys("\r")
	b.Until(live + ` && document.activeElement === page.moving`)
	b.Keys("1") // the first group of the army
	b.Until(`page.state.panel.chosen?.length > 0`)
	b.Keys("\r") // go to the middle of the screen
	s.until("the group goes", func(w *skirmish.World) bool {
		moving := 0
		for i := range w.Units {
			if u := &w.Units[i]; u.Owner == 0 && u.Group == 1 && u.Task != skirmish.Idle {
				moving++
			}
		}
		return moving > 3
	})
	b.Agree(1)
	b.NeverDiffered()
	b.Shot("ordered")
	b.Keys("\t") // one kind of the group
	b.Until(`page.state.panel.chosen?.length === 1`)
	b.Keys("\x1b")
	b.Until(`!page.state.panel.chosen?.length`)
	b.TabTo(`e => e.textContent === "Leave"`)
	b.Keys("\r")
	b.Shown(".question", "Leave the match?")
	b.Keys("\r")
	b.Shown("#lobby .cards", "arena")
}

// An admin creates a match in the lobby, of some size and with a changed field of its configuration; a player sees that this is
// not allowed.
func TestBeginMatch(t *testing.T) {
	s := newStage(t, setup{})
	b := browser.Open(t, s.URL, "403")
	b.Click("#lobby summary")
	b.Shown(".config", "Crystals")
	b.Do(chromedp.SetValue(chromedp.CSS(`[name="name"]`), "second"))
	browser.Value[bool](b, `(() => {
		const units = document.querySelector('[name="units"]'), label = (name) => [...document.querySelectorAll(".config label")].find((e) => e.firstChild.textContent === name);
		label("Crystals").querySelector("input").value = "1234";
		units.value = "60";
		units.dispatchEvent(new Event("change"));
		return label("Size").querySelector("input").value === "64"; // of 60 units; what was changed stays
	})()`)
	b.Do(chromedp.SendKeys(chromedp.CSS(`[name="token"]`), "token-of-player-0"))
	b.Click(`#lobby form [type="submit"]`)
	b.Shown(`#lobby [role="alert"]`, "only an admin can create a match")
	b.Do(chromedp.SetValue(chromedp.CSS(`[name="token"]`), "token-of-the-admin"))
	b.Click(`#lobby form [type="submit"]`)
	b.Until(live + ` && page.state.net.seat === 0 && location.hash === "#/play/second"`) // with the token that the server has drawn
	config := skirmish.Sized(2, 60)
	config.Crystals = 1234
	if got, err := game.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(2), &config); err != nil || !bytes.Equal(s.Config("second"), got.Config) {
		t.Errorf("the configuration is not %+v; %v", config, err)
	}
	b.Visit("#/")
	b.Shown("#lobby .cards", "Rejoin")
	b.Shot("lobby")
	b.Dark(true)
	b.Do(chromedp.EmulateViewport(820, 1180, chromedp.EmulateTouch))
	b.Shot("tablet")
}
