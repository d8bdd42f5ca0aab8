package state

import (
	"bytes"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"
)

// FuzzDecode: accepted bytes are encoded back the same, and Decode accepts the same bytes as Validate. All engines
// agree.
func FuzzDecode(f *testing.F) {
	golden := goldenBytes(f)
	f.Add(golden, []byte{})
	f.Add(golden, golden)
	f.Add(golden[:60], golden)
	f.Add(bytes.Repeat([]byte{0xff}, 40), golden)
	f.Add(make([]byte, 64), golden)
	c := MustCompile[world]()
	s, places, err := compile(reflect.TypeFor[world]())
	if err != nil {
		f.Fatal(err)
	}
	all := movers(s, places)
	f.Fuzz(func(t *testing.T, src, old []byte) {
		var v world
		if err := c.Decode(old, &v); err != nil {
			v = world{}
		}
		err := c.Decode(src, &v)
		if valid := s.Validate(src); (err == nil) != (valid == nil) {
			t.Fatalf("Decode: %v, Validate: %v", err, valid)
		}
		if err != nil {
			return
		}
		if got := c.Append(nil, &v); !bytes.Equal(got, src) {
			t.Fatalf("accepted %x, written back as %x", src, got)
		}
		var fork world
		c.Copy(&fork, &v)
		for _, m := range all {
			if got := m.append(nil, reflect.ValueOf(&fork).Elem()); !bytes.Equal(got, src) {
				t.Fatalf("%s engine: %x, want %x", m.name, got, src)
			}
		}
	})
}

// FuzzParseSchema: an accepted description is written back the same, and makes a usable schema.
func FuzzParseSchema(f *testing.F) {
	f.Add(MustCompile[world]().Schema().AppendDescription(nil))
	f.Add(descriptions.Schema().AppendDescription(nil))
	f.Add(MustCompile[struct{}]().Schema().AppendDescription(nil))
	for seed := range uint64(8) {
		s, _, err := compile(randomStruct(rand.New(rand.NewPCG(seed, 7)), 3))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.AppendDescription(nil))
	}
	f.Add(bytes.Repeat([]byte{0xff}, 30))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := ParseSchema(src)
		if err != nil {
			return
		}
		if got := s.AppendDescription(nil); !bytes.Equal(got, src) {
			t.Fatalf("accepted %x, written back as %x", src, got)
		}
		if size, _ := s.Root().Size(); size <= 1<<16 { // the smallest state: all zero
			if err := s.Validate(make([]byte, size)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzValidate: no schema and no bytes cause a panic, and all ways through valid bytes agree on them.
func FuzzValidate(f *testing.F) {
	golden := goldenBytes(f)
	world := MustCompile[world]().Schema().AppendDescription(nil)
	f.Add(world, golden, golden)
	f.Add(world, golden, golden[1:])
	flipped := bytes.Clone(golden)
	flipped[61] ^= 1
	f.Add(world, golden, flipped)
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 8))
		typ := randomStruct(r, 3)
		s, _, err := compile(typ)
		if err != nil {
			f.Fatal(err)
		}
		a, b := reflect.New(typ).Elem(), reflect.New(typ).Elem()
		fill(r, a)
		fill(r, b)
		f.Add(s.AppendDescription(nil), naive(a), naive(b))
	}
	f.Fuzz(func(t *testing.T, description, a, b []byte) {
		s, err := ParseSchema(description)
		if err != nil || s.Validate(a) != nil {
			return
		}
		if err := s.Dump(io.Discard, a); err != nil {
			t.Fatal(err)
		}
		if err := s.DumpJSON(io.Discard, a); err != nil {
			t.Fatal(err)
		}
		parts, err := s.Split(nil, a)
		if err != nil || !bytes.Equal(bytes.Join(parts, nil), a) {
			t.Fatalf("sections %x of %x, error %v", parts, a, err)
		}
		leaves, err := s.Leaves(a)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for leaf := range leaves {
			if found, err := s.Lookup(a, leaf.Path); err != nil || found.Offset != leaf.Offset {
				t.Fatalf("%s at byte %d: found %+v, error %v", leaf.Path, leaf.Offset, found, err)
			}
			if n++; n == 20 {
				break
			}
		}
		if d, err := s.Diff(a, a, 1); err != nil || d.Total != 0 {
			t.Fatalf("differs from itself: %v, error %v", d, err)
		}
		if d, err := s.Diff(a, b, 1); err == nil && (d.Total == 0) != bytes.Equal(a, b) {
			t.Fatalf("%d differences between %x and %x", d.Total, a, b)
		}
	})
}
