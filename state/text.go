package state

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/decimal"
)

const dumpBytes = 32 << 10

// Dump validates b and writes it as text for people: one line for each field and each element of a slice, indented by
// depth. Elements have the names of [Schema.Names]. Small structs and arrays take one line. The error is a [*DecodeError] or w's.
//
//	Tick: 120
//	Units: 2 elements
//	  [ID=1]: {ID: 1, Pos: {X: 12.5, Y: 3}, Alive: true}
//	  [ID=2]: {ID: 2, Pos: {X: 0, Y: -0.25}, Alive: false}
func (s *Schema) Dump(w io.Writer, b []byte) error {
	if err := s.Validate(b); err != nil {
		return err
	}
	d := dumper{s: s, w: w}
	d.fields(0, b, 0)
	d.flush()
	return d.err
}

type dumper struct {
	s   *Schema
	w   io.Writer
	buf []byte
	err error

	inList bool // the elements of lists in lists keep their indexes
}

func (d *dumper) flush() {
	if d.err == nil && len(d.buf) > 0 {
		//samestep:allow unseen nothing comes back from the writer of a dump
		//samestep:allow global the same
		//samestep:allow unsafe the same
		_, d.err = d.w.Write(d.buf)
	}
	d.buf = d.buf[:0]
}

func (d *dumper) text(s string) { d.buf = append(d.buf, s...) }

func (d *dumper) indent(depth int) {
	if len(d.buf) >= dumpBytes && d.w != nil {
		d.flush()
	}
	for range depth {
		d.text("  ")
	}
}

// fields writes the fields of struct i, one per line, and returns the bytes after it.
func (d *dumper) fields(i int, b []byte, depth int) []byte {
	for _, f := range d.s.fieldsOf(&d.s.nodes[i]) {
		d.indent(depth)
		d.text(d.s.nodes[f].name)
		b = d.value(int(f), b, depth)
	}
	return b
}

func (d *dumper) value(i int, b []byte, depth int) []byte {
	n := &d.s.nodes[i]
	d.text(":")
	if d.s.inline(i) {
		d.text(" ")
		b = d.inlineValue(i, b)
		d.text("\n")
		return b
	}
	if n.kind == Struct {
		d.text("\n")
		return d.fields(i, b, depth+1)
	}
	list, ids := Node{d.s, int32(i)}, []uint64(nil)
	if !d.inList {
		ids, d.inList = (Value{Node: list, Bytes: b}).IDs(), true
		defer func() { d.inList = false }()
	}
	elems, at := d.s.elems(i, b)
	b = b[at:]
	d.buf = append(appendElements(append(d.buf, ' '), elems), '\n')
	perLine := 1
	if k := d.s.nodes[i+1].kind; k.leaf() && k != String { // rows of a table
		perLine = 16
	}
	for j := range elems {
		if j%perLine == 0 {
			d.indent(depth + 1)
			d.text(list.Step(j, ids))
		}
		if perLine == 1 {
			b = d.value(i+1, b, depth+1)
			continue
		}
		if j%perLine == 0 {
			d.text(":")
		}
		d.text(" ")
		b = d.inlineValue(i+1, b)
		if j%perLine == perLine-1 || j == elems-1 {
			d.text("\n")
		}
	}
	return b
}

func (d *dumper) inlineValue(i int, b []byte) []byte {
	n := &d.s.nodes[i]
	switch n.kind {
	case Struct:
		for k, f := range d.s.fieldsOf(n) {
			d.text(separator(k, "{"))
			d.text(d.s.nodes[f].name)
			d.text(": ")
			b = d.inlineValue(int(f), b)
		}
		d.text("}")
		return b
	case Array:
		for k := range n.count {
			d.text(separator(k, "["))
			b = d.inlineValue(i+1, b)
		}
		d.text("]")
		return b
	}
	d.buf = n.appendText(d.buf, b)
	return b[d.s.skip(i, b):]
}

func separator(k int, open string) string {
	if k == 0 {
		return open
	}
	return ", "
}

const maxInline = 16

