//go:build !js && !wasip1

package web_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web"
	"github.com/seed-49bee653/samestep/internal/site"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/page"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
)

// The environment variables of long tests.
const (
	FiguresVariable = "SAMESTEP_BROWSER_FIGURES" // 1: measure
	MinutesVariable = "SAMESTEP_BROWSER_MINUTES" // how long the large match is played
)

// Four bots and a page, a thousand units, 20 ticks a second: no check differs in the page. The test takes a few
// seconds, or SAMESTEP_BROWSER_MINUTES minutes. Then it also wants every check compared and no disconnection, which
// needs an idle machine.
func TestLargeMatch(t *testing.T) {
	testenv.Night(t)
	length, minutes := 5*time.Second, os.Getenv(MinutesVariable)
	if minutes != "" {
		n, err := strconv.Atoi(minutes)
		if err != nil {
			t.Fatal(err)
		}
		length = time.Duration(n) * time.Minute
	}
	s := newStage(t, setup{players: 5, units: 1000, checkEvery: 20})
	for p := range lockstep.Player(4) {
		s.bot(p + 1)
	}
	b := s.play(0)
	b.Agree(1)
	agreed, tick := browser.Value[int](b, "page.state.net.agreed"), browser.Value[int](b, "page.state.net.tick")
	behind := 0
	for until := time.Now().Add(length); time.Now().Before(until); {
		time.Sleep(500 * time.Millisecond)
		behind = max(behind, browser.Value[int](b, "page.state.net.server_tick - page.state.net.tick"))
	}
	b.Agree(1)
	agreed, tick = browser.Value[int](b, "page.state.net.agreed")-agreed, browser.Value[int](b, "page.state.net.tick")-tick
	losses := browser.Value[int](b, "page.state.link.losses")
	b.NeverDiffered()
	t.Logf("%d units at the end, %d ticks, %d checks compared, 0 differ; at most %d ticks behind the server, %d times without a connection",
		browser.Value[int](b, "page.state.match.units"), tick, agreed, behind, losses)
	if missed := tick/20 - agreed; minutes != "" && (missed > 1 || missed < -1 || losses > 0) { // the ends of what was counted are not checks
		t.Errorf("%d checks were compared in %d ticks, want one every 20; %d connections lost, want 0", agreed, tick, losses)
	}
}

// TestFigures prints the promised figures of the page, and those of this machine:
// SAMESTEP_BROWSER_FIGURES=1 go test ./examples/skirmish/web -run Figures -v
func TestFigures(t *testing.T) {
	if os.Getenv(FiguresVariable) == "" {
		t.Skipf("measures for minutes; set %s=1", FiguresVariable)
	}
	s := newStage(t, setup{players: 4, units: 1000})
	figure := func(what, got, want string) { t.Logf("%-80s %10s   want %s", what, got, want) }
	figure("the program's download, brotli", fmt.Sprintf("%.2f MB", float64(downloadSize(t))/1e6), "<= 1.6 MB")
	for p := range lockstep.Player(4) {
		s.bot(p)
	}
	b := browser.Open(t, s.URL+"/#/watch/arena")
	b.Until(live)
	figure("first frame of a match, cold", fmt.Sprintf("%.2f s", firstFrame(b)), "-")
	b.Do(chromedp.Reload())
	figure("first frame of a match, warm cache", fmt.Sprintf("%.2f s", firstFrame(b)), "<= 2 s")

	browser.Value[bool](b, "samestep.zoom(1, 640, 400), true") // all of the map
	drawn := browser.Value[int](b, "page.renderer.drawn")
	b.Until(fmt.Sprintf("page.renderer.drawn >= %d + page.renderer.times.length", drawn))
	figure(fmt.Sprintf("to draw a frame of %d units, 95 of 100", browser.Value[int](b, "page.renderer.frame.units.end - page.renderer.frame.units.start")/6),
		fmt.Sprintf("%.1f ms", browser.Value[float64](b, "page.renderer.quantile(.95)")), "<= 16 ms")
	b.NeverDiffered()
	b.Do(chromedp.Navigate(s.URL + "/#/"))
	if err := s.Match.End(t.Context(), "measured"); err != nil {
		t.Fatal(err)
	}

	file := halfAnHour(t)
	if err := os.WriteFile(filepath.Join(s.Dir, "half-an-hour.ssr"), file, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		what string
		tick int
	}{
		{"seek to the middle of half an hour, at a keyframe", 18000},
		{"seek to the middle of half an hour, between two keyframes", 18600},
		{"seek to just before a keyframe, which is the worst", 19199},
		{"the same where the most units fight, in the first minute", 1199},
	} {
		b.Do(chromedp.Navigate(s.URL + "/#/"))
		b.Do(chromedp.Navigate(s.URL + "/#/replay/half-an-hour.ssr"))
		b.Until(browser.There)
		browser.Value[bool](b, fmt.Sprintf("viewer.tookMS = 0, viewer.go(%d), true", row.tick))
		b.At(row.tick)
		figure(fmt.Sprintf("%s (%d units)", row.what, browser.Value[int](b, "viewer.state.players.reduce((sum, p) => sum + p.Units, 0)")),
			fmt.Sprintf("%.2f s", browser.Value[float64](b, "viewer.tookMS")/1000), "<= 1.5 s")
	}
	var inPage, native float64
	for range 3 { // the best of each, as the machine has other things to do
		inPage, native = max(inPage, steps(b)), max(native, nativeSteps(t, file))
	}
	figure("the first minute of that match in the page, of a core at 20 a second", fmt.Sprintf("%.1f %%", 100*20/inPage), "<= 25 %")
	figure("and beside a native one", fmt.Sprintf("%.1f x", native/inPage), "-")
	b.Shot("half-an-hour")
}

