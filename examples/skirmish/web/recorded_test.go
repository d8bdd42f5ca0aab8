//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/watch"
)

// The golden replays have the same checksums in the page as natively, at their end and after every jump.
func TestReplaysInPage(t *testing.T) {
	s := newStage(t, setup{})
	for _, name := range []string{"duel", "four", "eight", "roster"} {
		s.recorded(name + ".ssr")
	}
	b := browser.Open(t, s.URL)
	for _, name := range []string{"duel", "four", "eight", "roster"} {
		file, err := os.ReadFile(filepath.Join(s.Dir, name+".ssr"))
		if err != nil {
			t.Fatal(err)
		}
		native, err := watch.Open(file, game)
		if err != nil {
			t.Fatal(err)
		}
		b.Do(chromedp.Navigate(s.URL + "/#/replay/" + name + ".ssr"))
		b.Until(`document.title.startsWith("` + name + `")`)
		last := int(native.Last())
		for _, tick := range []int{last, last / 2, last/2 - 1, last/2 + 1, 0, last} {
			browser.Value[bool](b, fmt.Sprintf("viewer.go(%d), true", tick))
			got := b.At(tick)
			for native.Seek(lockstep.Tick(tick)); !native.Work(1000); {
			}
			if want := native.Hash(); got != want {
				t.Errorf("%s, tick %d: got %s in the page, want %s", name, tick, got, want)
			}
		}
		if name == "roster" { // in which a player's checksum differed
			browser.Value[bool](b, `document.querySelector(".inspector details").open = true`)
			b.Click(`.facts button`)
			b.Until(browser.There + ` && viewer.timeline.data.mismatches[0].tick === viewer.state.tick`)
			b.Shot("roster")
			continue
		}
		agreed, differing := browser.Value[int](b, "viewer.state.agreed"), browser.Value[int](b, "viewer.state.differing")
		if wantAgreed, _ := native.Compared(); agreed != wantAgreed || differing != 0 {
			t.Errorf("%s: %d checksums agree and %d differ in the page, want %d and 0", name, agreed, differing, wantAgreed)
		}
	}
}

// A user opens a replay and inspects a unit with the mouse.
func TestWatchByMouse(t *testing.T) {
	s := newStage(t, setup{})
	s.recorded("duel.ssr")
	b := browser.Open(t, s.URL)
	b.Click(`#lobby a[href^="#/replay/duel.ssr"]`)
	b.Until(`viewer.state?.tick > 2`) // it plays
	b.Click(`.controls .main`)
	b.Click(`[aria-label="Jump to the start"]`)
	b.At(0)
	b.Shot("opened")

	// the middle of the timeline, by a drag
	drag(b, `.seek`, 0.2, 0.5)
	b.Until(browser.There)
	if tick := browser.Value[int](b, "viewer.state.tick"); tick < 500 || tick > 700 {
		t.Errorf("the middle of the timeline is tick %d, want about 600", tick)
	}
	before := browser.Value[int](b, "viewer.state.tick")
	b.Click(`[aria-label="Forward one tick"]`)
	b.At(before + 1)
	b.Click(`[aria-label="Back one tick"]`)
	b.At(before)

	// a unit, by a click on it
	pick(b)
	b.Shown(".inspector .fields", "Health")
	b.Shown(".inspector .fields", "Pos.X")
	b.Click(`.inspector header button`)
	b.Until(`viewer.state.follow`)
	b.Shot("unit")

	// a command of the list
	tick := browser.Value[int](b, `Number(document.querySelector(".commands li:last-child").dataset.tick)`)
	b.Do(chromedp.ScrollIntoView(chromedp.CSS(`.commands li:last-child`)))
	b.Click(`.commands li:last-child button`)
	b.At(tick)

	// play, as fast as it goes, to the end
	b.Do(chromedp.SetValue(chromedp.CSS(`[aria-label="Speed"]`), "64"))
	b.Click(`.controls .main`)
	b.At(1200)
	b.Shown(".controls .main", "Play")
	b.Dark(true)
	b.Shot("dark")
	b.Dark(false)
	b.Do(chromedp.EmulateViewport(1024, 768, chromedp.EmulateTouch))
	b.Shot("tablet")
	b.Do(chromedp.EmulateViewport(820, 1180, chromedp.EmulateTouch, chromedp.EmulatePortrait))
	b.Shot("portrait")
	if n := browser.Value[int](b, "viewer.state.differing"); n != 0 {
		t.Errorf("%d checksums differ", n)
	}
}

