package tool

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func replayBisectCommand() *cli.Command {
	return &cli.Command{
		Name:      "bisect",
		Usage:     "find the first tick at which two replays of one match differ, and the fields",
		ArgsUsage: "A B | A REPORTS | A --player N",
		Description: `B is another replay; or a file of JSON lines with reported checksums, as export
prints them; or, with --player and without B, the checksums in A that this player
reported.

A bundle counts as the replay in it. A replay may end early: both are compared up to
its last tick.

Checksums and keyframes tell between which ticks the states diverge. From the
keyframe before, the match is simulated with the game's code, which tells whose
states are wrong. The fields are those that differ at the first tick for which B's
state is known. Where B has only a checksum of a tick, a search by trying can still
find one changed field.

Exits with 5 if the replays have different schemas of the state, with 3 if anything
differs, with 4 if nothing differs before the readable part of a replay ends, and
otherwise with 0.`,
		Flags: []cli.Flag{
			jsonFlag, maxTicksFlag, limitFlag,
			&cli.UintFlag{Name: "player", Usage: "compare with the checksums of player `N`", DefaultText: "none"},
			&cli.BoolFlag{Name: "no-search", Usage: "do not search for the field where only a checksum is known"},
		},
		Action: replayBisect,
	}
}

func replayBisect(c *cli.Context) error {
	if c.NArg() == 1 && !c.IsSet("player") {
		return usagef("got 1 argument, want two files, or one replay and --player")
	}
	if err := between(c, "limit", 0, 0); err != nil {
		return err
	}
	a, err := openSubject(c.Args().First())
	if err != nil {
		return err
	}
	defer a.close()
	if !a.hasReplay() {
		return usagef("%s is not a replay and not a bundle", a.name)
	}
	if p, seats := c.Uint("player"), a.header.Settings.Players; c.IsSet("player") && p >= uint(seats) {
		return usagef("got player %d, want at most %d: the match has %s", p, seats-1, count(int(seats), "seat"))
	}
	b := &bisection{context: c, a: a}
	if c.NArg() == 2 {
		if b.b, err = openSubject(c.Args().Get(1)); err != nil {
			return err
		}
		defer b.b.close()
	}
	return b.run()
}

// A bisection is one run of bisect.
type bisection struct {
	context *cli.Context
	a, b    *subject          // b is nil for the checksums of a player in a
	found   *desync.Bisection // nil if nothing differs
	frame   *frameJSON        // of found, or nil
	same    bool              // the states and checksums are equal; the commands may differ
	damage  *replay.DamageError
	took    time.Duration
}

func (b *bisection) run() error {
	o, done := simulateOptions(b.context)
	bar := newProgress(b.context.App.ErrWriter, 0, "bytes")
	options := desync.BisectOptions{SimulateOptions: o, SearchProgress: func(n, all int64) {
		done()
		bar.setOf(n, all)
	}}
	if b.context.Bool("no-search") {
		options.MaxSearch = -1
	}
	from := time.Now()
	err := b.bisect(options)
	bar.done()
	done()
	b.took = time.Since(from)
	b.same = errors.Is(err, desync.ErrSame)
	if err != nil && !b.same {
		return err
	}
	if b.same && (b.found == nil || b.found.Frame == nil) {
		b.found = nil
	}
	var result error
	if errors.As(err, &b.damage) {
		result = b.damage
	}
	if b.found != nil {
		result = errors.Join(errDiffers, result)
		b.frame = newFrameJSON(b.a, b.b, b.found.Frame, b.context.Int("limit"))
	}
	return tell(b.context, b.json(result), func(w io.Writer) { b.print(newLiner(w)) }, result)
}

