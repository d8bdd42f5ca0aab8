package logbench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A Long is the replay of a long match of eight bots in two teams: a war, after which
// the winners grow until 1,200 units are on the map. Over an hour, 1,000 units are alive
// on average.
type Long struct {
	Minutes int

	game *lockstep.Game
	open []byte // the file as it was recorded
}

const longTickRate = 20

// OpenLong returns the match of a length in minutes. It plays the match, half a minute
// for an hour, and saves it in dir for the next time if it can. "" saves it nowhere.
func OpenLong(minutes int, dir string) (*Long, error) {
	game, err := lockstep.NewGame(skirmish.Rules())
	if err != nil {
		return nil, err
	}
	l := &Long{Minutes: minutes, game: game}
	path := filepath.Join(dir, l.name())
	if dir != "" {
		if l.open, err = kept(path); err == nil && l.valid() == nil {
			return l, nil
		}
	}
	var played bytes.Buffer
	settings, config := longMatch()
	subject := &Subject{Game: l.game, Config: &config, Players: settings.Players, Bot: soldiers}
	if err := play(subject, &played, settings, l.Ticks()); err != nil {
		return nil, err
	}
	if l.open = played.Bytes(); dir != "" {
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
	config := skirmish.Defaults(8, 1000)
	config.Teams, config.Cap, config.Crystals = 2, 300, 1<<16-1
	settings := lockstep.DefaultSettings(8)
	settings.Seed = 1
	return settings, config
}

// Ticks returns the length of the match.
func (l *Long) Ticks() lockstep.Tick { return lockstep.Tick(l.Minutes * 60 * longTickRate) }

// name returns the name of the file. It depends on the settings and the identity of the
// game.
func (l *Long) name() string {
	settings, config := longMatch()
	h, err := l.game.NewHeader(lockstep.MatchID{2}, settings, &config)
	if err != nil {
		panic(err) // both are constants
	}
	h.Platform, h.Sources = "", ""
	var enc record.Encoder
	return fmt.Sprintf("bench-%d-minutes-%016x.ssr", l.Minutes, xxhash.Sum64(enc.Header(h)))
}

// valid verifies the saved match: the file may be torn, or the rules may have changed
// without a new build.
func (l *Long) valid() error {
	v, err := verifyReplay(l.game, l.open, 0)
	if err == nil && v.Ticks != l.Ticks() {
		err = errors.New("logbench: a match of another length")
	}
	return err
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
	if err := replay.Seal(replay.NewWriter(&out, replay.WriterOptions{SegmentTicks: 600, Level: replay.LevelDefault}), r); err != nil {
		return nil, err
	}
	return openReplay(out.Bytes())
}
