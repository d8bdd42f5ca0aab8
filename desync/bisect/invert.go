package bisect

import (
	"cmp"
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

// invert returns a copy of a state in which one bit of one field is inverted, so that its checksum is hash, or nil if
// there is no such bit. It hashes at most maxBytes bytes: the smallest sections first, and no section that would exceed
// the limit. One goroutine at a time calls progress with the bytes hashed so far and in all; progress may be nil.
func invert(s *state.Schema, b []byte, hash uint64, maxBytes int64, progress func(done, all int64)) []byte {
	r := newHashSearch(s, b, hash)
	if r == nil {
		return nil
	}
	order := make([]int, len(r.parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(r.sizes[x], r.sizes[y]) })
	all := int64(0)
	for i, section := range order {
		if all+cost(r.sizes[section]) > maxBytes {
			order = order[:i]
			break
		}
		all += cost(r.sizes[section])
	}
	if len(order) == 0 {
		return nil
	}
	var mutex sync.Mutex // guards done
	done := int64(0)
	tell := func(bytes int64) {
		mutex.Lock()
		defer mutex.Unlock()
		if done = min(done+bytes, all); progress != nil {
			progress(done, all)
		}
	}
	masks := r.masks(s)
	for _, section := range order {
		if r.invert(section, masks[section], tell) {
			return r.state
		}
	}
	return nil
}

// cost returns the number of bytes hashed to try every bit of a section: on average half of the section for each bit.
func cost(size int) int64 { return 4 * int64(size) * int64(size) }

// masks returns, by section and byte, the bits that can be inverted so that the bytes stay canonical.
func (r *hashSearch) masks(s *state.Schema) (sections [][]byte) {
	leaves, err := s.Leaves(r.state)
	if err != nil {
		panic(err) // cannot happen: Split has validated it
	}
	all := make([]byte, len(r.state))
	for leaf := range leaves {
		from, mask := leaf.Offset, byte(0xff)
		switch leaf.Node.Kind() {
		case state.Bool:
			mask = 1
		case state.String:
			from += 4 // its length
		}
		for i := from; i < leaf.Offset+len(leaf.Bytes); i++ {
			all[i] = mask
		}
	}
	for _, size := range r.sizes {
		sections, all = append(sections, all[:size]), all[size:]
	}
	return sections
}

const (
	chunk  = 32 * stripe // bytes whose bits a goroutine tries at a time
	stripe = 32          // bytes that the hash takes at once
)

// invert tries the bits of a section on all processors, and inverts the one that gives the wanted checksum. No second bit gives the same
// 64 bits.
func (r *hashSearch) invert(section int, masks []byte, tell func(bytes int64)) bool {
	var found atomic.Int64 // the bit, counted from 1
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	chunks := (len(masks) + chunk - 1) / chunk
	for i := range chunks {
		group.Go(func() error {
			if found.Load() == 0 {
				tell(cost(len(masks)) / int64(chunks))
				r.try(section, masks, i*chunk, &found)
			}
			return nil
		})
	}
	group.Wait()
	at := found.Load() - 1
	if at >= 0 {
		r.parts[section][at/8] ^= 1 << (at % 8)
	}
	return at >= 0
}

// try tries the bits of a chunk of a section.
func (r *hashSearch) try(section int, masks []byte, from int, found *atomic.Int64) {
	own, sums := slices.Clone(r.parts[section]), slices.Clone(r.sums)
	before := xxhash.New() // of the bytes before at
	before.Write(own[:from])
	for at := from; at < min(from+chunk, len(own)); at += stripe {
		end := min(at+stripe, len(own))
		for i := at; i < end; i++ {
			for bit := range 8 {
				if masks[i]>>bit&1 == 0 {
					continue
				}
				own[i] ^= 1 << bit
				d := *before
				d.Write(own[at:])
				own[i] ^= 1 << bit
				if r.solved(sums, section, d.Sum64()) {
					found.Store(int64(8*i+bit) + 1)
					return
				}
			}
		}
		before.Write(own[at:end])
	}
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
	section := 0
	for end := r.sizes[0]; at.Offset >= end; end += r.sizes[section] {
		section++
	}
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
