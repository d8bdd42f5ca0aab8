// Package bisect finds where two copies of a match begin to differ.
//
//   - [Compare] compares the records of two replays, without a simulation.
//   - [Replays] finds the first tick at which two replays differ, and the fields: it compares their checksums and keyframes, and simulates
//     the ticks between the last equal and the first different one. [Reports] does so for a replay and reported checksums.
//   - [Files], [File], [Player] and [Games] do so for files, and find the game.
//
// A [Bisection] says where the difference comes from (an [Origin]), and nothing of who was wrong: package desync judges that.
package bisect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A Comparison has the differences between the records of two replays of one match. It needs no simulation.
type Comparison struct {
	Header   []record.HeaderDifference `json:"header"`
	Frame    *FrameDifference          `json:"frame"`    // the first tick whose commands differ, or nil
	Checksum *ChecksumDifference       `json:"checksum"` // the first checksum that differs, or nil
	Keyframe *ChecksumDifference       `json:"keyframe"` // the first keyframe that differs, or nil

	// End reports whether both are over at the same tick, but only the rules of one ended it, or with another result.
	End bool `json:"end"`

	// Compared is the number of ticks for which both have a checksum or a keyframe; at Differed of them, these differ.
	Compared int `json:"compared"`
	Differed int `json:"differed"`

	A Side `json:"a"`
	B Side `json:"b"`

	agreed lockstep.Tick // the last tick with equal checksums, if known
	known  bool
}

// A Side says how far one of two replays goes, and how it ends.
type Side struct {
	Ticks  lockstep.Tick `json:"ticks"`
	Ended  bool          `json:"ended"`
	Reason string        `json:"reason"` // why the match ended

	ByRules bool            `json:"by_rules,omitempty"` // the rules ended the match
	Result  json.RawMessage `json:"result,omitempty"`   // their result, by its schema; empty without one
	Panic   string          `json:"panic,omitempty"`    // of the rules, in the tick after the last one

	result []byte // canonical
}

// differs reports whether the match ended at the same tick in both, but not in the same way by its rules.
func (s *Side) differs(o *Side) bool {
	return s.Ended && o.Ended && s.Ticks == o.Ticks && (s.ByRules != o.ByRules || !bytes.Equal(s.result, o.result))
}

// EndText says how the match ended, with the result of its rules.
func (s *Side) EndText() string {
	if len(s.Result) == 0 {
		return fmt.Sprintf("%q", s.Reason)
	}
	return fmt.Sprintf("%q with %s", s.Reason, s.Result)
}

// A FrameDifference is a tick whose commands differ between two replays.
type FrameDifference struct {
	Tick lockstep.Tick
	A, B []lockstep.Command
}

// A ChecksumDifference has two checksums of one tick.
type ChecksumDifference struct {
	Tick   lockstep.Tick
	A, B   uint64
	Agreed lockstep.Tick // the last tick before it with equal checksums
	Known  bool          // there is such a tick
}

// Same reports whether the two are the same match, up to the end of the shorter one: the same commands, no checksum
// that differs, and no other end by the rules. The platforms in the headers may differ.
func (c *Comparison) Same() bool {
	for _, d := range c.Header {
		if d.Field != "platform" {
			return false
		}
	}
	return c.Frame == nil && c.Checksum == nil && c.Keyframe == nil && !c.End
}

// Compare compares two replays record by record. If one of them is damaged, both are compared up to the damage, and the
// error says which.
func Compare(a, b *replay.Reader) (*Comparison, error) {
	c, _, _, err := compare(a, b)
	return c, err
}

// compare also returns the evidence of both.
func compare(a, b *replay.Reader) (*Comparison, evidence, evidence, error) {
	x, err := newOutline(a)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("first file: %w", err)
	}
	y, err := newOutline(b)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("second file: %w", err)
	}
	c := &Comparison{Header: []record.HeaderDifference{}}
	c.frames(x, y)
	if x.header != nil && y.header != nil {
		c.Header = append(c.Header, record.DiffHeaders(x.header, y.header)...)
	}
	c.checks(x.evidence, y.evidence)
	c.A, c.B = x.side, y.side
	c.End = c.A.differs(&c.B)
	if x.err != nil {
		err = fmt.Errorf("first file: %w", x.err)
	}
	if y.err != nil {
		err = errors.Join(err, fmt.Errorf("second file: %w", y.err))
	}
	return c, x.evidence, y.evidence, err
}

// frames reads both replays to their ends, and notes the first tick whose commands differ, up to where the shorter one
// ends.
func (c *Comparison) frames(x, y *outline) {
	differingFrames(x, y, func(f *FrameDifference) bool {
		c.Frame = f
		return false
	})
	for _, o := range []*outline{x, y} {
		for !o.done {
			o.next()
		}
	}
}

// Frames calls visit with each tick whose commands differ in two replays, as far as both can be read, until it returns false.
func Frames(a, b *replay.Reader, visit func(*FrameDifference) bool) error {
	x, err := newOutline(a)
	if err != nil {
		return err
	}
	y, err := newOutline(b)
	if err != nil {
		return err
	}
	x.frames, y.frames = true, true
	differingFrames(x, y, visit)
	return nil
}

// differingFrames calls visit with each tick whose commands differ, up to where the shorter replay ends, until it returns false.
func differingFrames(x, y *outline, visit func(*FrameDifference) bool) {
	x.next()
	y.next()
	for !x.done || !y.done {
		t := min(x.frame.Tick, y.frame.Tick)
		if t > min(x.side.Ticks, y.side.Ticks) {
			return // the other replay ends before them
		}
		if x.frame.Tick != y.frame.Tick || !slices.EqualFunc(x.frame.Commands, y.frame.Commands, sameCommand) {
			if !visit(&FrameDifference{Tick: t, A: x.commandsOf(t), B: y.commandsOf(t)}) {
				return
			}
		}
		for _, o := range []*outline{x, y} {
			if o.frame.Tick == t {
				o.next()
			}
		}
	}
}

