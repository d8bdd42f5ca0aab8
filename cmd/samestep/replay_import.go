package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/internal/nullgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// foreignEngine is the engine in the header of a match that was imported. No
// code here can simulate it.
const foreignEngine = "foreign"

// Topics of notes that import writes itself.
const (
	topicReports = "reports"   // from the next check on, a player reports checksums ("yes"), or does not ("no")
	topicRate    = "tick_rate" // ticks a second, if they are no whole number
)

var fromFlag = &cli.StringFlag{Name: "from", Value: "jsonl", Usage: "the `FORMAT` of the file to read: jsonl"}

func replayImportCommand() *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "make a sealed replay of another engine's match",
		ArgsUsage: "IN OUT",
		Description: `Reads lines of JSON, maybe compressed with gzip: a header, commands, checksums
that players reported, notes (names, a map, chat), and an end. A command of tick t
becomes one of frame t+1, which makes state t+1. What most players reported becomes
the agreed checksum. docs/import.md describes every line.`,
		Flags:        []cli.Flag{fromFlag, segmentFlag, jsonFlag},
		OnUsageError: usageError,
		Action:       written(replayImport),
	}
}

func replayImport(c *cli.Context) error {
	if c.NArg() != 2 {
		return usagef("import: got %s, want one file to read and one to write", count(c.NArg(), "argument"))
	}
	if got := c.String("from"); got != "jsonl" {
		return usagef("import: got format %q, want jsonl", got)
	}
	m, err := matchlog.Load(c.Args().First())
	if err != nil {
		return &fileError{c.Args().First(), err}
	}
	return files.Create(c.Args().Get(1), func(f *os.File) error {
		w := replay.NewWriter(f, sealedOptions(c))
		if err := newImporter(m, w).run(); err != nil {
			return &fileError{c.Args().First(), err}
		}
		return w.Close()
	})
}

// An importer writes a match of another engine as records.
type importer struct {
	match    *matchlog.Match
	out      lockstep.Log
	enc      lockstep.Encoder
	payloads *lockstep.Payloads
	commands []matchlog.Entry            // in canonical order
	sums     map[uint32][]matchlog.Entry // by tick
	notes    []matchlog.Entry            // by tick
	silent   [256]bool                   // does not report
	last     [256]lockstep.Sequence
}

func newImporter(m *matchlog.Match, out lockstep.Log) *importer {
	i := &importer{match: m, out: out, payloads: nullgame.New().NewPayloads(), sums: make(map[uint32][]matchlog.Entry)}
	for _, e := range m.Entries {
		switch {
		case e.Checksum:
			i.sums[e.Tick] = append(i.sums[e.Tick], e)
		case e.Topic != "":
			i.notes = append(i.notes, e)
		default:
			i.commands = append(i.commands, e)
		}
	}
	slices.SortStableFunc(i.commands, func(a, b matchlog.Entry) int {
		return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.Player, b.Player), cmp.Compare(a.Sequence, b.Sequence))
	})
	return i
}

func (i *importer) run() error {
	if err := i.begin(); err != nil {
		return err
	}
	if err := i.remarks(0); err != nil {
		return err
	}
	for t := range i.match.Ticks + 1 {
		if err := i.frame(lockstep.Tick(t + 1)); err != nil {
			return err
		}
		if err := i.remarks(t + 1); err != nil {
			return err
		}
	}
	return i.out.Append(i.enc.End("imported"))
}

// begin writes the header, which is that of a game without rules, and an empty
// state.
func (i *importer) begin() error {
	g := nullgame.New()
	s := lockstep.DefaultSettings(i.match.Header.Players)
	s.TickRate, s.KeyframeEvery = i.match.Header.TickRate, 0
	s.Seed, s.CheckEvery = 0, i.checkEvery() // no seed is known
	h, err := g.NewHeader(i.id(), s, &nullgame.Config{})
	if err != nil {
		return err
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		return err
	}
	h.Engine, h.Game, h.Build, h.Platform = foreignEngine, clip(i.match.Header.Title, 128), "imported", "unknown"
	h.Commands = slices.DeleteFunc(h.Commands, func(d lockstep.CommandDescription) bool {
		return !slices.ContainsFunc(i.commands, func(e matchlog.Entry) bool { return lockstep.Kind(e.Kind) == d.Kind })
	})
	if err := i.out.Append(i.enc.Header(h)); err != nil {
		return err
	}
	if err := i.out.Append(i.enc.Keyframe(0, sim.Root(), nil, sim.AppendState(nil))); err != nil || i.match.Header.Rate == "" {
		return err
	}
	return i.out.Append(i.enc.Note(lockstep.System, topicRate, i.match.Header.Rate))
}

// checkEvery returns the largest number of ticks of which all checks are
// multiples, or 1 if there are none: the header must have one.
func (i *importer) checkEvery() uint16 {
	every := uint32(0)
	for t := range i.sums {
		for t > 0 { // the greatest common divisor
			every, t = t, every%t
		}
	}
	if every == 0 || every > math.MaxUint16 {
		return 1
	}
	return uint16(every)
}

// clip returns the beginning of a text: at most n bytes, of whole characters.
func clip(s string, n int) string { return strings.ToValidUTF8(s[:min(n, len(s))], "") }

