//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/watch"
)

// inspected is true when the inspector page plays or watches a match, and has drawn it.
const inspected = `globalThis.page && page.state && page.state.link.state === "live" && page.state.match && page.inspection.chart.drawn > 0`

// The inspector page needs only the schemas of a game: a user joins a match, finds a field of the state, sees what changes,
// moves a unit with a form, and corrupts and heals the state. Page and server agree at every check but one.
func TestInspectMatch(t *testing.T) {
	s := newStage(t, setup{inspector: true})
	s.bot(1)
	b := newTab(t, s.url)
	b.shown("#lobby .cards", "arena")
	b.do(chromedp.Navigate(s.url + "/#/play/arena?token=token-of-player-0"))
	b.until(inspected)
	b.agree(1)
	units := 0
	s.world(func(w *skirmish.World) { units = len(w.Units) })
	b.until(fmt.Sprintf(`page.inspection.chart.count > %d`, units)) // each has several places
	b.shot("map")

	b.click(`input[type="search"]`)
	b.keys("units[3] health")
	b.shown(".hits", "Units[3].Health")
	b.click(".hits button")
	b.shown(`.row[aria-selected="true"]`, "Health")
	b.keys(kb.Tab)
	b.until(`document.querySelectorAll(".row").length > 5`)
	b.shot("tree")

	b.click(`[role="tab"]:nth-child(2)`)
	b.shown(`[aria-label="Changed fields"]`, "Match.Tick")

	b.click(`[role="tab"]:nth-child(3)`)
	worker := skirmish.UnitID(0)
	s.world(func(w *skirmish.World) {
		for i := range w.Units {
			if u := &w.Units[i]; u.Owner == 0 && u.Kind == skirmish.Worker {
				worker = u.ID
			}
		}
	})
	value[bool](b, `(() => { // the form of a command is made of its schema
		const { forms } = page, kind = forms.forms.findIndex((f) => f.name === "move");
		forms.kinds.value = String(kind);
		forms.kinds.dispatchEvent(new Event("change"));
		return true;
	})()`)
	b.click(`.entries button`) // + Add
	value[bool](b, fmt.Sprintf(`[...document.querySelectorAll(".entries input[inputmode]")].forEach((e, i) => (e.value = [0, %d, 160, 160][i])), true`, worker))
	b.shot("form")
	b.click(`.act [type="submit"]`)
	b.shown(".act .said", "was sent")
	s.until("the worker moves", func(w *skirmish.World) bool {
		for i := range w.Units {
			if u := &w.Units[i]; u.ID == worker {
				return u.Task == skirmish.Moving
			}
		}
		return false
	})
	value[bool](b, `document.querySelector(".item input").value = "-1", true`)
	b.click(`.act [type="submit"]`)
	b.shown(".act .said.problem", "want a number from 0 to")
	b.neverDiffered()

	b.click(`[role="tab"]:nth-child(1)`)
	value[bool](b, `page.inspection.tree.show("Units[3].Health"), true`)
	b.click(`.menu button[title^="checksums"]`)
	b.click(`#corrupt`)
	b.shown(".report", "Units[3].Health")
	b.shown(".report", "Repaired")
	b.agree(1)
	b.shot("healed")
	b.dark(true)
	b.shot("dark")
	b.click(`.menu a[href="#/"]`)
	b.shown("#lobby .cards", "arena")
}

// A spectator has no forms, names with markup are text, and a lost connection comes back.
func TestInspectAsSpectator(t *testing.T) {
	s := newStage(t, setup{inspector: true})
	b := newTab(t, s.url+"/#/watch/arena", "WebSocket connection to")
	b.until(inspected)
	b.click(`[role="tab"]:nth-child(3)`)
	b.shown(".act", "only players send commands")
	const markup = `<img src=x onerror=globalThis.hurt=1>`
	value[bool](b, fmt.Sprintf(`page.news.tell({ sort: "chat", player: 0, text: %[1]q }), page.inspection.tree.query.value = %[1]q, page.inspection.tree.query.dispatchEvent(new Event("input")), true`, markup))
	b.shown(".news", markup)
	s.cut()
	b.until(inspected + ` && page.state.link.losses > 0`)
	b.agree(1)
	b.neverDiffered()
	if value[bool](b, `!!globalThis.hurt || document.querySelectorAll("img").length > 0`) {
		t.Error("text became markup")
	}
	b.do(chromedp.Navigate(s.url + "/#/watch/nowhere"))
	b.shown(".banner.failed", "no such match")
}

// A replay has the same checksums as natively, its state is that of the tick, and the page keeps few rows of a large tree.
func TestInspectReplay(t *testing.T) {
	s := newStage(t, setup{inspector: true})
	s.recorded("duel.ssr")
	file, err := os.ReadFile("../../../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	native, err := watch.Open(file, game)
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t, s.url+"/#/replay/duel.ssr")
	b.at(0)
	for _, tick := range []int{700, 699, 1200, 3} {
		value[bool](b, fmt.Sprintf("viewer.go(%d), true", tick))
		got := b.at(tick)
		for native.Seek(lockstep.Tick(tick)); !native.Work(1000); {
		}
		if want := native.Hash(); got != want {
			t.Errorf("tick %d: got %s in the page, want %s", tick, got, want)
		}
		value[bool](b, `viewer.inspection.tree.show("Match.Tick"), true`)
		b.until(fmt.Sprintf(`document.querySelector('#viewer .row[title="Match.Tick"] .value')?.textContent === "%d"`, tick))
	}
	b.click(`#viewer .chart`)
	b.keys("..")
	b.at(5)
	value[bool](b, `(() => { // everything of every unit
		for (const path of ["Units", ...Array.from({ length: 90 }, (_, i) => ["Units[" + i + "]", "Units[" + i + "].Pos"]).flat()]) samestep.open(path, true);
		return viewer.inspection.tree.update(5, 1), true;
	})()`)
	b.until(`viewer.inspection.tree.total > 500`)
	if rows := value[int](b, `document.querySelectorAll(".row").length`); rows > 100 {
		t.Errorf("the page keeps %d rows", rows)
	}
	b.shot("rows")
	b.click(`#viewer [role="tab"]:nth-child(3)`)
	b.shown(".commands", "player 0")
	b.click(`.commands li:last-child button`)
	b.until(there + ` && viewer.state.tick > 5`)
	b.shot("commands")
	b.drop("junk.ssr", []byte(strings.Repeat("junk", 1000)))
	b.shown(`#viewer .said[role="alert"]`, "junk.ssr cannot be watched")
}
