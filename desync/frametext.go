package desync

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

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
		if slices.ContainsFunc(others, func(o lockstep.Command) bool {
			return record.Compare(&o, c) == 0 && o.Kind == c.Kind && string(o.Payload) == string(c.Payload)
		}) {
			continue
		}
		if d == nil || len(texts) >= limit {
			more++
			continue
		}
		texts = append(texts, words.Clipped(fmt.Sprintf("#%d %s", c.Sequence, d.Describe(c)), MaxText))
	}
	return texts, more
}
