package state

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKinds(t *testing.T) {
	names := []string{"invalid", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "string", "array", "slice", "struct", "float32", "float64", "invalid"}
	for i, want := range names {
		k := Kind(i)
		signed := i >= 2 && i <= 5
		integer := i >= 2 && i <= 9
		if k.String() != want || k.Signed() != signed || k.Integer() != integer {
			t.Errorf("kind %d: %v, signed %v, integer %v, want %s, %v, %v", i, k, k.Signed(), k.Integer(), want, signed, integer)
		}
	}
}

func TestLongestCount(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("no slice is that long")
	}
	most := uint64(1<<32 - 1)
	if b := appendCount(nil, int(most)); string(b) != "\xff\xff\xff\xff" {
		t.Errorf("a count of 2^32-1 is %x", b)
	}
	defer func() {
		if recover() == nil {
			t.Error("a count of 2^32 did not panic")
		}
	}()
	appendCount(nil, int(most+1))
}

// unexported makes cmp compare unexported fields too.
var unexported = cmp.Exporter(func(reflect.Type) bool { return true })

// goldenDescription is the description of struct{ ID uint32; Turn angle; Path []struct{ X [2]ratio } }.
const goldenDescription = "07000000" +
	"0d00" + "03000000" + "00000000" +
	"0800" + "00000000" + "02000000" + "4944" +
	"0820" + "00000000" + "04000000" + "5475726e" +
	"0c00" + "00000000" + "04000000" + "50617468" +
	"0d00" + "01000000" + "00000000" +
	"0b00" + "02000000" + "01000000" + "58" +
	"0520" + "00000000" + "00000000"

func TestGoldenDescription(t *testing.T) {
	c := MustCompile[struct {
		ID   uint32
		Turn angle
		Path []struct{ X [2]ratio }
	}]()
	b := c.Schema().AppendDescription(nil)
	if got := hex.EncodeToString(b); got != goldenDescription {
		t.Errorf("description: %s, want %s", got, goldenDescription)
	}
	s, err := ParseSchema(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Schema(), s, unexported); diff != "" {
		t.Errorf("parsed schema (-want +got):\n%s", diff)
	}
}

func TestDescriptionsOfRandomTypes(t *testing.T) {
	for seed := range uint64(200) {
		typ := randomStruct(rand.New(rand.NewPCG(seed, 2)), 4)
		s, _, err := compile(typ)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := ParseSchema(s.AppendDescription(nil))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(s, parsed, unexported); diff != "" || parsed.Fingerprint() != s.Fingerprint() {
			t.Errorf("seed %d: the parsed schema of %v (-want +got):\n%s", seed, typ, diff)
		}
	}
}