// A user watches a replay without a mouse.
func TestWatchByKeyboard(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	s.recorded("duel.ssr")
	b := browser.Open(t, s.URL+"/#/replay/duel.ssr")
	b.At(0) // the map has the focus
	b.Keys("...")
	b.At(3)
	b.Keys(",")
	b.At(2)
	b.Keys("]]]]")
	b.Until(`viewer.speed.value === "16"`)
	b.Keys(" ")
	b.Until(`viewer.state.tick > 50`)
	b.Keys(" ")
	b.Until(`!viewer.playing && ` + browser.There)
	b.Keys(kb.End)
	b.At(1200)
	b.Keys(kb.Home)
	b.At(0)
	b.Keys("+++")
	b.Visit("#/replay/duel.ssr?tick=40")
	b.At(40)
	b.Visit("#/replay/duel.ssr?t=50&path=Units%5BID%3D7%5D.Health") // as the link of a desync's report
	b.At(50)
	b.Until(`viewer.state.chosen === 7`)
	b.Shown(".inspector .fields", "Health")
	b.Until(`location.hash.includes("unit=7")`)
	b.Visit("#/replay/duel.ssr")
	b.At(0)
	b.Keys("\r") // picks what is in the middle, which may be nothing
	for tabs := 0; !browser.Value[bool](b, `document.activeElement.className === "seek"`); tabs++ {
		if tabs > 10 {
			t.Fatal("the timeline is not within ten tabs of the map")
		}
		b.Keys(kb.Tab)
	}
	b.Keys(kb.ArrowRight)
	b.At(1)
	b.Keys(kb.End)
	b.At(1200)
	b.Keys(",") // the other keys do not depend on the focus
	b.At(1199)
	b.Shot("timeline")
}

// A user opens a file with the file chooser, and by dropping it on the page.
func TestWatchOwnFile(t *testing.T) {
	s := newStage(t, setup{})
	dir := t.TempDir()
	good, err := os.ReadFile("../../../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		"good.ssr": good, "cut.ssr": good[:len(good)*3/4], "junk.ssr": []byte(strings.Repeat("junk", 1000)), "empty.ssr": nil,
		"flipped.ssr": append(append([]byte{}, good[:40]...), append([]byte{good[40] ^ 1}, good[41:]...)...),
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	b := browser.Open(t, s.URL+"/#/replay/", "404") // at last it asks for one that is not there
	b.Shown("#viewer .drop", "Choose a replay file")
	b.Shot("entry")
	choose := func(name string) {
		t.Helper()
		b.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{filepath.Join(dir, name)}))
	}
	for _, row := range []struct{ name, says string }{
		{"junk.ssr", "junk.ssr cannot be watched"},
		{"empty.ssr", "empty.ssr cannot be watched"},
		{"flipped.ssr", "flipped.ssr cannot be watched"},
	} {
		choose(row.name)
		b.Shown(`#viewer [role="alert"]`, row.says)
	}
	b.Shot("refused")
	choose("good.ssr") // nothing is stuck
	b.At(0)

	// a torn file plays up to its end, and says so
	b.Drop("cut.ssr", files["cut.ssr"])
	b.Until(`document.title.startsWith("cut.ssr")`)
	b.Shown(".facts", "byte")
	b.Keys(kb.End)
	b.Until(browser.There + ` && viewer.state.tick > 100`)
	b.Shot("cut")

	// dropped on the lobby
	b.Do(chromedp.Navigate(s.URL + "/#/"))
	b.Shown("#lobby", "Replays")
	b.Drop("dropped.ssr", good)
	b.Until(`document.title.startsWith("dropped.ssr")`)
	b.At(0)
	b.Drop("worse.ssr", files["junk.ssr"])
	b.Shown(`#viewer [role="alert"]`, "worse.ssr cannot be watched")

	// a replay that the server does not have
	b.Do(chromedp.Navigate(s.URL + "/#/replay/none.ssr"))
	b.Shown(`#viewer [role="alert"]`, "the server has no replay of that name")
	b.Click(`#viewer .entry a[href="#/"]`)
	b.Shown("#lobby", "Replays")
}

// pick clicks the first unit that no panel covers.
func pick(b *browser.Tab) {
	b.T.Helper()
	type place struct{ X, Y float64 }
	units := browser.Value[[]place](b, `(() => {
		const { frame } = viewer.renderer, units = [], box = viewer.moving.getBoundingClientRect();
		for (let i = frame.units.start; i < frame.units.end; i += 6) {
			const X = (frame.words[i] / 1024 - frame.x) * frame.cell + box.x + box.width / 2, Y = (frame.words[i + 1] / 1024 - frame.y) * frame.cell + box.y + box.height / 2;
			if (document.elementFromPoint(X, Y) === viewer.moving) units.push({ X, Y });
		}
		return units;
	})()`)
	if len(units) == 0 {
		b.T.Fatal("no unit is on the screen")
	}
	b.Do(chromedp.MouseClickXY(units[0].X, units[0].Y))
	b.Until(`viewer.state.chosen !== 0`)
}

// drag drags with the mouse over an element, from one part of its width to another.
func drag(b *browser.Tab, selector string, from, to float64) {
	b.T.Helper()
	type box struct{ X, Y, Width, Height float64 }
	r := browser.Value[box](b, fmt.Sprintf(`(r => ({ X: r.x, Y: r.y, Width: r.width, Height: r.height }))(document.querySelector(%q).getBoundingClientRect())`, selector))
	y := r.Y + r.Height/2
	b.Do(
		chromedp.MouseEvent(chromedp.MousePressed, r.X+from*r.Width, y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent(chromedp.MouseMoved, r.X+(from+to)/2*r.Width, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, r.X+to*r.Width, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, r.X+to*r.Width, y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
	)
}
