package state

// Kind is the type of a schema's node. The numbers are part of the stored description and never change.
type Kind uint8

// The kinds. Bool to String, Float32 and Float64 are leaves. The floats are for states of other engines: [Compile] refuses them.
const (
	Bool   Kind = 1
	Int8   Kind = 2
	Int16  Kind = 3
	Int32  Kind = 4
	Int64  Kind = 5
	Uint8  Kind = 6
	Uint16 Kind = 7
	Uint32 Kind = 8
	Uint64 Kind = 9
	String Kind = 10
	Array  Kind = 11
	Slice  Kind = 12
	Struct Kind = 13

	Float32 Kind = 14 // the bits of IEEE 754
	Float64 Kind = 15
)

var kinds = [...]struct {
	name string
	size int // canonical bytes; for a string or slice, those of its count
}{
	Bool: {"bool", 1},
	Int8: {"int8", 1}, Int16: {"int16", 2}, Int32: {"int32", 4}, Int64: {"int64", 8},
	Uint8: {"uint8", 1}, Uint16: {"uint16", 2}, Uint32: {"uint32", 4}, Uint64: {"uint64", 8},
	String: {"string", countSize}, Array: {"array", 0}, Slice: {"slice", countSize}, Struct: {"struct", 0},
	Float32: {"float32", 4}, Float64: {"float64", 8},
}

// String returns the kind's name, such as "uint32".
func (k Kind) String() string {
	if !k.valid() {
		return "invalid"
	}
	return kinds[k].name
}

// Integer reports whether k is one of Int8 to Uint64.
func (k Kind) Integer() bool { return k >= Int8 && k <= Uint64 }

// Signed reports whether k is one of Int8 to Int64.
func (k Kind) Signed() bool { return k >= Int8 && k <= Int64 }

// Float reports whether k is Float32 or Float64. Only parsed schemas have them, of the states of other engines: [Compile]
// refuses floats.
func (k Kind) Float() bool { return k == Float32 || k == Float64 }

func (k Kind) valid() bool { return k >= Bool && k <= Float64 }

func (k Kind) leaf() bool { return k.valid() && (k <= String || k.Float()) }

const countSize = 4 // bytes of the u32 before a slice's elements and a string's bytes
