//go:build !js

package replays

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A difference is the result of diff.
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

// A stateDifference is the differences of two states.
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
	d.lines(p.Line)
	p.Write(w)
}

func (d *difference) lines(line console.Liner) {
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
		line("state", "%s: %s in %s", where, words.Plural(s.Fields.Total, "field", "differs", "differ"), console.Count(len(s.Fields.List), "place"))
	case d.path != "":
		line("state", "%s: nothing differs at %s", where, d.path)
	case x != nil && x.Checksum != nil && *s.Tick >= x.Checksum.Tick:
		line("state", "%s: the commands give the same state; bisect tells which recorder had another one", where)
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
		line("matches", "A and B are of different matches: they differ in %s. They are compared all the same", what)
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
			known = fmt.Sprintf("; the last equal one is of tick %d", s.Agreed)
		}
		line("checksums", "%d of %d differ, first that of tick %d: %s → %s%s", x.Differed, x.Compared, s.Tick, checksum.FormatHash(s.A), checksum.FormatHash(s.B), known)
	} else {
		line("checksums", "%d compared, none differs", x.Compared)
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
		line("content", "%s up to tick %d, of both", a.ContentHash, a.Tick)
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
		story.Checksum, story.Keyframe = newChecksumJSON(x.Checksum), newChecksumJSON(x.Keyframe)
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

// newChecksumJSON returns nil for nil.
func newChecksumJSON(d *bisect.ChecksumDifference) *checksumJSON {
	if d == nil {
		return nil
	}
	return &checksumJSON{d.Tick, checksum.FormatHash(d.A), checksum.FormatHash(d.B), d.Agreed, d.Known}
}
