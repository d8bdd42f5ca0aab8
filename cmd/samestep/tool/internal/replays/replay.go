//go:build !js

// Package replays has the verbs of replay files: samestep replay and audit.
package replays

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
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
			replayInfoCommand(), ReplayVerifyCommand(), replayDumpCommand(), replayFollowCommand(), replayWatchCommand(), replaySeekCommand(), replayFeedCommand(),
			replayStepCommand(), replayDebugCommand(), replayDiffCommand(), replayBisectCommand(), replaySealCommand(), index,
			replaySignCommand(), replayAttachCommand(), replayCutCommand(), replayRekeyCommand(), replayRecoverCommand(), replayImportCommand(), replayExportCommand(),
		},
	}
}

func replayDumpCommand() *cli.Command {
	return &cli.Command{
		Name:      "dump",
		Usage:     "print the records of a replay, its commands, or the state at a tick",
		ArgsUsage: "FILE",
		Description: `Without flags, prints every record on a line. --commands prints a description of every
command. --tick prints the state after that tick, field by field. This needs the
game's code to simulate the match up to there, unless the tick has a keyframe. The
state is compared with the file as in seek; if no check follows, standard error tells
up to which tick the file agrees. Without --tick, dump compares no state with its
checksum; info and verify do.

Of a match of another engine, --tick prints the state that a player's machine recorded
at that tick. Without one, it names the nearest ticks that have states.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print JSON, for programs: a line for each record or command, or one value for the state"},
			&cli.BoolFlag{Name: "commands", Usage: "print only the commands"},
			&cli.UintFlag{Name: "tick", Usage: "print the state after tick `N`; with --commands, the commands of tick N", DefaultText: "all"},
			gameset.PathFlag,
			&cli.StringFlag{Name: "raw", Usage: "with --tick: write the state's canonical bytes to `OUT`"},
			gameset.MaxTicksFlag, gameset.AssetsFlag, followFlag, delayFlag, idleFlag,
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
	if c.Bool("follow") {
		if c.IsSet("tick") {
			return console.Usagef("--follow cannot be used with --tick")
		}
		return followRecords(c, f)
	}
	if c.IsSet("tick") && !c.Bool("commands") {
		return dumpState(c, f)
	}
	r, err := f.Reader()
	if err != nil {
		return err
	}
	return dumpRecords(c, f, r)
}

// errStop ends a dump after the tick of --tick.
var errStop = errors.New("stop")

func dumpRecords(c *cli.Context, f *replay.File, r *replay.Reader) error {
	games, err := gameset.GamesFor(c, f)
	if err != nil {
		return err
	}
	d := &recordDumper{w: c.App.Writer, games: games, json: c.Bool("json"), commands: c.Bool("commands"), only: c.IsSet("tick"), tick: gameset.TickOf(c, "tick")}
	err = replay.Play(r, nil, d.record)
	if errors.Is(err, errStop) {
		return nil
	}
	return unlessBundled(f, err)
}

// followRecords prints each new record until the match ends or the user interrupts it.
func followRecords(c *cli.Context, f *replay.File) error {
	games, err := gameset.GamesFor(c, f)
	if err != nil {
		return err
	}
	d := &recordDumper{w: c.App.Writer, games: games, json: c.Bool("json"), commands: c.Bool("commands")}
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
	if !d.only || r.Tick == d.tick {
		for i := range r.Frame.Commands {
			if err := d.command(&r.Frame.Commands[i]); err != nil {
				return err
			}
		}
	}
	t := r.Tick
	if p := r.Panic; p != nil {
		t = p.Frame.Tick
	}
	if p := r.Panic; p != nil && (!d.only || t == d.tick) {
		for i := range p.Frame.Commands {
			if err := d.command(&p.Frame.Commands[i]); err != nil {
				return err
			}
		}
	}
	if d.commands || len(r.Frame.Commands) > 0 {
		return nil
	}
	return d.line(t, recordName(r.Kind), recordText(r))
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

func recordName(k record.Kind) string {
	names := [...]string{"", "header", "keyframe", "frame", "empty", "checksum", "mismatch", "end"}
	switch {
	case int(k) < len(names):
		return names[k]
	case k == record.KindNote:
		return "note"
	case k == record.KindForeign:
		return "foreign"
	case k == record.KindPanic:
		return "panic"
	case k == record.KindEvent:
		return "event"
	}
	return fmt.Sprintf("kind %d", k)
}

// recordText describes a record without commands.
func recordText(r *record.Record) string {
	if n := r.Ticks(); n > 0 {
		return console.Count(n, "tick")
	}
	switch r.Kind {
	case record.KindHeader:
		return fmt.Sprintf("game %q build %q match %s", r.Header.Game, r.Header.Build, r.Header.Match)
	case record.KindKeyframe:
		return fmt.Sprintf("%s %s", checksum.FormatHash(r.Keyframe.Hash), console.Size(len(r.Keyframe.State)))
	case record.KindChecksum:
		return checksum.FormatHash(r.Hash)
	case record.KindMismatch:
		return fmt.Sprintf("player %d has %s", r.Player, checksum.FormatHash(r.Hash))
	case record.KindNote:
		return fmt.Sprintf("player %d %s %q", r.Player, r.Topic, r.Text)
	case record.KindEvent:
		return fmt.Sprintf("player %d %s %q", r.Player, r.Event, r.Text)
	case record.KindPanic:
		return replay.NewPanic(r).Error()
	case record.KindForeign:
		const most = 200
		line := strings.ToValidUTF8(string(r.Line[:min(len(r.Line), most)]), "")
		if len(r.Line) > most {
			line += fmt.Sprintf("… (%s)", console.Size(len(r.Line)))
		}
		return line
	case record.KindEnd:
		return fmt.Sprintf("%q", r.Text)
	}
	return ""
}

// dumpState prints the state after the tick of --tick.
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
		return dumpPath(c, at, path)
	case c.Bool("json"):
		return schema.DumpJSON(c.App.Writer, at.State)
	}
	return schema.Dump(c.App.Writer, at.State)
}

// dumpPath prints every leaf at or below a path, one a line.
func dumpPath(c *cli.Context, at *replay.Moment, path string) error {
	err := gameset.PathError(at.Show(path))
	for i := 0; i < len(at.Fields) && err == nil; i++ {
		if f := &at.Fields[i]; c.Bool("json") {
			err = console.WriteLine(c.App.Writer, f)
		} else {
			_, err = fmt.Fprintf(c.App.Writer, "%s %s\n", f.Path, f.Value)
		}
	}
	return err
}

func replayFollowCommand() *cli.Command {
	return &cli.Command{
		Name:      "follow",
		Usage:     "print the records of a match while it is played",
		ArgsUsage: "FILE",
		Description: `Prints the same lines as dump while the file grows, and ends when the match is over.
It waits for the rest of a record that is torn at the end of the file. It fails if
the file is cut or replaced before the match is over. dump --follow does the same;
verify --follow verifies a match while it is played.`,
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
		ArgsUsage: "FILE TICK",
		Description: `Simulates from the last keyframe up to the tick, so it costs at most one interval of
keyframes. For the state itself, see dump --tick. Checksums and keyframes on the way
are compared, and the next one after the tick, up to one interval of checks later. If
the simulation contradicts one, seek prints nothing and exits with 3. If none
follows so soon, it prints the last tick at which the file agrees ("agreed" in
--json, which is then before the tick).

A match of another engine is not simulated: seek takes the state that a player's machine
recorded at the tick. Without one, it names the nearest ticks that
have states (docs/import.md).`,
		Flags:  []cli.Flag{console.JSONFlag, gameset.PathFlag, gameset.MaxTicksFlag, gameset.AssetsFlag},
		Action: replaySeek,
	}
}

func replaySeek(c *cli.Context) error {
	tick, err := strconv.ParseUint(c.Args().Get(1), 10, 32)
	if err != nil {
		return console.Usagef("got tick %q, want a number", c.Args().Get(1))
	}
	return gameset.WithReplay(c.Args().First(), func(f *replay.File) error {
		from := time.Now()
		at, err := gameset.StateAt(c, f, lockstep.Tick(tick))
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
	})
}
