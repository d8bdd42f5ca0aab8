//go:build !js

package replays

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/matchlines"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

func replayImportCommand() *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "convert a match of another engine to a sealed replay",
		ArgsUsage: "IN OUT",
		Description: `Reads lines of JSON, which may be compressed with gzip: a header, commands, checksums
that players reported, states, notes (names, a map, chat), and an end. IN may be - for
standard input. A command of tick t becomes one of frame t+1, which gives state t+1.
The checksum that most players reported becomes the agreed one. A recording may end
early: everything before is used. docs/spec/recordings.md describes every line.

The other verbs that read replays take such lines, too, but watch, follow and --follow
need an imported match.`,
		Flags:  []cli.Flag{&cli.StringFlag{Name: "from", Value: "jsonl", Usage: "`FORMAT` of the input: jsonl"}, segmentFlag, console.JSONFlag},
		Action: written(replayImport),
	}
}

func replayImport(c *cli.Context) error {
	if got := c.String("from"); got != "jsonl" {
		return console.Usagef("got format %q, want jsonl", got)
	}
	name := c.Args().First()
	in, err := openInput(c, name)
	if err != nil {
		return err
	}
	defer in.Close()
	options := sealedOptions(c)
	s, err := matchlines.Surveyed(in)
	if err != nil {
		return &console.FileError{Name: name, Err: err}
	}
	if s.Torn {
		fmt.Fprintf(c.App.ErrWriter, "%s: %s: torn: the recording ends early, at tick %d at the latest\n", c.App.Name, console.Shown(name), s.Ticks)
	}
	return files.Create(c.Args().Get(1), func(f *os.File) error { return gameset.OfFile(name, s.Write(f, in, options)) })
}

// openInput opens a file, or copies standard input into a temporary one, because import reads its input twice.
func openInput(c *cli.Context, name string) (*os.File, error) {
	if name != "-" {
		return files.Open(name)
	}
	f, err := os.CreateTemp("", "samestep-*.jsonl")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // so nothing is left over, however the program ends; Windows refuses it
	n, err := io.Copy(f, io.LimitReader(c.App.Reader, maxInput+1))
	if err == nil && n > maxInput {
		err = &console.FileError{Name: name, Err: fmt.Errorf("%w: standard input has more than %d bytes", replay.ErrLimit, maxInput)}
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	return f, nil
}

const maxInput = 256 << 20 // bytes of standard input, as of the lines of a match

func replayExportCommand() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "convert a replay to JSON lines, or to MCAP for viewers",
		ArgsUsage: "FILE [[OTHER] OUT]",
		Description: `--to jsonl prints the lines that import reads: a header, the players' commands, checksums
by player, and an end. The checksums of an imported match are those that its players
reported; of any other match, those of all players who gave a command or ever had a
different checksum. Names and chat become notes. Commands of the system and keyframes are
left out.

--to mcap writes OUT, which must not exist, as MCAP for Foxglove and other viewers:
commands, commands per second, checksums, mismatches and a log, at the times of the
match's tick rate. A replay has no latencies.

--path adds fields of the states, each as a topic such as /state/Units/17/HP with numbers
to plot. This simulates the match. Without the game's code, and after a tick at which the
simulation contradicts the file, only keyframes have states; a recording of another engine
has those that it recorded. With OTHER, a second recording is in the same file, and topics
end in /a and /b.

Without --path, export compares no state with its checksum: use info or verify.`,
		Flags:  []cli.Flag{&cli.StringFlag{Name: "to", Value: "jsonl", Usage: "`FORMAT` of the output: jsonl or mcap"}, pathsFlag, gameset.MaxTicksFlag, gameset.AssetsFlag},
		Action: replayExport,
	}
}

func replayExport(c *cli.Context) error {
	switch to, n := c.String("to"), c.NArg(); {
	case to == "jsonl" && c.IsSet(pathsFlag.Name):
		return console.Usagef("--path needs --to mcap: the form jsonl has no states")
	case to == "jsonl" && n == 1:
		return gameset.OnReplay(exportLines)(c)
	case to == "mcap" && (n == 2 || n == 3):
		return exportMCAP(c, c.Args().Slice())
	case to == "jsonl" || to == "mcap":
		return console.Usagef("got %s, want FILE for jsonl, and FILE OUT or FILE OTHER OUT for mcap", console.Count(n, "argument"))
	default:
		return console.Usagef("got format %q, want jsonl or mcap", to)
	}
}

// pathsFlag chooses the fields of states that become topics.
var pathsFlag = &cli.StringSliceFlag{Name: "path", Usage: "to mcap: add the field at `PATH` of the states, or those below it, such as Units[17].HP or Units[ID=4000].Pos; may be repeated"}

