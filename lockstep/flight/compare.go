package flight

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Comparison says where two records of one match begin to differ. Ticks are 0 where there is none.
type Comparison struct {
	// From and To are the first and the last tick of which both records have prints; Ticks is how many there are, and Every is the
	// longest step between two of them, 1 if there is none.
	From, To record.Tick
	Ticks    int
	Every    record.Tick

	Same     record.Tick // the last tick before Differs with equal prints; without Differs, the last one
	Differs  record.Tick // the first tick with other prints
	Sections []int       // whose prints differ there, in order; none if only that of the state does
	Restored bool        // the state of one of the machines came from elsewhere after Same, up to Differs

	Commands record.Tick // the first tick with other commands

	// Draws is the first tick in which phases or draws differ; nil for none, or if one of the records has none at all.
	Draws *Parting
}

// Exact reports whether the state began to differ in tick Differs: it was the same after the tick before, as both machines computed it.
func (c *Comparison) Exact() bool {
	return c.Differs > 0 && c.Same > 0 && c.Differs-c.Same == 1 && !c.Restored
}

// A Parting is the first difference of two ticks in what Step marked and drew.
type Parting struct {
	Tick   record.Tick
	Phase  string // in which they differ, or the first that differs itself: as A has it, or else B
	Place  int    // of the phase: 1 is the first, 0 what comes before it
	Stream string // whose number of draws differs; "" if only the sum of the draws does, or the phase itself
	A, B   uint32 // draws from it; 0 and 0 if Stream is ""
	Marks  bool   // the phases differ there, not the draws
}

// Compare compares two records of one match after a tick, such as the last one at which the machines are known to have agreed. It returns
// false if they are of two matches, or of two numbers of sections, so that nothing can be compared.
func Compare(a, b *Record, after record.Tick) (c Comparison, ok bool) {
	if a.Match != b.Match || a.Prints != b.Prints {
		return c, false
	}
	draws := a.marked() && b.marked()
	restored := false
	for i, j := 0, 0; i < len(a.Ticks) && j < len(b.Ticks); {
		x, y := &a.Ticks[i], &b.Ticks[j]
		restored = restored || x.Restored || y.Restored
		if x.Tick <= y.Tick {
			i++
		}
		if y.Tick <= x.Tick {
			j++
		}
		if x.Tick != y.Tick || x.Tick <= after {
			restored = restored && x.Tick > after
			continue
		}
		if c.Commands == 0 && (x.Commands != y.Commands || x.Sum != y.Sum) {
			c.Commands = x.Tick
		}
		if draws && c.Draws == nil {
			c.Draws = part(x, y)
		}
		if x.Prints != nil && y.Prints != nil {
			c.prints(x, y, restored)
			restored = false
		}
	}
	c.Every = max(c.Every, 1)
	return c, true
}

// marked reports whether the record has phases or draws.
func (r *Record) marked() bool {
	return slices.ContainsFunc(r.Ticks, func(t Tick) bool { return len(t.Phases) > 0 || len(t.Draws) > 0 })
}

// prints compares the prints of the next tick that both have.
func (c *Comparison) prints(x, y *Tick, restored bool) {
	if c.Ticks++; c.Ticks == 1 {
		c.From = x.Tick
	} else {
		c.Every = max(c.Every, x.Tick-c.To)
	}
	c.To = x.Tick
	switch {
	case c.Differs > 0:
	case x.State == y.State && slices.Equal(x.Prints, y.Prints):
		c.Same = x.Tick
	default:
		c.Differs, c.Restored = x.Tick, restored
		for i := range x.Prints {
			if x.Prints[i] != y.Prints[i] {
				c.Sections = append(c.Sections, i)
			}
		}
	}
}

// part returns the first difference of two ticks with the same number, or nil.
func part(x, y *Tick) *Parting {
	for place := 0; place <= max(len(x.Phases), len(y.Phases)); place++ {
		p := &Parting{Tick: x.Tick, Place: place, Phase: x.phase(place)}
		if p.Phase != y.phase(place) {
			if p.Marks = true; p.Phase == "" {
				p.Phase = y.phase(place)
			}
			return p
		}
		d, e := x.drawn(place), y.drawn(place)
		if d.Sum == e.Sum && slices.Equal(d.Streams, e.Streams) {
			continue
		}
		for _, s := range append(slices.Clone(d.Streams), e.Streams...) {
			if n, m := d.count(s.Stream), e.count(s.Stream); n != m {
				p.Stream, p.A, p.B = s.Stream, n, m
				break
			}
		}
		return p
	}
	return nil
}

// phase returns the name of a phase by its place, and "" if there is none.
func (t *Tick) phase(place int) string {
	if place == 0 || place > len(t.Phases) {
		return ""
	}
	return t.Phases[place-1]
}

func (t *Tick) drawn(place int) Drawn {
	for _, d := range t.Draws {
		if d.Phase == place {
			return d
		}
	}
	return Drawn{Phase: place}
}

func (d *Drawn) count(stream string) uint32 {
	for _, s := range d.Streams {
		if s.Stream == stream {
			return s.Count
		}
	}
	return 0
}