// inline reports whether values of node i fit into one line: they have few leaves and no slice.
func (s *Schema) inline(i int) bool { return s.leafCount(i) <= maxInline }

func (s *Schema) leafCount(i int) int {
	n := &s.nodes[i]
	switch n.kind {
	case Slice:
		return maxInline + 1
	case Array:
		return min(min(n.count, maxInline+1)*s.leafCount(i+1), maxInline+1)
	case Struct:
		leaves := 0
		for _, f := range s.fieldsOf(n) {
			if leaves += s.leafCount(int(f)); leaves > maxInline {
				break
			}
		}
		return min(leaves, maxInline+1)
	}
	return 1
}

// DumpJSON validates b and writes it as one JSON object and a newline. A fixed-point number becomes the shortest decimal that reads back
// as the same number. 64-bit numbers, infinite floats and NaNs become strings, because many JSON readers round numbers beyond 53 bits.
// Bytes of strings that are not UTF-8 become U+FFFD. The error is a [*DecodeError] or w's.
func (s *Schema) DumpJSON(w io.Writer, b []byte) error {
	if err := s.Validate(b); err != nil {
		return err
	}
	d := dumper{s: s, w: w}
	d.json(0, b)
	d.text("\n")
	d.flush()
	return d.err
}

// AppendJSON appends the value of the node that valid canonical bytes begin with, as [Schema.DumpJSON] writes it, without a newline.
func (n Node) AppendJSON(dst, b []byte) []byte {
	d := dumper{s: n.s, buf: dst}
	d.json(int(n.i), b)
	return d.buf
}

func (d *dumper) json(i int, b []byte) []byte {
	d.indent(0)
	n := &d.s.nodes[i]
	switch n.kind {
	case Struct:
		d.text("{")
		for k, f := range d.s.fieldsOf(n) {
			if k > 0 {
				d.text(",")
			}
			d.buf = appendJSONString(d.buf, d.s.nodes[f].name)
			d.text(":")
			b = d.json(int(f), b)
		}
		d.text("}")
		return b
	case Array, Slice:
		elems, at := d.s.elems(i, b)
		b = b[at:]
		d.text("[")
		for j := range elems {
			if j > 0 {
				d.text(",")
			}
			b = d.json(i+1, b)
		}
		d.text("]")
		return b
	case String:
		size := countSize + count(b)
		d.buf = appendJSONString(d.buf, string(b[countSize:size]))
		return b[size:]
	}
	text := len(d.buf)
	d.buf = n.appendText(d.buf, b)
	if n.kind == Int64 || n.kind == Uint64 || n.kind.Float() && !json.Valid(d.buf[text:]) {
		d.buf = append(slices.Insert(d.buf, text, '"'), '"')
	}
	return b[n.size:]
}

func appendJSONString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < 0x20 || r == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			dst = append(dst, string(r)...)
		}
	}
	return append(dst, '"')
}

// JSONError tells which field of a JSON text does not fit a schema, and why.
type JSONError struct {
	Path string // the field, such as "Units[17].Health"; "" is the whole value
	Err  error
}

func (e *JSONError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("state: JSON: %v", e.Err)
	}
	return fmt.Sprintf("state: JSON: %s: %v", e.Path, e.Err)
}

// Unwrap returns e.Err.
func (e *JSONError) Unwrap() error { return e.Err }

// AppendJSON appends the canonical bytes of the value that a JSON object describes, as [Schema.DumpJSON] writes it. A field
// that the object lacks keeps its value of base, the canonical bytes of a value; nil stands for the zero value. A slice
// replaces the one of base. An integer may be a number or a string, and a fixed-point number is rounded to the nearest.
// AppendJSON appends at most limit bytes. The error is a [*JSONError], or a [*DecodeError] of base.
func (s *Schema) AppendJSON(dst, base, text []byte, limit int) ([]byte, error) {
	r := jsonReader{s: s, dst: dst, max: limit, limit: len(dst) + limit}
	switch {
	case !json.Valid(text):
		return dst, &JSONError{"", jsonSyntax(text)}
	case base != nil:
		if err := s.Validate(base); err != nil {
			return dst, err
		}
	default:
		base = r.zero("", 0)
	}
	if r.err == nil {
		r.value(0, "", base, bytes.TrimSpace(text))
	}
	if r.err != nil {
		return dst, r.err
	}
	return r.dst, nil
}

