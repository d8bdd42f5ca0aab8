//go:build !js && !wasip1

package web_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// The page handles any address.
func TestAddresses(t *testing.T) {
	s := newStage(t, setup{})
	b := browser.Open(t, s.URL+"/#/constructor", "404")
	b.Shown("#lobby .cards", "arena")
	b.Visit("#/replay/%")
	b.Shown(`#viewer [role="alert"]`, "% cannot be loaded")
	b.Visit("#/play/100%25%")
	b.Shown(".banner.failed", "no such match")
	b.Until(`!document.querySelector(".banner.failed a[href*=watch]")`)
	b.Visit("#/__proto__/x")
	b.Shown("#lobby .cards", "arena")
}

// The page removes tokens from the address and remembers them. It forgets a token that the server does not know.
func TestTokensOfAddresses(t *testing.T) {
	s := newStage(t, setup{})
	b := browser.Open(t, s.URL+"/#/watch/arena?token=token-of-player-0")
	b.Until(live)
	if hash := browser.Value[string](b, "location.hash"); hash != "#/watch/arena" {
		t.Errorf("got address %s, want #/watch/arena", hash)
	}
	b.Do(chromedp.Reload())
	b.Until(live)
	if seat := browser.Value[int](b, "page.state.net.seat"); seat != 0 {
		t.Errorf("loaded again: got seat %d, want 0 as before", seat)
	}
	browser.Value[bool](b, `localStorage.setItem("samestep token of arena", "of yesterday"), true`)
	b.Visit("#/play/arena")
	b.Shown(".banner.failed", "does not know yours")
	b.Until(`localStorage.getItem("samestep token of arena") === ""`)
	browser.Value[bool](b, `localStorage.setItem("samestep token to watch arena", "of yesterday"), true`)
	time.Sleep(400 * time.Millisecond) // the refused match has shown its status again
	if token := browser.Value[string](b, `localStorage.getItem("samestep token to watch arena")`); token != "of yesterday" {
		t.Errorf("got token %q, want the one that was entered after the refusal", token)
	}
	b.Click(`.banner a[href^="#/watch"]`)
	b.Until(`page.hud.watching`)
	b.Shown(".banner.failed", "does not know yours")
	browser.Value[bool](b, `localStorage.setItem("samestep token", "token-of-player-1"), true`) // as the lobby does
	b.Click(`.banner a[href^="#/play"]`)
	b.Until(live + ` && page.state.net.seat === 1`)
	b.NeverDiffered()
}

// From one match straight into another, each frame is drawn once.
func TestOnePictureAtATime(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	b := browser.Open(t, s.URL+"/#/watch/arena")
	b.Until(live)
	for range 3 {
		b.Visit("#/play/nowhere")
		b.Shown(".banner.failed", "no such match")
		b.Until(`!document.querySelector(".bottom.ready")`)
		b.Visit("#/watch/arena")
		b.Until(live)
	}
	browser.Value[bool](b, `(() => {
		const { draw } = page.renderer, count = (globalThis.count = { pictures: 0, draws: 0 });
		page.renderer.draw = function (...args) { count.draws++; return draw.apply(this, args); };
		const next = () => { count.pictures++; requestAnimationFrame(next); };
		return requestAnimationFrame(next), true;
	})()`)
	b.Until(`count.pictures >= 20`)
	if draws, pictures := browser.Value[int](b, "count.draws"), browser.Value[int](b, "count.pictures"); draws > pictures+2 {
		t.Errorf("drawn %d times in %d pictures", draws, pictures)
	}
}

// If the program ends, the page says so.
func TestProgramEnds(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	b := browser.Open(t, s.URL+"/#/watch/arena", "exit code", "already exited", "unreachable", "panic", "goroutine")
	b.Until(live)
	browser.Value[bool](b, `(() => { try { samestep.frame(); } catch {} return true; })()`) // with no arguments it panics
	b.Shown(`#loading[role="alert"]`, "has stopped")
	b.Shot("stopped")
	browser.Value[bool](b, `globalThis.dead = true`)
	b.Click("#loading button")
	b.Until("!globalThis.dead && " + live) // the page is loaded anew, and not at once
	b.Agree(1)
}
