package fixed

// Keyed is an element of [SortKeyed]: what to sort by, and the id that breaks ties.
type Keyed struct {
	Key Q
	ID  uint32
}

// SortKeyed sorts items by (Key, ID), smallest first, in time linear in their number. It needs as many elements again
// as scratch, allocates them if scratch is shorter, and returns scratch for the next call.
func SortKeyed(items, scratch []Keyed) []Keyed {
	if cap(scratch) < len(items) {
		scratch = make([]Keyed, len(items))
	}
	scratch = scratch[:cap(scratch)]
	from, to := items, scratch[:len(items)]
	var counts [256]uint32
	pass := func(digit func(Keyed) uint8) {
		clear(counts[:])
		for i := range from {
			counts[digit(from[i])]++
		}
		if len(from) == 0 || counts[digit(from[0])] == uint32(len(from)) {
			return // all alike: nothing would move
		}
		sum := uint32(0)
		for i, n := range counts {
			counts[i] = sum
			sum += n
		}
		for i := range from {
			d := digit(from[i])
			to[counts[d]] = from[i]
			counts[d]++
		}
		from, to = to, from
	}
	for shift := 0; shift < 32; shift += 8 {
		pass(func(k Keyed) uint8 { return uint8(k.ID >> shift) })
	}
	for shift := 0; shift < 64; shift += 8 {
		pass(func(k Keyed) uint8 { return uint8((uint64(k.Key) ^ 1<<63) >> shift) })
	}
	if len(items) > 0 && &from[0] != &items[0] {
		copy(items, from)
	}
	return scratch
}
