package state

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	s := MustCompile[world]().Schema()
	golden := goldenBytes(t)
	for _, test := range []struct {
		path   string
		offset int
		text   string
	}{
		{"Tick", 0, "7"},
		{"Units", 4, "2 elements"},
		{"Units[0]", 8, "struct"},
		{"Units[0].ID", 8, "1"},
		{"Units[0].Pos.X", 12, "12.5"},
		{"Units[0].Pos.Y", 20, "-1"},
		{"Units[0].Turn", 28, "0.5"},
		{"Units[0].Alive", 32, "true"},
		{"Units[0].Name", 33, `"a\"b"`},
		{"Units[0].Path", 40, "1 element"},
		{"Units[0].Path[0].Y", 52, "2"},
		{"Units[1].ID", 60, "2"},
		{"Units[1].Pos.X", 64, "0.0000000002"},
		{"Units[ID=1]", 8, "struct"},
		{"Units[ID=2].Pos.X", 64, "0.0000000002"},
		{"Units[Turn=0.5].Path[0].Y", 52, "2"},
		{"Units[Turn=2147483648].ID", 8, "1"},
		{"Units[Alive=false].ID", 60, "2"},
		{"Flags[Off=true].Off", 102, "true"},
		{"Scores", 93, "array"},
		{"Scores[1]", 95, "-2"},
		{"Flags[1].Off", 102, "true"},
		{"Fog[2]", 109, "255"},
		{"Winner", 110, "-1"},
		{"Message", 111, `"gg"`},
	} {
		v, err := s.Lookup(golden, test.path)
		if err != nil {
			t.Errorf("%s: %v", test.path, err)
			continue
		}
		if v.Offset != test.offset || v.String() != test.text || v.Path != test.path && !strings.Contains(test.path, "=") {
			t.Errorf("%s: got %s, %s at byte %d, want %s at byte %d", test.path, v.Path, v, v.Offset, test.text, test.offset)
		}
		if same, err := s.Lookup(golden, v.Path); err != nil || same.Offset != v.Offset || strings.Contains(v.Path, "=") {
			t.Errorf("%s: got path %s, of byte %d, error %v", test.path, v.Path, same.Offset, err)
		}
		leaves, err := s.LeavesAt(golden, test.path)
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Leaves(golden)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for leaf := range leaves {
			got = append(got, fmt.Sprint(leaf.Path, leaf.Offset, leaf))
		}
		for leaf := range all {
			if leaf.Offset >= v.Offset && leaf.Offset+len(leaf.Bytes) <= v.Offset+len(v.Bytes) {
				want = append(want, fmt.Sprint(leaf.Path, leaf.Offset, leaf))
			}
		}
		if !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s: got leaves %v, want %v", test.path, got, want)
		}
	}
	if v, err := s.Lookup(golden, ""); err != nil || !bytes.Equal(v.Bytes, golden) || v.Node != s.Root() {
		t.Errorf("the empty path: %d bytes, error %v, want the whole state", len(v.Bytes), err)
	}
}

func TestFlipRefuses(t *testing.T) {
	s := MustCompile[world]().Schema()
	b := goldenBytes(t)
	for _, path := range []string{"", "Units", "Units[0]", "Scores", "Units[1].Name"} {
		if v, err := s.Lookup(b, path); err != nil || v.Flip() {
			t.Errorf("%q was flipped, error %v", path, err)
		}
	}
	if !bytes.Equal(b, goldenBytes(t)) {
		t.Error("the bytes changed")
	}
}

func TestSections(t *testing.T) {
	s := MustCompile[world]().Schema()
	b := goldenBytes(t)
	var joined []byte
	parts, err := s.Split(nil, b)
	if err != nil || len(parts) != s.NumSections() {
		t.Errorf("got %d sections, error %v, want %d", len(parts), err, s.NumSections())
	}
	for i, part := range parts {
		whole, err := s.Lookup(b, s.SectionName(i))
		if err != nil || !bytes.Equal(part, whole.Bytes) {
			t.Errorf("section %d: %x, error %v, want %x", i, part, err, whole.Bytes)
		}
		joined = append(joined, part...)
	}
	if !bytes.Equal(joined, b) {
		t.Errorf("all sections: %x, want %x", joined, b)
	}
	if _, err := s.Split(nil, b[1:]); !errors.As(err, new(*DecodeError)) {
		t.Errorf("malformed bytes: error %v, want a *DecodeError", err)
	}
}

