//go:build !js && !wasip1

package web_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
)

// desynced returns a bundle of the duel, in which a unit of player 1 has moved by itself before tick 400.
func desynced(t *testing.T) []byte {
	t.Helper()
	file, err := os.ReadFile("../../../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	v, err := watch.Open(file, game)
	if err != nil {
		t.Fatal(err)
	}
	for v.Seek(400); !v.Work(100); {
	}
	before, now := v.States()
	e := &host.Evidence{Report: coordinator.DesyncReport{Tick: 400, Player: 1, Agreed: 380}}
	e.Exhibits = []host.Exhibit{{Tick: 400, Referee: now.AppendState(nil)}}
	if err := before.CopyFrom(now); err != nil {
		t.Fatal(err)
	}
	u := &lockstep.World[skirmish.World](before).Units[4]
	u.Pos.X += 3 << 32
	u.Health--
	e.Exhibits[0].Player = before.AppendState(nil)
	var out bytes.Buffer
	if err := replay.WriteBundle(&out, v.Header(), e, bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A bundle that is dropped on the page shows two maps on one clock, and the fields that differ. A link leads to a tick, a unit and
// a part of the map.
func TestCompareInPage(t *testing.T) {
	testenv.Night(t)
	s := newStage(t, setup{})
	s.recorded("duel.ssr")
	b := browser.Open(t, s.URL+"/#/replay/")
	b.Shown("#viewer .drop", "bundle")
	b.Drop("desync.zip", desynced(t))
	b.At(400)
	b.Shown(".differences", "2 fields differ")
	b.Shown(".differences", "Units[ID=5].Pos.X")
	b.Until(`viewer.beside.drawn > 2 && viewer.beside.frame.tick === 400 && viewer.renderer.frame.effects.count > 0`)
	b.Until(`(({ words, effects }) => words.subarray(effects.start, effects.end).some((w, i) => i % 5 === 0 && (w & 255) === 14))(viewer.renderer.frame)`)
	b.Shot("bundle")
	b.Keys("p")
	b.Shown(".differences", "no further difference")
	b.Keys("n")
	b.Until(`!viewer.finding && ` + browser.There)
	b.Dark(true)
	b.Shot("bundle-dark")
	b.Dark(false)

	// two replays of the server, by their address
	b.Visit("#/replay/duel.ssr?with=duel.ssr")
	b.Shown(".differences", "no further difference")
	b.Shown(".differences", "No field differs")

	// a link
	b.Visit("#/replay/duel.ssr?t=300&unit=5&x=20&y=22&zoom=40")
	b.At(300)
	b.Until(`!viewer.comparing && viewer.state.chosen === 5 && Math.abs(viewer.state.aim[0] - 20000) < 500 && viewer.state.aim[2] === 40 * 256`)
	b.Keys("...")
	b.At(303)
	b.Until(`/^#.replay.duel.ssr\?t=303&unit=5&x=[\d.]+&y=[\d.]+&zoom=40.0$/.test(location.hash)`)
	b.Do(chromedp.Reload())
	b.At(303)
	b.Until(`viewer.state.chosen === 5 && viewer.state.aim[2] === 40 * 256`)
	b.Shown(".controls .copy", "Copy link")
	if _, err := os.Stat(filepath.Join(s.Dir, "duel.ssr")); err != nil {
		t.Error(err)
	}
}

// The next and the previous mismatch of a replay, by keys and buttons.
func TestMismatchesInPage(t *testing.T) {
	s := newStage(t, setup{})
	s.recorded("roster.ssr")
	b := browser.Open(t, s.URL+"/#/replay/roster.ssr")
	b.At(0)
	b.Keys("n")
	b.Until(browser.There + ` && viewer.state.tick === viewer.timeline.faults()[0]`)
	b.Keys(".")
	b.Click(`[aria-label="Previous mismatch"]`)
	b.Until(browser.There + ` && viewer.state.tick === viewer.timeline.faults()[0]`)
	b.Shot("mismatch")
}
