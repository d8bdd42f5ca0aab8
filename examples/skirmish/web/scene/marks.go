package scene

import (
	"bytes"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/state"
)

// A Mark shows a unit that differs between two states: it glows, and a shade shows where it is in the other state.
type Mark struct {
	Kind    skirmish.UnitKind
	Owner   uint8
	At      fixed.Vec2
	Other   fixed.Vec2 // in the other state
	Missing bool       // the unit is only in the other state

	Ghost               bool   // a picture of the unit of the other state is drawn, too
	Health, OtherHealth uint16 // here and in the other state, for the ghost
}

// maxMarks limits the marks of a frame.
const maxMarks = 2000

var unitCodec = state.MustCompile[skirmish.Unit]()

// Differ appends the marks of two states, for a picture of a and for one of b.
func Differ(ofA, ofB []Mark, a, b *skirmish.World) (inA, inB []Mark) {
	var x, y []byte
	for i, j := 0, 0; (i < len(a.Units) || j < len(b.Units)) && len(ofA) < maxMarks; {
		switch {
		case j == len(b.Units) || i < len(a.Units) && a.Units[i].ID < b.Units[j].ID:
			u := &a.Units[i]
			ofA, ofB = append(ofA, Mark{Kind: u.Kind, Owner: u.Owner, At: u.Pos, Other: u.Pos}), append(ofB, Mark{Kind: u.Kind, Owner: u.Owner, At: u.Pos, Other: u.Pos, Missing: true})
			i++
		case i == len(a.Units) || b.Units[j].ID < a.Units[i].ID:
			u := &b.Units[j]
			ofA, ofB = append(ofA, Mark{Kind: u.Kind, Owner: u.Owner, At: u.Pos, Other: u.Pos, Missing: true}), append(ofB, Mark{Kind: u.Kind, Owner: u.Owner, At: u.Pos, Other: u.Pos})
			j++
		default:
			u, w := &a.Units[i], &b.Units[j]
			if x, y = unitCodec.Append(x[:0], u), unitCodec.Append(y[:0], w); !bytes.Equal(x, y) {
				ofA, ofB = append(ofA, Mark{Kind: u.Kind, Owner: u.Owner, At: u.Pos, Other: w.Pos}), append(ofB, Mark{Kind: w.Kind, Owner: w.Owner, At: w.Pos, Other: u.Pos})
			}
			i, j = i+1, j+1
		}
	}
	return ofA, ofB
}

// marks writes the marks, as effects.
func marks(dst []byte, v *View) ([]byte, uint32) {
	n := uint32(0)
	for i := range v.Marks {
		m := &v.Marks[i]
		x, y, tx, ty := place(m.At.X), place(m.At.Y), place(m.Other.X), place(m.Other.Y)
		if !v.shows(x, y) && !v.shows(tx, ty) {
			continue
		}
		look := int32(m.Owner)<<8 | int32(m.Kind)<<16
		if !m.Missing {
			dst = put(dst, Glow|look, x, y, tx, ty)
			n++
		}
		if m.Missing || x != tx || y != ty {
			dst = put(dst, Shade|look, x, y, tx, ty)
			n++
		}
		if m.Ghost {
			dst = put(dst, Ghost|look, tx, ty, int32(m.OtherHealth), int32(m.Health))
			n++
		}
	}
	return dst, n
}