// checks compares the checksums of the same ticks.
func (c *Comparison) checks(x, y evidence) {
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i].tick < y[j].tick:
			i++
			continue
		case x[i].tick > y[j].tick:
			j++
			continue
		}
		c.Compared++
		if x[i].hash == y[j].hash {
			c.agreed, c.known = x[i].tick, true
		} else {
			c.Differed++
			d := &ChecksumDifference{x[i].tick, x[i].hash, y[j].hash, c.agreed, c.known}
			if c.Checksum == nil {
				c.Checksum = d
			}
			if c.Keyframe == nil && x[i].keyframe && y[j].keyframe {
				c.Keyframe = d
			}
		}
		i++
		j++
	}
}

// An outline reads a replay from one tick with commands to the next.
type outline struct {
	reader     *replay.Reader
	header     *lockstep.Header
	frame      lockstep.Frame // the current one; after the last, an empty one of tick MaxUint32
	evidence   evidence
	frames     bool   // only frames are needed: the evidence stays empty
	mismatches []item // at most maxEvidence
	side       Side
	done       bool
	err        error // why the replay cannot be read further
}

func newOutline(r *replay.Reader) (*outline, error) {
	own, err := r.Reopen()
	if err != nil {
		return nil, err
	}
	return &outline{reader: own}, nil
}

// next goes to the next tick with commands, or to the end.
func (o *outline) next() {
	o.frame = lockstep.Frame{Tick: replay.WholeMatch}
	for !o.done {
		rec, err := o.reader.Next()
		if err == nil && !o.frames {
			err = o.evidence.add(rec)
		}
		if err != nil {
			o.done = true
			o.evidence.order()
			if err != io.EOF {
				o.err = err
			}
			return
		}
		if rec.Ticks() > 0 {
			o.side.Ticks = rec.Tick
		}
		if len(rec.Frame.Commands) > 0 {
			o.frame = rec.Frame
			return
		}
		switch rec.Kind {
		case record.KindHeader:
			o.header = rec.Header
		case record.KindMismatch:
			if len(o.mismatches) < maxEvidence {
				o.mismatches = append(o.mismatches, item{tick: rec.Tick, hash: rec.Hash})
			}
		case record.KindPanic:
			o.side.Panic = replay.NewPanic(rec).Error()
		case record.KindEnd:
			o.side.Ended, o.side.Reason, o.side.ByRules = true, rec.Text, rec.ByRules
			o.side.result, o.side.Result = bytes.Clone(rec.Result), json.RawMessage(o.header.ResultJSON(rec.Result))
		}
	}
}

// commandsOf returns the commands of a tick that is not after the current one.
func (o *outline) commandsOf(t lockstep.Tick) []lockstep.Command {
	commands := []lockstep.Command{}
	if o.frame.Tick != t {
		return commands
	}
	for _, c := range o.frame.Commands {
		c.Payload = bytes.Clone(c.Payload)
		commands = append(commands, c)
	}
	return commands
}

func sameCommand(a, b lockstep.Command) bool {
	return record.Compare(&a, &b) == 0 && a.Kind == b.Kind && bytes.Equal(a.Payload, b.Payload)
}

// A FrameText is the commands of a tick that only one side has, as text.
type FrameText struct {
	Tick  lockstep.Tick `json:"tick"`
	A     []string      `json:"a"`
	B     []string      `json:"b"`
	MoreA int           `json:"more_a"` // beyond those in A
	MoreB int           `json:"more_b"`
}

// DescribeFrame describes at most limit commands of each side, in the words of its describer; nil counts them only. It
// returns nil for nil.
func DescribeFrame(f *FrameDifference, a, b *lockstep.Describer, limit int) *FrameText {
	if f == nil {
		return nil
	}
	t := &FrameText{Tick: f.Tick}
	t.A, t.MoreA = onlyHere(a, f.A, f.B, limit)
	t.B, t.MoreB = onlyHere(b, f.B, f.A, limit)
	return t
}

// Lines returns the text, with a line for each command.
func (f *FrameText) Lines() []string {
	lines := []string{fmt.Sprintf("first differ in tick %d", f.Tick)}
	for _, side := range []struct {
		name  string
		texts []string
		more  int
	}{{"A", f.A, f.MoreA}, {"B", f.B, f.MoreB}} {
		for _, text := range side.texts {
			lines = append(lines, side.name+"  "+text)
		}
		if side.more > 0 {
			lines = append(lines, fmt.Sprintf("%s  and %d more", side.name, side.more))
		} else if len(side.texts) == 0 {
			lines = append(lines, side.name+"  none")
		}
	}
	return lines
}

// add adds nothing for nil.
func (f *FrameText) add(p *words.Page) {
	if f == nil {
		return
	}
	name := "commands"
	for _, line := range f.Lines() {
		p.Line(name, "%s", line)
		name = ""
	}
}

// onlyHere describes the first limit commands that only one side has, and returns the number of the others.
func onlyHere(d *lockstep.Describer, own, others []lockstep.Command, limit int) (texts []string, more int) {
	texts = []string{}
	for i := range own {
		c := &own[i]
		if slices.ContainsFunc(others, func(o lockstep.Command) bool { return sameCommand(o, *c) }) {
			continue
		}
		if d == nil || len(texts) >= limit {
			more++
			continue
		}
		texts = append(texts, words.Clipped(fmt.Sprintf("#%d %s", c.Sequence, d.Describe(c)), desync.MaxText))
	}
	return texts, more
}
