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

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/watch"
)

// there is true when the viewer has reached its target tick.
const there = `viewer.about && !viewer.seeking && viewer.state && viewer.state.tick === Math.ceil(viewer.position)`

// at waits until the viewer is at a tick, and returns the checksum there.
func (b *tab) at(tick int) (hash string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`%s && viewer.state.tick === %d`, there, tick))
	return value[string](b, "viewer.state.root")
}

// The golden replays have the same checksums in the page as natively, at their end and after every jump.
func TestReplaysInPage(t *testing.T) {
	s := newStage(t, setup{})
	for _, name := range []string{"duel", "four", "eight", "roster"} {
		s.recorded(name + ".ssr")
	}
	b := newTab(t, s.url)
	for _, name := range []string{"duel", "four", "eight", "roster"} {
		file, err := os.ReadFile(filepath.Join(s.dir, name+".ssr"))
		if err != nil {
			t.Fatal(err)
		}
		native, err := watch.Open(file, game)
		if err != nil {
			t.Fatal(err)
		}
		b.do(chromedp.Navigate(s.url + "/#/replay/" + name + ".ssr"))
		b.until(`document.title.startsWith("` + name + `")`)
		last := int(native.Last())
		for _, tick := range []int{last, last / 2, last/2 - 1, last/2 + 1, 0, last} {
			value[bool](b, fmt.Sprintf("viewer.go(%d), true", tick))
			got := b.at(tick)
			for native.Seek(lockstep.Tick(tick)); !native.Work(1000); {
			}
			if want := native.Hash(); got != want {
				t.Errorf("%s, tick %d: got %s in the page, want %s", name, tick, got, want)
			}
		}
		if name == "roster" { // in which a player's checksum differed
			value[bool](b, `document.querySelector(".inspector details").open = true`)
			b.click(`.facts button`)
			b.until(there + ` && viewer.timeline.data.dissents[0].tick === viewer.state.tick`)
			b.shot("roster")
			continue
		}
		agreed, differing := value[int](b, "viewer.state.agreed"), value[int](b, "viewer.state.differing")
		if wantAgreed, _ := native.Compared(); agreed != wantAgreed || differing != 0 {
			t.Errorf("%s: %d checksums agree and %d differ in the page, want %d and 0", name, agreed, differing, wantAgreed)
		}
	}
}

// A user opens a replay and inspects a unit with the mouse.
func TestWatchByMouse(t *testing.T) {
	s := newStage(t, setup{})
	s.recorded("duel.ssr")
	b := newTab(t, s.url)
	b.click(`#lobby a[href="#/replay/duel.ssr"]`)
	b.at(0)
	b.shot("opened")

	// the middle of the timeline, by a drag
	b.drag(`.seek`, 0.2, 0.5)
	b.until(there)
	if tick := value[int](b, "viewer.state.tick"); tick < 500 || tick > 700 {
		t.Errorf("the middle of the timeline is tick %d, want about 600", tick)
	}
	before := value[int](b, "viewer.state.tick")
	b.click(`[aria-label="Forward one tick"]`)
	b.at(before + 1)
	b.click(`[aria-label="Back one tick"]`)
	b.at(before)

	// a unit, by a click on it
	b.pick()
	b.shown(".inspector .fields", "Health")
	b.shown(".inspector .fields", "Pos.X")
	b.click(`.inspector header button`)
	b.until(`viewer.state.follow`)
	b.shot("unit")

	// a command of the list
	tick := value[int](b, `Number(document.querySelector(".commands li:last-child").dataset.tick)`)
	b.do(chromedp.ScrollIntoView(chromedp.CSS(`.commands li:last-child`)))
	b.click(`.commands li:last-child button`)
	b.at(tick)

	// play, as fast as it goes, to the end
	b.do(chromedp.SetValue(chromedp.CSS(`[aria-label="Speed"]`), "64"))
	b.click(`.controls .main`)
	b.at(1200)
	b.shown(".controls .main", "Play")
	b.dark(true)
	b.shot("dark")
	b.dark(false)
	b.do(chromedp.EmulateViewport(1024, 768, chromedp.EmulateTouch))
	b.shot("tablet")
	b.do(chromedp.EmulateViewport(820, 1180, chromedp.EmulateTouch, chromedp.EmulatePortrait))
	b.shot("portrait")
	if n := value[int](b, "viewer.state.differing"); n != 0 {
		t.Errorf("%d checksums differ", n)
	}
}

