package fixed

// Keyed is an element of [SortKeyed]: the key to sort by, and the id that breaks ties.
type Keyed struct {
	Key Q
	ID  uint32
}

// SortKeyed sorts fewer than 2^32 items by (Key, ID) in linear time. It returns scratch, enlarged to their length, for the next call.
func SortKeyed(items, scratch []Keyed) []Keyed {
	if cap(scratch) < len(items) {
		scratch = make([]Keyed, len(items))
	}
	scratch = scratch[:cap(scratch)]
	from, to := items, scratch[:len(items)]
	// Sort by one byte at a time, from the last byte of the id to the first of the key. Skip bytes that all items share.
	ids, keys := differences(items)
	for shift := 0; shift < 32; shift += 8 {
		if ids>>shift&0xff != 0 {
			sortByID(from, to, shift)
			from, to = to, from
		}
	}
	for shift := 0; shift < 64; shift += 8 {
		if keys>>shift&0xff != 0 {
			sortByKey(from, to, shift)
			from, to = to, from
		}
	}
	if len(items) > 0 && &from[0] != &items[0] {
		copy(items, from)
	}
	return scratch
}

// differences returns the bits in which ids and keys differ, without those of ids that are in order already.
func differences(items []Keyed) (ids uint32, keys uint64) {
	rising := true
	for i := 1; i < len(items); i++ {
		ids |= items[i].ID ^ items[0].ID
		keys |= uint64(items[i].Key ^ items[0].Key)
		rising = rising && items[i-1].ID <= items[i].ID
	}
	if rising {
		ids = 0
	}
	return ids, keys
}

// sortByID copies from to to, in the order of one byte of the id, stable.
func sortByID(from, to []Keyed, shift int) {
	var counts [256]uint32
	for i := range from {
		counts[uint8(from[i].ID>>shift)]++
	}
	startsOf(&counts)
	for i := range from {
		n := &counts[uint8(from[i].ID>>shift)]
		to[*n] = from[i]
		*n++
	}
}

// sortByKey copies from to to, in the order of one byte of the key, stable.
func sortByKey(from, to []Keyed, shift int) {
	const sign = -1 << 63 // negative keys come first
	var counts [256]uint32
	for i := range from {
		counts[uint8((from[i].Key^sign)>>shift)]++
	}
	startsOf(&counts)
	for i := range from {
		n := &counts[uint8((from[i].Key^sign)>>shift)]
		to[*n] = from[i]
		*n++
	}
}

// startsOf turns counts into start indexes.
func startsOf(counts *[256]uint32) {
	sum := uint32(0)
	for i, n := range counts {
		counts[i] = sum
		sum += n
	}
}
