package feed

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/seed-49bee653/samestep/state"
)

// A DeltaError tells where bytes are no delta.
type DeltaError struct {
	Offset int
	Reason string
}

func (e *DeltaError) Error() string {
	return fmt.Sprintf("feed: byte %d of a delta: %s", e.Offset, e.Reason)
}

// A Number counts the views of a sender, from 1. 0 is the view before, which is zero.
type Number uint64

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// appendRow appends a mask of the columns in which a row differs, without the id, and the difference of each that is no bool.
func (t *table) appendRow(dst []byte, from, to []byte, mask uint64) []byte {
	dst = binary.AppendUvarint(dst, mask)
	for m := mask; m != 0; m &= m - 1 {
		c := &t.columns[bits.TrailingZeros64(m)]
		if c.kind == state.Bool {
			continue
		}
		dst = binary.AppendUvarint(dst, zigzag(c.get(to)-c.get(from)))
	}
	return dst
}

// mask returns the columns in which two rows differ, without the id.
func (t *table) mask(from, to []byte) (mask uint64) {
	if string(from) == string(to) {
		return 0
	}
	for i := range t.columns {
		if c := &t.columns[i]; i != t.id && c.get(from) != c.get(to) {
			mask |= 1 << i
		}
	}
	return mask
}

func varintSize(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

func (p *Plan) overhead(view *image) int {
	n := 1
	for i := range p.tables[1:] {
		n += 3 * varintSize(uint64(len(view.rows[i+1])))
	}
	return n
}

type changeKind uint8

const (
	changed changeKind = iota
	removed
	added
)

type change struct {
	table uint8
	kind  changeKind
	from  int32 // the row in the base, unless it is added
	to    int32 // the row in the view, unless it is removed
	bytes int   // at most
	mask  uint64
	key   uint64
	score uint32
	taken bool
}

// compare appends the changes from a base to a view, by table and key. Columns that are not due in the view of a number keep
// the number of the base; with 0, all are due. settled reports whether there is no such column.
func (p *Plan) compare(list []change, base, view *image, number Number) (all []change, settled bool) {
	settled = true
	for i := range p.tables {
		t, from, to := &p.tables[i], base.rows[i], view.rows[i]
		n, m := t.count(from), t.count(to)
		same := equalRows(from, to, t.size)
		for a, b := same, same; a < n || b < m; {
			switch {
			case b == m || a < n && t.key(from, a) < t.key(to, b):
				switch {
				case t.id == byIndex:
				case t.due(1<<t.id, number) == 0:
					settled = false // it stays as it was last seen
				default:
					list = append(list, change{table: uint8(i), kind: removed, from: int32(a), key: t.key(from, a)})
				}
				a++
			case a == n || t.key(from, a) > t.key(to, b):
				list = append(list, change{table: uint8(i), kind: added, to: int32(b), key: t.key(to, b), mask: t.mask(zeros[:t.size], t.row(to, b))})
				b++
			default:
				if mask := t.mask(t.row(from, a), t.row(to, b)); mask != 0 {
					due := t.due(mask, number)
					settled = settled && due == mask
					if due != 0 {
						list = append(list, change{table: uint8(i), from: int32(a), to: int32(b), key: t.key(to, b), mask: due})
					}
				}
				a, b = a+1, b+1
				same := equalRows(from[a*t.size:], to[b*t.size:], t.size)
				a, b = a+same, b+same
			}
		}
	}
	return list, settled
}

// equalRows returns with how many equal rows two tables begin.
func equalRows(a, b []byte, size int) int {
	const step = 8
	if size == 0 {
		return 0
	}
	i, n := 0, min(len(a), len(b))
	for i+step <= n && binary.LittleEndian.Uint64(a[i:]) == binary.LittleEndian.Uint64(b[i:]) {
		i += step
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i / size
}

func (t *table) due(mask uint64, number Number) uint64 {
	for m := mask & t.seldom; m != 0; m &= m - 1 {
		c := bits.TrailingZeros64(m)
		if number%Number(t.columns[c].every) != 0 {
			mask &^= 1 << c
		}
	}
	return mask
}

// zeros is the row that an added one is compared with. An element has at most MaxColumns numbers.
var zeros [8 * MaxColumns]byte

func (p *Plan) appendDelta(dst []byte, base, view *image, list []change) []byte {
	for i := range p.tables {
		t, from, to := &p.tables[i], base.rows[i], view.rows[i]
		n := 0
		for n < len(list) && int(list[n].table) == i {
			n++
		}
		mine := list[:n]
		list = list[n:]
		if i == 0 {
			mask := uint64(0)
			if n > 0 && mine[0].taken {
				mask = mine[0].mask
			}
			dst = t.appendRow(dst, from, to, mask)
			continue
		}
		kinds := []changeKind{changed, removed, added}
		switch {
		case t.fixed > 0:
			kinds = kinds[:1]
		case t.id == byIndex:
			dst = binary.AppendUvarint(dst, uint64(t.count(to)))
			kinds = kinds[:1]
		}
		for _, kind := range kinds {
			dst = t.appendKind(dst, from, to, mine, kind)
		}
	}
	return dst
}

// first returns the number that is sent of the first added row.
func (t *table) first(key uint64) uint64 {
	if !t.signed() {
		return key
	}
	return zigzag(int64(key ^ sign))
}

func (t *table) appendKind(dst, from, to []byte, list []change, kind changeKind) []byte {
	is := func(c *change) bool {
		if t.id == byIndex { // an added row of zeros is in the length of the list
			return c.taken && c.mask != 0
		}
		return c.taken && c.kind == kind
	}
	n := 0
	for i := range list {
		if is(&list[i]) {
			n++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	next := uint64(0)
	for i := range list {
		c := &list[i]
		if !is(c) {
			continue
		}
		at := uint64(c.from)
		if c.kind == added {
			at = c.key
		}
		if next == 0 && c.kind == added {
			dst = binary.AppendUvarint(dst, t.first(at))
		} else {
			dst = binary.AppendUvarint(dst, at-next)
		}
		next = at + 1
		switch c.kind {
		case changed:
			dst = t.appendRow(dst, t.row(from, int(c.from)), t.row(to, int(c.to)), c.mask)
		case added:
			dst = t.appendRow(dst, zeros[:t.size], t.row(to, int(c.to)), c.mask)
		}
	}
	return dst
}

// A deltaReader reads one delta, of which each form but one is refused.
type deltaReader struct {
	b   []byte
	at  int
	err error
}

func (r *deltaReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &DeltaError{r.at, fmt.Sprintf(format, args...)}
	}
}

// uint reads a number that is at most max. An error names what it is, and the path after it.
func (r *deltaReader) uint(max uint64, what, path string) uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.b[r.at:])
	switch {
	case n == 0:
		r.fail("it ends before %s%s", what, path)
		return 0
	case n < 0 || n > 1 && r.b[r.at+n-1] == 0:
		r.fail("%s%s: not the shortest form of a number", what, path)
		return 0
	case v > max:
		r.fail("%s%s: got %d, want at most %d", what, path, v, max)
		return 0
	}
	r.at += n
	return v
}

func (r *deltaReader) row(t *table, row []byte, added bool) {
	most := ^uint64(0) >> (64 - len(t.columns))
	if len(t.columns) == 0 {
		most = 0
	}
	mask := r.uint(most, "a mask of columns", "")
	if mask == 0 && !added || t.id != byIndex && mask>>t.id&1 != 0 {
		r.fail("a row without a difference, or with one of its id")
	}
	for m := mask; m != 0 && r.err == nil; m &= m - 1 {
		c := &t.columns[bits.TrailingZeros64(m)]
		was := c.get(row)
		now := was ^ 1
		if c.kind != state.Bool {
			d := unzigzag(r.uint(^uint64(0), "the difference of ", c.path))
			if now = was + d; r.err == nil && (d == 0 || !c.fits(now)) {
				r.fail("%s: a difference of %d from %d", c.path, d, was)
			}
		}
		if r.err == nil {
			c.put(row, now)
		}
	}
}

type scratch struct {
	changed []uint64 // rows
	removed []uint64 // ids
	merged  []byte
}

// apply sets an image to a base after a delta. The error is a [*DeltaError], and then the image has any content.
func (p *Plan) apply(m, base *image, delta []byte, s *scratch) error {
	r := deltaReader{b: delta}
	m.empty(p)
	left := MaxViewBytes
	for i := range p.tables {
		t := &p.tables[i]
		rows := append(m.rows[i], base.rows[i]...)
		switch {
		case i == 0:
			r.row(t, rows, true)
		case t.id == byIndex:
			rows = r.indexed(t, rows, left)
		default:
			rows = r.keyed(t, rows, left, s)
		}
		m.rows[i] = rows
		if left -= len(rows); left < 0 {
			r.fail("a view of more than %d bytes", MaxViewBytes)
		}
		if r.err != nil {
			return r.err
		}
	}
	if r.at < len(delta) {
		r.fail("%d bytes after the end", len(delta)-r.at)
	}
	return r.err
}

func (r *deltaReader) indexed(t *table, rows []byte, left int) []byte {
	if t.fixed == 0 {
		n := int(r.uint(uint64(left/t.size), "the length of ", t.path)) * t.size
		if n <= len(rows) {
			rows = rows[:n]
		} else {
			had := len(rows)
			rows = slices.Grow(rows, n-had)[:n]
			clear(rows[had:])
		}
	}
	r.each(t, "a changed row of ", t.count(rows), func(at uint64) {
		r.row(t, t.row(rows, int(at)), false)
	})
	return rows
}

// byID is instead of a number of rows for rows that are told by their ids.
const byID = -1

// each reads the ascending indexes or keys of some rows, and what follows each.
func (r *deltaReader) each(t *table, what string, rows int, read func(at uint64)) {
	most, last, signed := uint64(rows), uint64(rows)-1, false
	if rows == byID {
		most, last, signed = ^uint64(0), ^uint64(0), t.signed()
	}
	at := uint64(0)
	for i := range r.uint(min(most, uint64(len(r.b)-r.at)), "a number of rows of ", t.path) {
		switch {
		case i == 0 && signed:
			at = uint64(unzigzag(r.uint(^uint64(0), what, t.path))) ^ sign
		case i == 0:
			at = r.uint(last, what, t.path)
		case at == last:
			r.fail("%s%s: index out of range", what, t.path)
		default:
			at += 1 + r.uint(last-at-1, what, t.path)
		}
		if r.err != nil {
			return
		}
		read(at)
	}
}

func (r *deltaReader) keyed(t *table, rows []byte, left int, s *scratch) []byte {
	n := t.count(rows)
	s.changed, s.removed = s.changed[:0], s.removed[:0]
	r.each(t, "a changed row of ", n, func(at uint64) {
		s.changed = append(s.changed, at)
		r.row(t, t.row(rows, int(at)), false)
	})
	changed, kept, from := s.changed, 0, 0
	r.each(t, "a removed row of ", n, func(at uint64) {
		for len(changed) > 0 && changed[0] < at {
			changed = changed[1:]
		}
		if len(changed) > 0 && changed[0] == at {
			r.fail("row %d of %s is changed and removed", at, t.path)
		}
		s.removed = append(s.removed, t.key(rows, int(at)))
		kept += copy(rows[kept:], rows[from*t.size:int(at)*t.size])
		from = int(at) + 1
	})
	if from > 0 {
		rows = rows[:kept+copy(rows[kept:], rows[from*t.size:])]
	}
	return r.adds(t, rows, left, s)
}

func (r *deltaReader) adds(t *table, rows []byte, left int, s *scratch) []byte {
	s.merged = s.merged[:0]
	at, merged, removed := 0, false, s.removed
	r.each(t, "an added row of ", byID, func(key uint64) {
		merged = true
		from := at
		for at < t.count(rows) && t.key(rows, at) < key {
			at++
		}
		if at < t.count(rows) && t.key(rows, at) == key {
			r.fail("%s has the added id already", t.path)
			return
		}
		for len(removed) > 0 && removed[0] < key {
			removed = removed[1:]
		}
		if len(removed) > 0 && removed[0] == key {
			r.fail("an element of %s is removed and added", t.path)
			return
		}
		s.merged = append(s.merged, rows[from*t.size:at*t.size]...)
		s.merged = append(s.merged, zeros[:t.size]...)
		row := s.merged[len(s.merged)-t.size:]
		id := &t.columns[t.id]
		v := int64(key)
		if t.signed() {
			v = int64(key ^ sign)
		}
		if !id.fits(v) {
			r.fail("%s: the id %d is too large", t.path, v)
			return
		}
		id.put(row, v)
		if r.row(t, row, true); len(s.merged) > left {
			r.fail("a view of more than %d bytes", MaxViewBytes)
		}
	})
	if !merged || r.err != nil {
		return rows
	}
	s.merged = append(s.merged, rows[at*t.size:]...)
	return append(rows[:0], s.merged...)
}
