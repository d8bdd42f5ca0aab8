package logbench

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A Long is the replay of a long match of eight bots in two teams: a war without an end.
type Long struct {
	Length  time.Duration
	Players uint8
	Units   float64 // alive after a tick, on average

	ticks lockstep.Tick // that were asked for
	game  *lockstep.Game
	open  []byte // the file as it was recorded
}

// longUnits is how many units a long match has on average at least. It begins with a
// quarter more, because the first battle is the largest.
const longUnits = 1000

// OpenLong returns the match of a length in minutes. It plays the match, half a minute
// for an hour, and saves it in dir for the next time if it can. "" saves it nowhere.
func OpenLong(minutes int, dir string) (*Long, error) {
	settings, config := longMatch()
	ticks := settings.TicksIn((time.Duration(minutes) * time.Minute).Microseconds())
	l := &Long{ticks: lockstep.Tick(ticks), game: lockstep.MustGame(endless(skirmish.Rules().Step))}
	path := filepath.Join(dir, l.name(minutes))
	if dir != "" {
		var err error
		if l.open, err = kept(path); err == nil && l.verify() == nil {
			return l, nil
		}
	}
	var played bytes.Buffer
	subject := &Subject{Game: l.game, Config: &config, Players: settings.Players, Bot: soldiers}
	if err := play(subject, &played, settings, l.ticks); err != nil {
		return nil, err
	}
	l.open = played.Bytes()
	if err := l.verify(); err != nil {
		return nil, err
	}
	if dir != "" {
		keep(path, l.open)
	}
	return l, nil
}

// keep replaces the saved match. It ignores errors: without a file the match is played
// again.
func keep(path string, b []byte) {
	dir := filepath.Dir(path)
	old, _ := filepath.Glob(filepath.Join(dir, "bench-*.ssr"))
	for _, path := range old {
		os.Remove(path)
	}
	if files.PrivateFolder(dir) == nil {
		_ = files.Replace(path, func(f *os.File) error {
			_, err := f.Write(b)
			return err
		})
	}
}

// kept reads the saved match, unless somebody else may have written it.
func kept(path string) ([]byte, error) {
	if err := files.PrivateFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	f, err := files.OpenNoFollow(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func longMatch() (lockstep.Settings, skirmish.Config) {
	config := skirmish.Defaults(8, longUnits+longUnits/4)
	config.Teams, config.Cap = 2, 160
	settings := lockstep.DefaultSettings(8)
	settings.Seed = 1
	return settings, config
}

// name returns the name of the file. It depends on the settings and the identity of the
// game.
func (l *Long) name(minutes int) string {
	settings, config := longMatch()
	h, err := l.game.NewHeader(lockstep.MatchID{2}, settings, &config)
	if err != nil {
		panic(err) // both are constants
	}
	h.Platform, h.Sources = "", ""
	var enc record.Encoder
	return fmt.Sprintf("bench-%d-minutes-%016x.ssr", minutes, xxhash.Sum64(enc.Header(h)))
}

// verify verifies the match, and counts its units and ticks: a saved file may be torn, or
// the rules may have changed without a new build.
func (l *Long) verify() error {
	var units, steps int
	step := skirmish.Rules().Step
	g := lockstep.MustGame(endless(func(w *skirmish.World, config *skirmish.Config, t *lockstep.Turn) {
		step(w, config, t)
		units += len(w.Units) //samestep:allow captured the rules do not read the count
		steps++               //samestep:allow captured the rules do not read the count
	}))
	v, err := verifyReplay(g, l.open, 1)
	if err != nil {
		return err
	}
	s, _ := longMatch()
	l.Length, l.Players, l.Units = time.Duration(s.Micros(int64(v.Ticks)))*time.Microsecond, s.Players, float64(units)/float64(max(steps, 1))
	if v.Ticks != l.ticks || l.Units < longUnits {
		return fmt.Errorf("logbench: a match of %d ticks with %.0f units alive on average, want %d ticks and %d units", v.Ticks, l.Units, l.ticks, longUnits)
	}
	return nil
}

func openReplay(file []byte) (*replay.Reader, error) {
	return replay.NewReader(bytes.NewReader(file), int64(len(file)))
}

func verifyReplay(g *lockstep.Game, file []byte, workers int) (*replay.Verification, error) {
	r, err := openReplay(file)
	if err != nil {
		return nil, err
	}
	return replay.Verify(r, g, replay.VerifyOptions{Workers: workers})
}

// sealed opens the match as a sealed file.
func (l *Long) sealed() (*replay.Reader, error) {
	r, err := openReplay(l.open)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := replay.Cut(replay.NewWriter(&out, replay.WriterOptions{SegmentTicks: 600, Level: replay.LevelBetter}), r, replay.WholeMatch); err != nil {
		return nil, err
	}
	return openReplay(out.Bytes())
}
