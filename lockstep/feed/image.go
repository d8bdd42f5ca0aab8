package feed

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-49bee653/samestep/state"
)

// An image is a view as rows. Rows of tables with an id are sorted by it.
type image struct {
	rows [][]byte // by table
}

// read sets an image to the canonical bytes of a view, and drops the bits that are not sent.
func (p *Plan) read(m *image, b []byte) error {
	if err := p.schema.Validate(b); err != nil {
		return err
	}
	m.empty(p)
	table := 1
	p.take(m, p.schema.Root(), b, &table)
	for i := range p.tables {
		t := &p.tables[i]
		for at := 0; at < len(m.rows[i]); at += t.size {
			t.quantize(m.rows[i][at : at+t.size])
		}
		if err := t.checkIDs(m.rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (m *image) empty(p *Plan) {
	if m.rows == nil {
		m.rows = make([][]byte, len(p.tables))
	}
	for i := range m.rows {
		m.rows[i] = m.rows[i][:0]
	}
}

func (p *Plan) take(m *image, n state.Node, b []byte, table *int) []byte {
	for i := range n.NumFields() {
		f := n.Field(i)
		switch f.Kind() {
		case state.Struct:
			b = p.take(m, f, b, table)
		case state.Array, state.Slice:
			t := &p.tables[*table]
			size := t.fixed * t.size
			if t.fixed == 0 {
				size = int(binary.LittleEndian.Uint32(b)) * t.size
				b = b[4:]
			}
			m.rows[*table] = append(m.rows[*table], b[:size]...)
			b = b[size:]
			*table++
		default:
			size, _ := f.Size()
			m.rows[0] = append(m.rows[0], b[:size]...)
			b = b[size:]
		}
	}
	return b
}

func (p *Plan) append(dst []byte, m *image) []byte {
	table, rest := 1, m.rows[0]
	dst, _ = p.give(dst, m, p.schema.Root(), rest, &table)
	return dst
}

func (p *Plan) give(dst []byte, m *image, n state.Node, rest []byte, table *int) ([]byte, []byte) {
	for i := range n.NumFields() {
		f := n.Field(i)
		switch f.Kind() {
		case state.Struct:
			dst, rest = p.give(dst, m, f, rest, table)
		case state.Array, state.Slice:
			t, rows := &p.tables[*table], m.rows[*table]
			if t.fixed == 0 {
				dst = binary.LittleEndian.AppendUint32(dst, uint32(len(rows)/t.size))
			}
			dst = append(dst, rows...)
			*table++
		default:
			size, _ := f.Size()
			dst, rest = append(dst, rest[:size]...), rest[size:]
		}
	}
	return dst, rest
}

func (m *image) memory() (n int) {
	for _, rows := range m.rows {
		n += cap(rows)
	}
	return n
}

func (m *image) equal(other *image) bool {
	return slices.EqualFunc(m.rows, other.rows, slices.Equal)
}

func (m *image) zero(p *Plan) {
	m.empty(p)
	for i := range p.tables {
		m.rows[i] = append(m.rows[i], make([]byte, p.tables[i].fixed*p.tables[i].size)...)
	}
}

func (t *table) row(rows []byte, i int) []byte { return rows[i*t.size : (i+1)*t.size] }

func (t *table) count(rows []byte) int {
	if t.size == 0 {
		return 0
	}
	return len(rows) / t.size
}

func (t *table) checkIDs(rows []byte) error {
	if t.id == byIndex {
		return nil
	}
	id := &t.columns[t.id]
	for i := 1; i < t.count(rows); i++ {
		if t.key(rows, i-1) >= t.key(rows, i) {
			return fmt.Errorf("feed: %s[%d]%s: got %s after %s, want ascending ids", t.path, i, id.path, id.text(t.row(rows, i)), id.text(t.row(rows, i-1)))
		}
	}
	return nil
}

func (c *column) text(row []byte) string {
	if v := c.get(row); c.kind.Signed() {
		return strconv.FormatInt(v, 10)
	} else {
		return strconv.FormatUint(uint64(v), 10)
	}
}

// key returns what tells row i from the others.
func (t *table) key(rows []byte, i int) uint64 {
	if t.id == byIndex {
		return uint64(i)
	}
	v := uint64(t.columns[t.id].get(t.row(rows, i)))
	if t.signed() {
		v ^= sign // in the order of the numbers
	}
	return v
}

// sign is the bit in which a signed id differs from its key.
const sign = 1 << 63

func (t *table) signed() bool { return t.id != byIndex && t.columns[t.id].kind.Signed() }

func (t *table) quantize(row []byte) {
	for i := range t.columns {
		c := &t.columns[i]
		if c.shift == 0 {
			continue
		}
		exact := *c
		exact.shift--
		v := exact.get(row)
		v = v>>1 + v&1
		if !c.fits(v) {
			v-- // the largest number
		}
		exact.shift = c.shift
		c.put(row, v)
	}
}

// IDs calls f with the id of each element of a view that has one, and the path of its list. The error is that of bytes that are no view.
func (p *Plan) IDs(view []byte, f func(list string, id uint64)) error {
	m := new(image)
	if err := p.read(m, view); err != nil {
		return err
	}
	for i := range p.tables {
		t := &p.tables[i]
		if t.id == byIndex {
			continue
		}
		for n := range t.count(m.rows[i]) {
			f(t.path, uint64(t.columns[t.id].get(t.row(m.rows[i], n))))
		}
	}
	return nil
}
