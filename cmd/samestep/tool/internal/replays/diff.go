//go:build !js

package replays

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

func replayDiffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "compare two replays, states or bundles",
		ArgsUsage: "A B | BUNDLE",
		Description: `Prints how the headers of two replays differ, the first tick with different commands, the
first checksum that differs, and the fields that differ in the first keyframe that does;
or, if nothing differs, the content hash up to the last tick that both have (see info
--upto). It needs the game's code only for a --tick without a keyframe. With the code, it
simulates from the last equal checksum, to print the likeliest origin first. A state that
contradicts the next checksum of its replay is not compared. To find the first tick that
differs, use bisect.

Recordings of another engine (docs/import.md) are compared as by bisect; with --tick, the
states of that tick.

A or B may also be a file with the canonical bytes of a state (dump --raw), or a bundle:
a desync's stands for the state that the player sent, a panic's for its replay. The bundle
of a desync alone gives both sides: the referee's state and the player's. The schema of
the states comes from the replay or bundle; for two files with states, from --schema.

Exits with 3 if commands, checksums, states or results differ, and with 5 if only the
headers do.`,
		Flags: []cli.Flag{
			console.JSONFlag, gameset.PathFlag, gameset.MaxTicksFlag, gameset.AssetsFlag, limitFlag,
			&cli.UintFlag{Name: "tick", Usage: "compare the states after tick `T`", DefaultText: "of replays, the first keyframe that differs; of a bundle, the desync"},
			&cli.BoolFlag{Name: "referee", Usage: "of a bundle, take the referee's state"},
			&cli.StringFlag{Name: "schema", Usage: "take the schema of the states from the replay or bundle `FILE`"},
		},
		Action: replayDiff,
	}
}

func replayDiff(c *cli.Context) error {
	if err := console.Between(c, "limit", 0, 0); err != nil {
		return err
	}
	if names := c.Args().Slice(); len(names) == 2 {
		is, err := areRecordings(names)
		if err != nil {
			return err
		}
		if is {
			var tick *lockstep.Tick
			if c.IsSet("tick") {
				tick = new(gameset.TickOf(c, "tick"))
			}
			return compareRecordings(c, names, tick)
		}
	}
	a, err := gameset.OpenSubject(c, c.Args().First())
	if err != nil {
		return err
	}
	defer a.Close()
	b := a
	if c.NArg() == 2 {
		if b, err = gameset.OpenSubject(c, c.Args().Get(1)); err != nil {
			return err
		}
		defer b.Close()
	} else if a.Bundle() == nil || a.IsReplay {
		return console.Usagef("got one file, want two, or one bundle of a desync")
	}
	d := &difference{a: a, b: b, path: c.String(gameset.PathFlag.Name), limit: c.Int("limit")}
	if a.IsReplay && b.IsReplay {
		err = d.compareReplays(c)
	} else {
		t, known := gameset.TickOf(c, "tick"), c.IsSet("tick")
		for _, s := range []*gameset.Subject{a, b} {
			if s.Bundle() != nil && !known {
				t, known = s.Bundle().Manifest.Tick, true
			}
		}
		if !known && (a.IsReplay || b.IsReplay) {
			return console.Usagef("want --tick, to compare a state of the replay")
		}
		if err = d.compareStates(c, t); !known && err == nil {
			d.state.Tick = nil
		}
	}
	if err != nil {
		return err
	}
	err = d.result()
	return gameset.Tell(c, d.json(err), d.print, err)
}

func (d *difference) compareStates(c *cli.Context, t lockstep.Tick) error {
	schema, err := d.schema(c)
	if err != nil {
		return err
	}
	x, err := d.a.State(c, t, c.Bool("referee") || d.a == d.b)
	if err != nil {
		return err
	}
	y, err := d.b.State(c, t, c.Bool("referee") && d.a != d.b)
	if err != nil {
		return err
	}
	var fields state.Differences
	var places state.Places
	if past := d.past(t); past == nil {
		fields, places, err = desync.DiffStates(schema, x, y, c.String(gameset.PathFlag.Name))
	} else {
		fields, places, err = past.DiffStates(x, y, desync.Options{Path: c.String(gameset.PathFlag.Name), MaxTicks: int(gameset.MaxTicks(c)), Now: time.Now})
	}
	if errors.Is(err, state.ErrPath) {
		return gameset.PathError(err)
	}
	if err != nil {
		return &console.FileError{Name: "diff", Err: err} // the error says in which state
	}
	d.state = &stateDifference{Tick: &t, Fields: places, All: fields}
	return nil
}

