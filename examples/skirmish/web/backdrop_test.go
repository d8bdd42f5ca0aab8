//go:build !js && !wasip1

package web_test

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/local"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
)

var rewrite = flag.Bool("rewrite", false, "play the battle behind the title again, and write page/backdrop.ssr")

const backdrop = "page/backdrop.ssr"

// The battle behind the title is of 2,000 units and of these rules, and small. After a change of the rules or the bots:
//
//	go test ./examples/skirmish/web -run TestBackdrop -rewrite
func TestBackdrop(t *testing.T) {
	if *rewrite {
		if err := os.WriteFile(backdrop, battle(t), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file, err := fs.ReadFile(web.Page(), "backdrop.ssr")
	if *rewrite {
		file, err = os.ReadFile(backdrop)
	}
	if err != nil || len(file) > 300_000 {
		t.Fatalf("got %d bytes, %v", len(file), err)
	}
	v, err := watch.Open(file, game)
	if err != nil {
		t.Fatalf("%v: write it again with -rewrite", err)
	}
	_, s := v.States()
	if units := len(lockstep.World[skirmish.World](s).Units); units < 1900 || v.About().Last < 1000 {
		t.Errorf("got %d units and %d ticks", units, v.About().Last)
	}
}

// The same match gives the same file. A difference: the rules or the bots have changed, see TestBackdrop.
func TestBackdropIsUpToDate(t *testing.T) {
	testenv.Long(t)
	file, err := os.ReadFile(backdrop)
	if err != nil || !bytes.Equal(file, battle(t)) {
		t.Errorf("write it again with -rewrite: %v", err)
	}
}

// battle plays a minute of four bots with large armies, and returns its replay.
func battle(t *testing.T) []byte {
	const players, seed, begin, end = 4, 3, 10 * lockstep.Second, 60 * lockstep.Second
	config, settings := skirmish.Sized(players, 2000), lockstep.DefaultSettings(players)
	settings.Seed, settings.CheckEvery, settings.KeyframeEvery = seed, 100, 1<<30
	var bots []lockstep.Bot
	for p := range lockstep.Player(players) {
		bots = append(bots, skirmish.NewPlayer(p, seed))
	}
	var log, sealed bytes.Buffer
	w := replay.NewWriter(&log, replay.WriterOptions{})
	m, err := local.New(game, &config, local.Options{Settings: settings, Bots: bots, Log: w})
	for now := lockstep.Time(0); err == nil && now <= end; now += 50 * lockstep.Millisecond {
		err = m.Advance(now)
		if now == begin {
			err = errors.Join(err, m.Host().Keyframe(now)) // the page begins there
		}
	}
	if err == nil {
		err = errors.Join(m.Host().End(end, "long enough"), m.Advance(end), w.Close())
	}
	if err != nil && !errors.Is(err, coordinator.ErrEnded) {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(log.Bytes()), int64(log.Len()))
	if err == nil {
		err = replay.Seal(replay.NewWriter(&sealed, replay.WriterOptions{SegmentTicks: 1 << 20, Level: replay.LevelBest}), r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sealed.Bytes()
}