// exportMCAP writes the last of the files from the replays of the others.
func exportMCAP(c *cli.Context, names []string) error {
	var matches []mcapMatch
	for _, name := range names[:len(names)-1] {
		f, err := gameset.OpenReplay(name)
		if err != nil {
			return err
		}
		defer f.Close()
		r, err := f.Reader()
		var games replay.Games
		if err == nil {
			games, err = gameset.GamesFor(c, f)
		}
		if err == nil {
			err = dropsPanic(c, name, r)
		}
		if err != nil {
			return gameset.OfFile(name, err)
		}
		matches = append(matches, mcapMatch{r, name, f.Bundle() != nil, games})
	}
	fields := mcapFields{Paths: c.StringSlice(pathsFlag.Name), MaxTicks: gameset.MaxTicks(c), Warn: func(name, text string) {
		fmt.Fprintf(c.App.ErrWriter, "%s: %s: %s\n", c.App.Name, console.Shown(name), text)
	}}
	return files.Create(names[len(names)-1], func(out *os.File) error { return writeMCAP(out, matches, fields) })
}

func exportLines(c *cli.Context, f *replay.File) error {
	x := &exporter{w: bufio.NewWriter(c.App.Writer)}
	if err := x.findPlayers(f); err != nil {
		return err
	}
	r, err := f.Reader()
	if err != nil {
		return err
	}
	err = cmp.Or(dropsPanic(c, f.Path(), r), replay.Play(r, nil, x.record))
	return cmp.Or(err, x.w.Flush())
}

// dropsPanic tells that neither format has the panic of the rules that a file has.
func dropsPanic(c *cli.Context, name string, r *replay.Reader) error {
	p, err := replay.FindPanic(r)
	if p != nil {
		fmt.Fprintf(c.App.ErrWriter, "%s: %s: not exported: %v\n", c.App.Name, console.Shown(name), p)
	}
	return err
}

type exporter struct {
	w          *bufio.Writer
	header     *lockstep.Header
	reports    [256]bool        // players that report checksums
	mismatches mismatches       // of the whole match
	recording  *matchlog.Header // of a recording, or nil
	headed     bool             // its line was read
	line       []byte           // of a checksum
	sections   []matchlog.Entry // checksums of a tick with those of the sections
}

// findPlayers finds the players that report checksums from the beginning, and the mismatches.
func (x *exporter) findPlayers(f *replay.File) error {
	r, err := f.Reader()
	if err != nil {
		return err
	}
	defer func() { x.mismatches.order() }()
	return replay.Play(r, nil, func(rec *record.Record) error {
		switch {
		case rec.Kind == record.KindHeader && rec.Header.Engine == replay.ForeignEngine:
			for p := range rec.Header.Settings.Players {
				x.reports[p] = true
			}
		case rec.Kind == record.KindForeign && x.recording == nil:
			h, err := matchlog.ParseHeader(rec.Line)
			if err != nil {
				return matchlines.ForeignError(rec, err)
			}
			x.recording = &h
		case rec.Kind == record.KindMismatch:
			x.reports[rec.Player] = true
		}
		for i := range rec.Frame.Commands {
			x.reports[rec.Frame.Commands[i].Player] = true
		}
		return x.mismatches.add(rec)
	})
}

func (x *exporter) record(rec *record.Record) error {
	switch rec.Kind {
	case record.KindHeader:
		x.header = rec.Header
		s := &rec.Header.Settings
		line := matchlines.HeaderLine{Log: 1, Title: rec.Header.Game, TickRate: json.Number(matchlog.Rate(s.TickMicros)), Players: s.Players}
		if rec.Header.Engine == replay.ForeignEngine {
			line.Recorded(rec.Header, x.recording)
		}
		return console.WriteLine(x.w, line)
	case record.KindForeign:
		return x.foreign(rec)
	case record.KindEvent:
		if rec.Event == record.EventReports {
			x.reports[rec.Player] = rec.Text == "yes"
		}
		return nil
	case record.KindNote:
		line := matchlines.NoteLine{Tick: rec.Tick, Topic: rec.Topic, Text: rec.Text}
		if rec.Player != lockstep.System {
			line.Player = &rec.Player
		}
		return console.WriteLine(x.w, line)
	case record.KindChecksum:
		return x.sums(rec)
	case record.KindMismatch:
		if hash, ok := x.mismatches.take(rec.Tick, rec.Player); ok { // no checksum is agreed
			return x.sum(rec.Tick, rec.Player, hash)
		}
	case record.KindEnd:
		last := rec.Tick
		if x.header.Engine == replay.ForeignEngine {
			if rec.Text == replay.ForeignTorn {
				return nil
			}
			last = max(last, 1) - 1 // import added one
		}
		return console.WriteLine(x.w, matchlines.EndLine{Tick: last, End: true})
	}
	return x.commands(&rec.Frame)
}

