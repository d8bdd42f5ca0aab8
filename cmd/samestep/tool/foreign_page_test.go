//go:build !js

package tool

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// page plays a match against a bot on the game's page, which has a form for each command and agrees with the server.
func (f *foreign) page(t *testing.T) {
	browser.Needs(t)
	s := tooltest.ServeFrom(t, f.program, "--set", "web=true", "--players", "2", "--bots", "1", "--dir", t.TempDir())
	status, index, _ := tooltest.Fetch(t, s.URL+"/")
	for strings.Contains(index, "being built") {
		status, index, _ = tooltest.Fetch(t, s.URL+"/")
	}
	if status != http.StatusOK {
		t.Fatalf("the page: got %d %s", status, index)
	}
	b := browser.Open(t, s.URL+"/#/")
	b.Shown("#lobby h1", "hold")
	b.Do(chromedp.Navigate(s.URL + "/#/play/match-1?token=" + s.Tokens["player-0"]))
	b.Until(browser.Inspected)
	b.Shown("header .title", "hold · match-1 ·")
	b.Until(`document.title === "match-1 · hold" && page.inspection.tree.seen.some((r) => r.path === "Diggers[0].At.X" || r.path === "Diggers[0].At")`)
	b.Click(`[role="tab"]:nth-child(3)`)
	b.Shown("#kind", "walk")
	browser.Value[bool](b, `[...document.querySelectorAll(".entries input")].forEach((e) => (e.value = "77")), true`)
	b.Click(`.act [type="submit"]`)
	b.Shown(".act .said", "was sent")
	b.Click(`[role="tab"]:nth-child(1)`)
	browser.Value[bool](b, `page.inspection.tree.show("Diggers[0].To.X"), true`)
	b.Until(`document.querySelector('.row[title="Diggers[0].To.X"] .value')?.textContent.startsWith("77")`)
	f.clicks(b)
	b.Agree(1)
	b.NeverDiffered()
}

// clicks selects the player's digger by a click on the picture, and sends it to a place by a right click.
func (f *foreign) clicks(b *browser.Tab) {
	mouse := func(place string, options ...chromedp.MouseOption) {
		p := browser.Value[[2]float64](b, `(([x, y]) => {
			const c = page.inspection.chart, r = c.canvas.getBoundingClientRect();
			return [r.left + (x - c.camera.x) * c.camera.scale + r.width / 2, r.top + (y - c.camera.y) * c.camera.scale + r.height / 2];
		})(`+place+`)`)
		b.Do(chromedp.MouseClickXY(p[0], p[1], options...))
	}
	b.Until(`page.inspection.chart.keys !== null && page.inspection.chart.picture !== null`)
	// The digger walks, so a click may miss it: the test goes where it stands.
	b.Until(`(() => { const p = page.inspection.chart.places; return p[1] === 77 && p[2] === 77; })()`)
	mouse("[77, 77]")
	b.Shown(".charted .hint", "right click: walk here")
	mouse("[120, 40]", chromedp.ButtonRight)
	b.Until(`(() => { const p = page.inspection.chart.places; return Math.abs(p[7] - 120) < 2 && Math.abs(p[8] - 40) < 2; })()`)
}
