package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

func replayDiffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "tell in what two replays, states or bundles differ",
		ArgsUsage: "A B | BUNDLE",
		Description: `Of two replays: what their headers say differently, the first tick whose commands
differ, the first checksum that differs, and what differs in the states of the
first keyframe that does; if none does, the content hash up to the last tick that
both have (see info --upto). Nothing is simulated, so it works without the game's
code, unless --tick asks for a tick without a keyframe; a state that contradicts
the checksums of its replay, up to the next one, is not compared. See bisect for the first tick that
differs.

A or B may be a file with the canonical bytes of a state (dump --raw), or a bundle
of a desync, of which it is the state that the player sent; with one bundle alone,
that is compared with the referee's. The replay or bundle describes the states;
for two files with states, --schema names one that does.

Exits with 3 if commands, checksums or states differ, and with 5 if only the
headers do.`,
		Flags: []cli.Flag{
			jsonFlag, maxTicksFlag, limitFlag,
			&cli.UintFlag{Name: "tick", Usage: "compare the states after tick `N`", DefaultText: "of replays, the first keyframe that differs; of a bundle, the desync"},
			&cli.BoolFlag{Name: "referee", Usage: "of a bundle, take the referee's state"},
			&cli.StringFlag{Name: "schema", Usage: "the replay or bundle `FILE` describes the states"},
		},
		OnUsageError: usageError,
		Action:       replayDiff,
	}
}

var limitFlag = &cli.IntFlag{Name: "limit", Value: 20, Usage: "print at most `N` lines of fields, and N commands of a side"}

// checkLimit refuses a limit that is none.
func checkLimit(c *cli.Context) error {
	if n := c.Int("limit"); n < 0 {
		return usagef("%s: --limit: got %d, want at least 0", c.Command.Name, n)
	}
	return nil
}

// errDiffers tells that two subjects differ.
var errDiffers = errors.New("they differ")

func replayDiff(c *cli.Context) error {
	if c.NArg() != 2 && c.NArg() != 1 {
		return usagef("diff: got %s, want two files, or one bundle", count(c.NArg(), "argument"))
	}
	if err := checkLimit(c); err != nil {
		return err
	}
	a, err := openSubject(c.Args().First())
	if err != nil {
		return err
	}
	defer a.close()
	if c.NArg() == 1 {
		return diffBundle(c, a)
	}
	b, err := openSubject(c.Args().Get(1))
	if err != nil {
		return err
	}
	defer b.close()
	if a.replay && b.replay {
		return diffReplays(c, a, b)
	}
	return diffStates(c, a, b)
}

// diffBundle compares both sides' states in a bundle.
func diffBundle(c *cli.Context, s *subject) error {
	if s.bundle == nil {
		return usagef("diff: got one file, which is not a bundle, want two")
	}
	d := &difference{}
	t := s.bundle.Manifest.Tick
	if c.IsSet("tick") {
		t = tickOf(c, "tick")
	}
	x, err := s.state(c, t, true)
	if err != nil {
		return err
	}
	y, err := s.state(c, t, false)
	if err != nil {
		return err
	}
	schema, err := s.schema()
	if err != nil {
		return err
	}
	if err := d.states(schema, &t, x, y); err != nil {
		return s.error(err)
	}
	return d.report(c)
}

// diffStates compares a state of each.
func diffStates(c *cli.Context, a, b *subject) error {
	d := &difference{}
	t, known := a.tick()
	if !known {
		t, known = b.tick()
	}
	if c.IsSet("tick") {
		t, known = tickOf(c, "tick"), true
	}
	if !known && (a.replay || b.replay) {
		return usagef("diff: want --tick, to compare a state of the replay")
	}
	schema, err := schemaOf(c, a, b)
	if err != nil {
		return err
	}
	x, err := a.state(c, t, c.Bool("referee"))
	if err != nil {
		return err
	}
	y, err := b.state(c, t, c.Bool("referee"))
	if err != nil {
		return err
	}
	var tick *lockstep.Tick
	if known {
		tick = &t
	}
	if err := d.states(schema, tick, x, y); err != nil {
		return err
	}
	return d.report(c)
}

// schemaOf returns what describes the states of two subjects.
func schemaOf(c *cli.Context, a, b *subject) (*state.Schema, error) {
	if name := c.String("schema"); name != "" {
		s, err := openSubject(name)
		if err != nil {
			return nil, err
		}
		defer s.close()
		if s.header == nil {
			return nil, usagef("diff: --schema: %s is no replay and no bundle", name)
		}
		return s.schema()
	}
	if a.header != nil && b.header != nil && string(a.header.StateSchema) != string(b.header.StateSchema) {
		for _, d := range record.DiffHeaders(a.header, b.header) {
			if len(d.Field) >= 5 && d.Field[:5] == "state" {
				return nil, &lockstep.IdentityError{Field: d.Field, Got: d.B, Want: d.A}
			}
		}
	}
	for _, s := range []*subject{a, b} {
		if schema, err := s.schema(); schema != nil || err != nil {
			return schema, err
		}
	}
	return nil, usagef("diff: neither file describes the states, want --schema")
}

// diffReplays compares two replays, and a state of each.
func diffReplays(c *cli.Context, a, b *subject) error {
	x, err := a.reader()
	if err != nil {
		return a.error(err)
	}
	y, err := b.reader()
	if err != nil {
		return b.error(err)
	}
	d := &difference{a: a, b: b}
	if d.comparison, d.err = desync.Compare(x, y); d.comparison == nil {
		return d.err
	}
	if d.comparison.Same() {
		t := min(d.comparison.A.Ticks, d.comparison.B.Ticks)
		for i, r := range []*replay.Reader{x, y} {
			h, reached, err := replay.HashContent(r, t)
			if err != nil {
				return err
			}
			d.content[i] = partHash{reached, h}
		}
	}
	if t, ok := d.tick(c); ok {
		if err := d.replayStates(c, t); errors.As(err, new(*lockstep.DesyncError)) {
			d.err = errors.Join(err, d.err) // what the files say differently is told all the same
		} else if err != nil {
			return err
		}
	}
	return d.report(c)
}

// tick returns the tick whose states are to be compared, if there is one.
func (d *difference) tick(c *cli.Context) (lockstep.Tick, bool) {
	switch {
	case c.IsSet("tick"):
		return tickOf(c, "tick"), true
	case d.comparison.Keyframe != nil && string(d.a.header.StateSchema) == string(d.b.header.StateSchema):
		return d.comparison.Keyframe.Tick, true
	}
	return 0, false
}

// replayStates compares the states of both replays after a tick.
func (d *difference) replayStates(c *cli.Context, t lockstep.Tick) error {
	schema, err := schemaOf(c, d.a, d.b)
	if err != nil {
		return err
	}
	x, err := d.a.state(c, t, false)
	if err != nil {
		return err
	}
	y, err := d.b.state(c, t, false)
	if err != nil {
		return err
	}
	return d.states(schema, &t, x, y)
}

// states compares two states.
func (d *difference) states(s *state.Schema, t *lockstep.Tick, a, b []byte) error {
	groups, err := s.DiffPlaces(a, b)
	if err != nil {
		return &fileError{"diff", err} // the error says which
	}
	d.state = &stateDifference{Tick: t, Fields: groups}
	return nil
}
