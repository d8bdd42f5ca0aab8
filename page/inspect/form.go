package inspect

import (
	"fmt"
	"math"

	"github.com/seed-49bee653/samestep/internal/decimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// A Form describes a kind of command: what a person enters to issue one. The page sends what was entered as JSON, which the
// ReadJSON of the game's payload codec reads.
type Form struct {
	Kind lockstep.Kind `json:"kind"`
	Name string        `json:"name"`
	Root Field         `json:"root"`
}

// A Field is a part of a form, of a command or of a configuration.
type Field struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"` // "bool", "number", "text", "list" or "struct"
	Whole  bool    `json:"whole"`
	Min    string  `json:"min"` // of a number
	Max    string  `json:"max"`
	Place  bool    `json:"place"` // it has a place on the map: X and Y
	Fixed  int     `json:"fixed"` // number of elements of a list that always has as many, or 0
	Fields []Field `json:"fields"`
	Elem   *Field  `json:"elem"` // of a list
}

// Forms returns the forms of a match's commands. The error is that of a schema in the header.
func Forms(h *lockstep.Header) ([]Form, error) {
	forms := make([]Form, 0, len(h.Commands))
	for _, c := range h.Commands {
		s, err := state.ParseSchema(c.Schema)
		if err != nil {
			return nil, fmt.Errorf("inspect: schema of command %q: %w", c.Name, err)
		}
		forms = append(forms, Form{c.Kind, c.Name, FieldOf(s)})
	}
	return forms, nil
}

// FieldOf returns the form of any values of a schema.
func FieldOf(s *state.Schema) Field { return fieldOf(s.Root()) }

func fieldOf(n state.Node) Field {
	f := Field{Name: n.Name(), Fields: []Field{}}
	switch k := n.Kind(); {
	case k == state.Bool:
		f.Type = "bool"
	case k == state.String:
		f.Type = "text"
	case k.Integer():
		f.Type, f.Whole = "number", n.FractionBits() == 0
		f.Min, f.Max = rangeOf(n)
	case k == state.Struct:
		f.Type, f.Place = "struct", isPlace(n)
		for i := range n.NumFields() {
			f.Fields = append(f.Fields, fieldOf(n.Field(i)))
		}
	default:
		elem := fieldOf(n.Elem())
		f.Type, f.Fixed, f.Elem = "list", n.Len(), &elem
	}
	return f
}

// rangeOf returns the least and the greatest value of an integer, as text.
func rangeOf(n state.Node) (least, most string) {
	bytes, _ := n.Size()
	if n.Kind().Signed() {
		return string(decimal.Append(nil, math.MinInt64>>(64-8*bytes), n.FractionBits())), string(decimal.Append(nil, math.MaxInt64>>(64-8*bytes), n.FractionBits()))
	}
	return "0", string(decimal.AppendUint(nil, math.MaxUint64>>(64-8*bytes), n.FractionBits()))
}
