package feed

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/seed-49bee653/samestep/state"
)

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

// row reads the differences of a row and sets it.
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

// A scratch is memory that applying a delta reuses.
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

// indexed reads the changes of a list without ids.
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
			r.fail("%s%s: got one after the last", what, t.path)
		default:
			at += 1 + r.uint(last-at-1, what, t.path)
		}
		if r.err != nil {
			return
		}
		read(at)
	}
}

// keyed reads the changes of a list with ids.
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

// adds reads the added rows of a list with ids, and merges them.
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
