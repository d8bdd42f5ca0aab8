package feed

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/seed-49bee653/samestep/state"
)

// A small view has a list of each sort.
type small struct {
	Tick  uint32
	Done  bool
	Units []struct {
		ID uint16 `feed:"id"`
		X  int32  `feed:"quantize=4"`
		Up bool
	}
	Signed []struct {
		At int8 `feed:"id"`
	}
	Fog  []uint8
	Grid [3]uint16
}

func smallPlan(t testing.TB) (*Plan, *state.Codec[small]) {
	t.Helper()
	codec := state.MustCompile[small]()
	p, err := NewPlan(codec.Schema(), state.Tags(reflect.TypeFor[small](), "feed"))
	if err != nil {
		t.Fatal(err)
	}
	return p, codec
}

// image returns that of a value.
func imageOf(t testing.TB, p *Plan, codec *state.Codec[small], v *small) *image {
	t.Helper()
	m := new(image)
	if err := p.read(m, codec.Append(nil, v)); err != nil {
		t.Fatal(err)
	}
	return m
}

// samples returns values with units of these ids.
func sample(ids ...uint16) *small {
	v := &small{Tick: uint32(len(ids)), Fog: make([]uint8, len(ids)), Grid: [3]uint16{1, uint16(len(ids)), 0}}
	for i, id := range ids {
		v.Units = append(v.Units, struct {
			ID uint16 `feed:"id"`
			X  int32  `feed:"quantize=4"`
			Up bool
		}{id, int32(i) * 100, i%2 == 1})
		v.Signed = append(v.Signed, struct {
			At int8 `feed:"id"`
		}{int8(i - 2)})
	}
	return v
}

// A delta is the only one from its base to its view, and no bytes make Apply panic or grow without bound.
func FuzzApply(f *testing.F) {
	p, codec := smallPlan(f)
	bases := []*image{imageOf(f, p, codec, &small{}), imageOf(f, p, codec, sample(1, 2, 5, 900)), imageOf(f, p, codec, sample(2, 3))}
	for i, base := range bases {
		for _, to := range bases {
			f.Add(uint8(i), p.appendDelta(nil, base, to, all(p, base, to)))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, delta []byte) {
		base, m, s := bases[int(which)%len(bases)], new(image), new(scratch)
		if err := p.apply(m, base, delta, s); err != nil {
			if !errors.As(err, new(*DeltaError)) {
				t.Fatalf("got %v", err)
			}
			return
		}
		if again := p.appendDelta(nil, base, m, all(p, base, m)); !bytes.Equal(again, delta) {
			t.Fatalf("%x makes the same view as %x", delta, again)
		}
		b := p.append(nil, m)
		if err := codec.Decode(b, new(small)); err != nil {
			t.Fatal(err)
		}
		read := new(image)
		if err := p.read(read, b); err != nil || !read.equal(m) {
			t.Fatalf("the view is read as another one: %v", err)
		}
	})
}

// all returns all changes from a base to a view.
func all(p *Plan, base, to *image) []change {
	list, _ := p.compare(nil, base, to, 0)
	for i := range list {
		list[i].taken = true
	}
	return list
}

// Every cut of a delta, and every byte more, is refused.
func TestTruncated(t *testing.T) {
	p, codec := smallPlan(t)
	base, to := imageOf(t, p, codec, sample(1, 2, 5)), imageOf(t, p, codec, sample(2, 5, 7, 8))
	delta := p.appendDelta(nil, base, to, all(p, base, to))
	for n := range delta {
		if err := p.apply(new(image), base, delta[:n], new(scratch)); err == nil {
			t.Errorf("%d bytes of %d were taken", n, len(delta))
		}
	}
	if err := p.apply(new(image), base, append(delta, 0), new(scratch)); err == nil {
		t.Error("a byte more was taken")
	}
	if err := p.apply(new(image), base, delta, new(scratch)); err != nil {
		t.Error(err)
	}
}