func TestLookupRefuses(t *testing.T) {
	s := MustCompile[world]().Schema()
	golden := goldenBytes(t)
	for _, path := range []string{
		"Nothing", "tick", "Tick.X", "Tick[0]", "Units.ID", "Units[2]", "Units[4294967296]", "Units[-1]", "Units[+1]", "Units[01]",
		"Units[]", "Units[0", "Units[0]]", "Units[0].", "Units[0]ID", "Units[0]..ID", ".Tick", "[0]", "Units.[0]", "Tick.", " Tick",
		"Units[ID=]", "Units[=1]", "Units[id=1]", "Units[ID=1", "Units[ID==1]", "Units[ID=99999]", "Units[ID=1]ID", "Units[ID]", "Scores[ID=1]", "Units[ID=1][0]", "Units[Pos=struct]",
		"Units[0].Name[0]", "Scores[3]", ".", "[", "]", "index",
	} {
		if v, err := s.Lookup(golden, path); !errors.Is(err, ErrPath) {
			t.Errorf("path %q: %v, error %v, want %v", path, v, err, ErrPath)
		}
	}
	if _, err := s.Lookup(golden[1:], "Tick"); !errors.As(err, new(*DecodeError)) {
		t.Errorf("malformed bytes: error %v, want a *DecodeError", err)
	}
}

// TestLeaves checks on random types that the leaves cover the whole state except its counts. Each is found by its path,
// is changed by Flip, and is then the only difference.
func TestLeaves(t *testing.T) {
	for seed := range uint64(60) {
		_, s, v := randomState(t, seed, 3)
		b := naive(v)
		leaves, err := s.Leaves(b)
		if err != nil {
			t.Fatal(err)
		}
		size, want := 0, leafBytes(v)
		for leaf := range leaves {
			size += len(leaf.Bytes)
			if err := checkLeaf(s, b, leaf); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, leaf.Path, err)
			}
		}
		if size != want {
			t.Errorf("seed %d: leaves of %d bytes, want %d", seed, size, want)
		}
	}
}

func checkLeaf(s *Schema, b []byte, leaf Value) error {
	found, err := s.Lookup(b, leaf.Path)
	if err != nil || found.Offset != leaf.Offset || !bytes.Equal(found.Bytes, leaf.Bytes) || found.Node != leaf.Node {
		return fmt.Errorf("Lookup finds %+v, error %v", found, err)
	}
	other := bytes.Clone(b)
	if damaged, err := s.Lookup(other, leaf.Path); err != nil || !damaged.Flip() {
		if leaf.String() == `""` && err == nil {
			return nil
		}
		return fmt.Errorf("not flipped, error %v", err)
	}
	text := leaf.String()
	if leaf.Node.Kind() == Uint64 && leaf.Node.FractionBits() == 0 && strings.HasSuffix(leaf.Path, "]") {
		text = fmt.Sprintf("%#x", loadUint(leaf.Bytes))
	}
	d, err := s.Diff(b, other, 5)
	if err != nil || d.Total != 1 || d.List[0].Path != leaf.Path || d.List[0].A != text {
		return fmt.Errorf("differences after the flip: %v, error %v", d, err)
	}
	if generic := stripIndexes(leaf.Path); leaf.Node.Path() != generic {
		return fmt.Errorf("the node's path is %s, want %s", leaf.Node.Path(), generic)
	}
	return nil
}

// leafBytes returns the canonical bytes of v without the counts of slices.
func leafBytes(v reflect.Value) int {
	switch v.Kind() {
	case reflect.Struct:
		size := 0
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("state") != "derived" {
				size += leafBytes(v.Field(i))
			}
		}
		return size
	case reflect.Slice, reflect.Array:
		size := 0
		for i := range v.Len() {
			size += leafBytes(v.Index(i))
		}
		return size
	}
	return len(naive(v))
}

func stripIndexes(path string) string {
	var out strings.Builder
	inside := false
	for _, r := range path {
		inside = inside && r != ']'
		if !inside {
			out.WriteRune(r)
		}
		inside = inside || r == '['
	}
	return out.String()
}

