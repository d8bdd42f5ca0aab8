//go:build !js && !wasip1

package web_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"testing"
	"testing/fstest"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/examples/skirmish/web"
	"github.com/seed-49bee653/samestep/internal/site"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page"
)

// BeforeVariable is a revision of git with whose drawing the present one is compared.
const BeforeVariable = "SAMESTEP_BROWSER_BEFORE"

// measured draws one frame of the match alternately with the modules of both revisions, each time a little moved, and notes
// the milliseconds until the pixels are there.
const measured = `(async () => {
	const base = new URL(".", document.querySelector("script[type=module]").src).href, took = { now: [], before: [] };
	const words = page.renderer.frame.words.slice(), { width, height, source } = page.renderer;
	const renderers = {};
	for (const name of globalThis.before ? ["now", "before"] : ["now"]) {
		const { Renderer } = await import(base + (name === "now" ? "" : "before/") + "renderer.js");
		const canvases = [document.createElement("canvas"), document.createElement("canvas")];
		renderers[name] = new Renderer(...canvases, { ...source, frame: (bytes) => {
			const header = name === "now" ? words : [...words.subarray(0, globalThis.before), ...words.subarray(17)];
			if (header.length * 4 <= bytes.length) new Int32Array(bytes.buffer, 0, header.length).set(header);
			return header.length * 4;
		} });
		renderers[name].resize(width, height);
	}
	for (let i = 0; i < 60; i++) for (const [name, r] of Object.entries(renderers)) {
		const from = performance.now();
		r.draw(width, height);
		r.layers.moving.getImageData(0, 0, 1, 1);
		if (i >= 10) took[name].push(performance.now() - from);
		words[17 + 4 * words[1] + 3 * words[2]] += 40; // the first unit
		await new Promise((resolve) => setTimeout(resolve));
	}
	globalThis.took = took;
})(), true`

// TestPictureFigures prints what it costs to draw 3,000 units, all in view, and compares that with an earlier revision:
// SAMESTEP_BROWSER_FIGURES=1 SAMESTEP_BROWSER_BEFORE=be193dae go test ./examples/skirmish/web -run PictureFigures -v
func TestPictureFigures(t *testing.T) {
	if os.Getenv(FiguresVariable) == "" {
		t.Skipf("measures for minutes; set %s=1", FiguresVariable)
	}
	figure := func(what, got, want string) { t.Logf("%-80s %10s   want %s", what, got, want) }
	s := newStage(t, setup{players: 4, units: 3000, site: withBefore(t)})
	for p := range lockstep.Player(4) {
		s.bot(p)
	}
	b := browser.Open(t, s.URL+"/#/watch/arena", "Multiple readback operations")
	b.Do(chromedp.EmulateViewport(1440, 900))
	b.Until(live)
	browser.Value[bool](b, "samestep.zoom(1, 720, 450), true") // all of the map
	b.Until("page.renderer.frame.units.count > 2500")
	drawn, from := browser.Value[int](b, "page.renderer.drawn"), time.Now()
	time.Sleep(10 * time.Second)
	drawn = browser.Value[int](b, "page.renderer.drawn") - drawn
	units := browser.Value[int](b, "page.renderer.frame.units.count")
	figure(fmt.Sprintf("frames a second of a match with %d units", units), fmt.Sprintf("%.1f", float64(drawn)/time.Since(from).Seconds()), ">= 50")

	browser.Value[bool](b, `cancelAnimationFrame(page.next), clearInterval(page.timer), true`)
	if os.Getenv(BeforeVariable) != "" {
		browser.Value[bool](b, fmt.Sprintf("globalThis.before = %d, true", headBefore))
	}
	browser.Value[bool](b, measured)
	b.Until("globalThis.took")
	least := func(name string) float64 { return browser.Value[float64](b, "Math.min(...took."+name+")") }
	now := least("now")
	figure(fmt.Sprintf("a frame of %d units until its pixels are there, at best", units), fmt.Sprintf("%.1f ms", now), "<= 20 ms")
	if os.Getenv(BeforeVariable) != "" {
		before := least("before")
		figure("the same at "+os.Getenv(BeforeVariable), fmt.Sprintf("%.1f ms", before), "-")
		figure("and as a ratio", fmt.Sprintf("%.2f", before/now), ">= 1.1")
	}
}

// headBefore is the number of words in the header of a frame of that revision.
const headBefore = 16

// withBefore returns the site with the modules of an earlier revision in the folder before.
func withBefore(t *testing.T) func() (*site.Site, error) {
	t.Helper()
	revision := os.Getenv(BeforeVariable)
	if revision == "" {
		return program
	}
	command := exec.CommandContext(t.Context(), "git", "archive", revision, "examples/skirmish/web/page", "page/parts")
	command.Dir = "../../.." // git archive is relative to it
	archive, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	before := fstest.MapFS{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if path.Ext(h.Name) == ".js" {
			before["before/"+path.Base(h.Name)] = &fstest.MapFile{Data: content}
		}
	}
	return func() (*site.Site, error) {
		files, err := site.Build(t.Context(), site.BuildOptions{Packages: programs, Quality: 5})
		if err != nil {
			return nil, err
		}
		return site.New(web.Page(), page.Parts(), files, before)
	}
}

// TestLongTasks prints the longest tasks of the page's thread while a user plays with a thousand units, and the memory of the
// page after as many frames as thirty minutes have, with all zooms: SAMESTEP_BROWSER_FIGURES=1 go test
// ./examples/skirmish/web -run LongTasks -v
func TestLongTasks(t *testing.T) {
	if os.Getenv(FiguresVariable) == "" {
		t.Skipf("measures for minutes; set %s=1", FiguresVariable)
	}
	figure := func(what, got, want string) { t.Logf("%-80s %10s   want %s", what, got, want) }
	s := newStage(t, setup{players: 5, units: 1000})
	for p := range lockstep.Player(4) {
		s.bot(p + 1)
	}
	b := s.play(0)
	b.Agree(5)
	browser.Value[bool](b, `globalThis.tasks = [], new PerformanceObserver((list) => {
		for (const e of list.getEntries()) tasks.push(e.duration);
	}).observe({ type: "longtask" }), samestep.key("KeyF", false, false), true`)
	for i := range 40 {
		browser.Value[bool](b, fmt.Sprintf("samestep.act(%d, 300, false), true", 200+20*i))
		time.Sleep(500 * time.Millisecond)
	}
	figure(fmt.Sprintf("the longest of %d long tasks in 20 s, with 1,000 units and orders", browser.Value[int](b, "tasks.length")),
		fmt.Sprintf("%.0f ms", browser.Value[float64](b, "Math.max(0, ...tasks)")), "<= 100 ms")

	browser.Value[bool](b, `cancelAnimationFrame(page.next), globalThis.minutes = (frames) => {
		const { renderer } = page, { frame } = renderer, { source } = renderer, words = frame.words.slice();
		renderer.source = { ...source, frame: (bytes) => (new Int32Array(bytes.buffer).set(words), words.length * 4) };
		for (let i = 0; i < frames; i++) {
			words[9] = 256 * (6 + (i >> 8) % 58); // the zoom
			words[0] = i;
			renderer.draw();
		}
		renderer.source = source;
	}, true`)
	var sizes []string
	for range 6 {
		browser.Value[bool](b, "minutes(60 * 60), true")
		browser.Value[bool](b, "minutes(4 * 60 * 60), true")
		sizes = append(sizes, fmt.Sprintf("%.1f", b.Heap()/1e6))
	}
	figure("the heap in MB after each 5 minutes of frames", fmt.Sprint(sizes), "flat")
	b.NeverDiffered()
}
