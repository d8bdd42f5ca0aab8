package fixed

// NewStream returns the generator of one named stream of a seed. A game that keeps one for each purpose, such as "loot"
// and "weather", can draw more from one of them without changing the numbers of the others.
//
//	w.Loot = fixed.NewStream(settings.Seed, "loot")
//
// Streams with different names, and the generator of [NewRand], are independent.
func NewStream(seed uint64, name string) Rand {
	h := uint64(0xcbf29ce484222325) // FNV-1a of the name
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 0x100000001b3
	}
	return NewRand(mix(seed+golden) ^ h)
}
