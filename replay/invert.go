package replay

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/state"
)

// An inversion is the search for the one bit of a state whose inversion gives a
// checksum.
type inversion struct {
	parts [][]byte // of the state, by section
	sizes []int
	sums  []uint64
	root  uint64 // that is wanted
}

// A bit is one of a state: of its byte at, in section.
type bit struct {
	section, at int
	mask        byte
}

// invert returns a copy of a state in which one bit of one field is inverted,
// so that its checksum is root, or nil if there is no such bit. It hashes at most
// so many bytes, in the smallest sections first; where that is not enough for a
// section, it is left out.
func invert(s *state.Schema, b []byte, root uint64, maxBytes int64) []byte {
	b = slices.Clone(b)
	parts, err := s.Split(nil, b)
	if err != nil {
		return nil
	}
	v := &inversion{parts: parts, root: root}
	for _, part := range parts {
		v.sizes = append(v.sizes, len(part))
		v.sums = append(v.sums, xxhash.Sum64(part))
	}
	fields := v.fields(s, b)
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(len(parts[x]), len(parts[y])) })
	for _, section := range order {
		size := int64(len(parts[section]))
		if maxBytes -= 4 * size * size; maxBytes < 0 { // eight bits each, and half of it on average
			return nil
		}
		if found, ok := v.search(section, fields[section]); ok {
			parts[section][found.at] ^= found.mask
			return b
		}
	}
	return nil
}

// A field is one leaf of a section: size bytes at an offset, of which a mask of
// bits can be inverted so that the bytes stay canonical.
type field struct {
	at, size int
	mask     byte
}

// fields returns the leaves by section.
func (v *inversion) fields(s *state.Schema, b []byte) [][]field {
	all := make([][]field, len(v.parts))
	leaves, err := s.Leaves(b)
	if err != nil {
		panic(err) // Split has validated it
	}
	section, begin := 0, 0
	for leaf := range leaves {
		for leaf.Offset >= begin+v.sizes[section] {
			begin += v.sizes[section]
			section++
		}
		f := field{leaf.Offset - begin, len(leaf.Bytes), 0xff}
		switch leaf.Node.Kind() {
		case state.Bool:
			f.mask = 1
		case state.String:
			f.at, f.size = f.at+4, f.size-4 // not its length
		}
		all[section] = append(all[section], f)
	}
	return all
}

// chunk is how many fields are searched at a time.
const chunk = 256

// search tries every bit of the fields of a section, on all processors, and
// returns the first that is right.
func (v *inversion) search(section int, fields []field) (bit, bool) {
	chunks := (len(fields) + chunk - 1) / chunk
	found := make([]bit, chunks)
	var next, first atomic.Int64
	first.Store(math.MaxInt64)
	var group errgroup.Group
	for range min(runtime.GOMAXPROCS(0), chunks) {
		group.Go(func() error {
			own := v.worker(section)
			for i := next.Add(1) - 1; i < int64(chunks) && i < first.Load(); i = next.Add(1) - 1 {
				var ok bool
				if found[i], ok = own.try(fields[i*chunk : min(int(i+1)*chunk, len(fields))]); !ok {
					continue
				}
				for at := first.Load(); i < at && !first.CompareAndSwap(at, i); at = first.Load() {
				}
			}
			return nil
		})
	}
	group.Wait()
	if i := first.Load(); i < int64(chunks) {
		return found[i], true
	}
	return bit{}, false
}

// A bitSearch is the work of one goroutine.
type bitSearch struct {
	inversion *inversion
	section   int
	bytes     []byte // of the section
	sums      []uint64
}

func (v *inversion) worker(section int) *bitSearch {
	return &bitSearch{v, section, slices.Clone(v.parts[section]), slices.Clone(v.sums)}
}

// try tries the bits of fields.
func (w *bitSearch) try(fields []field) (bit, bool) {
	var before xxhash.Digest // of the bytes before at
	before.Reset()
	at := 0
	for _, f := range fields {
		for i := f.at; i < f.at+f.size; i++ {
			if whole := i &^ 31; whole > at { // whole stripes of the hash
				before.Write(w.bytes[at:whole])
				at = whole
			}
			for mask := byte(1); mask != 0; mask <<= 1 {
				if mask&f.mask != 0 && w.right(&before, at, i, mask) {
					return bit{w.section, i, mask}, true
				}
			}
		}
	}
	return bit{}, false
}

// right reports whether the inversion of one bit gives the root.
func (w *bitSearch) right(before *xxhash.Digest, at, i int, mask byte) bool {
	w.bytes[i] ^= mask
	d := *before
	d.Write(w.bytes[at:])
	w.bytes[i] ^= mask
	w.sums[w.section] = d.Sum64()
	return checksum.RootOf(w.inversion.sizes, w.sums) == w.inversion.root
}
