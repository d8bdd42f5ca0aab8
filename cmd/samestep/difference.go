package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A difference is what diff found out.
type difference struct {
	a, b       *subject           // of two replays
	comparison *desync.Comparison // of two replays, or nil
	content    [2]partHash        // of both, up to the last tick that both have; only of the same match
	state      *stateDifference   // nil if no states were compared
	err        error              // why a replay cannot be read on
}

// A stateDifference is what differs in two states.
type stateDifference struct {
	Tick   *lockstep.Tick `json:"tick"` // nil if it is not known
	Fields state.Places   `json:"fields"`
}

// report prints what differs, and returns the error that says so.
func (d *difference) report(c *cli.Context) error {
	err := d.result()
	if !c.Bool("json") {
		if werr := d.print(c.App.Writer, c.Int("limit")); werr != nil {
			return werr
		}
	} else if werr := writeJSON(c.App.Writer, d.json(err, c.Int("limit"))); werr != nil {
		return werr
	}
	return err
}

// result returns errDiffers, or else the error of what cannot be compared.
func (d *difference) result() error {
	x := d.comparison
	switch {
	case d.state != nil && d.state.Fields.Total > 0, x != nil && (x.Frame != nil || x.Checksum != nil):
		return errors.Join(errDiffers, d.err)
	case d.err == nil && x != nil && !x.Same():
		for _, h := range x.Header {
			if h.Field != "platform" {
				return &lockstep.IdentityError{Field: h.Field, Got: h.B, Want: h.A}
			}
		}
	}
	return d.err
}

