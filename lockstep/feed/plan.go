// Package feed sends a viewer what it may see of a state, as differences. The viewer does not simulate.
//
// A view is a value of plain data, which the rules of a game make (see lockstep.Rules.View). A [Plan] says by the tags of its type how it is
// sent. A [Sender] takes view after view, and makes the difference from any of its last ones. A [Receiver] makes the views
// again. Both are pure: they have no clock and no connection, and lost or repeated differences do no harm.
//
// docs/feed.md describes the tags, docs/spec/views.md the bytes.
//
//samestep:deterministic
package feed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

// Limits of a plan.
const (
	MaxViewBytes = 8 << 20 // canonical bytes of a view

	// MaxDeltaBytes are those of a delta: a row of one byte takes up to four, its gap, its mask and two for its difference.
	MaxDeltaBytes = 4*MaxViewBytes + 64<<10

	MaxTables  = 64 // lists of a view
	MaxColumns = 64 // numbers of an element, or of the fields outside of lists
	MaxTags    = 1024
)

type column struct {
	path     string // in the row
	kind     state.Kind
	offset   int   // in the row's bytes
	size     int   // in bytes
	shift    uint8 // bits that are not sent
	fraction uint8
	every    uint8
	weight   uint8
}

// A table is a list of rows of the same columns. The first table of a plan has one row: the fields outside of lists.
type table struct {
	path    string
	node    state.Node // of a row's value; of the root for the first table
	size    int        // bytes of a row
	columns []column
	seldom  uint64 // a bit for each column that is not due in every view
	id      int    // the column by which elements are told apart, or byIndex
	fixed   int    // elements of an array; 0 for a list of any length
}

const byIndex = -1

// A Plan says how values of one type are sent. It is immutable and safe for concurrent use.
type Plan struct {
	schema  *state.Schema
	options []option
	tables  []table
}

// A PlanError tells which field of a view cannot be sent, and why.
type PlanError struct {
	Path   string // such as "Units[].Name"
	Reason string
}

func (e *PlanError) Error() string { return fmt.Sprintf("feed: %s: %s", e.Path, e.Reason) }

const exact = -128

// NewPlan returns the plan of a view type, a struct that package state describes as s. Its tags with the key "feed", see
// [state.Tags], say how fields are sent:
//
//	type Unit struct {
//		ID     uint32  `feed:"id"`
//		X, Y   fixed.Q `feed:"quantize=1/16"`
//		Health uint16  `feed:"every=3,priority=2"`
//	}
//
// Elements of lists have numbers and bools only. A list whose elements have an id is sorted by it. The error is a [*PlanError].
func NewPlan(s *state.Schema, tags []state.Tag) (*Plan, error) {
	o, err := options(tags)
	if err != nil {
		return nil, err
	}
	return newPlan(s, o)
}

