//go:build !js && !wasip1

package web_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
)

// Two replays that are dropped together are compared, and so is the open one with a file of the user's.
func TestCompareFiles(t *testing.T) {
	s := newStage(t, setup{})
	s.recorded("duel.ssr")
	b := browser.Open(t, s.URL+"/#/replay/")
	file, err := os.ReadFile("../../../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	b.Shown("#viewer .drop", "two replays")
	browser.Value[bool](b, fmt.Sprintf(`(() => {
		const bytes = Uint8Array.from(atob(%q), (c) => c.charCodeAt(0));
		globalThis.two = (...names) => {
			const data = new DataTransfer();
			for (const name of names) data.items.add(new File([bytes], name));
			return data;
		};
		document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: two("one.ssr", "two.ssr"), bubbles: true, cancelable: true }));
		return true;
	})()`, base64.StdEncoding.EncodeToString(file)))
	const split = `viewer.comparing && viewer.beside.drawn > 0 && document.querySelector("#viewer .half.beside").checkVisibility() && viewer.title.textContent === `
	b.Until(split + `"one.ssr | two.ssr"`)
	b.Shown(".differences", "No field differs")

	b.Visit("#/replay/duel.ssr?t=30")
	b.At(30)
	b.Until(`!viewer.comparing && !document.querySelector("#viewer .half.beside").checkVisibility()`)
	browser.Value[bool](b, `(viewer.second.files = two("mine.ssr").files, viewer.second.dispatchEvent(new Event("change")), true)`)
	b.Until(split + `"duel.ssr | mine.ssr" && viewer.names === null`)
}
