//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// screens are the sizes for which the page is made.
var screens = []struct {
	name       string
	wide, high int64
	touch      bool
}{
	{"small", 360, 740, true}, {"phone", 390, 844, true}, {"tablet", 820, 1180, true}, {"laptop", 1366, 768, false}, {"4k", 3840, 2160, false},
}

// A look is a tab that is looked at on screens, in one language.
type look struct {
	*browser.Tab
	screens []int
}

// newLook opens the page in a language: light on all screens in English, dark on the least of each kind in German.
func newLook(s *stage, language string) look {
	b := browser.Open(s.T, "about:blank", "willReadFrequently", "Multiple readback operations")
	b.Before(fmt.Sprintf(`try { localStorage.setItem("samestep language", %q) } catch {}`, language))
	b.Dark(language == "de")
	if language == "de" {
		return look{b, []int{0, 3}}
	}
	return look{b, []int{0, 1, 2, 3, 4}}
}

// size gives the tab the size of a screen.
func (l look) size(i int) string {
	l.T.Helper()
	screen := screens[i]
	var options []chromedp.EmulateViewportOption
	if screen.touch {
		options = append(options, chromedp.EmulateTouch, chromedp.EmulatePortrait)
	}
	if screen.wide > 2000 {
		options = append(options, chromedp.EmulateScale(0.5)) // the layout is the same, and a quarter of the pixels is drawn
	}
	l.Do(chromedp.EmulateViewport(screen.wide, screen.high, options...))
	l.settle()
	return screen.name
}

// settle waits until the page is drawn anew.
func (l look) settle() {
	l.T.Helper()
	l.Until(`(globalThis.settled ??= (requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => (globalThis.settled = 2), 100))), 1)) === 2 && (globalThis.settled = undefined, true)`)
}

// at checks the screen and keeps a picture of it.
func (l look) at(size, screen string) {
	l.T.Helper()
	l.Fits(screen + " " + size)
	if os.Getenv(browser.ScreenshotsVariable) != "" {
		l.Shot(screen + "-" + size)
	}
}

// each checks a screen at each size.
func (l look) each(screen string) {
	l.T.Helper()
	for _, i := range l.screens {
		l.at(l.size(i), screen)
	}
}

// On each screen and in each language, every control and every text of the lobby can be reached and read.
func TestLobbyFits(t *testing.T) {
	testenv.Long(t)
	for _, language := range []string{"en", "de"} {
		t.Run(language, func(t *testing.T) {
			s := newStage(t, setup{})
			s.recorded("duel.ssr")
			l := newLook(s, language)
			l.Do(chromedp.Navigate(s.URL))
			l.Shown("#lobby .cards", "arena")
			l.Until(`document.querySelector("#lobby a[href*=duel]")`)
			l.Until(`document.querySelector(".config fieldset")`)
			l.each("lobby")
			browser.Value[bool](l.Tab, `document.querySelector(".more").open = true`)
			for _, i := range l.screens {
				size := l.size(i)
				browser.Value[bool](l.Tab, `document.querySelector(".creation").scrollIntoView(), true`)
				l.settle()
				l.at(size, "creation")
			}
			l.Visit("#/replay/")
			l.Until(`document.querySelector(".drop").checkVisibility()`)
			l.each("entry")
		})
	}
}

// On each screen and in each language, every control and every text of a match can be reached and read. At its start, the base of the
// player is in sight.
func TestMatchFits(t *testing.T) {
	testenv.Long(t)
	for _, language := range []string{"en", "de"} {
		t.Run(language, func(t *testing.T) {
			if language == "de" {
				testenv.Night(t)
			}
			s := newStage(t, setup{})
			other := s.Seat(game, 1, func(*player.Client) {})
			l := newLook(s, language)
			for _, i := range l.screens {
				l.Do(chromedp.Navigate("about:blank"))
				size := l.size(i)
				l.Do(chromedp.Navigate(s.URL + "/#/play/arena?token=token-of-player-0"))
				l.Until(live)
				l.settle()
				l.at(size, "match")
				if len(units(l.Tab, 0, int(skirmish.Base))) == 0 {
					t.Errorf("%s: the base is not on the screen, or covered", size)
				}
				workers := units(l.Tab, 0, int(skirmish.Worker))
				if len(workers) == 0 {
					t.Fatalf("%s: no worker is on the screen", size)
				}
				browser.Value[bool](l.Tab, fmt.Sprintf(`samestep.drag(%[1]f - 60, %[2]f - 60, %[1]f + 60, %[2]f + 60, false), true`, workers[0].X, workers[0].Y))
				l.Until(`document.querySelectorAll(".buttons button").length > 2`)
				l.settle()
				l.at(size, "worker")
				browser.Value[bool](l.Tab, `samestep.key("KeyF", false, false), samestep.key("Digit1", false, true), page.hud.write(), page.hud.strip.switch(), true`)
				l.settle()
				l.at(size, "army")
				browser.Value[bool](l.Tab, `page.hud.news.chat.hidden = true, page.hud.strip.switch(), true`)
				for _, panel := range []string{"checks", "affairs", "sounds", "help"} {
					browser.Value[bool](l.Tab, fmt.Sprintf(`[...document.querySelectorAll(".side")].forEach((e) => (e.hidden = !e.matches(".%s"))), true`, panel))
					l.settle()
					l.at(size, panel)
				}
				l.Click(`.help .change`)
				l.settle()
				l.at(size, "keys")
				browser.Value[bool](l.Tab, `document.querySelector("dialog[open]").close(), document.querySelector(".help").hidden = true, page.hud.question.hidden = false, true`)
				l.settle()
				l.at(size, "leave")
			}
			if err := other.Do(func(c *player.Client) { c.Leave("") }); err != nil {
				t.Fatal(err)
			}
			browser.Value[bool](l.Tab, `page.hud.question.hidden = true`)
			l.Until(`document.querySelector(".verdict").checkVisibility()`)
			l.each("verdict")
		})
	}
}

// On each screen and in each language, every control and every text of a replay can be reached and read, also when two are compared.
func TestReplayFits(t *testing.T) {
	testenv.Long(t)
	for _, language := range []string{"en", "de"} {
		t.Run(language, func(t *testing.T) {
			if language == "de" {
				testenv.Night(t)
			}
			s := newStage(t, setup{})
			s.recorded("duel.ssr")
			l := newLook(s, language)
			l.Do(chromedp.Navigate(s.URL + "/#/replay/duel.ssr?t=600&unit=5"))
			l.At(600)
			l.each("replay")
			l.Visit("#/replay/")
			l.Until(`document.querySelector(".drop").checkVisibility()`)
			l.Drop("desync.zip", desynced(t))
			l.At(400)
			l.Until(`viewer.beside.drawn > 2`)
			l.each("compare")
		})
	}
}
