//go:build !js

// Package replays has the verbs of replay files: samestep replay and audit.
package replays

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// ReplayCommand returns the verb replay.
func ReplayCommand(index *cli.Command) *cli.Command {
	return &cli.Command{
		Name:  "replay",
		Usage: "inspect, verify, compare and rewrite replay files",
		Subcommands: []*cli.Command{
			replayInfoCommand(), replayVerifyCommand(), replayDumpCommand(), replayFollowCommand(), replayWatchCommand(), replaySeekCommand(), replayFeedCommand(),
			replayStepCommand(), replayProfileCommand(), replayDebugCommand(), replayDiffCommand(), replayBisectCommand(), replaySealCommand(), index,
			replaySignCommand(), replayAttachCommand(), replayCutCommand(), replayRekeyCommand(), replayRecoverCommand(), replayImportCommand(), replayExportCommand(),
		},
	}
}

func replayDumpCommand() *cli.Command {
	return &cli.Command{
		Name:      "dump",
		Usage:     "print the records of a replay, its commands, or the state at a tick",
		ArgsUsage: "FILE",
		Description: `Prints each record on a line; with --commands, a description of each command; with --tick,
the state after that tick, field by field. Unless the tick has a keyframe, --tick needs
the game's code to simulate the match up to there. The state is compared with the file as
by seek; if no check follows, standard error says up to which tick the file agrees.
Without --tick, dump compares no state with its checksum: use info or verify.

Of a match of another engine, --tick prints the state that a player's machine recorded at
that tick, or else names the nearest ticks that have states.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print JSON, for programs: a line for each record or command, or one value for the state"},
			&cli.BoolFlag{Name: "commands", Usage: "print only the commands"},
			&cli.UintFlag{Name: "tick", Usage: "print the state after tick `T`; with --commands, the commands of tick T", DefaultText: "all"},
			gameset.PathFlag,
			&cli.StringFlag{Name: "raw", Usage: "with --tick: write the state's canonical bytes to `OUT`"},
			gameset.MaxTicksFlag, gameset.AssetsFlag,
		},
		Action: gameset.OnReplay(replayDump),
	}
}

func replayDump(c *cli.Context, f *replay.File) error {
	if c.IsSet("path") && (c.Bool("commands") || !c.IsSet("tick")) {
		return console.Usagef("--path needs --tick, and cannot be used with --commands")
	}
	if c.IsSet("raw") && (c.Bool("commands") || c.Bool("json") || c.IsSet("path") || !c.IsSet("tick")) {
		return console.Usagef("--raw needs --tick, and no other flag")
	}
	if c.IsSet("tick") && !c.Bool("commands") {
		return dumpState(c, f)
	}
	d, err := newDumper(c, f)
	if err != nil {
		return err
	}
	d.only, d.tick = c.IsSet("tick"), gameset.TickOf(c, "tick")
	r, err := f.Reader()
	if err != nil {
		return err
	}
	if err = replay.Play(r, nil, d.record); errors.Is(err, errStop) {
		return nil
	}
	return unlessBundled(f, err)
}

// errStop ends a dump after the tick of --tick.
var errStop = errors.New("stop")

// followRecords prints each new record until the match ends or the user interrupts it.
func followRecords(c *cli.Context, f *replay.File) error {
	d, err := newDumper(c, f)
	if err != nil {
		return err
	}
	err = follow(c, f, func(ctx context.Context, l *replay.LiveReader) error {
		for rec, err := range l.All(ctx) {
			if err == nil {
				err = d.record(rec)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// A recordDumper prints all records, or only commands, or only those of one tick.
type recordDumper struct {
	w        io.Writer
	games    replay.Games
	json     bool
	commands bool
	only     bool
	tick     lockstep.Tick
	describe *lockstep.Describer
}

func newDumper(c *cli.Context, f *replay.File) (*recordDumper, error) {
	games, err := gameset.GamesFor(c, f)
	return &recordDumper{w: c.App.Writer, games: games, json: c.Bool("json"), commands: c.Bool("commands")}, err
}

func (d *recordDumper) record(r *record.Record) error {
	if r.Kind == record.KindHeader {
		g, _ := d.games.Of(r.Header) // without a game, schemas describe the commands
		var err error
		if d.describe, err = lockstep.NewDescriber(r.Header, g); err != nil {
			return err
		}
	}
	if d.only && r.Kind > record.KindKeyframe && r.Tick > d.tick {
		return errStop
	}
	t, commands := r.Tick, r.Frame.Commands
	if p := r.Panic; p != nil {
		t, commands = p.Frame.Tick, p.Frame.Commands
	}
	if !d.only || t == d.tick {
		for i := range commands {
			if err := d.command(&commands[i]); err != nil {
				return err
			}
		}
	}
	if d.commands || len(r.Frame.Commands) > 0 {
		return nil
	}
	name, text := recordText(r)
	return d.line(t, name, text)
}

func (d *recordDumper) command(c *lockstep.Command) error {
	if d.json {
		return console.WriteLine(d.w, struct {
			Tick     lockstep.Tick     `json:"tick"`
			Player   lockstep.Player   `json:"player"`
			Sequence lockstep.Sequence `json:"sequence"`
			Kind     lockstep.Kind     `json:"kind"`
			Payload  []byte            `json:"payload"`
			Text     string            `json:"text"`
		}{c.Tick, c.Player, c.Sequence, c.Kind, c.Payload, d.describe.Describe(c)})
	}
	return d.line(c.Tick, "command", fmt.Sprintf("#%d %s", c.Sequence, d.describe.Describe(c)))
}

func (d *recordDumper) line(t lockstep.Tick, name, text string) error {
	if d.json {
		return console.WriteLine(d.w, struct {
			Tick   lockstep.Tick `json:"tick"`
			Record string        `json:"record"`
			Text   string        `json:"text"`
		}{t, name, text})
	}
	_, err := fmt.Fprintf(d.w, "%8d  %-9s %s\n", t, name, text)
	return err
}

// recordText names and describes a record without commands.
func recordText(r *record.Record) (name, text string) {
	switch r.Kind {
	case record.KindHeader:
		return "header", fmt.Sprintf("game %q build %q match %s", r.Header.Game, r.Header.Build, r.Header.Match)
	case record.KindKeyframe:
		return "keyframe", fmt.Sprintf("%s %s", checksum.FormatHash(r.Keyframe.Hash), console.Size(len(r.Keyframe.State)))
	case record.KindFrame:
		return "frame", console.Count(r.Ticks(), "tick")
	case record.KindEmpty:
		return "empty", console.Count(r.Ticks(), "tick")
	case record.KindChecksum:
		return "checksum", checksum.FormatHash(r.Hash)
	case record.KindMismatch:
		return "mismatch", fmt.Sprintf("%s has %s", r.Player.Name(), checksum.FormatHash(r.Hash))
	case record.KindNote:
		return "note", fmt.Sprintf("%s %s %q", r.Player.Name(), r.Topic, r.Text)
	case record.KindEvent:
		return "event", fmt.Sprintf("%s %s %q", r.Player.Name(), r.Event, r.Text)
	case record.KindPanic:
		return "panic", replay.NewPanic(r).Error()
	case record.KindForeign:
		const most = 200
		line := strings.ToValidUTF8(string(r.Line[:min(len(r.Line), most)]), "")
		if len(r.Line) > most {
			line += fmt.Sprintf("… (%s)", console.Size(len(r.Line)))
		}
		return "foreign", line
	case record.KindEnd:
		return "end", fmt.Sprintf("%q", r.Text)
	}
	return fmt.Sprintf("kind %d", r.Kind), ""
}

func dumpState(c *cli.Context, f *replay.File) error {
	at, err := gameset.StateAt(c, f, gameset.TickOf(c, "tick"))
	if err != nil {
		return err
	}
	gameset.Warn(c, at, f.Path())
	schema, err := state.ParseSchema(at.Header.StateSchema)
	if err != nil {
		return err
	}
	switch path := c.String(gameset.PathFlag.Name); {
	case c.IsSet("raw"):
		return files.Create(c.String("raw"), func(f *os.File) error {
			_, err := f.Write(at.State)
			return err
		})
	case path != "":
		err := gameset.PathError(at.Show(path))
		for i := 0; i < len(at.Fields) && err == nil; i++ {
			if f := &at.Fields[i]; c.Bool("json") {
				err = console.WriteLine(c.App.Writer, f)
			} else {
				_, err = fmt.Fprintf(c.App.Writer, "%s %s\n", f.Path, f.Value)
			}
		}
		return err
	case c.Bool("json"):
		return schema.DumpJSON(c.App.Writer, at.State)
	}
	return schema.Dump(c.App.Writer, at.State)
}

func replayFollowCommand() *cli.Command {
	return &cli.Command{
		Name:      "follow",
		Usage:     "print the records of a match while it is played",
		ArgsUsage: "FILE",
		Description: `Prints the lines of dump while the file grows, until the match is over. It waits for the
rest of a record that is torn at the end of the file, and for a server to resume a match
that is suspended; --idle limits the wait. It fails if the file becomes shorter or is
replaced. To verify a match while it is played, use verify --follow.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print JSON, for programs: a line for each record or command"},
			&cli.BoolFlag{Name: "commands", Usage: "print only the commands"},
			delayFlag, idleFlag,
		},
		Action: gameset.OnReplay(followRecords),
	}
}

