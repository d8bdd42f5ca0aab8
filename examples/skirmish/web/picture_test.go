//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// modules imports modules of the page as globalThis.modules.
func modules(b *browser.Tab) {
	b.T.Helper()
	browser.Value[bool](b, `(() => {
		const at = (name) => new URL(name, document.querySelector("script[type=module]").src).href;
		Promise.all(["sprites.js", "palette.js"].map((name) => import(at(name)))).then(([sprites, palette]) => (globalThis.modules = { sprites, palette }));
		return true;
	})()`)
	b.Until("globalThis.modules")
}

// unlike defines unlike(kind, other): in which part of their pixels the pictures of two kinds of units differ clearly, where
// that is the least of all zooms, owners and headings of the other one.
const unlike = `globalThis.unlike = (kind, other) => {
	const { Sprites, BASE, STAND, stages } = modules.sprites, grass = [70, 98, 54];
	let least = { part: 1 };
	for (const cell of [4, 6, 9, 14, 20, 28, 40]) {
		const sprites = new Sprites();
		sprites.use(cell, true);
		const get = (kind, owner, heading) => kind >= BASE ? sprites.building(kind, owner, stages, 0) : sprites.unit(kind, owner, heading, STAND, 0);
		for (const owner of cell < 14 ? [0, 1, 2, 3, 4, 5, 6, 7] : [0, 3]) for (const heading of cell < 14 || kind >= BASE ? [0] : [0, 48, 96, 128]) {
			const a = get(kind, owner, 0), b = get(other, owner, heading), half = Math.max(a.half, b.half);
			const at = (p, x, y) => {
				const s = x < -p.half || x >= p.half || y < -p.half || y >= p.half ? 0 : p.pixels[(y + p.half) * 2 * p.half + x + p.half], opacity = (s >>> 24) / 255;
				return { opacity, colour: [0, 8, 16].map((shift, i) => ((s >>> shift) & 255) * opacity + grass[i] * (1 - opacity)) };
			};
			let drawn = 0, clear = 0;
			for (let y = -half; y < half; y++) for (let x = -half; x < half; x++) {
				const p = at(a, x, y), q = at(b, x, y);
				if (p.opacity < 0.5 && q.opacity < 0.5) continue;
				drawn++;
				if (Math.hypot(...p.colour.map((v, i) => v - q.colour[i])) > 60) clear++;
			}
			if (clear / drawn < least.part) least = { part: clear / drawn, cell, owner, heading };
		}
	}
	return least;
}, true`

// Each kind of unit looks unlike each other one, at every zoom and in every colour: so does each kind of building. A picture is
// like itself, which shows that the measure can fail.
func TestKindsLookUnlike(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	b := browser.Open(t, s.URL)
	modules(b)
	browser.Value[bool](b, unlike)
	type least struct {
		Part                 float64
		Cell, Owner, Heading int
	}
	for _, row := range []struct {
		kinds string
		want  float64
	}{
		{"WORKER, modules.sprites.SOLDIER", 0.25}, {"WORKER, modules.sprites.ARCHER", 0.25}, {"SOLDIER, modules.sprites.ARCHER", 0.25},
		{"BASE, modules.sprites.BARRACKS", 0.25}, {"BASE, modules.sprites.TOWER", 0.25}, {"BARRACKS, modules.sprites.TOWER", 0.25},
		{"SOLDIER, modules.sprites.SOLDIER", 0},
	} {
		got := browser.Value[least](b, "unlike(modules.sprites."+row.kinds+")")
		if got.Part < row.want || row.want == 0 && got.Part > 0.001 && got.Heading == 0 {
			t.Errorf("%s: %+v of the pixels differ, want %v", row.kinds, got, row.want)
		}
		t.Logf("%s: %+v", row.kinds, got)
	}
}

