package platforms

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Sum is a checksum in the terms of the other engine: the FNV-1a hash of a text, 32 bits. Its zero value is not the sum
// of an empty text, see [NewSum].
type Sum uint32

// The parameters of FNV-1a with 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/).
const (
	fnvOffset Sum = 2166136261
	fnvPrime  Sum = 16777619
)

// NewSum returns the sum of an empty text.
func NewSum() Sum { return fnvOffset }

// String returns the eight digits in which the sum is sent.
func (s Sum) String() string { return fmt.Sprintf("%08x", uint32(s)) }

// add returns the sum after more text, of which each code point counts.
func (s Sum) add(text string) Sum {
	for _, r := range text {
		s = (s ^ Sum(r)) * fnvPrime
	}
	return s
}

// addInt adds a number.
func (s Sum) addInt(v int64) Sum { return s.add("i:" + strconv.FormatInt(v, 10) + ";") }

// addText adds a text with its length.
func (s Sum) addText(text string) Sum {
	return s.add("s:" + strconv.Itoa(len([]rune(text))) + ":" + text + ";")
}

// A Component is a named part of an entity, in the terms of the other engine.
type Component struct {
	Name   string
	Fields []Field
}

// A Field of a component is a number, a text or a list of IDs.
type Field struct {
	Name string
	Int  int64
	Text string   // for IsText
	IDs  []uint32 // for IsList

	IsText, IsList bool
}

// An Entity is one of the entities of a world, in the terms of the other engine.
type Entity struct {
	ID         uint32
	Components []Component // in the order in which they were added
}

func number(name string, v int64) Field { return Field{Name: name, Int: v} }

func text(name, v string) Field { return Field{Name: name, Text: v, IsText: true} }

func component(name string, fields ...Field) Component { return Component{name, fields} }

// Entities returns the entities of a world by ID.
func (w *World) Entities(c *Config) []Entity {
	all := make([]Entity, 0, w.NextID())
	for i := range level {
		b := &level[i]
		e := Entity{uint32(i) + 1, []Component{
			component("Position", number("x", b.X), number("y", b.Y)),
			component("Collision", number("width", int64(b.Width)), number("height", int64(b.Height))),
		}}
		if b.Trigger {
			e.Components = append(e.Components, component("Trigger", text("on_enter", b.Enter), text("on_exit", b.Exit)))
		}
		all = append(all, e)
	}
	for p := range lockstep.Player(w.Players) {
		all = append(all, Entity{ID: w.PlayerID(p)})
	}
	for p := range w.Units {
		u, player := &w.Units[p], lockstep.Player(p)
		all = append(all, Entity{w.UnitID(player), []Component{
			component("OwnedBy", number("owner", int64(w.PlayerID(player)))),
			component("Position", number("x", u.X), number("y", u.Y)),
			component("Movement", number("x", int64(u.MoveX)), number("y", int64(u.MoveY))),
			component("Collision", number("width", int64(c.UnitWidth)), number("height", int64(c.UnitHeight))),
			component("RigidBody", number("vy", int64(u.VY))),
			component("TriggerOverlap", Field{Name: "inside", IDs: u.Inside, IsList: true}),
		}})
	}
	return all
}

// Checksum returns the checksum of a world in the terms of the other engine. The engine's own does not need it.
func (w *World) Checksum(c *Config) Sum {
	s := NewSum().addInt(int64(w.Tick)).addInt(int64(w.NextID()))
	for _, e := range w.Entities(c) {
		s = s.addInt(int64(e.ID))
		slices.SortStableFunc(e.Components, func(a, b Component) int { return cmp.Compare(a.Name, b.Name) })
		for _, part := range e.Components {
			s = s.addText(part.Name)
			slices.SortStableFunc(part.Fields, func(a, b Field) int { return cmp.Compare(a.Name, b.Name) })
			for i := range part.Fields {
				f := &part.Fields[i]
				s = f.addTo(s.addText(f.Name))
			}
		}
	}
	return s
}

func (f *Field) addTo(s Sum) Sum {
	switch {
	case f.IsText:
		return s.addText("str").addText(f.Text)
	case f.IsList:
		ids := make([]string, len(f.IDs))
		for i, id := range f.IDs {
			ids[i] = strconv.FormatUint(uint64(id), 10)
		}
		return s.addText("str").addText("[" + strings.Join(ids, ", ") + "]")
	}
	return s.addText("int").addInt(f.Int)
}