// past returns the ticks in which the states of tick t have come to differ, or nil if they are not known, or not the game.
func (d *difference) past(t lockstep.Tick) *desync.Past {
	agreed, known := lockstep.Tick(0), false
	from := d.a
	if d.comparison == nil && from.Bundle() == nil {
		from = d.b
	}
	if d.comparison != nil && d.comparison.Checksum != nil {
		agreed, known = d.comparison.Checksum.Agreed, d.comparison.Checksum.Known
	} else if b := from.Bundle(); d.comparison == nil && b != nil {
		agreed, known = max(b.Manifest.Agreed, b.Manifest.Began), true
	}
	if !known || agreed >= t || from.Game == nil {
		return nil
	}
	r, err := from.Reader()
	if err != nil {
		return nil // the states are compared all the same
	}
	return &desync.Past{Replay: r, Game: from.Game, Agreed: agreed, Tick: t}
}

// schema returns the schema of the states, of the file that --schema names, or else of one of the subjects.
func (d *difference) schema(c *cli.Context) (*state.Schema, error) {
	if name := c.String("schema"); name != "" {
		s, err := gameset.OpenSubject(c, name)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		if s.Head == nil {
			return nil, console.Usagef("--schema: %s is neither a replay nor a bundle", name)
		}
		return s.Schema()
	}
	if !sameSchema(d.a, d.b) {
		for _, h := range record.DiffHeaders(d.a.Head, d.b.Head) {
			if strings.HasPrefix(h.Field, "state") {
				return nil, &lockstep.IdentityError{Field: h.Field, Got: h.B, Want: h.A}
			}
		}
	}
	for _, s := range []*gameset.Subject{d.a, d.b} {
		if schema, err := s.Schema(); schema != nil || err != nil {
			return schema, err
		}
	}
	return nil, console.Usagef("neither file has the schema of the states: name one that has it with --schema")
}

// sameSchema reports whether the headers have the same schema of the state, as far as there are two.
func sameSchema(a, b *gameset.Subject) bool {
	return a.Head == nil || b.Head == nil || string(a.Head.StateSchema) == string(b.Head.StateSchema)
}

func (d *difference) compareReplays(c *cli.Context) error {
	x, err := d.a.Reader()
	if err != nil {
		return d.a.Error(err)
	}
	y, err := d.b.Reader()
	if err != nil {
		return d.b.Error(err)
	}
	if d.comparison, d.err = bisect.Compare(x, y); d.comparison == nil {
		return d.err
	}
	p, _ := lockstep.NewDescriber(d.a.Head, d.a.Game)
	q, _ := lockstep.NewDescriber(d.b.Head, d.b.Game) // nil for a header that no game wrote
	d.frame = bisect.DescribeFrame(d.comparison.Frame, p, q, d.limit)
	if d.comparison.Same() {
		t := min(d.comparison.A.Ticks, d.comparison.B.Ticks)
		for i, r := range []*replay.Reader{x, y} {
			h, reached, err := replay.HashContent(r, t)
			if err != nil {
				return err
			}
			d.content[i] = replay.PartHash{Tick: reached, ContentHash: h}
		}
	}
	t := gameset.TickOf(c, "tick")
	if !c.IsSet("tick") {
		if d.comparison.Keyframe == nil || !sameSchema(d.a, d.b) {
			return nil
		}
		t = d.comparison.Keyframe.Tick
	}
	if err := d.compareStates(c, t); errors.As(err, new(*lockstep.DesyncError)) {
		d.err = errors.Join(err, d.err) // the differences of the files are printed all the same
	} else if err != nil {
		return err
	}
	return nil
}

type difference struct {
	a, b       *gameset.Subject   // the same for the two sides of one bundle
	path       string             // of the fields
	limit      int                // of lines of fields, and of commands of a side
	comparison *bisect.Comparison // of two replays, or nil
	frame      *bisect.FrameText  // of the comparison, or nil
	content    [2]replay.PartHash // of both, up to the last tick that both have; only of the same match
	state      *stateDifference   // nil if no states were compared
	err        error              // why a replay cannot be read to its end
}

type stateDifference struct {
	Tick   *lockstep.Tick    `json:"tick"` // nil if it is unknown
	Fields state.Places      `json:"fields"`
	All    state.Differences `json:"differences"` // each of the fields, up to 100,000
}

// result returns console.ErrDiffers if something differs, or else the error that stopped the comparison.
func (d *difference) result() error {
	x := d.comparison
	switch {
	case d.state != nil && d.state.Fields.Total > 0, x != nil && (x.Frame != nil || x.Checksum != nil || x.End):
		return errors.Join(console.ErrDiffers, d.err)
	case d.err == nil && x != nil && !x.Same():
		for _, h := range x.Header {
			if h.Field != "platform" {
				return &lockstep.IdentityError{Field: h.Field, Got: h.B, Want: h.A}
			}
		}
	}
	return d.err
}

