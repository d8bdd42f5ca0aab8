//go:build !js && !wasip1

package page_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/site"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/page"
	"github.com/seed-49bee653/samestep/page/program"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/server"
)

func TestMain(m *testing.M) { browser.Main(m) }

// inspector is the page of games without one of their own, with the program of the command line.
var inspector = sync.OnceValues(func() (*site.Site, error) {
	files, err := site.Build(context.Background(), site.BuildOptions{
		Packages: map[string]string{"inspector": "github.com/seed-49bee653/samestep/cmd/samestep"}, Quality: 5,
	})
	if err != nil {
		return nil, err
	}
	list := program.List(program.Game{Game: game, Sized: func(uint8, uint16) any { return nil }})
	return site.NewWith(map[string][]byte{"games.json": list}, page.Inspector(), page.Parts(), files)
})

var game = lockstep.MustGame(skirmish.Rules())

// newStage serves the inspector page and a match of skirmish with two seats.
func newStage(t *testing.T) *browser.Stage {
	t.Helper()
	settings, config := lockstep.DefaultSettings(2), skirmish.Defaults(2, 100)
	settings.Seed, settings.CheckEvery = 1, 5
	return browser.NewStage(t, browser.StageOptions{
		Site: inspector, Match: server.MatchSpec{Game: game, Settings: settings, Config: &config},
		NewMatch: browser.Requested(game, func(players uint8, _ uint16) any { c := skirmish.Sized(int(players), 400); return &c }),
	})
}

// The inspector page needs only the schemas of a game: a user joins a match, finds a field of the state, sees what changes,
// moves a unit with a form, and corrupts and heals the state. Page and server agree at every check but one.
func TestInspectMatch(t *testing.T) {
	s := newStage(t)
	bot := skirmish.NewBot(1, 7)
	s.Seat(game, 1, func(c *player.Client) {
		for _, o := range bot.Think(lockstep.World[skirmish.World](c.Simulation())) {
			c.Submit(o.Value) // an error: too many wait for an answer
		}
	})
	b := browser.Open(t, s.URL)
	b.Shown("#lobby .cards", "arena")
	b.Do(chromedp.Navigate(s.URL + "/#/play/arena?token=token-of-player-0"))
	b.Until(browser.Inspected)
	b.Agree(1)
	units := browser.World(s, func(w *skirmish.World) int { return len(w.Units) })
	b.Until(fmt.Sprintf(`page.inspection.chart.count > %d`, units)) // each has several places
	b.Shot("map")

	b.Click(`input[type="search"]`)
	b.Keys("units[3] health")
	b.Shown(".hits", "Units[ID=4].Health")
	b.Click(".hits button")
	b.Shown(`.row[aria-selected="true"]`, "Health")
	b.Keys(kb.Tab)
	b.Until(`document.querySelectorAll(".row").length > 5`)
	b.Shot("tree")

	b.Click(`[role="tab"]:nth-child(2)`)
	b.Shown(`[aria-label="Changed fields"]`, "Match.Tick")

	b.Click(`[role="tab"]:nth-child(3)`)
	worker := browser.World(s, func(w *skirmish.World) (worker skirmish.UnitID) {
		for i := range w.Units {
			if u := &w.Units[i]; u.Owner == 0 && u.Kind == skirmish.Worker {
				worker = u.ID
			}
		}
		return worker
	})
	browser.Value[bool](b, `(() => { // the form of a command is made of its schema
		const { forms } = page, kind = forms.forms.findIndex((f) => f.name === "move");
		forms.kinds.value = String(kind);
		forms.kinds.dispatchEvent(new Event("change"));
		return true;
	})()`)
	b.Click(`.entries button`) // + Add
	browser.Value[bool](b, fmt.Sprintf(`[...document.querySelectorAll(".entries input[inputmode]")].forEach((e, i) => (e.value = [0, %d, 160, 160][i])), true`, worker))
	b.Shot("form")
	b.Click(`.act [type="submit"]`)
	b.Shown(".act .said", "was sent")
	browser.UntilWorld(s, "the worker moves", func(w *skirmish.World) bool {
		for i := range w.Units {
			if u := &w.Units[i]; u.ID == worker {
				return u.Task == skirmish.Moving
			}
		}
		return false
	})
	browser.Value[bool](b, `document.querySelector(".item input").value = "-1", true`)
	b.Click(`.act [type="submit"]`)
	b.Shown(".act .said.problem", "want a whole number from 0 to")
	b.NeverDiffered()

	b.Click(`[role="tab"]:nth-child(1)`)
	browser.Value[bool](b, `page.inspection.tree.show("Units[3].Health"), true`)
	b.Click(`.menu button[title^="checksums"]`)
	b.Click(`#corrupt`)
	b.Shown(".report", "Units[ID=4].Health")
	b.Shown(".report", "Repaired")
	b.Agree(1)
	b.Shot("healed")
	b.Dark(true)
	b.Shot("dark")
	b.Click(`.menu a[href="#/"]`)
	b.Shown("#lobby .cards", "arena")
}