func (b *bisection) bisect(o desync.BisectOptions) error {
	x, err := b.a.reader()
	if err != nil {
		return b.a.error(err)
	}
	if b.b != nil && b.b.hasReplay() {
		y, err := b.b.reader()
		if err != nil {
			return b.b.error(err)
		}
		b.found, err = desync.Bisect(x, y, b.a.game, o)
		return err
	}
	reports, err := b.reports(x)
	if err != nil && (b.b != nil || !errors.As(err, new(*replay.DamageError))) { // BisectReports reports damage in A
		return cmp.Or(b.b, b.a).error(err)
	}
	b.found, err = desync.BisectReports(x, reports, b.a.game, o)
	return b.a.error(err)
}

// reports returns the checksums to compare with the replay.
func (b *bisection) reports(r *replay.Reader) ([]desync.Report, error) {
	player := lockstep.Player(b.context.Uint("player"))
	switch {
	case b.b == nil:
		return desync.PlayerReports(r, player)
	case b.context.IsSet("player"):
		return readReports(b.b.file, &player)
	}
	return readReports(b.b.file, nil)
}

func (b *bisection) print(line liner) {
	f := b.found
	if f == nil {
		text := "no checksum differs"
		if b.damage != nil {
			text += " up to where a replay becomes unreadable"
		}
		line("verdict", "%s", text)
		return
	}
	line("searched", "%s simulated in %s", count(f.Simulated, "tick"), seconds(b.took))
	b.frame.print(line)
	switch {
	case b.same:
		line("diverged", "no state differs up to tick %d", f.Tick)
	case f.Exact:
		line("diverged", "at tick %d", f.Tick)
	case !f.Known:
		line("diverged", "not after tick %d; nothing is known of B before", f.Tick)
	default:
		line("diverged", "after tick %d, and not after tick %d", f.Agreed, f.Tick)
	}
	if f.Section != "" {
		line("section", "%s", f.Section)
	}
	if f.Fields.Total > 0 {
		source := ""
		switch {
		case f.Reconstructed:
			source = ", found by trying values until the checksum matched"
		case f.FieldsTick != f.Tick:
			source = ", in the next state that is known"
		}
		line("state", "tick %d: %s in %s%s", f.FieldsTick, plural(f.Fields.Total, "field", "differs", "differ"), count(len(f.Fields.List), "place"), source)
		printFields(line, &f.Fields, b.context.Int("limit"))
	}
	line("verdict", "%s", b.verdict())
}

// verdict describes the cause.
func (b *bisection) verdict() string {
	second := "the reported checksum"
	switch {
	case b.b == nil:
		second = fmt.Sprintf("player %d", b.context.Uint("player"))
	case b.b.hasReplay():
		second = "B"
	}
	switch b.found.Cause {
	case desync.OriginCommands:
		return "the commands differ" + b.edited()
	case desync.OriginA:
		return "A is wrong: the game gives the same as " + second
	case desync.OriginB:
		return second + " is wrong: the game gives the same as A"
	case desync.OriginBoth:
		return "both are wrong: the game gives a third state"
	case desync.OriginStart:
		return "they begin with different states"
	}
	switch {
	case b.same:
		return "the commands differ, and no state does"
	case b.a.noGame != nil:
		return fmt.Sprintf("unknown: the match cannot be simulated (%v)", b.a.noGame)
	}
	return "unknown: the game of this program does not give the states on which both agree"
}

// edited tells whose commands do not give its own checksums.
func (b *bisection) edited() string {
	switch f := b.found; {
	case f.EditedA && f.EditedB:
		return ", and neither replay has the checksums that its own commands give"
	case f.EditedA:
		return "; A was edited: its own commands do not give its checksums"
	case f.EditedB:
		return "; B was edited: its own commands do not give its checksums"
	}
	return ", and each replay has the checksums that its own commands give"
}

func (b *bisection) json(err error) any {
	return struct {
		*desync.Bisection
		Frame   *frameJSON `json:"frame"` // replaces the Bisection's
		Same    bool       `json:"same"`
		Seconds float64    `json:"seconds"`
		Error   string     `json:"error,omitempty"`
	}{b.found, b.frame, b.found == nil, b.took.Seconds(), errorText(err)}
}
