package conformance

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// schemaCase returns a case of kind schema; value may be nil.
func schemaCase(id, verdict, about string, schema, value []byte, rules ...string) Built {
	text := fmt.Sprintf("# %s\nschema: %s\n", about, hex.EncodeToString(schema))
	if value != nil {
		text += "value: " + hex.EncodeToString(value) + "\n"
	}
	return Built{Case{ID: id, Kind: "schema", File: "schema/" + id + ".hex", Rules: rules, Verdict: verdict, About: about}, []byte(text)}
}

// root returns the node of a struct without a name.
func root(fields uint32) node { return node{tStruct, 0, fields, ""} }

// leaf returns a field of a kind.
func leaf(kind byte, name string) node { return node{kind, 0, 0, name} }

// unitSchema is a state with units, as games have them.
var unitSchema = describe(root(3), leaf(tUint32, "Tick"), leaf(tSlice, "Units"), root(3), leaf(tUint16, "ID"),
	node{tArray, 0, 2, "Pos"}, node{tInt64, 32, 0, ""}, leaf(tBool, "Alive"), node{tArray, 0, 2, "Names"}, leaf(tString, ""))

// unitState is a state of unitSchema with two units.
var unitState = []byte("\x07\x00\x00\x00" + "\x02\x00\x00\x00" +
	"\x01\x00" + "\xff\xff\xff\xff\xff\xff\xff\xff" + "\x00\x00\x00\x80\x01\x00\x00\x00" + "\x01" +
	"\x02\x01" + "\x00\x00\x00\x00\x00\x00\x00\x80" + "\xff\xff\xff\xff\xff\xff\xff\x7f" + "\x00" +
	"\x02\x00\x00\x00ab" + "\x00\x00\x00\x00")

// selfTestSchema is the type of the state with which a machine tests its layout.
var selfTestSchema = describe(root(7), leaf(tBool, "Flag"), leaf(tInt8, "Tiny"), leaf(tUint64, "Wide"), leaf(tSlice, "Units"), root(6),
	leaf(tInt64, "X"), leaf(tInt64, "Y"), leaf(tUint8, "Kind"), leaf(tBool, "Alive"), leaf(tUint16, "Owner"), leaf(tSlice, "Seen"), leaf(tUint32, ""),
	leaf(tString, "Name"), node{tArray, 0, 3, "Table"}, leaf(tInt16, ""), leaf(tSlice, "Empty"), leaf(tUint32, ""))

// selfTestState returns that state.
func selfTestState() []byte {
	b := binary.LittleEndian.AppendUint64([]byte{1, 0xfd}, 0x0123456789abcdef)
	b = binary.LittleEndian.AppendUint32(b, 5)
	for i := range int64(5) {
		b = binary.LittleEndian.AppendUint64(b, uint64(i<<40))
		b = binary.LittleEndian.AppendUint64(b, uint64(-i*12345678901))
		b = append(b, byte(200+i), byte(1-i%2))
		b = binary.LittleEndian.AppendUint16(b, uint16(i*4096))
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
		b = append(b, make([]byte, 4*i)...)
	}
	b = append(b, "\x0a\x00\x00\x00samestep \xff"...)
	return append(b, "\xff\xff\x00\x00\x34\x12\x00\x00\x00\x00"...)
}

