// Package checksum computes a 64-bit hash of a state and a sum of each of its sections, and compares two of them.
//
// A section is a top-level field of the state. Its sum is the xxhash64 (seed 0) of its canonical bytes, as package
// state defines them. The state hash is the xxhash64 (seed 0) of
//
//	size  field
//	16    the ASCII bytes "samestep root 1\n"
//	16    for each section, in order: its size in canonical bytes as a little-endian u64, then its sum as another
//
// Sums are never mixed by XOR or addition: equal errors would cancel each other, and values could change places
// unnoticed. Everything is computed from canonical bytes, so a value and its snapshot have the same sum on every machine.
//
//	var sum checksum.Sum
//	checksum.Of(&sum, codec, &world)
//	fmt.Println(checksum.FormatHash(sum.Hash))
//
//samestep:deterministic
package checksum