func newPlan(s *state.Schema, list []option) (*Plan, error) {
	if s.Root().Kind() != state.Struct {
		return nil, &PlanError{"the view", "want a struct"}
	}
	p := &Plan{schema: s, options: list, tables: []table{{node: s.Root(), id: byIndex, fixed: 1}}}
	if err := p.addFields(s.Root(), "", 0); err != nil {
		return nil, err
	}
	for _, o := range list {
		if err := p.set(o); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Plan) addFields(n state.Node, path string, depth int) error {
	for i := range n.NumFields() {
		f := n.Field(i)
		at := strings.TrimPrefix(path+"."+f.Name(), ".")
		switch k := f.Kind(); k {
		case state.Struct:
			if err := p.addFields(f, at, depth+1); err != nil {
				return err
			}
		case state.Array, state.Slice:
			if err := p.addTable(f, at); err != nil {
				return err
			}
		case state.String:
			return &PlanError{at, "a view has no strings: send the index of a text that the viewer knows, or a list of bytes"}
		default:
			if err := p.tables[0].add(f, at, p.tables[0].size); err != nil {
				return err
			}
			size, _ := f.Size()
			p.tables[0].size += size
		}
	}
	return nil
}

func (p *Plan) addTable(n state.Node, path string) error {
	e := n.Elem()
	size, fixed := e.Size()
	if !fixed {
		return &PlanError{path, "an element has a list or a string in it: give it a list of its own, with the element's id"}
	}
	if len(p.tables) == MaxTables {
		return &PlanError{path, fmt.Sprintf("more than %d lists", MaxTables)}
	}
	t := table{path: path, node: e, size: size, id: byIndex, fixed: n.Len()}
	if err := t.addAll(e, "", 0); err != nil {
		return &PlanError{path + "[]" + err.(*PlanError).Path, err.(*PlanError).Reason}
	}
	p.tables = append(p.tables, t)
	return nil
}

func (t *table) addAll(n state.Node, path string, offset int) error {
	switch n.Kind() {
	case state.Struct:
		for i := range n.NumFields() {
			f := n.Field(i)
			if err := t.addAll(f, path+"."+f.Name(), offset); err != nil {
				return err
			}
			size, _ := f.Size()
			offset += size
		}
		return nil
	case state.Array:
		size, _ := n.Elem().Size()
		for i := range n.Len() {
			if err := t.addAll(n.Elem(), fmt.Sprintf("%s[%d]", path, i), offset+i*size); err != nil {
				return err
			}
		}
		return nil
	}
	return t.add(n, path, offset)
}

func (t *table) add(n state.Node, path string, offset int) error {
	if len(t.columns) == MaxColumns {
		return &PlanError{path, fmt.Sprintf("more than %d numbers in one row", MaxColumns)}
	}
	if n.Kind().Float() {
		return &PlanError{path, "a view has no floats"}
	}
	size, _ := n.Size()
	t.columns = append(t.columns, column{path: path, kind: n.Kind(), fraction: n.FractionBits(), offset: offset, size: size, every: 1, weight: 1})
	return nil
}

// Schema returns the description of the values.
func (p *Plan) Schema() *state.Schema { return p.schema }

// get returns the number of a column, without the bits that are not sent.
func (c *column) get(row []byte) int64 {
	b := row[c.offset:]
	switch c.kind {
	case state.Int8:
		return int64(int8(b[0])) >> c.shift
	case state.Int16:
		return int64(int16(binary.LittleEndian.Uint16(b))) >> c.shift
	case state.Int32:
		return int64(int32(binary.LittleEndian.Uint32(b))) >> c.shift
	case state.Int64:
		return int64(binary.LittleEndian.Uint64(b)) >> c.shift
	case state.Uint16:
		return int64(binary.LittleEndian.Uint16(b)) >> c.shift
	case state.Uint32:
		return int64(binary.LittleEndian.Uint32(b)) >> c.shift
	case state.Uint64:
		return int64(binary.LittleEndian.Uint64(b) >> c.shift)
	}
	return int64(b[0]) >> c.shift
}

func (c *column) put(row []byte, v int64) {
	b, v := row[c.offset:], v<<c.shift
	switch c.size {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(b, uint64(v))
	}
}

func (c *column) fits(v int64) bool {
	bits := 8*c.size - int(c.shift)
	switch {
	case c.kind == state.Bool:
		return v == 0 || v == 1
	case bits == 64:
		return true
	case c.kind.Signed():
		return v >= -1<<(bits-1) && v < 1<<(bits-1)
	}
	return v >= 0 && uint64(v) < 1<<bits
}

func (p *Plan) set(o option) error {
	found := false
	for i := range p.tables {
		t := &p.tables[i]
		for j := range t.columns {
			c := &t.columns[j]
			full := t.path + "[]" + c.path
			if i == 0 {
				full = c.path
			}
			if rest, ok := strings.CutPrefix(full, o.Path); !ok || rest != "" && rest[0] != '.' && rest[0] != '[' {
				continue
			}
			found = true
			shift := 0
			if o.Step != exact {
				shift = int(c.fraction) + int(o.Step)
			}
			switch {
			case o.ID && (t.fixed > 0 || t.id != byIndex || full != o.Path || c.kind == state.Bool):
				return &PlanError{o.Path, "want one number as the id of a list of any length"}
			case o.ID && o.Step != exact:
				return &PlanError{o.Path, "an id is not rounded"}
			case c.kind == state.Bool && o.Step != exact:
				return &PlanError{o.Path, "a bool has nothing to quantize"}
			case shift < 0 || shift >= 8*c.size:
				return &PlanError{o.Path, "the step is finer than the number, or larger than all numbers of its kind"}
			case o.ID:
				t.id = j
			}
			c.shift, c.every, c.weight = uint8(shift), o.Every, o.Weight
			if o.Every > 1 {
				t.seldom |= 1 << j
			}
		}
	}
	if !found {
		return &PlanError{o.Path, "want the path of a field with numbers, such as Units[].Pos"}
	}
	return nil
}

type option struct {
	Path   string
	ID     bool
	Step   int8  // log2 of the step to which a number is rounded, or exact
	Every  uint8 // a change waits for a view whose number is a multiple
	Weight uint8 // of the priority when the budget is short
}

func options(tags []state.Tag) (list []option, err error) {
	if len(tags) > MaxTags {
		return nil, &PlanError{tags[MaxTags].Path, fmt.Sprintf("more than %d tags", MaxTags)}
	}
	for _, t := range tags {
		o, err := parseTag(t.Text, t.Path)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

func parseTag(tag, path string) (option, error) {
	o := option{Path: path, Step: exact, Every: 1, Weight: 1}
	for part := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(part, "=")
		number := func(least, most uint64) (uint8, error) {
			n, err := strconv.ParseUint(value, 10, 8)
			if err != nil || n < least || n > most {
				return 0, &PlanError{path, fmt.Sprintf("got the tag feed:%q, want %s=%d to %d", tag, name, least, most)}
			}
			return uint8(n), nil
		}
		var err error
		switch name {
		case "id":
			if o.ID = value == "" && strings.Contains(path, "[]."); !o.ID {
				err = &PlanError{path, "the tag id is for a field of a list's element"}
			}
		case "every":
			o.Every, err = number(1, 100)
		case "priority":
			o.Weight, err = number(1, 16)
		case "quantize":
			o.Step, err = step(value, path)
		default:
			err = &PlanError{path, fmt.Sprintf("got the tag feed:%q, want id, every=N, priority=N or quantize=1/N", tag)}
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

// step returns the log2 of a step such as 1/16 or 8.
func step(text, path string) (int8, error) {
	number, below := strings.CutPrefix(text, "1/")
	n, err := strconv.ParseUint(number, 10, 48)
	if err != nil || n == 0 || n&(n-1) != 0 {
		return 0, &PlanError{path, fmt.Sprintf("got quantize=%s, want a power of two or 1/ a power of two", text)}
	}
	log := int8(bits.TrailingZeros64(n))
	if below {
		log = -log
	}
	return log, nil
}

// MaxDescription limits the bytes of a plan's description.
const MaxDescription = 32 << 10

var errDescription = errors.New("feed: not the description of a plan")

// AppendDescription appends what a receiver needs: the description of the schema, and what the tags say of ids and steps.
func (p *Plan) AppendDescription(dst []byte) []byte {
	schema := p.schema.AppendDescription(nil)
	dst = append(binary.AppendUvarint(dst, uint64(len(schema))), schema...)
	dst = binary.AppendUvarint(dst, uint64(len(p.options)))
	for _, o := range p.options {
		dst = append(binary.AppendUvarint(dst, uint64(len(o.Path))), o.Path...)
		id := byte(0)
		if o.ID {
			id = 1
		}
		dst = append(dst, id, byte(o.Step))
	}
	return dst
}

// ParsePlan reads a description. It takes only what [Plan.AppendDescription] writes.
func ParsePlan(b []byte) (*Plan, error) {
	if len(b) > MaxDescription {
		return nil, errDescription
	}
	rest := b
	text := func() ([]byte, bool) {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > uint64(len(rest)-size) {
			return nil, false
		}
		one := rest[size : size+int(n)]
		rest = rest[size+int(n):]
		return one, true
	}
	description, ok := text()
	if !ok {
		return nil, errDescription
	}
	schema, err := state.ParseSchema(description)
	if err != nil {
		return nil, err
	}
	n, size := binary.Uvarint(rest)
	if size <= 0 || n > uint64(len(rest)) {
		return nil, errDescription
	}
	rest = rest[size:]
	var list []option
	for range n {
		path, ok := text()
		if !ok || len(rest) < 2 || rest[0] > 1 {
			return nil, errDescription
		}
		list = append(list, option{Path: string(path), ID: rest[0] == 1, Step: int8(rest[1]), Every: 1, Weight: 1})
		rest = rest[2:]
	}
	p, err := newPlan(schema, list)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(p.AppendDescription(nil), b) {
		return nil, errDescription
	}
	return p, nil
}