func jsonSyntax(text []byte) error {
	err := json.Unmarshal(text, new(json.RawMessage))
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	line := 1 + bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte{'\n'})
	return fmt.Errorf("line %d: %w", line, err)
}

// jsonReader converts valid JSON to canonical bytes. It stops at its first error.
type jsonReader struct {
	s     *Schema
	dst   []byte
	max   int // bytes of the value
	limit int // bytes of dst
	err   error
}

func (r *jsonReader) fail(path, format string, args ...any) {
	if r.err == nil {
		r.err = &JSONError{path, fmt.Errorf(format, args...)}
	}
}

func (r *jsonReader) add(path string, b ...byte) {
	if r.fits(path, len(b)) {
		r.dst = append(r.dst, b...)
	}
}

func (r *jsonReader) fits(path string, size int) bool {
	if size > r.limit-len(r.dst) {
		r.fail(path, "the value is too long, want at most %d bytes in canonical form", r.max)
	}
	return r.err == nil
}

func (r *jsonReader) zero(path string, i int) []byte {
	if size := r.s.nodes[i].size; r.fits(path, size) {
		return make([]byte, size)
	}
	return nil
}

// value appends the value of node i. base begins with the canonical bytes of the value that text changes.
func (r *jsonReader) value(i int, path string, base []byte, text json.RawMessage) {
	n := &r.s.nodes[i]
	switch n.kind {
	case Struct:
		r.object(n, path, base, text)
	case Array, Slice:
		r.list(i, path, base, text)
	case String:
		var v string
		if text[0] != '"' || json.Unmarshal(text, &v) != nil {
			r.fail(path, "got %s, want a string", shortJSON(text))
			return
		}
		r.add(path, binary.LittleEndian.AppendUint32(nil, uint32(len(v)))...)
		r.add(path, []byte(v)...)
	case Bool:
		switch string(text) {
		case "true":
			r.add(path, 1)
		case "false":
			r.add(path, 0)
		default:
			r.fail(path, "got %s, want true or false", shortJSON(text))
		}
	case Float32, Float64:
		number := string(text)
		if text[0] == '"' {
			json.Unmarshal(text, &number) // of valid JSON
		}
		bits, ok := n.parseFloat(number)
		if !ok {
			r.fail(path, "got %s, want a number that fits into a %v", shortJSON(text), n.kind)
			return
		}
		r.add(path, appendUint(nil, bits, n.size)...)
	default:
		r.integer(n, path, text)
	}
}

func (r *jsonReader) object(n *node, path string, base []byte, text json.RawMessage) {
	given := r.fields(n, path, text)
	for _, f := range r.s.fieldsOf(n) {
		if r.err != nil {
			return
		}
		size := r.s.skip(int(f), base)
		if value, ok := given[r.s.nodes[f].name]; ok {
			r.value(int(f), joinPath(path, r.s.nodes[f].name), base[:size], value)
		} else {
			r.add(path, base[:size]...)
		}
		base = base[size:]
	}
}

// fields splits an object. It fails for a field that n lacks, and for one that is given twice.
func (r *jsonReader) fields(n *node, path string, text json.RawMessage) map[string]json.RawMessage {
	if text[0] != '{' {
		r.fail(path, "got %s, want an object with %s", shortJSON(text), r.names(n))
		return nil
	}
	given := make(map[string]json.RawMessage, n.count)
	d := json.NewDecoder(bytes.NewReader(text))
	d.Token() // the text is valid JSON: Token and Decode do not fail
	for d.More() && r.err == nil {
		token, _ := d.Token()
		name, _ := token.(string)
		var value json.RawMessage
		d.Decode(&value)
		if _, twice := given[name]; twice {
			r.fail(path, "duplicate field %.128q", name)
		}
		if !slices.ContainsFunc(r.s.fieldsOf(n), func(f int32) bool { return r.s.nodes[f].name == name }) {
			r.fail(path, "unknown field %.128q, want %s", name, r.names(n))
		}
		given[name] = value
	}
	return given
}

