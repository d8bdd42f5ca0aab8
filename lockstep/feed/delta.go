package feed

import (
	"encoding/binary"
	"fmt"
	"math/bits"

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

// zigzag turns small numbers of both signs into small ones.
func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// appendRow appends how a row differs from another one: a mask of the columns that differ, and the difference of each that
// is no bool. The id is left out.
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

// varintSize returns the bytes of a number.
func varintSize(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// overhead returns the most bytes of a delta to a view besides its changes.
func (p *Plan) overhead(view *image) int {
	n := 1
	for i := range p.tables[1:] {
		n += 3 * varintSize(uint64(len(view.rows[i+1])))
	}
	return n
}

// A changeKind is what a delta does with a row.
type changeKind uint8

const (
	changed changeKind = iota
	removed
	added
)

// A change is a row in which a view differs from its base.
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

// due returns the columns of a mask that are due in the view of a number.
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

// appendDelta appends the taken changes.
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

// appendKind appends the number of the changes of one kind, and each of them.
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