func TestLeavesStop(t *testing.T) {
	s := MustCompile[world]().Schema()
	leaves, err := s.Leaves(goldenBytes(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, last := range []string{"Tick", "Units[0].Path[0].X", "Flags[0].On"} {
		n := 0
		for leaf := range leaves {
			n++
			if leaf.Path == last {
				break
			}
		}
		if n == 0 {
			t.Errorf("no leaves up to %s", last)
		}
	}
	if _, err := s.Leaves(nil); !errors.As(err, new(*DecodeError)) {
		t.Errorf("error %v, want a *DecodeError", err)
	}
}

func TestNodes(t *testing.T) {
	root := MustCompile[world]().Schema().Root()
	units := root.Field(1)
	for _, test := range []struct {
		node   Node
		path   string
		kind   Kind
		fields int
		length int
		size   int
		fixed  bool
	}{
		{root, "", Struct, 7, 0, 4 + 4 + 6 + 4 + 4 + 1 + 4, false},
		{units, "Units", Slice, 0, 0, 4, false},
		{units.Elem(), "Units[]", Struct, 6, 0, 33, false},
		{units.Elem().Field(1), "Units[].Pos", Struct, 2, 0, 16, true},
		{units.Elem().Field(5).Elem().Field(0), "Units[].Path[].X", Int64, 0, 0, 8, true},
		{root.Field(2), "Scores", Array, 0, 3, 6, true},
		{root.Field(6), "Message", String, 0, 0, 4, false},
	} {
		n := test.node
		size, fixed := n.Size()
		if n.Path() != test.path || n.Kind() != test.kind || n.NumFields() != test.fields || n.Len() != test.length || size != test.size || fixed != test.fixed {
			t.Errorf("%s: %v with %d fields, %d elements, %d bytes (fixed: %v), want %+v", n.Path(), n.Kind(), n.NumFields(), n.Len(), size, fixed, test)
		}
	}
	if allocs := testing.AllocsPerRun(10, func() { _ = root.Field(1).Elem().Field(1).Field(0).FractionBits() }); allocs != 0 {
		t.Errorf("a walk allocates %v times", allocs)
	}
	defer func() {
		if recover() == nil {
			t.Error("Elem of a struct did not panic")
		}
	}()
	root.Elem()
}

// A path may select an element by a string with any characters in it.
func TestLookupByText(t *testing.T) {
	type bee struct {
		Name string
		Age  uint8
	}
	type hive struct{ Bees []bee }
	c := MustCompile[hive]()
	names := []string{"", "a", `b]`, `c=]"[`, "d.e", "\x1b\n"}
	var w hive
	for i, name := range names {
		w.Bees = append(w.Bees, bee{name, uint8(i)})
	}
	b := c.Append(nil, &w)
	for i, name := range names {
		for _, path := range []string{fmt.Sprintf("Bees[Name=%q].Age", name), fmt.Sprintf("Bees[%d].Age", i)} {
			if v, err := c.Schema().Lookup(b, path); err != nil || v.String() != fmt.Sprint(i) {
				t.Errorf("%s: got an error %v, want the value %d", path, err, i)
			}
		}
	}
	for _, path := range []string{`Bees[Name="a"`, `Bees[Name="a]`, `Bees[Name="]"].Age`, `Bees[Name=a].Age`} {
		if v, err := c.Schema().Lookup(b, path); !errors.Is(err, ErrPath) {
			t.Errorf("%s: got %v, %v", path, v.Path, err)
		}
	}
}

// The elements of a slice of different sizes, and of an array, are those that their paths name; other kinds have none.
func TestElements(t *testing.T) {
	s := MustCompile[world]().Schema()
	golden := goldenBytes(t)
	for path, count := range map[string]int{"Units": 2, "Scores": -1, "Flags": -1, "Units[0].Path": 1, "Units[1].Path": 0, "Tick": 0, "Units[0].Pos": 0, "": 0} {
		v, err := s.Lookup(golden, path)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for e := range v.Elements() {
			want, err := s.Lookup(golden, fmt.Sprintf("%s[%d]", path, n))
			if err != nil || e.Path != want.Path || e.Offset != want.Offset || !bytes.Equal(e.Bytes, want.Bytes) || e.Node != want.Node {
				t.Errorf("%s: got element %+v, want %+v, error %v", path, e, want, err)
			}
			n++
		}
		if count < 0 {
			count = v.Node.Len()
			if v.Node.Kind() == Slice {
				count = n
			}
		}
		if n != count {
			t.Errorf("%s: got %d elements, want %d", path, n, count)
		}
		for range v.Elements() {
			break // ends the iteration
		}
	}
}