func TestRefusedSchemas(t *testing.T) {
	root := func(count uint32, nodes ...describedNode) []describedNode {
		return append([]describedNode{{Kind: Struct, Count: count}}, nodes...)
	}
	field := func(kind Kind, count uint32) describedNode { return describedNode{Kind: kind, Count: count, Name: "A"} }
	named := func(name string) []describedNode { return root(1, describedNode{Kind: Bool, Name: name}) }
	deep := root(1, field(Slice, 0))
	for range MaxDepth {
		deep = append(deep, describedNode{Kind: Slice})
	}
	for _, test := range []struct {
		name   string
		nodes  []describedNode
		node   int
		reason string
	}{
		{"no nodes", nil, 0, "ends inside"},
		{"a leaf as the root", []describedNode{{Kind: Bool}}, 0, "want a struct"},
		{"a named root", []describedNode{{Kind: Struct, Name: "World"}}, 0, "not a field"},
		{"kind 0", root(1, field(0, 0)), 1, "unknown kind 0"},
		{"kind 16", root(1, field(16, 0)), 1, "unknown kind 16"},
		{"fewer fields", root(2, field(Bool, 0)), 0, "more fields"},
		{"more nodes", root(1, field(Bool, 0), field(Bool, 0)), 2, "after the end"},
		{"2^32-1 fields", root(1<<32-1, field(Bool, 0)), 0, "a count of 4294967295"},
		{"2^30 fields", root(1<<30, field(Bool, 0)), 0, "more fields"},
		{"a slice without element", root(1, field(Slice, 0)), 2, "ends inside"},
		{"an array without elements", root(1, field(Array, 0), describedNode{Kind: Bool}), 1, "without elements"},
		{"an array of 2^32-1", root(1, field(Array, 1<<32-1), describedNode{Kind: Bool}), 1, "a count of 4294967295"},
		{"an array of 2^31", root(1, field(Array, 1<<31), describedNode{Kind: Bool}), 1, "a count of 2147483648"},
		{"a huge array", root(1, field(Array, 1<<28), describedNode{Kind: Uint64}), 1, "2147483648 bytes"},
		{"huge arrays of arrays", root(1, field(Array, 1<<30), describedNode{Kind: Array, Count: 1 << 30}, describedNode{Kind: Uint8}), 1, "1152921504606846976 bytes"},
		{"a count on a leaf", root(1, field(Uint8, 1)), 1, "a count of 1 on a uint8"},
		{"a count on a slice", root(1, field(Slice, 1), describedNode{Kind: Bool}), 1, "a count of 1 on a slice"},
		{"fraction bits on a bool", root(1, describedNode{Kind: Bool, FractionBits: 1, Name: "A"}), 1, "1 fraction bits in a bool"},
		{"65 fraction bits", root(1, describedNode{Kind: Int64, FractionBits: 65, Name: "A"}), 1, "65 fraction bits"},
		{"an empty struct inside", root(1, field(Struct, 0)), 1, "empty struct"},
		{"a second A", root(2, field(Bool, 0), field(Bool, 0)), 2, `second field named "A"`},
		{"a named element", root(1, field(Slice, 0), field(Bool, 0)), 2, "not a field"},
		{"no name", named(""), 1, "0 bytes"},
		{"a long name", named(strings.Repeat("a", MaxNameBytes+1)), 1, "256 bytes"},
		{"a name with a point", named("A.B"), 1, "identifier"},
		{"a name with a line feed", named("A\n"), 1, "identifier"},
		{"a name that begins with a digit", named("1A"), 1, "identifier"},
		{"a name that is not UTF-8", named("A\xff"), 1, `got the byte "\xff"`},
		{"an accented letter", named("\u00e9t\u00e9"), 1, `got the byte "\xc3"`},
		{"a letter of Unicode 15", named("\U00011f04"), 1, "identifier"},
		{"an ideograph of Unicode 15.1", named("A\U0002ebf0"), 1, "identifier"},
		{"the byte before the digits", named("A/"), 1, "identifier"},
		{"the byte behind the digits", named("A:"), 1, "identifier"},
		{"the byte before the letters", named("@"), 1, "identifier"},
		{"the byte behind the letters", named("["), 1, "identifier"},
		{"the byte before the small letters", named("`"), 1, "identifier"},
		{"the byte behind the small letters", named("{"), 1, "identifier"},
		{"too deep", append(deep, describedNode{Kind: Bool}), MaxDepth, "deeper"},
		{"too many nodes", root(MaxNodes, make([]describedNode, MaxNodes)...), MaxNodes, "4097 nodes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParseSchema(descriptions.Append(nil, &description{test.nodes}))
			var bad *SchemaError
			if !errors.As(err, &bad) {
				t.Fatalf("error %v, want a *SchemaError", err)
			}
			if bad.Node != test.node || !strings.Contains(err.Error(), test.reason) {
				t.Errorf("error %q at node %d, want %q at node %d", err, bad.Node, test.reason, test.node)
			}
		})
	}
}

func TestLongDescription(t *testing.T) {
	var bad *SchemaError
	if _, err := ParseSchema(make([]byte, maxDescriptionBytes+1)); !errors.As(err, &bad) {
		t.Errorf("error %v, want a *SchemaError", err)
	}
	longest := []describedNode{{Kind: Struct, Count: MaxNodes - 1}}
	for i := range MaxNodes - 1 {
		name := bytes.Repeat([]byte{'a'}, MaxNameBytes)
		copy(name, hex.AppendEncode([]byte("N"), []byte{byte(i >> 8), byte(i)}))
		longest = append(longest, describedNode{Kind: Bool, Name: string(name)})
	}
	if _, err := ParseSchema(descriptions.Append(nil, &description{longest})); err != nil {
		t.Errorf("the longest description: %v", err)
	}
}

func TestEveryDescriptionFlip(t *testing.T) {
	golden, _ := hex.DecodeString(goldenDescription)
	for bit := range 8 * len(golden) {
		b := bytes.Clone(golden)
		b[bit/8] ^= 1 << (bit % 8)
		s, err := ParseSchema(b)
		if err == nil && !bytes.Equal(s.AppendDescription(nil), b) {
			t.Errorf("bit %d flipped: accepted, and written back as other bytes", bit)
		}
	}
	for n := range golden {
		if _, err := ParseSchema(golden[:n]); err == nil {
			t.Errorf("the first %d bytes are accepted", n)
		}
	}
}
