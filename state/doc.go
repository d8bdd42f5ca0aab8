// Package state is the canonical form of a simulation's state. Snapshots, checksums, copies, dumps and differences all
// follow one description of a plain Go type, so no field can be missing from one of them.
//
// A state is a struct of sized integers, bools, strings, arrays, slices and structs of those. Its canonical bytes are
// its fields in order, without padding:
//
//	bytes    kind             meaning
//	1        bool             0 or 1
//	1        int8, uint8
//	2        int16, uint16    little-endian, two's complement
//	4        int32, uint32    little-endian, two's complement
//	8        int64, uint64    little-endian, two's complement
//	4 + n    string           n as u32, then n bytes of any value
//	4 + ...  slice            number of elements as u32, then the elements
//	...      array, struct    the elements, or the fields in order
//
// Each value has exactly one form, and decoders accept no other. A nil slice and an empty one are the same value.
//
// The description of a type ([Schema.AppendDescription]) is the canonical form of a slice of nodes in preorder: the fields
// follow their struct, the element follows its array or slice.
//
//	offset   size   field
//	0        4      number of nodes
//
//	per node:
//	0        1      kind: 1 bool, 2 int8, 3 int16, 4 int32, 5 int64, 6 uint8, 7 uint16, 8 uint32, 9 uint64,
//	                10 string, 11 array, 12 slice, 13 struct
//	1        1      fraction bits of an integer that is printed as a fixed-point number, else 0
//	2        4      elements of an array, fields of a struct, else 0
//	6        4      length of the name, 0 unless the node is a field
//	10       ...    name
//
// # What may be in a state
//
// [Compile] refuses floats and complex numbers, int, uint and uintptr, pointers, interfaces, maps, chans and funcs,
// unexported fields, recursive types, and empty structs and arrays, and names the field. Only the root may be an empty
// struct: a command without arguments. An integer type with a method FractionBits() uint8 prints as a fixed-point number.
//
// A field tagged `state:"derived"` may have any type and is not part of the state: the game rebuilds it after a restore.
// Decode and Copy leave such a field unchanged. In the elements of slices they set it to zero, because an element may
// stand for another unit than before.
//
//	type World struct {
//		Tick  uint32
//		Units []Unit
//		grid  map[cell][]int `state:"derived"`
//	}
//
//	var codec = state.MustCompile[World]()
//
//	snapshot := codec.Append(nil, &world)
//	err := codec.Decode(snapshot, &other)
//
// # Memory
//
// Decode and Copy reuse the memory of the slices in the value that they set. No other value may share that memory. They
// do detect slices that share memory within the value or with the source of a copy, such as those of units[i] after
// units[i] = units[last], and give them new memory. Setting values of similar shape allocates nothing.
//
// # How to lay out units
//
// Adjacent fields move and hash as one block, and so does a slice whose elements have no gaps: order the fields from large
// to small, and fill up the end. For 10,000 units of 96 bytes, as ratios to a copy, or to an xxhash64, of the same bytes
// (amd64; the command is in bench_test.go):
//
//	units                         Append   Copy   Decode   checksum   Diff of equal states
//	dense, three bools             1.0      1.0    1.9      1.0        3
//	the same, a gap at the end     2.0      1.1    2.9      1.9        3
//	a gap after each field        10        1.4   13        5.5        3
//	dense, and one inner slice     5.3     13     16        4.8       19
//
// On little-endian machines, one file uses package unsafe. On big-endian machines, and with the build tag
// samestep_portable, reflection produces the same bytes, more slowly and with allocations.
//
//samestep:deterministic
package state