// foreign prints a state, and keeps the checksums of sections for the line of their checksum.
func (x *exporter) foreign(rec *record.Record) error {
	if !x.headed {
		x.headed = true // the first is the header, which was printed
		return nil
	}
	e, _, err := x.recording.ParseEntry(rec.Line)
	switch {
	case err != nil:
		return matchlines.ForeignError(rec, err)
	case e.Dump:
		return console.WriteLine(x.w, matchlines.StateLine{Tick: e.Tick, Player: e.Player, State: e.State, More: e.More})
	case e.Gap:
		return console.WriteLine(x.w, matchlines.GapLine{Tick: e.Tick, Until: e.Until})
	case e.Order:
		return console.WriteLine(x.w, matchlines.OrderLine{Tick: e.Tick, Order: checksum.FormatHash(e.Hash)})
	}
	if len(x.sections) > 0 && x.sections[0].Tick != e.Tick {
		x.sections = x.sections[:0]
	}
	if len(x.sections) < int(lockstep.MaxPlayers) {
		x.sections = append(x.sections, e)
	}
	return nil
}

func (x *exporter) sum(t lockstep.Tick, p lockstep.Player, hash uint64) error {
	own := &matchlog.Entry{} // that the player reported, if the replay needs it
	for i := range x.sections {
		if e := &x.sections[i]; e.Tick == uint32(t) && e.Player == uint8(p) {
			own = e
			break
		}
	}
	x.line = append(matchlines.AppendSumLine(x.line[:0], t, p, cmp.Or(own.Long, checksum.FormatHash(hash)), own.Sections), '\n')
	_, err := x.w.Write(x.line)
	return err
}

func (x *exporter) commands(f *lockstep.Frame) error {
	for i := range f.Commands {
		c := &f.Commands[i]
		if c.Player == lockstep.System {
			continue
		}
		payload := c.Payload
		if x.header.Engine == replay.ForeignEngine {
			if len(payload) < 4 || binary.LittleEndian.Uint32(payload) != uint32(len(payload)-4) {
				return fmt.Errorf("tick %d: payload: got % x, want one list of bytes", c.Tick, payload[:min(len(payload), 8)])
			}
			payload = payload[4:]
		}
		if payload == nil {
			payload = []byte{}
		}
		if err := console.WriteLine(x.w, matchlines.CommandLine{Tick: c.Tick - 1, Player: c.Player, Sequence: c.Sequence, Kind: c.Kind, Payload: payload}); err != nil {
			return err
		}
	}
	return nil
}

// sums prints the checksums of a tick, by player.
func (x *exporter) sums(agreed *record.Record) error {
	for p := range lockstep.Player(x.header.Settings.Players) {
		hash, differs := x.mismatches.take(agreed.Tick, p)
		if !differs && !x.reports[p] {
			continue
		}
		if !differs {
			hash = agreed.Hash
		}
		if err := x.sum(agreed.Tick, p, hash); err != nil {
			return err
		}
	}
	return nil
}

// The mismatches of a match are the checksums of players that differ from the agreed ones. In the log of a live match
// they stand ticks after these, so they are read ahead. A map would take four times the memory of the slice.
type mismatches []mismatch

type mismatch struct {
	hash   uint64
	tick   lockstep.Tick
	player lockstep.Player
	taken  bool
}

const maxMismatches = 1 << 19 // that are kept

// readMismatches returns the mismatches of a replay, and then seeks to the beginning.
func readMismatches(r *replay.Reader) (mismatches, error) {
	var all mismatches
	if err := replay.Play(r, nil, all.add); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // a cut replay has them up to there
		return nil, err
	}
	all.order()
	_, err := r.Seek(0)
	return all, err
}

func (d *mismatches) add(r *record.Record) error {
	if r.Kind != record.KindMismatch {
		return nil
	}
	if len(*d) == maxMismatches {
		return fmt.Errorf("%w: more than %d checksums that differ", replay.ErrLimit, maxMismatches)
	}
	*d = append(*d, mismatch{hash: r.Hash, tick: r.Tick, player: r.Player})
	return nil
}

// order sorts the mismatches by tick and player. Of several for the same tick and player, it keeps the last one.
func (d *mismatches) order() {
	slices.Reverse(*d)
	slices.SortStableFunc(*d, compareMismatches)
	*d = slices.CompactFunc(*d, func(a, b mismatch) bool { return compareMismatches(a, b) == 0 })
}

func compareMismatches(a, b mismatch) int {
	return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.player, b.player))
}

func (d mismatches) of(t lockstep.Tick) mismatches {
	from, _ := slices.BinarySearchFunc(d, t, func(m mismatch, t lockstep.Tick) int { return cmp.Compare(m.tick, t) })
	to := from
	for to < len(d) && d[to].tick == t {
		to++
	}
	return d[from:to]
}

// take returns the mismatch of a player at a tick, once.
func (d mismatches) take(t lockstep.Tick, p lockstep.Player) (hash uint64, ok bool) {
	i, found := slices.BinarySearchFunc(d, mismatch{tick: t, player: p}, compareMismatches)
	if !found || d[i].taken {
		return 0, false
	}
	d[i].taken = true
	return d[i].hash, true
}