func (d *difference) print(w io.Writer) {
	p := &words.Page{}
	defer p.Write(w)
	line := p.Line
	if d.comparison != nil {
		d.printReplays(line)
	}
	if desync := (*lockstep.DesyncError)(nil); errors.As(d.err, &desync) {
		line("state", "not compared: the simulation contradicts the file at tick %d; bisect finds the recorder that was wrong", desync.Tick)
	}
	s, x := d.state, d.comparison
	if s == nil {
		return
	}
	where := "states"
	if s.Tick != nil {
		where = fmt.Sprintf("tick %d", *s.Tick)
	}
	switch {
	case s.Fields.Total > 0:
		line("state", "%s: %s in %s", where, words.Plural(s.Fields.Total, "field", "differs", "differ"), console.Count(len(s.Fields.List), "place"))
	case d.path != "":
		line("state", "%s: nothing differs at %s", where, d.path)
	case x != nil && x.Checksum != nil && *s.Tick >= x.Checksum.Tick:
		line("state", "%s: the commands lead to the same state; bisect finds the recorder that was wrong", where)
	default:
		line("state", "%s: nothing differs", where)
	}
	PrintLines(line, "", s.Fields.Lines(d.limit))
}

// PrintLines prints lines, the first of them with a name.
func PrintLines(line console.Liner, name string, lines []string) {
	for _, text := range lines {
		line(name, "%s", text)
		name = ""
	}
}

// unrelated names what shows that two replays are of different matches, such as "match, seed". It returns "" for one match.
func (d *difference) unrelated() string {
	var all []string
	other := false
	if d.comparison != nil {
		for _, h := range d.comparison.Header {
			if slices.Contains([]string{"match", "game", "setting seed"}, h.Field) {
				all = append(all, strings.TrimPrefix(h.Field, "setting "))
				other = other || h.Field != "setting seed"
			}
		}
	}
	if !other {
		return ""
	}
	return strings.Join(all, ", ")
}

func (d *difference) printReplays(line console.Liner) {
	x := d.comparison
	if what := d.unrelated(); what != "" {
		line("matches", "A and B are of different matches: they differ in %s. They are compared anyway", what)
	}
	for _, h := range x.Header {
		line("header", "%s", h)
	}
	if d.frame != nil {
		PrintLines(line, "commands", d.frame.Lines())
	}
	if s := x.Checksum; s != nil {
		known := ""
		if s.Known {
			known = fmt.Sprintf("; the last equal one is at tick %d", s.Agreed)
		}
		line("checksums", "%d of %d differ, the first at tick %d: %s → %s%s", x.Differed, x.Compared, s.Tick, checksum.FormatHash(s.A), checksum.FormatHash(s.B), known)
	} else {
		line("checksums", "%d compared, all equal", x.Compared)
	}
	if x.A.Ticks != x.B.Ticks {
		line("length", "%s → %s", console.Count(x.A.Ticks, "tick"), console.Count(x.B.Ticks, "tick"))
	}
	if x.End {
		line("end", "%s → %s", x.A.EndText(), x.B.EndText())
	}
	for i, s := range []*bisect.Side{&x.A, &x.B} {
		if s.Panic != "" {
			line("panic", "in %s, %s", "AB"[i:i+1], s.Panic)
		}
	}
	if a, b := d.content[0], d.content[1]; a != b {
		line("content", "differs up to tick %d in records that are not compared above, such as checksums of players: %s → %s", a.Tick, a.ContentHash, b.ContentHash)
	} else if x.Same() {
		line("content", "%s up to tick %d, in both", a.ContentHash, a.Tick)
	}
	if x.Frame != nil || x.Checksum != nil || x.End {
		return
	}
	switch both := min(x.A.Ticks, x.B.Ticks); {
	case !x.Same():
		line("verdict", "the headers differ, and nothing else up to tick %d", both)
	case x.A.Ticks == x.B.Ticks:
		line("verdict", "the same match")
	default:
		line("verdict", "the same match up to tick %d", both)
	}
}

func (d *difference) json(err error) any {
	story := struct {
		*bisect.Comparison
		Frame    *bisect.FrameText `json:"frame,omitempty"` // replaces the Comparison's
		Checksum *checksumJSON     `json:"checksum,omitempty"`
		Keyframe *checksumJSON     `json:"keyframe,omitempty"`
		State    *stateDifference  `json:"state"`
		Content  []replay.PartHash `json:"content,omitempty"` // of the same match
		Other    bool              `json:"different_matches,omitempty"`
		Same     bool              `json:"same"`
		Error    string            `json:"error,omitempty"`
	}{Comparison: d.comparison, Frame: d.frame, State: d.state, Other: d.unrelated() != "", Same: err == nil, Error: words.OfError(err)}
	if x := d.comparison; x != nil {
		if x.Same() {
			story.Content = d.content[:]
		}
		of := func(d *bisect.ChecksumDifference) *checksumJSON {
			if d == nil {
				return nil
			}
			return &checksumJSON{d.Tick, checksum.FormatHash(d.A), checksum.FormatHash(d.B), d.Agreed, d.Known}
		}
		story.Checksum, story.Keyframe = of(x.Checksum), of(x.Keyframe)
	}
	return story
}

// A checksumJSON is a checksum that differs, as text.
type checksumJSON struct {
	Tick   lockstep.Tick `json:"tick"`
	A      string        `json:"a"`
	B      string        `json:"b"`
	Agreed lockstep.Tick `json:"agreed"`
	Known  bool          `json:"known"`
}
