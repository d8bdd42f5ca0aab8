package tool

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A difference is the result of diff.
type difference struct {
	a, b       *subject           // the same for the two sides of one bundle
	limit      int                // of lines of fields, and of commands of a side
	comparison *desync.Comparison // of two replays, or nil
	frame      *frameJSON         // of the comparison, or nil
	content    [2]partHash        // of both, up to the last tick that both have; only of the same match
	state      *stateDifference   // nil if no states were compared
	err        error              // why a replay cannot be read to its end
}

// A stateDifference is the differences of two states.
type stateDifference struct {
	Tick   *lockstep.Tick `json:"tick"` // nil if it is unknown
	Fields state.Places   `json:"fields"`
}

// result returns errDiffers if something differs, or else the error that stopped the comparison.
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

func (d *difference) print(w io.Writer) {
	line := newLiner(w)
	if d.comparison != nil {
		d.printReplays(line)
	}
	if desync := (*lockstep.DesyncError)(nil); errors.As(d.err, &desync) {
		line("state", "not compared: a simulation contradicts its file at tick %d; bisect tells which recorder had another state", desync.Tick)
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
		line("state", "%s: %s in %s", where, plural(s.Fields.Total, "field", "differs", "differ"), count(len(s.Fields.List), "place"))
	case x != nil && x.Checksum != nil && *s.Tick >= x.Checksum.Tick:
		line("state", "%s: the commands give the same state; bisect tells which recorder had another one", where)
	default:
		line("state", "%s: nothing differs", where)
	}
	printFields(line, &s.Fields, d.limit)
}

func printFields(line liner, fields *state.Places, limit int) {
	for _, text := range fields.Lines(limit) {
		line("", "%s", text)
	}
}

func (d *difference) printReplays(line liner) {
	x := d.comparison
	for _, h := range x.Header {
		line("header", "%s", h)
	}
	d.frame.print(line)
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
	if a, b := d.content[0], d.content[1]; a != b {
		line("content", "differs up to tick %d in records that are not compared above, such as checksums of players: %s → %s", a.Tick, a.ContentHash, b.ContentHash)
	} else if x.Same() {
		line("content", "%s up to tick %d, of both", a.ContentHash, a.Tick)
	}
	if x.Frame != nil || x.Checksum != nil {
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
		*desync.Comparison
		Frame    *frameJSON       `json:"frame,omitempty"` // replaces the Comparison's
		Checksum *checksumJSON    `json:"checksum,omitempty"`
		Keyframe *checksumJSON    `json:"keyframe,omitempty"`
		State    *stateDifference `json:"state"`
		Content  []partHash       `json:"content,omitempty"` // of the same match
		Same     bool             `json:"same"`
		Error    string           `json:"error,omitempty"`
	}{Comparison: d.comparison, Frame: d.frame, State: d.state, Same: err == nil, Error: errorText(err)}
	if x := d.comparison; x != nil {
		if x.Same() {
			story.Content = d.content[:]
		}
		story.Checksum, story.Keyframe = newChecksumJSON(x.Checksum), newChecksumJSON(x.Keyframe)
	}
	return story
}

// A frameJSON is the commands of a tick that only one side has.
type frameJSON struct {
	Tick  lockstep.Tick `json:"tick"`
	A     []string      `json:"a"` // at most --limit
	B     []string      `json:"b"`
	MoreA int           `json:"more_a"` // beyond those in A
	MoreB int           `json:"more_b"`
}

// newFrameJSON returns nil for nil.
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

// print prints nothing for nil.
func (f *frameJSON) print(line liner) {
	if f == nil {
		return
	}
	line("commands", "first differ in tick %d", f.Tick)
	for _, side := range []struct {
		name  string
		texts []string
		more  int
	}{{"A", f.A, f.MoreA}, {"B", f.B, f.MoreB}} {
		for _, text := range side.texts {
			line("", "%s  %s", side.name, text)
		}
		if side.more > 0 {
			line("", "%s  and %d more", side.name, side.more)
		} else if len(side.texts) == 0 {
			line("", "%s  none", side.name)
		}
	}
}

// maxText bounds the bytes of a command's text. The text of a payload of 16 KiB can have 4 MiB, because it has the
// names of the fields.
const maxText = 4 << 10

// onlyHere describes the first limit commands that only one side has. It also returns the number of all of them.
func onlyHere(s *subject, own, others []lockstep.Command, limit int) (texts []string, total int, err error) {
	describe, err := lockstep.NewDescriber(s.header, s.game)
	if err != nil {
		return nil, 0, err
	}
	texts = []string{}
	for i := range own {
		c := &own[i]
		if slices.ContainsFunc(others, func(o lockstep.Command) bool {
			return record.Compare(&o, c) == 0 && o.Kind == c.Kind && string(o.Payload) == string(c.Payload)
		}) {
			continue
		}
		if total++; total > limit {
			continue
		}
		text := fmt.Sprintf("#%d %s", c.Sequence, describe.Describe(c))
		if len(text) > maxText {
			text = strings.ToValidUTF8(text[:maxText], "") + " …" // a copy: the whole text can be collected
		}
		texts = append(texts, text)
	}
	return texts, total, nil
}

// A checksumJSON is a checksum that differs, as text.
type checksumJSON struct {
	Tick   lockstep.Tick `json:"tick"`
	A      string        `json:"a"`
	B      string        `json:"b"`
	Agreed lockstep.Tick `json:"agreed"`
	Known  bool          `json:"known"`
}

// newChecksumJSON returns nil for nil.
func newChecksumJSON(d *desync.ChecksumDifference) *checksumJSON {
	if d == nil {
		return nil
	}
	return &checksumJSON{d.Tick, checksum.FormatHash(d.A), checksum.FormatHash(d.B), d.Agreed, d.Known}
}
