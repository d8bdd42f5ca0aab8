package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "play a match of bots, record it, verify it, and find a planted desync",
		Description: `Plays a match of the example game as fast as this machine can: a coordinator,
a copy of the simulation for each player, and bots in the seats, in one process.
Half-way somebody joins late. Later one field of one player's copy is changed
behind the engine's back. The demo then tells what the engine made of all that,
explains the bundle of the desync (see desync explain), and exits with 0 only if
all of it came true.`,
		Flags: []cli.Flag{
			&cli.UintFlag{Name: "seconds", Value: 20, Usage: "length of the match in match time, 2 to 36000"},
			&cli.UintFlag{Name: "players", Value: 4, Usage: "bots that play, 2 to 16"},
			&cli.UintFlag{Name: "units", Value: 400, Usage: "units on the map at the start, 100 to 10000"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of the map, the match and the bots"},
			&cli.StringFlag{Name: "dir", Usage: "`FOLDER` for the replay and the bundle; without it, a new one in the temporary folder that only you may enter"},
			&cli.BoolFlag{Name: "network", Usage: "play in real time over real sockets and bad links, with a cut, a slow spectator and a late one"},
			&cli.BoolFlag{Name: "web", Usage: "serve a page on which you play against the bots in a browser, until interrupted"},
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8766", Usage: "`ADDRESS` to listen on, with --web"},
			jsonFlag,
		},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("demo: unexpected argument %q", c.Args().First())
			}
			o, err := demoOptionsOf(c)
			if err != nil {
				return err
			}
			if c.Bool("web") {
				return webDemo(c, o)
			}
			if c.IsSet("listen") {
				return usagef("demo: --listen is for --web only")
			}
			bar := newProgress(c.App.ErrWriter, int64(o.ticks()), "ticks")
			if c.Bool("network") {
				s, err := runNetworkDemo(c.Context, o, bar)
				if err != nil {
					return err
				}
				return tell(c, s, s.print, &s.failures)
			}
			s, err := runDemo(o, bar)
			if err != nil {
				return err
			}
			return tell(c, s, s.print, &s.failures)
		},
	}
}

// tell prints a story, and returns what did not come true in it.
func tell(c *cli.Context, story any, print func(io.Writer) error, f *failures) error {
	var err error
	if c.Bool("json") {
		err = writeJSON(c.App.Writer, story)
	} else {
		err = print(c.App.Writer)
	}
	if err != nil {
		return err
	}
	return f.err()
}

// demoTickRate is the demo's number of ticks a second.
const demoTickRate = 20

type demoOptions struct {
	seconds, players, units uint
	seed                    uint64
	dir                     string
}

func (o demoOptions) ticks() lockstep.Tick { return lockstep.Tick(o.seconds * demoTickRate) }

func demoOptionsOf(c *cli.Context) (demoOptions, error) {
	o := demoOptions{
		seconds: c.Uint("seconds"), players: c.Uint("players"), units: c.Uint("units"),
		seed: c.Uint64("seed"), dir: c.String("dir"),
	}
	for _, limit := range []struct {
		name          string
		got, min, max uint
	}{
		{"seconds", o.seconds, 2, 36000},
		{"players", o.players, 2, skirmish.MaxPlayers},
		{"units", o.units, 100, 10000},
	} {
		if limit.got < limit.min || limit.got > limit.max {
			return o, usagef("demo: --%s: got %d, want %d to %d", limit.name, limit.got, limit.min, limit.max)
		}
	}
	return o, nil
}

// makeDir makes the folder that the options name, or else a new one: in a folder
// of a fixed name, others could have put links to what the user may write to.
func (o *demoOptions) makeDir() (err error) {
	if o.dir != "" {
		return os.MkdirAll(o.dir, 0o700)
	}
	o.dir, err = os.MkdirTemp("", "samestep-demo-*")
	return err
}

// runDemo plays the match, verifies its replay and finds the planted desync.
func runDemo(o demoOptions, bar *progress) (*demoStory, error) {
	if err := o.makeDir(); err != nil {
		return nil, err
	}
	path := filepath.Join(o.dir, "skirmish.ssr")
	var m *demoMatch
	from := time.Now()
	if err := files.Replace(path, func(f *os.File) (err error) {
		if m, err = newDemoMatch(o, f); err != nil {
			return err
		}
		from = time.Now()
		return m.play(bar)
	}); err != nil {
		return nil, err
	}
	bar.done()
	story := m.story(time.Since(from))
	if err := story.verify(path); err != nil {
		return nil, err
	}
	if m.evidence == nil {
		return story, nil // which says that nobody noticed
	}
	story.Explained.Bundle = fmt.Sprintf("%s-desync-%d-player%d.zip", strings.TrimSuffix(path, ".ssr"), m.report.Tick, m.report.Player)
	if err := writeBundle(story.Explained.Bundle, path, m.coordinator.Referee().Header(), m.evidence); err != nil {
		return nil, err
	}
	return story, story.explain()
}

// writeBundle writes a bundle as a server does.
func writeBundle(path, replayPath string, h *lockstep.Header, e *host.Evidence) error {
	log, err := files.Open(replayPath)
	if err != nil {
		return err
	}
	defer log.Close()
	return files.Replace(path, func(f *os.File) error { return replay.WriteBundle(f, h, e, log) })
}

// verify reads the replay back and simulates it again.
func (s *demoStory) verify(path string) error {
	info, v, err := verifyFile(path)
	if v == nil {
		return err
	}
	s.Replay = replayStory{
		Path: path, SizeBytes: info.SizeBytes, StateBytes: info.StateBytes, Keyframes: len(info.Keyframes), BytesPerTick: bytesPerTick(info),
		BytesPerCommand: float64(info.SizeBytes-info.StateBytes) / float64(max(info.Commands, 1)),
	}
	s.Verify = *v
	s.expect(err == nil, "the replay does not verify: %v", err)
	s.expect(v.Ticks == s.Match.Ticks && v.Checked > 0, "the replay verified %d of %d ticks", v.Ticks, s.Match.Ticks)
	return nil
}

// verifyFile reads a replay and simulates it again. The error is that of the
// verification, or, without a verifyStory, of the file.
func verifyFile(path string) (*replay.Info, *verifyStory, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	r, err := readerOf(f)
	if err != nil {
		return nil, nil, err
	}
	info, err := replay.ReadInfo(r)
	if err != nil {
		return nil, nil, err
	}
	if r, err = readerOf(f); err != nil {
		return nil, nil, err
	}
	game, err := gameOf(info.Header)
	if err != nil {
		return nil, nil, err
	}
	from := time.Now()
	v, err := replay.Verify(r, game, replay.VerifyOptions{})
	took := time.Since(from)
	return info, &verifyStory{Ticks: v.Ticks, Checked: v.Checked, Differed: v.Differed, Seconds: took.Seconds(), TimesRealTime: timesRealTime(v, took)}, err
}