// goodSchemas are schemas with values and their sums.
func goodSchemas() []Built {
	ok := func(id, about string, schema, value []byte, rules ...string) Built {
		return schemaCase(id, "ok", about, schema, value, rules...)
	}
	all := describe(root(10), leaf(tBool, "B"), leaf(tInt8, "I8"), leaf(tInt16, "I16"), leaf(tInt32, "I32"), leaf(tInt64, "I64"),
		leaf(tUint8, "U8"), leaf(tUint16, "U16"), leaf(tUint32, "U32"), leaf(tUint64, "U64"), leaf(tString, "S"))
	value := "\x01\x80\x00\x80\x00\x00\x00\x80\x00\x00\x00\x00\x00\x00\x00\x80\xff\xff\xff\xff\xff\xff\xff" + strings.Repeat("\xff", 8) + "\x02\x00\x00\x00\xc3\xa9"
	deep := []node{root(1)}
	for range 30 {
		deep = append(deep, node{tStruct, 0, 1, "D"})
	}
	deep = append(deep, leaf(tBool, "Leaf"))
	return []Built{
		ok("leaves", "Every kind of leaf, at the end of its range.", all, []byte(value), "F-state", "F-schema", "F-state-hash"),
		ok("units", "A state with slices, arrays, structs and fixed-point numbers.", unitSchema, unitState, "F-state", "F-state-hash"),
		ok("conform", "The first state of the standard match.", stateSchema, newMatch(setup{}).state(), "F-state", "F-state-hash"),
		ok("conform-config", "The configuration of the standard match.", configSchema, []byte{100, 0, 0, 0}, "F-state"),
		ok("empty-struct", "A root without fields is a command without arguments.", describe(root(0)), []byte{}, "F-schema-struct", "F-state-hash"),
		ok("empty-values", "Slices and strings may be empty.", describe(root(2), leaf(tSlice, "L"), leaf(tUint8, ""), leaf(tString, "T")), make([]byte, 8), "F-state"),
		ok("string-bytes", "A string of a state may be any bytes.", describe(root(1), leaf(tString, "T")), []byte("\x03\x00\x00\x00\xff\x00a"), "F-state-string"),
		ok("bytes", "A slice of bytes.", describe(root(1), leaf(tSlice, "Fog"), leaf(tUint8, "")), []byte("\x03\x00\x00\x00\x00\x01\x02"), "F-state"),
		ok("nested", "A slice of slices.", describe(root(1), leaf(tSlice, "Rows"), leaf(tSlice, ""), leaf(tInt16, "")),
			[]byte("\x02\x00\x00\x00"+"\x01\x00\x00\x00\xfe\xff"+"\x00\x00\x00\x00"), "F-state"),
		ok("fractions", "Fraction bits are a note for people: the bytes are those of the integer.",
			describe(root(2), node{tInt32, 16, 0, "Q"}, node{tUint64, 64, 0, "R"}), []byte("\x00\x80\xff\xff\x01\x00\x00\x00\x00\x00\x00\x80"), "F-schema-fraction"),
		ok("names", "A name begins with an ASCII letter or an underscore.",
			describe(root(4), leaf(tBool, "_"), leaf(tBool, "_1z"), leaf(tBool, "AZaz09"), leaf(tBool, strings.Repeat("n", 255))), []byte{0, 1, 0, 1}, "F-schema-name"),
		ok("deepest", "32 nodes on the way from the root to a leaf.", describe(deep...), []byte{1}, "F-schema-depth"),
		ok("self-test-layout", "The state of the self-test.", selfTestSchema, selfTestState(), "F-state", "P-self-test"),
		ok("largest", "A value of 2^30 bytes; a reader checks sizes without making a value.",
			describe(root(1), node{tArray, 0, 1 << 30, "A"}, leaf(tUint8, "")), nil, "F-schema-size"),
		ok("sections-swapped", "Two sections with exchanged values have another state hash.", describe(root(2), leaf(tUint8, "A"), leaf(tUint8, "B")), []byte{1, 2}, "F-state-hash"),
		ok("sections-swapped-back", "The same sections the other way round.", describe(root(2), leaf(tUint8, "A"), leaf(tUint8, "B")), []byte{2, 1}, "F-state-hash"),
	}
}