func (r *jsonReader) names(n *node) string {
	const most = 20
	var names []string
	for _, f := range r.s.fieldsOf(n) {
		if len(names) == most {
			names = append(names, "…")
			break
		}
		names = append(names, r.s.nodes[f].name)
	}
	if len(names) == 0 {
		return "no field"
	}
	return strings.Join(names, ", ")
}

func (r *jsonReader) list(i int, path string, base []byte, text json.RawMessage) {
	if text[0] != '[' {
		r.fail(path, "got %s, want a list", shortJSON(text))
		return
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.Token()
	if r.s.nodes[i].kind == Array {
		r.array(i, path, base, d)
	} else {
		r.slice(i, path, d)
	}
}

func (r *jsonReader) array(i int, path string, base []byte, d *json.Decoder) {
	count, want := 0, r.s.nodes[i].count
	for ; d.More() && count < want && r.err == nil; count++ {
		size := r.s.skip(i+1, base)
		r.element(i, path, count, base[:size], d)
		base = base[size:]
	}
	if d.More() {
		r.fail(path, "got more than %d elements, want %d", want, want)
	} else if count < want {
		r.fail(path, "got %d elements, want %d", count, want)
	}
}

func (r *jsonReader) slice(i int, path string, d *json.Decoder) {
	at, count := len(r.dst), 0
	r.add(path, 0, 0, 0, 0)
	var zero []byte
	for ; d.More() && r.err == nil; count++ {
		if count == 0 {
			zero = r.zero(path, i+1)
		}
		if r.err == nil {
			r.element(i, path, count, zero, d)
		}
	}
	if r.err == nil {
		binary.LittleEndian.PutUint32(r.dst[at:], uint32(count))
	}
}

// element appends the next element of the list at node i, which changes that of base.
func (r *jsonReader) element(i int, path string, index int, base []byte, d *json.Decoder) {
	var value json.RawMessage
	d.Decode(&value)
	r.value(i+1, path+indexStep(index), base, value)
}

func (r *jsonReader) integer(n *node, path string, text json.RawMessage) {
	number := string(text)
	if text[0] == '"' {
		json.Unmarshal(text, &number) // of valid JSON
	}
	bits := 8 * n.size
	var v uint64
	var err error
	if n.kind.Signed() {
		var signed int64
		signed, err = decimal.Parse(number, n.fraction)
		if low := int64(math.MinInt64) >> (64 - bits); err == nil && (signed < low || signed > ^low) {
			err = decimal.ErrRange
		}
		v = uint64(signed)
	} else {
		v, err = decimal.ParseUint(number, n.fraction)
		if err == nil && v > math.MaxUint64>>(64-bits) {
			err = decimal.ErrRange
		}
	}
	switch {
	case err != nil || n.fraction == 0 && strings.ContainsRune(number, '.'):
		r.fail(path, "got %s, want %s", shortJSON(text), n.bounds())
	default:
		r.add(path, appendUint(nil, v, n.size)...)
	}
}

func (n *node) bounds() string {
	low, high := make([]byte, n.size), bytes.Repeat([]byte{0xff}, n.size)
	if n.kind.Signed() {
		low[n.size-1], high[n.size-1] = 0x80, 0x7f
	}
	what := "a whole number"
	if n.fraction > 0 {
		what = "a decimal number"
	}
	return fmt.Sprintf("%s from %s to %s", what, n.appendText(nil, low), n.appendText(nil, high))
}

func shortJSON(text []byte) string {
	const most = 40
	var b bytes.Buffer
	if json.Compact(&b, text) != nil || b.Len() <= most {
		return strings.ToValidUTF8(b.String(), "\uFFFD")
	}
	return strings.ToValidUTF8(string(b.Bytes()[:most]), "") + "…"
}
