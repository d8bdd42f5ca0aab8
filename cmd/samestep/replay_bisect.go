package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

func replayBisectCommand() *cli.Command {
	return &cli.Command{
		Name:      "bisect",
		Usage:     "find the first tick at which two replays of one match differ, and in what",
		ArgsUsage: "A B | A REPORTS | A --player N",
		Description: `B is another replay; or a file of JSON lines with checksums that somebody reported,
as export prints them; or, with --player and without B, what A says of that
player's own checksums.

A replay may also be a bundle, which has one in it, and may end early: both are
compared up to there.

Checksums and keyframes tell between which ticks the states part. From the
keyframe before, the match is simulated with the game's code, which tells whose
are wrong. The fields are those that differ at the first tick of which B's state
is known; where B has no more than a checksum of a tick, one field that was
changed can still be found, by trying.

Exits with 5 if the replays describe their states differently, with 3 if anything
differs, with 4 if nothing does before a replay cannot be read on, and else with 0.`,
		Flags: []cli.Flag{
			jsonFlag, maxTicksFlag, limitFlag,
			&cli.UintFlag{Name: "player", Usage: "compare with the checksums of player `N`", DefaultText: "none"},
			&cli.BoolFlag{Name: "no-search", Usage: "do not try fields where only a checksum is known"},
		},
		OnUsageError: usageError,
		Action:       replayBisect,
	}
}

func replayBisect(c *cli.Context) error {
	if want := 2; c.NArg() != want && (c.NArg() != 1 || !c.IsSet("player")) {
		return usagef("bisect: got %s, want two files, or one replay and --player", count(c.NArg(), "argument"))
	}
	if err := checkLimit(c); err != nil {
		return err
	}
	a, err := openSubject(c.Args().First())
	if err != nil {
		return err
	}
	defer a.close()
	if !a.hasReplay() {
		return usagef("bisect: %s is not a replay and not a bundle", a.name)
	}
	if p := c.Uint("player"); c.IsSet("player") && p >= uint(a.header.Settings.Players) {
		return usagef("bisect: got player %d, want at most %d: the match has %s", p, a.header.Settings.Players-1, count(int(a.header.Settings.Players), "seat"))
	}
	s := &search{context: c, a: a}
	if c.NArg() == 2 {
		if s.b, err = openSubject(c.Args().Get(1)); err != nil {
			return err
		}
		defer s.b.close()
	}
	return s.run()
}

// A search is the work of bisect.
type search struct {
	context *cli.Context
	a, b    *subject // b is nil for a player's checksums in a
	found   *desync.Bisection
	took    time.Duration
	cut     bool // a replay cannot be read to its end
}

func (s *search) run() error {
	o, done := simulateOptions(s.context)
	var bar *progress
	options := desync.BisectOptions{SimulateOptions: o, SearchProgress: func(n, all int64) {
		if bar == nil {
			done()
			bar = newProgress(s.context.App.ErrWriter, all, "bytes")
		}
		bar.set(n)
	}}
	if s.context.Bool("no-search") {
		options.MaxSearch = -1
	}
	from := time.Now()
	err := s.bisect(options)
	s.cut = errors.As(err, new(*replay.DamageError))
	if bar != nil {
		bar.done()
	}
	done()
	s.took = time.Since(from)
	same := errors.Is(err, desync.ErrSame)
	switch {
	case err != nil && !same:
		return err
	case same && s.found != nil && s.found.Frame != nil, !same:
		err = errors.Join(errDiffers, ignoreSame(err))
	default:
		s.found, err = nil, ignoreSame(err)
	}
	if !s.context.Bool("json") {
		s.print(same)
	} else if werr := writeJSON(s.context.App.Writer, s.json(err)); werr != nil {
		return werr
	}
	return err
}

// ignoreSame returns what else is wrong where nothing differs: that a replay
// cannot be read to its end.
func ignoreSame(err error) error {
	var damage *replay.DamageError
	if errors.As(err, &damage) {
		return damage
	}
	return nil
}

// bisect does the work.
func (s *search) bisect(o desync.BisectOptions) error {
	x, err := s.a.reader()
	if err != nil {
		return s.a.error(err)
	}
	if s.b != nil && s.b.hasReplay() {
		y, err := s.b.reader()
		if err != nil {
			return s.b.error(err)
		}
		s.found, err = desync.Bisect(x, y, s.a.game, o)
		return err
	}
	reports, err := s.reports(x)
	if err != nil && (s.b != nil || !errors.As(err, new(*replay.DamageError))) { // BisectReports tells of damage in A
		return cmp.Or(s.b, s.a).error(err)
	}
	s.found, err = desync.BisectReports(x, reports, s.a.game, o)
	return s.a.error(err)
}