// brokenSchemas are descriptions that no schema has.
func brokenSchemas() []Built {
	bad := func(id, about string, schema []byte, rules ...string) Built {
		return schemaCase(id, "invalid", about, schema, nil, rules...)
	}
	deep := []node{root(1)}
	for range 31 {
		deep = append(deep, node{tStruct, 0, 1, "D"})
	}
	deep = append(deep, leaf(tBool, "Leaf"))
	good := describe(root(1), leaf(tBool, "A"))
	return []Built{
		bad("schema-empty", "A description has no bytes.", []byte{}, "F-schema"),
		bad("schema-no-nodes", "A description has no nodes.", describe(), "F-schema"),
		bad("schema-cut", "A description ends inside a node.", good[:len(good)-1], "F-schema"),
		bad("schema-trailing", "A byte stands after the last node.", append(bytes.Clone(good), 0), "F-schema"),
		bad("schema-more-nodes", "A node stands after the end of the root.", describe(root(1), leaf(tBool, "A"), leaf(tBool, "B")), "F-schema"),
		bad("schema-fewer-nodes", "A struct has fewer fields than its count says.", describe(root(2), leaf(tBool, "A")), "F-schema"),
		bad("schema-root", "The root is no struct.", describe(leaf(tBool, "")), "F-schema-root"),
		bad("schema-kind-0", "A node has the kind 0.", describe(root(1), leaf(0, "A")), "F-schema-kind"),
		bad("schema-kind-14", "A node has the kind 14.", describe(root(1), leaf(14, "A")), "F-schema-kind"),
		bad("schema-count-leaf", "A leaf has a count.", describe(root(1), node{tBool, 0, 1, "A"}), "F-schema-count"),
		bad("schema-count-slice", "A slice has a count.", describe(root(1), node{tSlice, 0, 1, "A"}, leaf(tBool, "")), "F-schema-count"),
		bad("schema-count-array", "An array has no elements.", describe(root(1), node{tArray, 0, 0, "A"}, leaf(tBool, "")), "F-schema-count"),
		bad("schema-struct-empty", "A struct inside the root has no fields.", describe(root(1), node{tStruct, 0, 0, "A"}), "F-schema-struct"),
		bad("schema-fraction-bool", "A bool has fraction bits.", describe(root(1), node{tBool, 1, 0, "A"}), "F-schema-fraction"),
		bad("schema-fraction-bits", "An integer has more fraction bits than bits.", describe(root(1), node{tInt16, 17, 0, "A"}), "F-schema-fraction"),
		bad("schema-name-empty", "A field has no name.", describe(root(1), leaf(tBool, "")), "F-schema-name"),
		bad("schema-name-root", "The root has a name.", describe(node{tStruct, 0, 1, "R"}, leaf(tBool, "A")), "F-schema-name"),
		bad("schema-name-element", "An element has a name.", describe(root(1), leaf(tSlice, "A"), leaf(tBool, "B")), "F-schema-name"),
		bad("schema-name-twice", "Two fields of a struct have one name.", describe(root(2), leaf(tBool, "A"), leaf(tBool, "A")), "F-schema-name"),
		bad("schema-name-digit", "A name begins with a digit.", describe(root(1), leaf(tBool, "1A")), "F-schema-name"),
		bad("schema-name-dot", "A name has a point.", describe(root(1), leaf(tBool, "A.B")), "F-schema-name"),
		bad("schema-name-dash", "A name has a dash.", describe(root(1), leaf(tBool, "A-B")), "F-schema-name"),
		bad("schema-name-utf8", "A name is not UTF-8.", describe(root(1), leaf(tBool, "A\xff")), "F-schema-name"),
		bad("schema-name-accent", "A name begins with a letter that is not ASCII.", describe(root(1), leaf(tBool, "\u00e9t\u00e9")), "F-schema-name"),
		bad("schema-name-script", "A name has a letter that only newer versions of Unicode know, U+11F04.", describe(root(1), leaf(tBool, "A\U00011f04")), "F-schema-name"),
		bad("schema-name-ideograph", "A name has an ideograph that only newer versions of Unicode know, U+2EBF0.", describe(root(1), leaf(tBool, "A\U0002ebf0")), "F-schema-name"),
		bad("schema-name-digits", "A name has a digit that is not ASCII, U+0661.", describe(root(1), leaf(tBool, "A\u0661")), "F-schema-name"),
		bad("schema-name-long", "A name has 256 bytes.", describe(root(1), leaf(tBool, strings.Repeat("n", 256))), "F-schema-name"),
		bad("schema-depth", "33 nodes stand on the way from the root to a leaf.", describe(deep...), "F-schema-depth"),
		bad("schema-size", "A value has more than 2^30 bytes.", describe(root(1), node{tArray, 0, 1 << 29, "A"}, node{tArray, 0, 3, ""}, leaf(tUint8, "")), "F-schema-size"),
		bad("schema-nodes", "A schema has more than 4,096 nodes.", manyNodes(4097), "F-schema-nodes"),
	}
}

// manyNodes returns a description with n nodes.
func manyNodes(n int) []byte {
	nodes := []node{root(uint32(n - 1))}
	for i := range n - 1 {
		nodes = append(nodes, leaf(tBool, fmt.Sprintf("N%d", i)))
	}
	return describe(nodes...)
}

// brokenValues are bytes that are no value of their schema.
func brokenValues() []Built {
	bad := func(id, about string, value []byte, rules ...string) Built {
		return schemaCase(id, "invalid", about, unitSchema, value, rules...)
	}
	change := func(at int, to byte) []byte {
		b := bytes.Clone(unitState)
		b[at] = to
		return b
	}
	return []Built{
		bad("value-empty", "A value has no bytes.", []byte{}, "F-state"),
		bad("value-cut", "A value ends inside its last string's length.", unitState[:len(unitState)-1], "F-state"),
		bad("value-cut-field", "A value ends inside an integer.", unitState[:15], "F-state"),
		bad("value-trailing", "A byte stands after a value.", append(bytes.Clone(unitState), 0), "F-state"),
		bad("value-bool", "A bool is 2.", change(26, 2), "F-state-bool"),
		bad("value-bool-second", "The bool of the second element is 255.", change(45, 255), "F-state-bool"),
		bad("value-count", "A slice claims more elements than there are bytes for.", change(7, 0xff), "F-state-count"),
		bad("value-string", "A string claims more bytes than there are.", change(47, 9), "F-state-count"),
	}
}
