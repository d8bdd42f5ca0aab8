package stepper

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/internal/words"
)

// WriteText writes the step for people.
func (s *Step) WriteText(w io.Writer) error {
	var p words.Page
	s.add(&p)
	return p.Write(w)
}

func (s *Step) add(p *words.Page) {
	if s.frame == nil {
		s.addStates(p)
		return
	}
	p.Line("tick", "%s", s.title())
	s.addCommands(p)
	for i := range s.Phases {
		x := &s.Phases[i]
		if s.Panic != "" && i == len(s.Phases)-1 {
			p.Line(words.First("phases", i), "%s: what it changed is unknown: the rules panicked in it", x.name())
			break
		}
		p.Line(words.First("phases", i), "%s: changes %s", x.name(), x.Did.count())
		s.addChanges(p, &x.Did)
	}
	for i, e := range s.Events {
		p.Line(words.First("events", i), "%s", e)
	}
	if s.Silent > 0 {
		p.Line(words.First("events", len(s.Events)), "and %s more", words.Count(s.Silent, "event"))
	}
	for i := range s.Draws {
		p.Line(words.First("draws", i), "%s", s.Draws[i].String())
	}
	if s.Panic != "" {
		p.Line("panic", "%s", s.Panic)
		return
	}
	p.Line("changes", "%s", s.Did.count())
	s.addChanges(p, &s.Did)
	if s.Ended {
		p.Line("end", "the rules ended the match")
	}
	if s.Stale {
		p.Line("stale", "a simulation restored before this tick has another state after it: a derived field is not rebuilt, or the rules have no fixed result")
	}
}

// addStates adds what is known of a tick of another machine.
func (s *Step) addStates(p *words.Page) {
	if s.before == nil {
		p.Line("changes", "unknown: the state before the tick is not known")
		return
	}
	p.Line("changes", "%s", s.Did.count())
	s.addChanges(p, &s.Did)
}

func (s *Step) title() string {
	text := fmt.Sprint(s.Tick)
	if s.Checksum != "" {
		text += "  " + s.Checksum
	}
	text += fmt.Sprintf("  simulated from the keyframe of tick %d", s.Keyframe)
	switch {
	case s.Desync > 0:
		text += fmt.Sprintf(", contradicts the file at tick %d", s.Desync)
	case s.Agreed > s.Keyframe:
		text += fmt.Sprintf(", agrees with the file at tick %d", s.Agreed)
	}
	return text
}

func (s *Step) addCommands(p *words.Page) {
	for i := range s.Commands {
		c := &s.Commands[i]
		p.Line(words.First("commands", i), "#%d %s", c.Sequence, c.Text)
		if c.Refused != "" {
			p.Line("", "  refused, if it came now: %s", c.Refused)
		}
		if c.Answer != nil {
			p.Line("", "  refused when it ran: %s", cmp.Or(*c.Answer, "without a reason"))
		}
		if c.Panic != "" {
			p.Line("", "  the rules panic: %s", c.Panic)
		} else {
			p.Line("", "  changes %s", c.Did.count())
			s.addChanges(p, &c.Did)
		}
	}
	switch {
	case s.More > 0:
		p.Line(words.First("commands", len(s.Commands)), "and %s more", words.Count(s.More, "command"))
		if s.MoreDid != nil {
			p.Line("", "  changes %s", s.MoreDid.count())
			s.addChanges(p, s.MoreDid)
		}
	case len(s.Commands) == 0:
		p.Line("commands", "none")
	}
}

// addChanges adds a line for each place, or below a path for each field.
func (s *Step) addChanges(p *words.Page, c *Changes) {
	lines := c.Places.Lines(s.limit)
	if s.fieldwise {
		lines = nil
		for _, d := range c.Fields.List[:min(len(c.Fields.List), s.limit)] {
			lines = append(lines, fmt.Sprintf("%s %s → %s", d.Path, d.A, d.B))
		}
		if n := c.Fields.Total - len(lines); n > 0 {
			lines = append(lines, fmt.Sprintf("and %s more", words.Count(n, "field")))
		}
	}
	for _, line := range lines {
		p.Line("", "  %s", line)
	}
}

func (c *Changes) count() string {
	if c.Places.Total == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s in %s", words.Count(c.Places.Total, "field"), words.Count(len(c.Places.List), "place"))
}

// String returns the draws as one line of text.
func (d *Draws) String() string {
	text := fmt.Sprintf("%s: %s", d.Purpose, diff.Draws(d.Count))
	if len(d.Entities) == 0 {
		return text
	}
	var ids []string
	for _, e := range d.Entities {
		ids = append(ids, fmt.Sprint(e))
	}
	if uint64(len(ids)) < d.Count {
		ids = append(ids, "…")
	}
	return text + ", of " + strings.Join(ids, ", ")
}

func (x *Phase) name() string {
	if x.Name == "" {
		return "before the first"
	}
	return x.Name
}