// A spectator has no forms, names with markup are text, and a lost connection comes back.
func TestInspectAsSpectator(t *testing.T) {
	s := newStage(t)
	b := browser.Open(t, s.URL+"/#/watch/arena", "WebSocket connection to")
	b.Until(browser.Inspected)
	b.Click(`[role="tab"]:nth-child(3)`)
	b.Shown(".act", "only players send commands")
	const markup = `<img src=x onerror=globalThis.hurt=1>`
	browser.Value[bool](b, fmt.Sprintf(`page.news.tell({ sort: "chat", player: 0, text: %[1]q }), page.inspection.tree.query.value = %[1]q, page.inspection.tree.query.dispatchEvent(new Event("input")), true`, markup))
	b.Shown(".news", markup)
	s.Cut()
	b.Until(browser.Inspected + ` && page.state.link.losses > 0`)
	b.Agree(1)
	b.NeverDiffered()
	if browser.Value[bool](b, `!!globalThis.hurt || document.querySelectorAll("img").length > 0`) {
		t.Error("text became markup")
	}
	b.Do(chromedp.Navigate(s.URL + "/#/watch/nowhere"))
	b.Shown(".banner.failed", "no such match")
}

// A replay has the same checksums as natively, its state is that of the tick, and the page keeps few rows of a large tree.
func TestInspectReplay(t *testing.T) {
	s := newStage(t)
	s.Recorded("../testdata/replays/duel.ssr")
	file, err := os.ReadFile("../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	native, err := watch.Open(file, game)
	if err != nil {
		t.Fatal(err)
	}
	b := browser.Open(t, s.URL+"/#/replay/duel.ssr")
	b.At(0)
	for _, tick := range []int{700, 699, 1200, 3} {
		browser.Value[bool](b, fmt.Sprintf("viewer.go(%d), true", tick))
		got := b.At(tick)
		for native.Seek(lockstep.Tick(tick)); !native.Work(1000); {
		}
		if want := native.Hash(); got != want {
			t.Errorf("tick %d: got %s in the page, want %s", tick, got, want)
		}
		browser.Value[bool](b, `viewer.inspection.tree.show("Match.Tick"), true`)
		b.Until(fmt.Sprintf(`document.querySelector('#viewer .row[title="Match.Tick"] .value')?.textContent === "%d"`, tick))
	}
	b.Click(`#viewer .chart`)
	b.Keys("..")
	b.At(5)
	browser.Value[bool](b, `(() => { // everything of every unit
		for (const path of ["Units", ...Array.from({ length: 90 }, (_, i) => ["Units[" + i + "]", "Units[" + i + "].Pos"]).flat()]) samestep.open(path, true);
		return viewer.inspection.tree.update(5, 1), true;
	})()`)
	b.Until(`viewer.inspection.tree.total > 500`)
	if rows := browser.Value[int](b, `document.querySelectorAll(".row").length`); rows > 100 {
		t.Errorf("the page keeps %d rows", rows)
	}
	b.Shot("rows")
	b.Click(`#viewer [role="tab"]:nth-child(3)`)
	b.Shown(".commands", "bot 0 ")
	b.Keys(".") // keys do not depend on the focus
	b.At(6)
	b.Click(`.commands li:last-child button`)
	b.Until(browser.There + ` && viewer.state.tick > 6`)
	b.Shot("commands")
	b.Drop("junk.ssr", []byte(strings.Repeat("junk", 1000)))
	b.Shown(`#viewer .said[role="alert"]`, "junk.ssr cannot be watched")
}

// The link of a desync's report selects the field at its tick. The address keeps it, at other ticks too.
func TestInspectLinkedField(t *testing.T) {
	s := newStage(t)
	s.Recorded("../testdata/replays/duel.ssr")
	b := browser.Open(t, s.URL+"/#/replay/duel.ssr?t=700&path=Units%5BID%3D51%5D.Health")
	b.At(700)
	b.Until(`(row => row?.title.endsWith("].Health") && row.title === viewer.inspection.tree.path)(document.querySelector('#viewer .row[aria-selected="true"]'))`)
	path := browser.Value[string](b, `viewer.inspection.tree.path.replace("Health", "ID")`)
	b.Shown(fmt.Sprintf(`#viewer .row[title=%q] .value`, path), "51")
	b.Shot("field")
	browser.Value[bool](b, `viewer.go(690), true`)
	b.At(690)
	b.Until(`((query) => query.get("t") === "690" && query.get("path") === "Units[ID=51].Health")(new URLSearchParams(location.hash.replace(/.*[?]/, "")))`)
}

// With a server that sends views only, the page shows a player's view, and takes commands. In a replay it shows what a player could
// see, and the address keeps whom.
func TestInspectViews(t *testing.T) {
	settings, config := lockstep.DefaultSettings(2), skirmish.Defaults(2, 100)
	s := browser.NewStage(t, browser.StageOptions{
		Site: inspector, Match: server.MatchSpec{Game: game, Settings: settings, Config: &config}, Host: host.Options{Views: host.ViewPolicy{Only: true}},
	})
	b := browser.Open(t, s.URL+"/#/play/arena?token=token-of-player-0")
	b.Until(browser.Inspected)
	browser.Value[bool](b, `page.inspection.tree.show("Players[1].Crystals"), true`)
	b.Shown(`.row[title="Players[1].Crystals"] .value`, "0")
	browser.Value[bool](b, `page.inspection.tree.show("Players[0].Crystals"), true`)
	b.Until(`Number(document.querySelector('.row[title="Players[0].Crystals"] .value')?.textContent) > 0`)
	if browser.Value[bool](b, `page.sums.checkVisibility()`) {
		t.Error("there is a panel of checksums")
	}
	b.Click(`[role="tab"]:nth-child(3)`)
	browser.Value[bool](b, `(() => {
		const { forms } = page, kind = forms.forms.findIndex((f) => f.name === "ping");
		forms.kinds.value = String(kind);
		forms.kinds.dispatchEvent(new Event("change"));
		return true;
	})()`)
	b.Click(`.act [type="submit"]`)
	b.Shown(".act .said", "was sent")
	b.Until(`page.state.net.unanswered === 0`)
	b.Shot("live")

	s.Recorded("../testdata/replays/duel.ssr")
	b = browser.Open(t, s.URL+"/#/replay/duel.ssr?t=700&as=player:1")
	b.At(700)
	browser.Value[bool](b, `viewer.inspection.tree.show("Players[0].Crystals"), true`)
	b.Until(`document.querySelector('#viewer .row[title="Players[0].Crystals"] .value')?.textContent === "0"`)
	browser.Value[bool](b, `viewer.go(690), true`)
	b.At(690)
	b.Until(`new URLSearchParams(location.hash.replace(/.*[?]/, "")).get("as") === "player:1"`)
	b.Shot("as")
	browser.Value[bool](b, `viewer.as.value = "", viewer.as.dispatchEvent(new Event("change")), viewer.inspection.tree.show("Players[0].Crystals"), true`)
	b.Until(`Number(document.querySelector('#viewer .row[title="Players[0].Crystals"] .value')?.textContent) > 0`)
}

// A recording of another engine shows its recorded states, links to the nearest one at other ticks, and marks its desyncs.
func TestInspectRecording(t *testing.T) {
	s := newStage(t)
	s.Recorded("watch/testdata/marbles.ssr")
	b := browser.Open(t, s.URL+"/#/replay/marbles.ssr?tick=151")
	b.At(151)
	b.Shown("#viewer .sum.bad", "the states of tick 151 differ: player 0 | player 1")
	browser.Value[bool](b, `viewer.inspection.tree.show("Marbles[1].VX"), true`)
	b.Shown(`#viewer .row[title="Marbles[1].VX"] .value`, "0.037034214")
	b.Click(`#viewer [role="tab"]:nth-child(2)`)
	b.Shown(`#viewer [aria-label="Changed fields"]`, "Marbles[ID=1].VX")
	b.Click(`#viewer [role="tab"]:nth-child(1)`)
	b.Shot("state")
	browser.Value[bool](b, `viewer.go(77), true`)
	b.At(77)
	b.Shown("#viewer .missing", "no recorded state at tick 77; the nearest are those of ticks 0 and 150")
	b.Until(`document.querySelectorAll("#viewer .row").length === 0`)
	b.Shot("missing")
	b.Click("#viewer .missing button:last-child")
	b.At(150)
	b.Until(`document.querySelector("#viewer .missing").hidden && document.querySelectorAll("#viewer .row").length > 0`)
	b.Click(`#viewer [role="tab"]:nth-child(3)`)
	b.Shown("#viewer .commands", "kind 1")
	if got := browser.Value[int](b, `viewer.timeline.data.mismatches[0].tick`); got != 151 {
		t.Errorf("the first mismatch: got tick %d, want 151", got)
	}
}

// The lobby of any game has a form of its configuration, and sends the fields that the user has changed.
func TestLobbyConfigures(t *testing.T) {
	s := newStage(t)
	b := browser.Open(t, s.URL, "400")
	b.Click("#lobby summary")
	b.Shown(".config", "Crystals")
	b.Do(chromedp.SetValue(chromedp.CSS(`[name="name"]`), "rich"))
	b.Do(chromedp.SetValue(chromedp.CSS(`[name="token"]`), "token-of-the-admin"))
	fill := func(field, value string) {
		browser.Value[bool](b, fmt.Sprintf(`[...document.querySelectorAll(".config label")].find((e) => e.firstChild.textContent === %q).querySelector("input").value = %q, true`, field, value))
	}
	fill("Crystals", "70000")
	b.Click(`#lobby form [type="submit"]`)
	b.Shown(`#lobby [role="alert"]`, "Crystals: got \"70000\", want a whole number from 0 to 65535")
	fill("Crystals", "999")
	browser.Value[bool](b, `(() => { // of four players, the usual configuration is another; what was changed stays
		const players = document.querySelector('[name="players"]');
		players.value = "4";
		return players.dispatchEvent(new Event("change"));
	})()`)
	b.Shot("form")
	b.Click(`#lobby form [type="submit"]`)
	b.Until(`location.hash === "#/play/rich"`)
	config := skirmish.Sized(4, 400)
	config.Crystals = 999
	h, err := game.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(4), &config)
	if err != nil || !bytes.Equal(s.Config("rich"), h.Config) {
		t.Errorf("the configuration is not %+v; %v", config, err)
	}
}
