// Package checksum computes the 64-bit fingerprint of a state, by section, and compares two of them.
//
// A section is a top-level field of the state. Its sum is the xxhash64 (seed 0) of its canonical bytes, as package
// state defines them. The hash is the xxhash64 (seed 0) of
//
//	size  field
//	16    the ASCII bytes "samestep root 1\n"
//	16    for each section, in order: its size in canonical bytes as a little-endian u64, then its sum as another
//
// Sums are never mixed by XOR or addition: with those, two equal errors cancel each other, and values may change places.
// Since all of it is derived from canonical bytes, a value and its snapshot have the same sum, on every machine.
//
//	var sum checksum.Sum
//	checksum.Of(&sum, codec, &world)
//	fmt.Println(checksum.FormatHash(sum.Hash))
//
//samestep:deterministic
package checksum
