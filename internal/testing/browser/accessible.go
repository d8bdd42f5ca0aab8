//go:build !js && !wasip1

package browser

import (
	"os"

	"github.com/chromedp/chromedp"
)

// AxeVariable names the environment variable with the file axe.min.js of axe-core, which looks for barriers on each screen of which a
// test takes a screenshot. Without it no test looks for them.
const AxeVariable = "SAMESTEP_AXE"

// axe finds what the page does against WCAG 2, levels A and AA, and says where.
const axe = `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).then(({violations}) =>
  violations.map((v) => v.help + ": " + v.nodes.map((n) => n.target.join(" ") + " (" + n.any.concat(n.all, n.none).map((c) => c.message).join("; ") + ")").join(", ")))`

// audit fails the test if people cannot use a screen of the page.
func (b *Tab) audit(screen string) {
	b.T.Helper()
	path := os.Getenv(AxeVariable)
	if path == "" {
		return
	}
	script, err := os.ReadFile(path)
	if err != nil {
		b.T.Fatalf("%s: %v", AxeVariable, err)
	}
	if !Value[bool](b, `"axe" in globalThis`) {
		if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[any](string(script)+"\n;null")); err != nil {
			b.T.Fatalf("%s: %v", path, err)
		}
	}
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string](axe, chromedp.EvalAwaitPromise))
	if err != nil {
		b.T.Errorf("screen %q: %v", screen, err)
	}
	for _, problem := range found {
		b.T.Errorf("screen %q: %s", screen, problem)
	}
}