// id returns an id that depends on all commands, so that importing a match
// again gives the same file.
func (i *importer) id() (id lockstep.MatchID) {
	hash := sha256.New()
	var b []byte
	for _, e := range i.commands {
		b = binary.LittleEndian.AppendUint32(append(b[:0], e.Player), e.Tick)
		b = binary.LittleEndian.AppendUint32(b, e.Sequence)
		b = binary.LittleEndian.AppendUint16(b, e.Kind)
		hash.Write(append(b, e.Payload...))
	}
	copy(id[:], hash.Sum(nil))
	return id
}

// frame writes the commands of the next tick.
func (i *importer) frame(t lockstep.Tick) error {
	f := lockstep.Frame{Tick: t}
	for ; len(i.commands) > 0 && lockstep.Tick(i.commands[0].Tick)+1 == t; i.commands = i.commands[1:] {
		e := &i.commands[0]
		if seq := lockstep.Sequence(e.Sequence); seq <= i.last[e.Player] {
			return fmt.Errorf("%w: tick %d: player %d: got sequence %d, want more than %d", matchlog.ErrMalformed, e.Tick, e.Player, seq, i.last[e.Player])
		}
		i.last[e.Player] = lockstep.Sequence(e.Sequence)
		payload, err := i.payloads.EncodeAs(lockstep.Kind(e.Kind), &nullgame.Opaque{Data: e.Payload})
		if err != nil {
			return fmt.Errorf("%w: tick %d: %w", matchlog.ErrMalformed, e.Tick, err)
		}
		f.Commands = append(f.Commands, lockstep.Command{
			Tick: t, Player: lockstep.Player(e.Player), Sequence: lockstep.Sequence(e.Sequence), Kind: lockstep.Kind(e.Kind), Payload: slices.Clone(payload),
		})
		if len(payload) > lockstep.MaxPayload || len(f.Commands) > lockstep.MaxFrameCommands {
			return fmt.Errorf("%w: tick %d: got a payload of %d bytes and %d commands, want at most %d and %d", matchlog.ErrMalformed,
				e.Tick, len(payload), len(f.Commands), lockstep.MaxPayload, lockstep.MaxFrameCommands)
		}
	}
	if err := i.out.Append(i.enc.Frame(&f)); err != nil {
		return fmt.Errorf("tick %d: %w", t-1, err)
	}
	return nil
}

// remarks writes what is known of a tick beside its commands.
func (i *importer) remarks(tick uint32) error {
	if err := i.checks(tick); err != nil {
		return err
	}
	for ; len(i.notes) > 0 && i.notes[0].Tick == tick; i.notes = i.notes[1:] {
		e := &i.notes[0]
		if e.Topic == topicReports || e.Topic == topicRate {
			return fmt.Errorf("%w: tick %d: got a note %q, want another topic: import writes that one itself", matchlog.ErrMalformed, e.Tick, e.Topic)
		}
		if err := i.out.Append(i.enc.Note(lockstep.Player(e.Player), e.Topic, e.Text)); err != nil {
			return err
		}
	}
	return nil
}

// checks writes what players reported of a tick: what most of them agree on,
// and who differs from that. Where two groups are equally large, all differ.
func (i *importer) checks(tick uint32) error {
	sums := i.sums[tick]
	if len(sums) == 0 {
		return nil
	}
	sums, err := votes(sums)
	if err != nil {
		return err
	}
	for p := range lockstep.Player(i.match.Header.Players) {
		silent := !slices.ContainsFunc(sums, func(e matchlog.Entry) bool { return lockstep.Player(e.Player) == p })
		if silent == i.silent[p] {
			continue
		}
		i.silent[p] = silent
		if err := i.out.Append(i.enc.Note(p, topicReports, map[bool]string{true: "no", false: "yes"}[silent])); err != nil {
			return err
		}
	}
	agreed, ok := majority(sums)
	if ok {
		if err := i.out.Append(i.enc.Checksum(lockstep.Tick(tick), agreed)); err != nil {
			return err
		}
	}
	for _, e := range sums {
		if ok && e.Root == agreed {
			continue
		}
		if err := i.out.Append(i.enc.Dissent(lockstep.Tick(tick), lockstep.Player(e.Player), e.Root)); err != nil {
			return err
		}
	}
	return nil
}

// votes returns what players reported of a tick by player, each once.
func votes(sums []matchlog.Entry) ([]matchlog.Entry, error) {
	slices.SortStableFunc(sums, func(a, b matchlog.Entry) int { return cmp.Compare(a.Player, b.Player) })
	sums = slices.CompactFunc(sums, func(a, b matchlog.Entry) bool { return a.Player == b.Player && a.Root == b.Root })
	for n, e := range sums[1:] {
		if e.Player == sums[n].Player {
			return nil, fmt.Errorf("%w: tick %d: player %d: got two checksums, want one", matchlog.ErrMalformed, e.Tick, e.Player)
		}
	}
	return sums, nil
}

// majority returns the checksum that more players reported than any other.
func majority(sums []matchlog.Entry) (root uint64, ok bool) {
	counts := make(map[uint64]int)
	for _, e := range sums {
		counts[e.Root]++
	}
	most := 0
	for r, n := range counts {
		if n == most {
			ok = false
		} else if n > most {
			root, most, ok = r, n, true
		}
	}
	return root, ok
}