// print prints what differs, at most limit lines of fields.
func (d *difference) print(w io.Writer, limit int) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	if d.comparison != nil {
		if err := d.printReplays(line, limit); err != nil {
			return err
		}
	}
	if desync := (*lockstep.DesyncError)(nil); errors.As(d.err, &desync) {
		line("state", "not compared: a simulation contradicts its file at tick %d; bisect tells which recorder had another state", desync.Tick)
	}
	if s := d.state; s != nil {
		where := "states"
		if s.Tick != nil {
			where = fmt.Sprintf("tick %d", *s.Tick)
		}
		switch x := d.comparison; {
		case s.Fields.Total == 0 && x != nil && x.Checksum != nil && *s.Tick >= x.Checksum.Tick:
			line("state", "%s: nothing differs in what the commands give; bisect tells which recorder had another state", where)
		case s.Fields.Total == 0:
			line("state", "%s: nothing differs", where)
		default:
			line("state", "%s: %s in %s", where, differ(s.Fields.Total, "field"), count(len(s.Fields.List), "place"))
		}
		printFields(line, &s.Fields, limit)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printFields prints the fields that differ.
func printFields(line func(name, format string, args ...any), fields *state.Places, limit int) {
	for _, text := range fields.Lines(max(limit, 0)) {
		line("", "%s", text)
	}
}

// differ says that so many things differ.
func differ(n int, thing string) string {
	if n == 1 {
		return count(n, thing) + " differs"
	}
	return count(n, thing) + " differ"
}

func (d *difference) printReplays(line func(name, format string, args ...any), limit int) error {
	x := d.comparison
	for _, h := range x.Header {
		line("header", "%s", h)
	}
	if x.Frame != nil {
		line("commands", "first differ in tick %d", x.Frame.Tick)
		if err := d.printCommands(line, x.Frame, limit); err != nil {
			return err
		}
	}
	if s := x.Checksum; s != nil {
		known := ""
		if s.Known {
			known = fmt.Sprintf("; the last equal one is of tick %d", s.Agreed)
		}
		line("checksums", "%d of %d differ, first that of tick %d: %s → %s%s", x.Differed, x.Compared, s.Tick, checksum.FormatHash(s.A), checksum.FormatHash(s.B), known)
	} else {
		line("checksums", "%d compared, none differs", x.Compared)
	}
	if x.A.Ticks != x.B.Ticks {
		line("length", "%s → %s", count(x.A.Ticks, "tick"), count(x.B.Ticks, "tick"))
	}
	if d.content[0] != d.content[1] {
		line("content", "differs up to tick %d in what is not compared above, such as checksums of players: %s → %s", d.content[0].Tick, d.content[0].ContentHash, d.content[1].ContentHash)
	} else if x.Same() {
		line("content", "%s up to tick %d, of both", d.content[0].ContentHash, d.content[0].Tick)
	}
	switch {
	case x.Frame != nil || x.Checksum != nil:
	case !x.Same():
		line("verdict", "the headers differ, and nothing else up to tick %d", min(x.A.Ticks, x.B.Ticks))
	case x.A.Ticks == x.B.Ticks:
		line("verdict", "the same match")
	default:
		line("verdict", "the same match up to tick %d", min(x.A.Ticks, x.B.Ticks))
	}
	return nil
}

// printCommands prints the commands of a tick that are on one side only.
func (d *difference) printCommands(line func(name, format string, args ...any), f *desync.FrameDifference, limit int) error {
	for _, side := range []struct {
		name        string
		of          *subject
		own, others []lockstep.Command
	}{{"A", d.a, f.A, f.B}, {"B", d.b, f.B, f.A}} {
		texts, total, err := onlyHere(side.of, side.own, side.others, limit)
		if err != nil {
			return err
		}
		for _, text := range texts {
			line("", "%s  %s", side.name, text)
		}
		if more := total - len(texts); more > 0 {
			line("", "%s  and %d more", side.name, more)
		}
		if total == 0 {
			line("", "%s  none", side.name)
		}
	}
	return nil
}

// maxText is how many bytes of a command's text are printed. The text of 16 KiB
// of payload can have 4 MiB, as the names of its fields are in it.
const maxText = 4 << 10

// onlyHere puts the first limit commands into words that are on one side only.
// It also returns how many there are.
func onlyHere(s *subject, own, others []lockstep.Command, limit int) (texts []string, total int, err error) {
	describe, err := lockstep.NewDescriber(s.header, s.game)
	if err != nil {
		return nil, 0, s.error(err)
	}
	texts = []string{}
	for i := range own {
		if contains(others, &own[i]) {
			continue
		}
		if total++; total > limit {
			continue
		}
		text := fmt.Sprintf("#%d %s", own[i].Sequence, describe.Describe(&own[i]))
		if len(text) > maxText {
			text = strings.ToValidUTF8(text[:maxText], "") + " …" // a copy: the whole text can be collected
		}
		texts = append(texts, text)
	}
	return texts, total, nil
}

// contains reports whether a command is among others.
func contains(others []lockstep.Command, c *lockstep.Command) bool {
	for i := range others {
		if o := &others[i]; record.Compare(o, c) == 0 && o.Kind == c.Kind && string(o.Payload) == string(c.Payload) {
			return true
		}
	}
	return false
}

// json returns what diff --json prints.
func (d *difference) json(err error, limit int) any {
	story := struct {
		*desync.Comparison
		Frame    *frameJSON       `json:"frame,omitempty"` // in place of the Comparison's
		Checksum *checksumJSON    `json:"checksum,omitempty"`
		Keyframe *checksumJSON    `json:"keyframe,omitempty"`
		State    *stateDifference `json:"state"`
		Content  []partHash       `json:"content,omitempty"` // of the same match
		Same     bool             `json:"same"`
		Error    string           `json:"error,omitempty"`
	}{Comparison: d.comparison, State: d.state, Same: err == nil, Error: errorText(err)}
	if x := d.comparison; x != nil {
		if x.Same() {
			story.Content = d.content[:]
		}
		story.Frame = newFrameJSON(d.a, d.b, x.Frame, limit)
		story.Checksum, story.Keyframe = newChecksumJSON(x.Checksum), newChecksumJSON(x.Keyframe)
	}
	return story
}

// A frameJSON are the commands of a tick that are on one side only.
type frameJSON struct {
	Tick  lockstep.Tick `json:"tick"`
	A     []string      `json:"a"` // at most --limit
	B     []string      `json:"b"`
	MoreA int           `json:"more_a"` // that are not in A
	MoreB int           `json:"more_b"`
}

func newFrameJSON(a, b *subject, f *desync.FrameDifference, limit int) *frameJSON {
	if f == nil {
		return nil
	}
	x, allX, errA := onlyHere(a, f.A, f.B, limit)
	y, allY, errB := onlyHere(b, f.B, f.A, limit)
	if errA != nil || errB != nil {
		x, y, allX, allY = []string{}, []string{}, len(f.A), len(f.B) // a header that no game wrote
	}
	return &frameJSON{f.Tick, x, y, allX - len(x), allY - len(y)}
}

// A checksumJSON is a checksum that differs, in the form of all checksums.
type checksumJSON struct {
	Tick   lockstep.Tick `json:"tick"`
	A      string        `json:"a"`
	B      string        `json:"b"`
	Agreed lockstep.Tick `json:"agreed"`
	Known  bool          `json:"known"`
}

func newChecksumJSON(d *desync.ChecksumDifference) *checksumJSON {
	if d == nil {
		return nil
	}
	return &checksumJSON{d.Tick, checksum.FormatHash(d.A), checksum.FormatHash(d.B), d.Agreed, d.Known}
}