// A user watches a replay without a mouse.
func TestWatchByKeyboard(t *testing.T) {
	s := newStage(t, setup{})
	s.recorded("duel.ssr")
	b := newTab(t, s.url+"/#/replay/duel.ssr")
	b.at(0) // the map has the focus
	b.keys("...")
	b.at(3)
	b.keys(",")
	b.at(2)
	b.keys("]]]]")
	b.until(`viewer.speed.value === "16"`)
	b.keys(" ")
	b.until(`viewer.state.tick > 50`)
	b.keys(" ")
	b.until(`!viewer.playing && ` + there)
	b.keys(kb.End)
	b.at(1200)
	b.keys(kb.Home)
	b.at(0)
	b.keys("+++")
	b.keys("\r") // picks what is in the middle, which may be nothing
	for tabs := 0; !value[bool](b, `document.activeElement.className === "seek"`); tabs++ {
		if tabs > 10 {
			t.Fatal("the timeline is not within ten tabs of the map")
		}
		b.keys(kb.Tab)
	}
	b.keys(kb.ArrowRight)
	b.at(1)
	b.keys(kb.End)
	b.at(1200)
	b.shot("timeline")
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
	b := newTab(t, s.url+"/#/replay/", "404") // at last it asks for one that is not there
	b.shown("#viewer .drop", "Choose a replay file")
	b.shot("entry")
	choose := func(name string) {
		t.Helper()
		b.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{filepath.Join(dir, name)}))
	}
	for _, row := range []struct{ name, says string }{
		{"junk.ssr", "junk.ssr cannot be watched"},
		{"empty.ssr", "empty.ssr cannot be watched"},
		{"flipped.ssr", "flipped.ssr cannot be watched"},
	} {
		choose(row.name)
		b.shown(`#viewer [role="alert"]`, row.says)
	}
	b.shot("refused")
	choose("good.ssr") // nothing is stuck
	b.at(0)

	// a torn file plays up to its end, and says so
	b.drop("cut.ssr", files["cut.ssr"])
	b.until(`document.title.startsWith("cut.ssr")`)
	b.shown(".facts", "byte")
	b.keys(kb.End)
	b.until(there + ` && viewer.state.tick > 100`)
	b.shot("cut")

	// dropped on the lobby
	b.do(chromedp.Navigate(s.url + "/#/"))
	b.shown("#lobby", "Replays")
	b.drop("dropped.ssr", good)
	b.until(`document.title.startsWith("dropped.ssr")`)
	b.at(0)
	b.drop("worse.ssr", files["junk.ssr"])
	b.shown(`#viewer [role="alert"]`, "worse.ssr cannot be watched")

	// a replay that the server does not have
	b.do(chromedp.Navigate(s.url + "/#/replay/none.ssr"))
	b.shown(`#viewer [role="alert"]`, "the server has no replay of that name")
	b.click(`#viewer .entry a[href="#/"]`)
	b.shown("#lobby", "Replays")
}

// pick clicks the first unit that no panel covers.
func (b *tab) pick() {
	b.t.Helper()
	type place struct{ X, Y float64 }
	units := value[[]place](b, `(() => {
		const { frame } = viewer.renderer, units = [], box = viewer.moving.getBoundingClientRect();
		for (let i = frame.units.start; i < frame.units.end; i += 6) {
			const X = (frame.words[i] / 1024 - frame.x) * frame.cell + box.x + box.width / 2, Y = (frame.words[i + 1] / 1024 - frame.y) * frame.cell + box.y + box.height / 2;
			if (document.elementFromPoint(X, Y) === viewer.moving) units.push({ X, Y });
		}
		return units;
	})()`)
	if len(units) == 0 {
		b.t.Fatal("no unit is on the screen")
	}
	b.do(chromedp.MouseClickXY(units[0].X, units[0].Y))
	b.until(`viewer.state.chosen !== 0`)
}

// drop drops a file on the page.
func (b *tab) drop(name string, content []byte) {
	b.t.Helper()
	list := make([]string, len(content))
	for i, c := range content {
		list[i] = fmt.Sprint(c)
	}
	value[bool](b, fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([new Uint8Array([%s])], %q));
		for (const name of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true }));
		return true;
	})()`, strings.Join(list, ","), name))
}

// drag drags with the mouse over an element, from one part of its width to another.
func (b *tab) drag(selector string, from, to float64) {
	b.t.Helper()
	type box struct{ X, Y, Width, Height float64 }
	r := value[box](b, fmt.Sprintf(`(r => ({ X: r.x, Y: r.y, Width: r.width, Height: r.height }))(document.querySelector(%q).getBoundingClientRect())`, selector))
	y := r.Y + r.Height/2
	b.do(
		chromedp.MouseEvent(chromedp.MousePressed, r.X+from*r.Width, y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent(chromedp.MouseMoved, r.X+(from+to)/2*r.Width, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, r.X+to*r.Width, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, r.X+to*r.Width, y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
	)
}