// A user chooses colours, which the map and the panels have at once, and after the next visit.
func TestColoursAreChosen(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	b := s.play(0)
	modules(b)
	const colour, chip = `modules.palette.of(0).fill`, `document.querySelector(".score").style.getPropertyValue("--colour")`
	usual := browser.Value[string](b, colour)
	b.Click(`.menu button[title^="shortcuts"]`)
	browser.Value[bool](b, `(() => {
		const select = document.querySelector(".help select");
		select.value = "redgreen";
		return select.dispatchEvent(new Event("change"));
	})()`)
	got := browser.Value[string](b, colour)
	if got == usual {
		t.Errorf("the colour stays %s", got)
	}
	b.Until(chip + ` === ` + colour)
	b.Until(`(() => {
		const { renderer } = page, [r, g, blue] = [1, 3, 5].map((i) => parseInt(modules.palette.of(0).fill.slice(i, i + 2), 16));
		const picture = renderer.sprites.unit(2, 0, 0, 0, 0), c = new OffscreenCanvas(2 * picture.half, 2 * picture.half).getContext("2d");
		c.drawImage(picture.canvas, 0, 0);
		const { data } = c.getImageData(0, 0, 2 * picture.half, 2 * picture.half);
		for (let i = 0; i < data.length; i += 4) if (data[i] === r && data[i + 1] === g && data[i + 2] === blue) return true;
	})()`)
	b.Click(`.help .palettes input`) // a colour for each side: mine is that of seat 0, and all enemies have that of seat 1
	if browser.Value[bool](b, `modules.palette.of(1).fill !== modules.palette.of(7).fill || modules.palette.of(0).fill === modules.palette.of(1).fill`) {
		t.Error("enemies have several colours, or mine")
	}
	b.NeverDiffered()
	b.Visit("#/")
	b.Until(`!document.getElementById("lobby").hidden`)
	b.Do(chromedp.Reload())
	modules(b)
	if again := browser.Value[string](b, `modules.palette.palette()`); again != "redgreen" {
		t.Errorf("after the next visit: %s", again)
	}
}

// The picture of thousands of units that the page makes itself is like the one that the browser draws. The target of an order is
// marked on the map, in the colour of the order.
func TestBothPensDrawAlike(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{units: 400})
	b := browser.Open(t, s.URL+"/#/play/arena?token=token-of-player-0", "Multiple readback operations")
	b.Until(live)
	browser.Value[bool](b, `samestep.zoom(1, 640, 400), true`)
	b.Until(`page.renderer.frame.cell < 12`)
	browser.Value[bool](b, `samestep.drag(0, 0, 1280, 800, false), true`)
	b.Until(`(() => {
		const { words, effects } = page.renderer.frame;
		for (let i = effects.start; i < effects.end; i += 5) if ((words[i] & 255) >= 10) return true; // from scene.Moved on
		samestep.act(600, 300, false);
	})()`)
	const differing = `(() => {
		const { renderer } = page, { width, height } = renderer.layers.moving.canvas, { frame, brush, press } = renderer;
		const words = frame.words.slice(), still = (bytes) => (bytes.set(new Uint8Array(words.buffer)), words.byteLength), { source } = renderer;
		const shot = (pen) => {
			renderer.brush = renderer.press = pen;
			renderer.source = { ...source, frame: still };
			renderer.draw();
			return renderer.layers.moving.getImageData(0, 0, width, height).data;
		};
		const a = shot(brush), b = shot(press);
		Object.assign(renderer, { brush, press, source });
		let drawn = 0, differ = 0;
		for (let i = 0; i < a.length; i += 4) {
			if (!a[i + 3] && !b[i + 3]) continue;
			drawn++;
			if (Math.abs(a[i + 3] - b[i + 3]) > 24 || (a[i + 3] > 64 && [0, 1, 2].some((k) => Math.abs(a[i + k] - b[i + k]) > 24))) differ++;
		}
		return drawn > 1000 ? differ / drawn : 1;
	})()`
	if got := browser.Value[float64](b, differing); got > 0.01 {
		t.Errorf("%.1f %% of the pixels differ", 100*got)
	}
	browser.Value[bool](b, `(page.renderer.press.stamp = () => {}, true)`) // the control
	if got := browser.Value[float64](b, differing); got < 0.1 {
		t.Errorf("without pictures only %.1f %% of the pixels differ", 100*got)
	}
}

// Rings around units show their side, if the user wants them, also when the page is loaded again.
func TestRingsOfSides(t *testing.T) {
	s := newStage(t, setup{})
	b := s.play(0)
	const rings = `page.renderer.ringed > 0`
	const count = `(() => {
		const { sprites } = page.renderer, { get } = sprites;
		sprites.get = (family, ...rest) => {
			if (family === 5 && rest[0] < 8) page.renderer.ringed = (page.renderer.ringed ?? 0) + 1; // of the user's own units
			return get.call(sprites, family, ...rest);
		};
		return true;
	})()`
	browser.Value[bool](b, count)
	b.Until(fmt.Sprintf(`page.renderer.drawn > %d`, browser.Value[int](b, `page.renderer.drawn`)+5))
	if browser.Value[bool](b, rings) {
		t.Error("there are rings before the user wants them")
	}
	b.Click(`.menu button[title^="shortcuts"]`)
	b.Click(`.looks > label:last-child [type=checkbox]`)
	b.Until(rings)
	b.Do(chromedp.Reload())
	b.Until(live)
	browser.Value[bool](b, count)
	b.Until(rings)
}
