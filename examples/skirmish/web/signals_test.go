//go:build !js && !wasip1

package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// A ping is shown to the ally, on the map and on the minimap, and to no enemy. Space looks at the last event, and pressed again at the
// one before.
func TestPingsAndEvents(t *testing.T) {
	s := newStage(t, setup{players: 3, teams: 2})
	b, ally, enemy := s.play(0), s.play(2), s.play(1)
	pings := func(n int) string { return fmt.Sprintf(`page.events.places.length === %d`, n) }
	seen := fmt.Sprintf(`(({ words, effects }) => words.subarray(effects.start, effects.end).some((word, i) => i %% 5 === 0 && (word & 255) === %d))(page.renderer.frame)`, scene.Ping)
	onMinimap(b, 0.3, 0.6, chromedp.ButtonLeft, chromedp.ButtonModifiers(chromedp.ModifierAlt))
	for _, tab := range []*browser.Tab{b, ally} {
		tab.Until(pings(1))
	}
	onMinimap(ally, 0.3, 0.6)
	onMinimap(b, 0.7, 0.4)
	b.Keys("v")
	b.Until(`samestep.mode() === "ping"`)
	middle := browser.Value[[]float64](b, `(({ x, y }) => [x, y])(page.input.hooks.middle())`)
	b.Do(chromedp.MouseClickXY(middle[0], middle[1]))
	ally.Until(pings(2))
	b.Until(pings(2))
	onMinimap(ally, 0.7, 0.4)
	b.Do(chromedp.MouseClickXY(middle[0], middle[1], chromedp.ButtonModifiers(chromedp.ModifierAlt)))
	ally.Until(seen)
	ally.Agree(1)

	at := func(x, y float64) string {
		return fmt.Sprintf(`(({ frame, covered }) => Math.hypot(frame.x / frame.size - %g, (frame.y + (covered.above - covered.below) / 2 / frame.cell) / frame.size - %g) < 0.08)({ ...page, frame: page.renderer.frame })`, x, y)
	}
	for _, tab := range []*browser.Tab{b, ally} {
		onMinimap(tab, 0.1, 0.1)
		tab.Until(`!` + at(0.7, 0.4))
		tab.Keys(" ")
		tab.Until(at(0.7, 0.4))
		tab.Keys(" ")
		tab.Until(at(0.3, 0.6))
	}
	enemy.Agree(1)
	if n := browser.Value[int](enemy, `page.events.places.length`); n != 0 {
		t.Errorf("the enemy sees %d pings", n)
	}
}

// An attack out of view is told, lights the screen's edge and is marked on the minimap; another one near there is not, until the
// cooldown is over.
func TestAlarms(t *testing.T) {
	s := newStage(t, setup{})
	b := s.play(0)
	browser.Value[bool](b, `(() => {
		const { alarms } = page.hud, { tell } = alarms;
		globalThis.told = [];
		alarms.tell = (said, sort) => (told.push(said), tell(said, sort));
		globalThis.attack = (x, y) => alarms.take([{ sort: "attacked", x, y, own: true, kind: "worker" }], { x: 5, y: 5, cell: 20 }, 400, 400);
		globalThis.red = (x, y) => { // near a place of the minimap, in cells
			const canvas = page.small, k = canvas.width / page.renderer.frame.size, r = 0.11 * canvas.width;
			const copy = new OffscreenCanvas(2 * r, 2 * r).getContext("2d", { willReadFrequently: true });
			copy.drawImage(canvas, r - x * k, r - y * k);
			const { data } = copy.getImageData(0, 0, 2 * r, 2 * r);
			return data.some((v, i) => i % 4 === 0 && v > 190 && data[i + 1] < 130 && data[i + 2] < 120);
		};
		return true;
	})()`)
	size := browser.Value[float64](b, `page.renderer.frame.size`)
	x, y := size/2, size/2 // no unit is there
	red := fmt.Sprintf(`red(%g, %g)`, x, y)
	if browser.Value[bool](b, red) {
		t.Fatal("there is red on the minimap before the attack")
	}
	attack := func(dx float64, want int) {
		t.Helper()
		if n := browser.Value[int](b, fmt.Sprintf(`attack(%g, %g), told.length`, x+dx, y)); n != want {
			t.Errorf("got %d alarms, want %d: %s", n, want, browser.Value[string](b, `told.join("; ")`))
		}
	}
	attack(0, 1)
	b.Until(red)
	if edges := browser.Value[string](b, `[...document.querySelectorAll(".edges .on")].map((e) => e.classList[0]).join()`); edges == "" {
		t.Error("no edge of the screen is lit")
	}
	b.Shown(".news", "Your units are attacked")
	attack(10, 1) // near
	attack(30, 2) // far away
	browser.Value[bool](b, `(() => { const { now } = performance; performance.now = () => now.call(performance) + 10000; return true; })()`)
	attack(10, 3)
}

// silentAudio is an AudioContext that counts the tones that begin.
const silentAudio = `{
	globalThis.tones = 0;
	const value = { value: 0, setValueAtTime() {}, linearRampToValueAtTime() {}, exponentialRampToValueAtTime() {} };
	const node = () => ({ gain: { ...value }, frequency: { ...value }, connect() {}, disconnect() {}, addEventListener() {}, stop() {}, start() { tones++; } });
	globalThis.AudioContext = class {
		state = "suspended"; currentTime = 0; sampleRate = 8000;
		resume() { this.state = "running"; }
		createGain() { return node(); }
		createOscillator() { return node(); }
		createBufferSource() { return node(); }
		createBiquadFilter() { return node(); }
		createBuffer() { return { getChannelData: () => new Float32Array(8) }; }
	};
}`

// What happens is heard after the first press of the user, until the user mutes the page, also when it is loaded again.
func TestSounds(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	b := browser.Open(t, "about:blank")
	b.Before(silentAudio)
	b.Do(chromedp.Navigate(s.URL + "/#/play/arena?token=token-of-player-0"))
	b.Until(live)
	if n := browser.Value[int](b, `page.hud.sounds.play("order"), tones`); n != 0 {
		t.Errorf("got %d tones before the first press of the user", n)
	}
	b.Keys("f") // selects the army
	b.Until(`tones > 0`)
	b.Click(`.menu button[title^="volume"]`)
	b.Click(`.side.sounds [type=checkbox]`)
	b.Until(`page.hud.sounds.out.gain.value === 0`)
	tones := browser.Value[int](b, `tones`)
	for _, name := range []string{"order", "alarm", "victory"} {
		if browser.Value[bool](b, fmt.Sprintf(`page.hud.sounds.play(%q)`, name)) {
			t.Errorf("a muted page plays %s", name)
		}
	}
	if n := browser.Value[int](b, `tones`); n != tones {
		t.Errorf("a muted page made %d tones", n-tones)
	}
	b.Do(chromedp.Reload())
	b.Until(live)
	b.Keys("f")
	b.Until(`page.state.panel.chosen?.length > 0`)
	if n := browser.Value[int](b, `tones`); n != 0 {
		t.Errorf("a page that was muted before made %d tones", n)
	}
	b.Click(`.menu button[title^="volume"]`)
	b.Click(`.side.sounds [type=checkbox]`)
	b.Until(`page.hud.sounds.out?.gain.value > 0`)
	b.Keys("\x1b")
	b.Until(`!page.state.panel.chosen?.length`)
	b.Keys("f")
	b.Until(`tones > 0`)
}
