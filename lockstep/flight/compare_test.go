package flight

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Two machines differ in one thing, and the comparison names it, and its tick.
func TestCompare(t *testing.T) {
	for _, row := range []struct {
		name  string
		fault func(m *machine)
		want  string
		exact bool
	}{
		{"nothing", func(*machine) {}, "same 100", false},
		{"memory", func(m *machine) {
			m.change = func(t record.Tick, p []uint64) {
				if t >= 57 {
					p[3]++
				}
			}
		}, "same 56 differs 57 in [3]", true},
		{"two sections", func(m *machine) {
			m.change = func(t record.Tick, p []uint64) {
				if t >= 57 {
					p[1], p[4] = 9, 9
				}
			}
		}, "same 56 differs 57 in [1 4]", true},
		{"from the first tick on", func(m *machine) {
			m.change = func(_ record.Tick, p []uint64) { p[2]++ }
		}, "same 0 differs 1 in [2]", false},
		{"more draws", func(m *machine) {
			m.step = func(t record.Tick, r *Ring) {
				fight(t, r)
				if t == 40 {
					r.Drew("loot", 3)
				}
			}
		}, "same 100 draws 40 end/3 loot 0 1", false},
		{"another entity", func(m *machine) {
			m.step = func(t record.Tick, r *Ring) {
				r.Phase("orders")
				r.Phase("combat")
				for i := range t % 5 {
					if t == 44 {
						i++
					}
					r.Drew("damage", uint32(i))
				}
				if t%7 == 0 {
					r.Drew("scatter", uint32(t))
				}
				r.Phase("end")
			}
		}, "same 100 draws 44 combat/2  0 0", false},
		{"a phase is left out", func(m *machine) {
			m.step = func(t record.Tick, r *Ring) {
				if t < 70 {
					fight(t, r)
				}
			}
		}, "same 100 phases 70 orders/1  0 0", false},
		{"commands", func(m *machine) {
			m.run(29)
			m.run(1, record.Command{Tick: 30, Kind: 1})
		}, "same 100 commands 30", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			one, other := newMachine(), newMachine()
			one.step, other.step = fight, fight
			row.fault(other)
			one.run(100)
			other.run(100 - int(other.tick))
			a, b := one.Record(), other.Record()
			c, ok := Compare(a, b, 0)
			if got := c.text(); !ok || got != row.want || c.Exact() != row.exact {
				t.Errorf("got %q, %t, exact %t, want %q", got, ok, c.Exact(), row.want)
			}
			if c.From != 1 || c.To != 100 || c.Ticks != 100 || c.Every != 1 {
				t.Errorf("got %+v", c)
			}
			back, _ := Compare(b, a, 0)
			if back.Differs != c.Differs || (back.Draws == nil) != (c.Draws == nil) {
				t.Errorf("the other way round: got %+v, want %+v", back, c)
			}
		})
	}
}

func (c *Comparison) text() string {
	out := fmt.Sprint("same ", c.Same)
	if c.Differs > 0 {
		out += fmt.Sprintf(" differs %d in %v", c.Differs, c.Sections)
	}
	if c.Commands > 0 {
		out += fmt.Sprint(" commands ", c.Commands)
	}
	if d := c.Draws; d != nil {
		what := "draws"
		if d.Marks {
			what = "phases"
		}
		out += fmt.Sprintf(" %s %d %s/%d %s %d %d", what, d.Tick, d.Phase, d.Place, d.Stream, d.A, d.B)
	}
	return out
}

// An earlier difference, which the server's state has healed, is none after the tick from which on records are compared.
func TestCompareAfter(t *testing.T) {
	one, other := newMachine(), newMachine()
	other.change = func(t record.Tick, p []uint64) {
		if t >= 20 && t <= 30 || t >= 60 {
			p[3]++
		}
	}
	one.run(80)
	other.run(30)
	other.Begin(record.MatchID{1}, 30)
	other.run(50)
	for _, row := range []struct {
		after record.Tick
		want  string
		exact bool
	}{
		{0, "same 19 differs 20 in [3]", true},
		{25, "same 0 differs 26 in [3]", false},
		{30, "same 59 differs 60 in [3]", true},
		{90, "same 0", false},
	} {
		c, ok := Compare(one.Record(), other.Record(), row.after)
		if got := c.text(); !ok || got != row.want || c.Exact() != row.exact {
			t.Errorf("after %d: got %q, %t, want %q", row.after, got, c.Exact(), row.want)
		}
	}
}

// What differs in the first tick of a state from elsewhere may have come with it: that is not exact.
func TestCompareRestored(t *testing.T) {
	one, other := newMachine(), newMachine()
	other.change = func(t record.Tick, p []uint64) {
		if t > 30 {
			p[3]++
		}
	}
	one.run(80)
	other.run(30)
	other.Begin(record.MatchID{1}, 30)
	other.run(50)
	c, _ := Compare(one.Record(), other.Record(), 0)
	if c.text() != "same 30 differs 31 in [3]" || !c.Restored || c.Exact() {
		t.Errorf("got %+v", c)
	}
}

// Records of two matches, or with other sections, are not compared. One without phases says nothing of another's.
func TestCompareOthers(t *testing.T) {
	one, other, sections, silent := newMachine(), newMachine(), newMachine(), newMachine()
	one.step = fight
	other.Begin(record.MatchID{2}, 0)
	sections.sections = 3
	for _, m := range []*machine{one, other, sections, silent} {
		m.run(10)
	}
	for i, m := range []*machine{other, sections} {
		if _, ok := Compare(one.Record(), m.Record(), 0); ok {
			t.Errorf("%d: records of two matches were compared", i)
		}
	}
	if c, ok := Compare(one.Record(), silent.Record(), 0); !ok || c.Draws != nil || c.Same != 10 {
		t.Errorf("without phases: got %+v, %t", c, ok)
	}
}
