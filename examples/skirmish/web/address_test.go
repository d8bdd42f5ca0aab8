//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// The page handles any address.
func TestAddresses(t *testing.T) {
	s := newStage(t, setup{})
	b := newTab(t, s.url+"/#/constructor", "404")
	b.shown("#lobby .cards", "arena")
	b.visit("#/replay/%")
	b.shown(`#viewer [role="alert"]`, "% cannot be loaded")
	b.visit("#/play/100%25%")
	b.shown(".banner.failed", "no such match")
	b.until(`!document.querySelector(".banner.failed a[href*=watch]")`)
	b.visit("#/__proto__/x")
	b.shown("#lobby .cards", "arena")
}

// visit changes the part of the address that the page reads.
func (b *tab) visit(hash string) {
	b.t.Helper()
	value[bool](b, fmt.Sprintf("location.hash = %q, true", hash))
}

// The page removes tokens from the address and remembers them. It forgets a token that the server does not know.
func TestTokensOfAddresses(t *testing.T) {
	s := newStage(t, setup{})
	b := newTab(t, s.url+"/#/watch/arena?token=token-of-player-0")
	b.until(live)
	if hash := value[string](b, "location.hash"); hash != "#/watch/arena" {
		t.Errorf("got address %s, want #/watch/arena", hash)
	}
	b.do(chromedp.Reload())
	b.until(live)
	if seat := value[int](b, "page.state.net.seat"); seat != 0 {
		t.Errorf("loaded again: got seat %d, want 0 as before", seat)
	}
	value[bool](b, `localStorage.setItem("samestep token of arena", "of yesterday"), true`)
	b.visit("#/play/arena")
	b.shown(".banner.failed", "does not know yours")
	b.until(`localStorage.getItem("samestep token of arena") === ""`)
	value[bool](b, `localStorage.setItem("samestep token to watch arena", "of yesterday"), true`)
	time.Sleep(400 * time.Millisecond) // the refused match has shown its status again
	if token := value[string](b, `localStorage.getItem("samestep token to watch arena")`); token != "of yesterday" {
		t.Errorf("got token %q, want the one that was entered after the refusal", token)
	}
	b.click(`.banner a[href^="#/watch"]`)
	b.until(`page.hud.watching`)
	b.shown(".banner.failed", "does not know yours")
	value[bool](b, `localStorage.setItem("samestep token", "token-of-player-1"), true`) // as the lobby does
	b.click(`.banner a[href^="#/play"]`)
	b.until(live + ` && page.state.net.seat === 1`)
	b.neverDiffered()
}

// From one match straight into another, each frame is drawn once.
func TestOnePictureAtATime(t *testing.T) {
	s := newStage(t, setup{})
	b := newTab(t, s.url+"/#/watch/arena")
	b.until(live)
	for range 3 {
		b.visit("#/play/nowhere")
		b.shown(".banner.failed", "no such match")
		b.until(`!document.querySelector(".bottom.ready")`)
		b.visit("#/watch/arena")
		b.until(live)
	}
	value[bool](b, `(() => {
		const { draw } = page.renderer, count = (globalThis.count = { pictures: 0, draws: 0 });
		page.renderer.draw = function (...args) { count.draws++; return draw.apply(this, args); };
		const next = () => { count.pictures++; requestAnimationFrame(next); };
		return requestAnimationFrame(next), true;
	})()`)
	b.until(`count.pictures >= 20`)
	if draws, pictures := value[int](b, "count.draws"), value[int](b, "count.pictures"); draws > pictures+2 {
		t.Errorf("drawn %d times in %d pictures", draws, pictures)
	}
}

// If the program ends, the page says so.
func TestProgramEnds(t *testing.T) {
	s := newStage(t, setup{})
	b := newTab(t, s.url+"/#/watch/arena", "exit code", "already exited", "unreachable", "panic", "goroutine")
	b.until(live)
	value[bool](b, `(() => { try { samestep.frame(); } catch {} return true; })()`) // with no arguments it panics
	b.shown(`#loading[role="alert"]`, "has stopped")
	b.shot("stopped")
	value[bool](b, `globalThis.dead = true`)
	b.click("#loading button")
	b.until("!globalThis.dead && " + live) // the page is loaded anew, and not at once
	b.agree(1)
}
