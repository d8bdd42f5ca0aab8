//go:build !js && !wasip1

package web_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/screen"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/local"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
)

var rewrite = flag.Bool("rewrite", false, "play the battle behind the title again, and write page/backdrop.film.br")

const backdrop = "page/backdrop.film.br"

// The film behind the title is of these rules, and small. After a change of the rules, the bots or the film's format:
//
//	go test ./examples/skirmish/web -run TestBackdrop -rewrite
func TestBackdrop(t *testing.T) {
	want, _ := battle(t)
	if *rewrite {
		var file bytes.Buffer
		w := brotli.NewWriterOptions(&file, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 22})
		w.Write(want) // into memory
		w.Close()
		if err := os.WriteFile(backdrop, file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(backdrop)
	if err != nil || len(file) > 250_000 {
		t.Fatalf("got %d bytes, %v", len(file), err)
	}
	if got, err := io.ReadAll(brotli.NewReader(bytes.NewReader(file))); err != nil || !bytes.Equal(got, want) {
		t.Errorf("write it again with -rewrite: %v", err)
	}
}

// The page draws of the film what it draws of the match: the frames of the painter, as exactly as a film has them. Before tick 80,
// there are effects from before the film.
func TestFilmIsTheMatch(t *testing.T) {
	testenv.Night(t)
	b := browser.Open(t, newStage(t, setup{}).URL)
	_, frames := battle(t)
	b.Until(`backdrop.film`)
	for _, tick := range []int{80, 100, 160, len(frames) - 8} {
		film := browser.Value[[]int32](b, fmt.Sprintf(`(() => {
			const bytes = new Uint8Array(1 << 18), length = backdrop.film.frame(bytes, %d, { x: 0, y: 0, cell: 1 });
			return Array.from(new Int32Array(bytes.buffer, 0, length / 4));
		})()`, tick))
		if difference := unlikeFrame(film, frames[tick]); difference != "" {
			t.Errorf("tick %d: %s", tick, difference)
		}
		if unlikeFrame(film, frames[tick+4]) == "" {
			t.Errorf("tick %d: it is not unlike the next frame", tick)
		}
	}
}

// unlikeFrame returns how a frame of a film is unlike that of the painter, or "". A film rounds down.
func unlikeFrame(film []int32, frame []byte) string {
	var match []int32
	for ; len(frame) > 0; frame = frame[4:] {
		match = append(match, int32(binary.LittleEndian.Uint32(frame)))
	}
	for _, i := range []int{scene.HeadZones, scene.HeadCrystals, scene.HeadUnits, scene.HeadEffects, scene.HeadSize, scene.HeadTeam} {
		if film[i] != match[i] {
			return fmt.Sprintf("word %d of the header: got %d, want %d", i, film[i], match[i])
		}
	}
	const place, share, seen = 64, 50, scene.Walking | scene.Hurt
	near := func(got, want, step int32) bool { return got <= want && want < got+step }
	at := scene.HeadWords + 4*int(match[scene.HeadZones]) + 3*int(match[scene.HeadCrystals])
	for range match[scene.HeadUnits] {
		f, m := film[at:at+6], match[at:at+6]
		if !near(f[0], m[0], place) || !near(f[1], m[1], place) || (f[3]^m[3])&^(0xf<<24|seen<<16) != 0 || !near(f[4], m[4], share) {
			return fmt.Sprintf("unit at word %d: got %d, want %d", at, f, m)
		}
		at += 6
	}
	effects := slices.Collect(slices.Chunk(match[at:], 5)) // in another order
	for f := range slices.Chunk(film[at:], 5) {
		if !slices.ContainsFunc(effects, func(m []int32) bool {
			return f[0] == m[0] && near(f[1], m[1], place) && near(f[2], m[2], place) && near(f[3], m[3], place) && near(f[4], m[4], place)
		}) {
			return fmt.Sprintf("the match has no effect %d", f)
		}
	}
	return ""
}

// The battle moves before the program has arrived. It begins again, and stops with the lobby. A weak device does not load it.
func TestBattleNeedsNoProgram(t *testing.T) {
	browser.Needs(t)
	site, err := program()
	if err != nil {
		t.Fatal(err)
	}
	pages := site.Over(http.NotFoundHandler())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".wasm") {
			<-r.Context().Done() // it never arrives
			return
		}
		pages.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b := browser.Open(t, server.URL, "Failed to load resource")
	t.Cleanup(func() { b.Do(chromedp.Navigate("about:blank")) }) // the server waits for its requests
	b.Until(`backdrop.renderer.drawn > 1`)
	const places = `Array.from(backdrop.renderer.frame.words.slice(17, -5))`
	before := browser.Value[[]int32](b, places)
	b.Until(`backdrop.tick > 12 && backdrop.element.matches(".drawn")`)
	if slices.Equal(browser.Value[[]int32](b, places), before) {
		t.Error("nothing has moved")
	}
	browser.Value[bool](b, `(backdrop.tick = backdrop.film.last - 5, true)`)
	b.Until(`!backdrop.element.matches(".drawn")`)
	b.Until(`backdrop.tick < 5 && backdrop.element.matches(".drawn")`)
	b.Visit("#/replay/")
	b.Shown("#loading", "Loading the game")
	browser.Value[bool](b, `globalThis.drawn = backdrop.renderer.drawn, setTimeout(() => (globalThis.later = backdrop.renderer.drawn), 200), true`)
	b.Until(`globalThis.later`)
	if browser.Value[bool](b, `later > drawn`) {
		t.Error("it is drawn behind another screen")
	}
	b.Visit("#/")
	b.Until(`backdrop.renderer.drawn > drawn + 2`)
	if browser.Value[bool](b, `!!globalThis.samestep`) {
		t.Error("the program has arrived")
	}

	b.Before(`Object.defineProperty(navigator, "hardwareConcurrency", { get: () => 1 })`)
	b.Do(chromedp.Reload())
	b.Until(`document.querySelector("#now")?.checkVisibility()`)
	if browser.Value[bool](b, `performance.getEntriesByType("resource").some((e) => e.name.endsWith(".film")) || backdrop.renderer.drawn > 0`) {
		t.Error("a weak device loads it")
	}
}

// battle plays half a minute of four bots with large armies, and returns the part in which the armies meet: the film, and the
// frame of each tick.
func battle(t *testing.T) (file []byte, frames [][]byte) {
	const players, seed, begin, end = 4, 3, 205, 205 + 240
	config, settings := skirmish.Sized(players, 2000), lockstep.DefaultSettings(players)
	settings.Seed = seed
	var bots []lockstep.Bot
	for p := range lockstep.Player(players) {
		bots = append(bots, skirmish.NewPlayer(p, seed))
	}
	var log bytes.Buffer
	w := replay.NewWriter(&log, replay.WriterOptions{})
	m, err := local.New(game, &config, local.Options{Settings: settings, Bots: bots, Log: w})
	for now := lockstep.Time(0); err == nil && now <= 30*lockstep.Second; now += 50 * lockstep.Millisecond {
		err = m.Advance(now)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	v, err := watch.Open(log.Bytes(), game)
	if err != nil {
		t.Fatal(err)
	}
	s := screen.New(v)
	film := scene.NewFilm(4, s.Ground(nil))
	for tick := lockstep.Tick(begin); tick < end; tick++ {
		v.Seek(tick)
		for !v.Work(100) {
		}
		frames = append(frames, s.Frame(nil, 1<<12, 1<<12, 0, false))
		film.Add(frames[len(frames)-1])
	}
	return film.Append(nil), frames
}
