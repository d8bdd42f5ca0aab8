package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/internal/decimal"
	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A Form describes a kind of command: what a person enters to issue one.
type Form struct {
	Kind lockstep.Kind `json:"kind"`
	Name string        `json:"name"`
	Root Field         `json:"root"`
}

// A Field is a part of a form.
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
		forms = append(forms, Form{c.Kind, c.Name, fieldOf(s.Root())})
	}
	return forms, nil
}

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

// ErrForm is returned for what is entered in a form and is no command.
var ErrForm = errors.New("not a command")

// Command returns the command that a person has entered, as a pointer to its registered type. The value is JSON: numbers
// are texts, such as "12.5", and structs are objects with all fields. The error wraps [ErrForm] and names the field.
func Command(g *lockstep.Game, h *lockstep.Header, kind lockstep.Kind, value []byte) (any, error) {
	for _, c := range h.Commands {
		if c.Kind != kind {
			continue
		}
		s, err := state.ParseSchema(c.Schema)
		if err != nil {
			return nil, fmt.Errorf("inspect: schema of command %q: %w", c.Name, err)
		}
		e := &entry{}
		e.w.Begin(nil)
		if err := e.value(s.Root(), value); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrForm, c.Name, err)
		}
		command := lockstep.Command{Kind: kind, Payload: e.w.Bytes()}
		if n := len(command.Payload); n > record.MaxPayload {
			return nil, fmt.Errorf("%w: %s: got %d bytes, want at most %d", ErrForm, c.Name, n, record.MaxPayload)
		}
		if err := g.NewPayloads().Decode(&command); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrForm, c.Name, err)
		}
		return command.Value, nil
	}
	return nil, fmt.Errorf("%w: got kind %d, want one of the match", ErrForm, kind)
}

// An entry writes what was entered as a payload: MessagePack, as package record describes it.
type entry struct {
	w      pack.Writer
	values int
}

// maxValues limits the fields and elements of a command.
const maxValues = record.MaxPayload

func (e *entry) value(n state.Node, b []byte) error {
	if e.values++; e.values > maxValues {
		return fmt.Errorf("more than %d values", maxValues)
	}
	var err error
	switch n.Kind() {
	case state.Bool:
		var v bool
		if err = json.Unmarshal(b, &v); err == nil {
			e.w.Bool(v)
		}
	case state.String:
		var v string
		if err = json.Unmarshal(b, &v); err == nil {
			e.w.String(v)
		}
	case state.Struct:
		return e.fields(n, b)
	case state.Array, state.Slice:
		return e.list(n, b)
	default:
		err = e.number(n, b)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", n.Path(), err)
	}
	return nil
}

func (e *entry) fields(n state.Node, b []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return fmt.Errorf("%s: %w", n.Path(), err)
	}
	e.w.Array(n.NumFields())
	for i := range n.NumFields() {
		f := n.Field(i)
		if fields[f.Name()] == nil {
			return fmt.Errorf("%s: missing", f.Path())
		}
		if err := e.value(f, fields[f.Name()]); err != nil {
			return err
		}
	}
	return nil
}

func (e *entry) list(n state.Node, b []byte) error {
	var elems []json.RawMessage
	if err := json.Unmarshal(b, &elems); err != nil {
		return fmt.Errorf("%s: %w", n.Path(), err)
	}
	if n.Kind() == state.Array && len(elems) != n.Len() {
		return fmt.Errorf("%s: got %d elements, want %d", n.Path(), len(elems), n.Len())
	}
	if n.Elem().Kind() == state.Uint8 {
		return e.bytes(n, elems)
	}
	e.w.Array(len(elems))
	for _, elem := range elems {
		if err := e.value(n.Elem(), elem); err != nil {
			return err
		}
	}
	return nil
}

// bytes writes a list of bytes, which has a form of its own.
func (e *entry) bytes(n state.Node, elems []json.RawMessage) error {
	b := make([]byte, len(elems))
	for i, elem := range elems {
		v, err := unsigned(n.Elem(), elem)
		if err != nil {
			return fmt.Errorf("%s: %w", n.Path(), err)
		}
		b[i] = byte(v)
	}
	e.w.Binary(b)
	return nil
}

func (e *entry) number(n state.Node, b []byte) error {
	if !n.Kind().Signed() {
		v, err := unsigned(n, b)
		if err == nil {
			e.w.Uint(v)
		}
		return err
	}
	digits, err := numeral(b)
	if err != nil {
		return err
	}
	v, err := decimal.Parse(digits, n.FractionBits())
	bytes, _ := n.Size()
	if err != nil || v < math.MinInt64>>(64-8*bytes) || v > math.MaxInt64>>(64-8*bytes) {
		return outside(n, digits)
	}
	e.w.Int(v)
	return nil
}

func unsigned(n state.Node, b []byte) (uint64, error) {
	digits, err := numeral(b)
	if err != nil {
		return 0, err
	}
	v, err := decimal.ParseUint(digits, n.FractionBits())
	bytes, _ := n.Size()
	if err != nil || v > math.MaxUint64>>(64-8*bytes) {
		return 0, outside(n, digits)
	}
	return v, nil
}

// numeral returns the digits of a number, which is text or a JSON number.
func numeral(b []byte) (string, error) {
	var v string
	if json.Unmarshal(b, &v) == nil {
		return strings.TrimSpace(v), nil
	}
	var number json.Number
	err := json.Unmarshal(b, &number)
	return number.String(), err
}

func outside(n state.Node, got string) error {
	least, most := rangeOf(n)
	return fmt.Errorf("got %s, want a number from %s to %s", strconv.Quote(got), least, most)
}