// Types that cannot be sent, and tags that mean nothing, are refused by the field.
func TestPlanErrors(t *testing.T) {
	for _, row := range []struct {
		of         reflect.Type
		schema     *state.Schema
		path, text string
	}{
		row[struct{ Name string }]("Name", "no strings"),
		row[struct{ Units []struct{ Orders []uint8 } }]("Units", "an element has a list"),
		row[struct {
			X uint8 `feed:"id"`
		}]("X", "the tag id is for a field of a list's element"),
		row[struct {
			X uint8 `feed:"sometimes"`
		}]("X", `got the tag feed:"sometimes"`),
		row[struct {
			X uint8 `feed:"every=0"`
		}]("X", "want every=1 to 100"),
		row[struct {
			X uint8 `feed:"quantize=1/16"`
		}]("X", "finer than the number"),
		row[struct {
			X uint8 `feed:"quantize=256"`
		}]("X", "larger than all numbers"),
		row[struct {
			X int32 `feed:"quantize=3"`
		}]("X", "a power of two"),
		row[struct {
			B bool `feed:"quantize=2"`
		}]("B", "a bool has nothing to quantize"),
		row[struct {
			U []struct {
				ID  uint8 `feed:"id"`
				ID2 uint8 `feed:"id"`
			}
		}]("U[].ID2", "want one number as the id"),
		row[struct {
			U [2]struct {
				ID uint8 `feed:"id"`
			}
		}]("U[].ID", "want one number as the id of a list of any length"),
		row[struct {
			U []struct {
				ID uint8 `feed:"id,quantize=2"`
			}
		}]("U[].ID", "an id is not rounded"),
		row[struct{ Many [9]struct{ X [8]uint8 } }]("", ""),
		row[struct{ Many []struct{ X [65]uint8 } }]("Many[].X[64]", "more than 64 numbers"),
	} {
		_, err := NewPlan(row.schema, state.Tags(row.of, "feed"))
		if row.path == "" {
			if err != nil {
				t.Errorf("%v: %v", row.of, err)
			}
			continue
		}
		var e *PlanError
		if !errors.As(err, &e) || e.Path != row.path || !bytes.Contains([]byte(e.Reason), []byte(row.text)) {
			t.Errorf("%v: got %v, want %s: …%s…", row.of, err, row.path, row.text)
		}
	}
	s := state.MustCompile[struct{ Units []struct{ ID uint8 } }]().Schema()
	for path, tags := range map[string][]state.Tag{
		"Units[].Id": {{Path: "Units[].ID", Text: "id"}, {Path: "Units[].Id", Text: "every=2"}},
		"Units":      make([]state.Tag, MaxTags+1),
		"":           {{Path: "", Text: "id"}},
	} {
		for i := range tags {
			if tags[i].Text == "" {
				tags[i] = state.Tag{Path: "Units", Text: "every=2"}
			}
		}
		var e *PlanError
		if _, err := NewPlan(s, tags); !errors.As(err, &e) || e.Path != path {
			t.Errorf("%.200v: got %v, want an error of %q", tags, err, path)
		}
	}
}

func row[T any](path, text string) (r struct {
	of         reflect.Type
	schema     *state.Schema
	path, text string
}) {
	r.of, r.schema, r.path, r.text = reflect.TypeFor[T](), state.MustCompile[T]().Schema(), path, text
	return r
}

// A plan is read as it was described. Any other bytes are refused, and none make ParsePlan panic.
func FuzzParsePlan(f *testing.F) {
	p, _ := smallPlan(f)
	f.Add(p.AppendDescription(nil))
	f.Add([]byte{})
	f.Add([]byte{200, 200, 200, 200, 200, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParsePlan(b)
		if err != nil {
			return
		}
		if again := p.AppendDescription(nil); !bytes.Equal(again, b) {
			t.Errorf("got %x, want %x", again, b)
		}
		NewReceiver(p)
	})
}

// A receiver with a described plan makes the same views.
func TestDescription(t *testing.T) {
	p, codec := smallPlan(t)
	described, err := ParsePlan(p.AppendDescription(nil))
	if err != nil {
		t.Fatal(err)
	}
	s, r := NewSender(p), NewReceiver(described)
	if err := s.Set(codec.Append(nil, sample(1, 5, 9)), 0); err != nil {
		t.Fatal(err)
	}
	base, delta := s.Delta(0)
	if err := r.Apply(s.Number(), base, delta); err != nil || !bytes.Equal(r.AppendView(nil), s.AppendView(nil)) {
		t.Errorf("another view, %v", err)
	}
	for n := range p.AppendDescription(nil) {
		if _, err := ParsePlan(p.AppendDescription(nil)[:n]); err == nil {
			t.Errorf("%d bytes of a description were taken", n)
		}
	}
}