// downloadSize returns the compressed size of the program in bytes.
func downloadSize(t *testing.T) int {
	t.Helper()
	files, err := site.Build(t.Context(), site.BuildOptions{Packages: programs, Quality: 11})
	if err != nil {
		t.Fatal(err)
	}
	release, err := site.New(web.Page(), page.Parts(), files)
	if err != nil {
		t.Fatal(err)
	}
	return release.SizeBytes("skirmish.wasm")
}

// firstFrame returns the seconds from the navigation to the first frame, up to a few hundredths too many.
func firstFrame(b *browser.Tab) float64 {
	b.T.Helper()
	b.Until(`globalThis.page?.renderer.drawn > 0 && (globalThis.firstMS ??= performance.now())`)
	return browser.Value[float64](b, `firstMS`) / 1000
}

// halfAnHour returns the replay of half an hour of four bots with a thousand
// units.
func halfAnHour(t *testing.T) []byte {
	t.Helper()
	config, settings := skirmish.Defaults(4, 1000), lockstep.DefaultSettings(4)
	h, err := game.NewHeader(lockstep.MatchID{30}, settings, &config)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	c, err := coordinator.New(game, h, w, coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var bots []*skirmish.Bot
	payloads, sequence := game.NewPayloads(), lockstep.Sequence(0)
	for p := range lockstep.Player(4) {
		if _, err := c.Join(p); err != nil {
			t.Fatal(err)
		}
		bots = append(bots, skirmish.NewBot(p, 30))
	}
	for range 36000 {
		for p, bot := range bots {
			for _, o := range bot.Think(lockstep.World[skirmish.World](c.Referee().Simulation())) {
				kind, payload, err := payloads.Encode(o.Value)
				if err != nil {
					t.Fatal(err)
				}
				sequence++
				c.Submit(lockstep.Player(p), sequence, kind, payload)
			}
		}
		if _, err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// The ticks to compare page and machine: those in which most units fight.
const measuredFrom, measuredTo = 1, 1199

// steps returns the ticks per second that the page simulates.
func steps(b *browser.Tab) float64 {
	b.T.Helper()
	b.Do(chromedp.Reload()) // without the states that it came by
	b.Until(browser.There)
	browser.Value[bool](b, fmt.Sprintf("viewer.go(%d), true", measuredFrom))
	b.At(measuredFrom)
	ms := browser.Value[float64](b, fmt.Sprintf(`(() => {
		samestep.watchGo(%d);
		const from = performance.now();
		while (!samestep.watchWork(100));
		const took = performance.now() - from;
		samestep.watchGo(%d);
		return took;
	})()`, measuredTo, measuredFrom))
	return 1000 * (measuredTo - measuredFrom) / ms
}

// nativeSteps returns the ticks per second that this machine simulates natively.
func nativeSteps(t *testing.T, file []byte) float64 {
	t.Helper()
	v, err := watch.Open(file, game)
	if err != nil {
		t.Fatal(err)
	}
	at := func(tick lockstep.Tick) {
		for v.Seek(tick); !v.Work(1000); {
		}
	}
	at(measuredFrom)
	from := time.Now()
	at(measuredTo)
	return (measuredTo - measuredFrom) / time.Since(from).Seconds()
}
