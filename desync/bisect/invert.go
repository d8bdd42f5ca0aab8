package bisect

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/state"
)

// A bit is one bit of a state: mask of the byte at, counted from the start of section.
type bit struct {
	section, at int
	mask        byte
}

// invert returns a copy of a state in which one bit of one field is inverted, so that its checksum is hash, or nil if
// there is no such bit. It hashes at most maxBytes bytes: the smallest sections first, and no section that would exceed
// the limit. One goroutine at a time calls progress with the bytes hashed so far and in all; progress may be nil.
func invert(s *state.Schema, b []byte, hash uint64, maxBytes int64, progress func(done, all int64)) []byte {
	r := newHashSearch(s, b, hash)
	if r == nil {
		return nil
	}
	v := &inversion{hashSearch: r, report: progress}
	order := make([]int, 0, len(r.parts))
	for i := range r.parts {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(r.sizes[x], r.sizes[y]) })
	for i, section := range order {
		if v.all+cost(r.sizes[section]) > maxBytes {
			order = order[:i]
			break
		}
		v.all += cost(r.sizes[section])
	}
	if len(order) == 0 {
		return nil
	}
	fields := v.fields(s)
	for _, section := range order {
		if found, ok := v.search(section, fields[section]); ok {
			r.parts[section][found.at] ^= found.mask
			return r.state
		}
	}
	return nil
}

// cost returns the number of bytes hashed to try every bit of a section: on average half of the section for each bit.
func cost(size int) int64 { return 4 * int64(size) * int64(size) }

// An inversion searches for the one bit of a state whose inversion gives a checksum.
type inversion struct {
	*hashSearch
	report func(done, all int64)
	mutex  sync.Mutex // guards done
	done   int64      // hashed bytes
	all    int64
}

// progress reports that more bytes were hashed.
func (v *inversion) progress(bytes int64) {
	if v.report == nil {
		return
	}
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.done = min(v.done+bytes, v.all)
	v.report(v.done, v.all)
}

// A field is one leaf of a section: size bytes at an offset, of which a mask of bits can be inverted so that the bytes
// stay canonical.
type field struct {
	at, size int
	mask     byte
}

// fields returns the leaves by section.
func (v *inversion) fields(s *state.Schema) [][]field {
	all := make([][]field, len(v.parts))
	leaves, err := s.Leaves(v.state)
	if err != nil {
		panic(err) // cannot happen: Split has validated it
	}
	for leaf := range leaves {
		section, begin := v.section(leaf.Offset)
		f := field{leaf.Offset - begin, len(leaf.Bytes), 0xff}
		switch leaf.Node.Kind() {
		case state.Bool:
			f.mask = 1
		case state.String:
			f.at, f.size = f.at+4, f.size-4 // without its length
		}
		all[section] = append(all[section], f)
	}
	return all
}

// chunk is the number of fields that a goroutine takes at a time.
const chunk = 256

// search tries every bit of the fields of a section, on all processors, and returns the first that gives the hash.
func (v *inversion) search(section int, fields []field) (bit, bool) {
	chunks := (len(fields) + chunk - 1) / chunk
	found := make([]bit, chunks)
	var next, first atomic.Int64
	first.Store(math.MaxInt64)
	var group errgroup.Group
	for range min(runtime.GOMAXPROCS(0), chunks) {
		group.Go(func() error {
			own := &bitSearch{v.hashSearch, section, slices.Clone(v.parts[section]), slices.Clone(v.sums)}
			for i := next.Add(1) - 1; i < int64(chunks) && i < first.Load(); i = next.Add(1) - 1 {
				v.progress(cost(v.sizes[section]) / int64(chunks))
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
	search  *hashSearch
	section int
	bytes   []byte // of the section
	sums    []uint64
}

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

// right reports whether the inversion of one bit gives the hash.
func (w *bitSearch) right(before *xxhash.Digest, at, i int, mask byte) bool {
	w.bytes[i] ^= mask
	d := *before
	d.Write(w.bytes[at:])
	w.bytes[i] ^= mask
	return w.search.solved(w.sums, w.section, d.Sum64())
}

// A hashSearch looks for a change of a state that gives a wanted checksum.
type hashSearch struct {
	state []byte
	parts [][]byte // of the state, by section
	sizes []int
	sums  []uint64
	hash  uint64 // the wanted checksum
}

// maxHashSearch is the size of the largest state to search, in bytes.
const maxHashSearch = 16 << 20

// newHashSearch returns a search in a copy of a state, or nil if the state is too large or not canonical.
func newHashSearch(s *state.Schema, b []byte, hash uint64) *hashSearch {
	if len(b) > maxHashSearch {
		return nil
	}
	r := &hashSearch{state: slices.Clone(b), hash: hash}
	var err error
	if r.parts, err = s.Split(nil, r.state); err != nil {
		return nil
	}
	for _, part := range r.parts {
		r.sizes = append(r.sizes, len(part))
		r.sums = append(r.sums, xxhash.Sum64(part))
	}
	return r
}

// solved reports whether the state has the wanted checksum if the sum of a section is sum.
func (r *hashSearch) solved(sums []uint64, section int, sum uint64) bool {
	before := sums[section]
	sums[section] = sum
	right := checksum.HashOf(r.sizes, sums) == r.hash
	sums[section] = before
	return right
}

// section returns the section that contains an offset of the state, and the offset at which the section begins.
func (r *hashSearch) section(offset int) (section, begin int) {
	for offset >= begin+r.sizes[section] {
		begin += r.sizes[section]
		section++
	}
	return section, begin
}

// maxTransfer is the maximum number of fields that are tried.
const maxTransfer = 2048

// transfer returns a copy of a state in which one field is changed, so that its checksum is hash, or nil if there is
// none. It tries the fields in which two later states, a and b, differ: with the value in b, and changed by the
// difference between a and b.
func transfer(s *state.Schema, own, a, b []byte, hash uint64) []byte {
	later, err := s.Diff(a, b, maxTransfer)
	if err != nil {
		return nil
	}
	r := newHashSearch(s, own, hash)
	if r == nil {
		return nil
	}
	for _, d := range later.List {
		if r.transfer(s, a, b, d.Path) {
			return r.state
		}
	}
	return nil
}

// transfer changes one field, and restores it if the state does not get the wanted checksum.
func (r *hashSearch) transfer(s *state.Schema, a, b []byte, path string) bool {
	at, err := s.Lookup(r.state, path)
	if err != nil || at.Node.Kind() >= state.String {
		return false
	}
	x, err := s.Lookup(a, path)
	if err != nil {
		return false
	}
	y, err := s.Lookup(b, path)
	if err != nil {
		return false
	}
	section, _ := r.section(at.Offset)
	before := diff.Number(at.Bytes)
	from, to := diff.Number(x.Bytes), diff.Number(y.Bytes)
	values := []uint64{to, before + to - from, before ^ from ^ to}
	if at.Node.Kind() == state.Bool {
		values = values[:1]
	}
	for _, value := range values {
		diff.SetNumber(at.Bytes, value)
		if r.solved(r.sums, section, xxhash.Sum64(r.parts[section])) {
			return true
		}
	}
	diff.SetNumber(at.Bytes, before)
	return false
}
