//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// The timeline of a replay has charts of the whole match before it is played. The user switches them, and reads the values of a
// tick with the mouse and at the cursor. The page remembers the choice.
func TestChartsOverTheTimeline(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	s.recorded("duel.ssr")
	b := browser.Open(t, s.URL+"/#/replay/duel.ssr", "willReadFrequently")
	b.At(0)
	b.Until(`viewer.timeline.charts.course.ticks.at(-1) > viewer.about.last / 2`) // nothing was simulated
	point := func(key string) string {                                            // the colour in the middle of the line of player 1, which lies above
		return browser.Value[string](b, fmt.Sprintf(`(() => {
			const { canvas, charts: { course: { ticks, players } } } = viewer.timeline, i = ticks.length >> 1, ratio = devicePixelRatio, c = canvas.getContext("2d");
			const low = canvas.height - 2 * ratio, most = Math.max(...players.flatMap((p) => p[%[1]q]));
			const [r, g, b] = c.getImageData(ticks[i] / viewer.about.last * canvas.width, low - players[1][%[1]q][i] / most * (low - 12 * ratio), 1, 1).data;
			return "#" + [r, g, b].map((v) => v.toString(16).padStart(2, "0")).join("");
		})()`, key))
	}
	choose := func(chart string) {
		browser.Value[bool](b, fmt.Sprintf(`(e => (e.focus(), e.value = %q, e.dispatchEvent(new Event("change"))))(document.querySelector("select.chart"))`, chart))
	}
	if got := point("army"); got != "#f0483e" {
		t.Errorf("the line of player 1 has the colour %s", got)
	}
	b.Shown(".timeline .values", "Army")
	b.Shot("army")

	choose("economy")
	b.Keys(kb.End)
	b.At(1200)
	b.Until(`viewer.timeline.charts.course.until === viewer.about.last`)
	if got := point("gathered"); got != "#f0483e" {
		t.Errorf("the line of player 1's crystals has the colour %s", got)
	}
	b.Until(`(a => a.Gathered > 0 && viewer.timeline.charts.values.textContent.startsWith("Crystals gathered" + a.Gathered))(viewer.state.players[0])`)
	b.Until(`document.querySelector(".seek").getAttribute("aria-valuetext").includes("Crystals gathered: bot 0 ")`)
	b.Do(chromedp.MouseEvent(chromedp.MouseMoved, 300, 700, chromedp.ButtonNone))
	b.Shown(".timeline .hint", "workers: bot 0 ")
	b.Shot("economy")
	b.Dark(true)
	b.Shot("dark")
	b.Dark(false)

	choose("time") // of what was simulated on the way from a keyframe
	browser.Value[bool](b, `(viewer.go(590), true)`)
	b.At(590)
	b.Until(`(c => c?.ticks > 10 && c.phases.some(({ name, us }) => name === "act" && us.some((v) => v > 0)))(viewer.timeline.charts.costs)`)
	b.Shown(".timeline .values", "before the first phase")
	b.Until(`/act \d+ µs/.test(document.querySelector(".seek").getAttribute("aria-valuetext"))`)
	if !browser.Value[bool](b, `(({ canvas, charts: { costs: { counts, phases } } }) => {
		const mean = counts.map((n, i) => (n ? phases.reduce((sum, { us }) => sum + us[i], 0) / n : 0)), i = mean.indexOf(Math.max(...mean));
		return canvas.getContext("2d").getImageData((i + 0.5) / counts.length * canvas.width, canvas.height - 10 * devicePixelRatio, 1, 1).data[3] === 255;
	})(viewer.timeline)`) {
		t.Error("the time of the slowest ticks is not drawn")
	}
	b.Shot("time")

	choose("off")
	b.Until(`!document.querySelector(".timeline .values").checkVisibility()`)
	b.Shot("off")
	b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.URL+"/#/replay/duel.ssr"))
	b.At(0)
	b.Until(`document.querySelector("select.chart").value === "off" && !document.querySelector(".timeline .values").checkVisibility()`)
}
