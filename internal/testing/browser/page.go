//go:build !js && !wasip1

package browser

import (
	"fmt"
	"strings"

	"github.com/chromedp/chromedp/kb"
)

// Inspected is true when the inspector page plays or watches a match, and has drawn it.
const Inspected = `globalThis.page && page.state && page.state.link.state === "live" && page.state.match && page.inspection.chart.drawn > 0`

// There is true when the viewer of a replay has reached its target tick.
const There = `viewer.about && !viewer.seeking && viewer.state && viewer.state.tick === Math.ceil(viewer.position)`

// Agree waits until n more checksums of the page agree with the match.
func (b *Tab) Agree(more int) {
	b.T.Helper()
	before := Value[int](b, "page.state.net.agreed")
	b.Until(fmt.Sprintf("page.state.net.agreed >= %d", before+more))
}

// NeverDiffered fails the test if a checksum of the page differed from the match.
func (b *Tab) NeverDiffered() {
	b.T.Helper()
	if n := Value[int](b, "page.state.net.differing"); n != 0 {
		b.T.Errorf("%d checksums differ", n)
	}
}

// At waits until the viewer of a replay is at a tick, and returns the checksum there.
func (b *Tab) At(tick int) (hash string) {
	b.T.Helper()
	b.Until(fmt.Sprintf(`%s && viewer.state.tick === %d`, There, tick))
	return Value[string](b, "viewer.state.state_hash")
}

// Visit changes the part of the address that the page reads.
func (b *Tab) Visit(hash string) {
	b.T.Helper()
	Value[bool](b, fmt.Sprintf("location.hash = %q, true", hash))
}

// TabTo presses the tab key until an element has the focus: one for which the JavaScript function is returns true.
func (b *Tab) TabTo(is string) {
	b.T.Helper()
	for range 40 {
		if Value[bool](b, "("+is+")(document.activeElement)") {
			return
		}
		b.Keys(kb.Tab)
	}
	b.Shot("unreachable")
	b.T.Fatalf("not reached within 40 tabs: %s", is)
}

// Drop drops a file on the page.
func (b *Tab) Drop(name string, content []byte) {
	b.T.Helper()
	list := make([]string, len(content))
	for i, c := range content {
		list[i] = fmt.Sprint(c)
	}
	Value[bool](b, fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([new Uint8Array([%s])], %q));
		for (const name of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true }));
		return true;
	})()`, strings.Join(list, ","), name))
}
