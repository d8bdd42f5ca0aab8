package conformance

import "strings"

// everyType is the schema of a command with a field of every type.
var everyType = describe(root(9), leaf(tBool, "B"), leaf(tInt8, "I"), leaf(tUint64, "U"), leaf(tString, "T"),
	leaf(tSlice, "Bytes"), leaf(tUint8, ""), node{tArray, 0, 2, "Two"}, leaf(tUint8, ""), leaf(tSlice, "Row"), leaf(tInt16, ""),
	node{tArray, 0, 2, "Pos"}, leaf(tInt32, ""), node{tStruct, 0, 1, "In"}, leaf(tBool, "X"))

// everyValue is a value of everyType.
const everyValue = "\x01\x80" + "\xff\xff\xff\xff\xff\xff\xff\xff" + "\x02\x00\x00\x00\xc3\xa9" + "\x03\x00\x00\x00\x01\x02\x03" + "\x01\x02" +
	"\x02\x00\x00\x00\x00\x80\x05\x00" + "\x01\x00\x00\x00\x90\xee\xfe\xff" + "\x00"

// payloads are records with payloads. The cases of values show the rest.
func payloads() []Built {
	before := newMatch(setup{commands: array{0, "none", describe(root(0)), 65535, "every", everyType}})
	of := func(id, verdict, about string, kind int, payload string) Built {
		return recordCase(id, verdict, about, before, recordBytes(3, 0, 1, kind, []byte(payload)), "F-payload")
	}
	return []Built{
		of("payload-every-type", "ok", "A payload with a field of every type.", 65535, everyValue),
		of("payload-no-fields", "ok", "The payload of a command without fields has no bytes.", 0, ""),
		of("payload-string-bytes", "ok", "A string of a payload may be any bytes.", 65535, strings.Replace(everyValue, "\xc3", "\xff", 1)),
		of("payload-no-fields-byte", "invalid", "The payload of a command without fields has a byte.", 0, "\x00"),
		of("payload-bool", "invalid", "A bool of a payload is 2.", 65535, "\x02"+everyValue[1:]),
		of("payload-count", "invalid", "A slice claims more elements than there are bytes for.", 65535, strings.Replace(everyValue, "\x02\x00\x00\x00\x00\x80", "\xff\xff\xff\xff\x00\x80", 1)),
		of("payload-cut", "invalid", "A payload lacks its last byte.", 65535, everyValue[:len(everyValue)-1]),
	}
}