// reports returns what is compared with the replay.
func (s *search) reports(r *replay.Reader) ([]desync.Report, error) {
	if s.b == nil {
		return desync.PlayerReports(r, lockstep.Player(s.context.Uint("player")))
	}
	var player *lockstep.Player
	if s.context.IsSet("player") {
		p := lockstep.Player(s.context.Uint("player"))
		player = &p
	}
	return readReports(s.b.file, player)
}

// print tells what was found.
func (s *search) print(same bool) {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	f := s.found
	if f == nil {
		if s.cut {
			line("verdict", "no checksum differs up to where a replay cannot be read on")
		} else {
			line("verdict", "no checksum differs")
		}
		fmt.Fprint(s.context.App.Writer, b.String())
		return
	}
	line("searched", "%s simulated in %s", count(f.Simulated, "tick"), seconds(s.took))
	if f.Frame != nil {
		line("commands", "first differ in tick %d", f.Frame.Tick)
		d := difference{a: s.a, b: s.b}
		if err := d.printCommands(line, f.Frame, s.context.Int("limit")); err != nil {
			line("", "%v", err)
		}
	}
	switch {
	case same:
		line("parted", "no state differs up to tick %d", f.Tick)
	case f.Exact:
		line("parted", "at tick %d", f.Tick)
	case !f.Known:
		line("parted", "not after tick %d; nothing is known of B before", f.Tick)
	default:
		line("parted", "after tick %d, and not after tick %d", f.Agreed, f.Tick)
	}
	if f.Section != "" {
		line("section", "%s", f.Section)
	}
	if f.Fields.Total > 0 {
		line("state", "tick %d: %s in %s%s", f.FieldsTick, differ(f.Fields.Total, "field"), count(len(f.Fields.List), "place"), how(f))
		printFields(line, &f.Fields, s.context.Int("limit"))
	}
	line("verdict", "%s", s.verdict(same))
	fmt.Fprint(s.context.App.Writer, b.String())
}

// how says where the fields come from, unless it is plain.
func how(f *desync.Bisection) string {
	switch {
	case f.Reconstructed:
		return ", found by trying what gives the checksum"
	case f.FieldsTick != f.Tick:
		return ", in the next state that is known"
	}
	return ""
}

// verdict says what the cause is.
func (s *search) verdict(same bool) string {
	second := "what was reported"
	switch {
	case s.b == nil:
		second = fmt.Sprintf("player %d", s.context.Uint("player"))
	case s.b.hasReplay():
		second = "B"
	}
	switch s.found.Cause {
	case desync.OriginCommands:
		return s.edited()
	case desync.OriginA:
		return "A is wrong: " + second + " is what the game gives"
	case desync.OriginB:
		return second + " is wrong: A is what the game gives"
	case desync.OriginBoth:
		return "both are wrong: the game gives a third state"
	case desync.OriginStart:
		return "they begin with different states"
	}
	switch {
	case same:
		return "the commands differ, and no state does"
	case s.a.other != nil:
		return fmt.Sprintf("not known who is wrong: the match cannot be simulated (%v)", s.a.other)
	}
	return "not known who is wrong: the game at hand does not give what both agree on"
}

// edited says whose checksums its own commands do not give.
func (s *search) edited() string {
	switch f := s.found; {
	case f.EditedA && f.EditedB:
		return "the commands differ, and neither has the checksums that its own commands give"
	case f.EditedA:
		return "the commands differ; A was edited: its own commands do not give its checksums"
	case f.EditedB:
		return "the commands differ; B was edited: its own commands do not give its checksums"
	}
	return "the commands differ, and each has the checksums that its own commands give"
}

// json returns what bisect --json prints.
func (s *search) json(err error) any {
	story := struct {
		*desync.Bisection
		Frame   *frameJSON `json:"frame"`
		Same    bool       `json:"same"`
		Seconds float64    `json:"seconds"`
		Error   string     `json:"error,omitempty"`
	}{Bisection: s.found, Same: s.found == nil, Seconds: s.took.Seconds(), Error: errorText(err)}
	if s.found != nil {
		story.Frame = newFrameJSON(s.a, s.b, s.found.Frame, s.context.Int("limit"))
	}
	return story
}
