//go:build !js

package tool

import (
	"net/http"
	"strings"
	"testing"

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
	b := browser.Open(t, s.URL+"/#/play/match-1?token="+s.Tokens["player-0"])
	b.Until(browser.Inspected)
	b.Click(`[role="tab"]:nth-child(3)`)
	b.Shown("#kind", "walk")
	browser.Value[bool](b, `[...document.querySelectorAll(".entries input")].forEach((e) => (e.value = "77")), true`)
	b.Click(`.act [type="submit"]`)
	b.Shown(".act .said", "was sent")
	b.Click(`[role="tab"]:nth-child(1)`)
	browser.Value[bool](b, `page.inspection.tree.show("Diggers[0].To.X"), true`)
	b.Until(`document.querySelector('.row[title="Diggers[0].To.X"] .value')?.textContent.startsWith("77")`)
	b.Agree(1)
	b.NeverDiffered()
}
