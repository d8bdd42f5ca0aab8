package conformance

// everyType is the schema of a command with a field of every type.
var everyType = describe(root(9), leaf(tBool, "B"), leaf(tInt8, "I"), leaf(tUint64, "U"), leaf(tString, "T"),
	leaf(tSlice, "Bytes"), leaf(tUint8, ""), node{tArray, 0, 2, "Two"}, leaf(tUint8, ""), leaf(tSlice, "Row"), leaf(tInt16, ""),
	node{tArray, 0, 2, "Pos"}, leaf(tInt32, ""), node{tStruct, 0, 1, "In"}, leaf(tBool, "X"))

// everyValue returns the payload of a value of everyType, in which a field may
// have another value.
func everyValue(field int, value any) []byte {
	v := array{true, -128, uint64(1<<64 - 1), "\u00e9", []byte{1, 2, 3}, []byte{1, 2}, array{-32768, 5}, array{1, -70000}, array{false}}
	if field >= 0 {
		v[field] = value
	}
	return pack(v)
}

// payloads are records with payloads, good and bad.
func payloads() []Built {
	before := newMatch(setup{commands: array{0, "none", describe(root(0)), 65535, "every", everyType}})
	of := func(id, verdict, about string, kind int, payload []byte) Built {
		return recordCase(id, verdict, about, before, recordBytes(3, 0, 1, kind, payload), "F-payload")
	}
	bad := func(id, about string, field int, value any) Built {
		return of(id, "invalid", about, 65535, everyValue(field, value))
	}
	return []Built{
		of("payload-every-type", "ok", "A payload with a field of every type.", 65535, everyValue(-1, nil)),
		of("payload-no-fields", "ok", "The payload of a command without fields is an empty array.", 0, pack(array{})),
		of("payload-empty-values", "ok", "Texts, bytes and arrays may be empty.", 65535,
			pack(array{false, 0, 0, "", []byte{}, []byte{0, 0}, array{}, array{0, 0}, array{true}})),
		of("payload-no-array", "invalid", "The payload of a command without fields has no bytes.", 0, []byte{}),
		bad("payload-bool-number", "A bool is a number.", 0, 1),
		bad("payload-int8-high", "An int8 is 128.", 1, 128),
		bad("payload-int8-low", "An int8 is -129.", 1, -129),
		bad("payload-unsigned-negative", "An unsigned integer is negative.", 2, -1),
		bad("payload-text-bytes", "A text is written as bytes.", 3, []byte("x")),
		bad("payload-bytes-array", "A slice of uint8 is written as an array.", 4, array{1, 2, 3}),
		bad("payload-bytes-text", "A slice of uint8 is written as a text.", 4, "abc"),
		bad("payload-bytes-short", "An array of two uint8 has one byte.", 5, []byte{1}),
		bad("payload-bytes-long", "An array of two uint8 has three bytes.", 5, []byte{1, 2, 3}),
		bad("payload-slice-bytes", "A slice of int16 is written as bytes.", 6, []byte{1, 2}),
		bad("payload-array-short", "An array of two int32 has one element.", 7, array{1}),
		bad("payload-array-long", "An array of two int32 has three elements.", 7, array{1, 2, 3}),
		bad("payload-struct-fields", "A struct inside a payload has a field too many.", 8, array{false, false}),
		bad("payload-struct-bare", "A struct inside a payload is not in an array.", 8, false),
	}
}