func replaySeekCommand() *cli.Command {
	return &cli.Command{
		Name:      "seek",
		Usage:     "go to a tick of a replay, and print the checksum of its state and the time that it took",
		ArgsUsage: "FILE",
		Description: `Simulates from the last keyframe up to the tick, so it takes at most one interval of
keyframes. To see the state itself, use dump --tick. seek compares the checksums and
keyframes on the way and the next one after the tick, up to one interval of checks later.
If the simulation contradicts one, seek prints nothing and exits with 3. If none follows
so soon, it prints the last tick at which the file agrees ("agreed" in --json).

A match of another engine is not simulated: seek takes the state that a player's machine
recorded at the tick, or else names the nearest ticks that have states (docs/import.md).`,
		Flags: []cli.Flag{
			&cli.UintFlag{Name: "tick", Usage: "go to tick `T`", DefaultText: "none: name one"},
			console.JSONFlag, gameset.PathFlag, gameset.MaxTicksFlag, gameset.AssetsFlag,
		},
		Action: gameset.OnReplay(replaySeek),
	}
}

func replaySeek(c *cli.Context, f *replay.File) error {
	if !c.IsSet("tick") {
		return console.Usagef("want --tick T, the tick to go to")
	}
	from := time.Now()
	at, err := gameset.StateAt(c, f, gameset.TickOf(c, "tick"))
	if err != nil {
		return err
	}
	at.Took = time.Since(from)
	if path := c.String(gameset.PathFlag.Name); path != "" {
		err = gameset.PathError(at.Show(path))
	}
	if err != nil {
		return err
	}
	return gameset.Report(c, at, nil)
}
