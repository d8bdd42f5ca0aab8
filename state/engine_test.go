package state

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"
)

var rounds = flag.Int("state.rounds", 400, "random types for the engines to agree on")

// TestEnginesAgree compares all engines with the naive encoder, on random values of random types. The destinations hold
// other values, whose slices share memory in every way that a game could.
func TestEnginesAgree(t *testing.T) {
	for seed := range uint64(*rounds) {
		if testing.Short() && seed >= 100 {
			break
		}
		r := rand.New(rand.NewPCG(seed, 1))
		typ := randomStruct(r, 3)
		s, places, err := compile(typ)
		if err != nil {
			t.Fatalf("seed %d: %v: %v", seed, typ, err)
		}
		for _, m := range movers(s, places) {
			for range 4 {
				if err := checkMover(r, m, s, typ); err != nil {
					t.Fatalf("seed %d, %s engine: %v\n%v", seed, m.name, err, typ)
				}
			}
		}
	}
}

func checkMover(r *rand.Rand, m mover, s *Schema, typ reflect.Type) error {
	src := reflect.New(typ).Elem()
	fill(r, src)
	want := naive(src)
	if got := m.append([]byte("x"), src); !bytes.Equal(got[1:], want) {
		return fmt.Errorf("append: %x, want %x", got[1:], want)
	}
	if err := s.Validate(want); err != nil {
		return err
	}
	parts, err := s.Split(nil, want)
	if err != nil {
		return err
	}
	for i, part := range parts {
		if size, sum := m.section(i, src); size != len(part) || sum != xxhash.Sum64(part) {
			return fmt.Errorf("section %d: %d bytes with sum %x, want %d with %x", i, size, sum, len(part), xxhash.Sum64(part))
		}
	}

	wantPrints, err := s.AppendPrints(nil, want)
	if err != nil {
		return err
	}
	if prints, size := m.prints(src); !slices.Equal(prints, wantPrints) || size != len(want) {
		return fmt.Errorf("prints: got %x of %d bytes, want %x of %d", prints, size, wantPrints, len(want))
	}

	for _, way := range []string{"decode", "copy"} {
		dst := reflect.New(typ).Elem()
		fill(r, dst)
		other := src
		if way == "decode" {
			other = dst // bytes know nothing of src
		}
		share(r, dst, other)
		kept := derivedOf(dst)
		if way == "copy" {
			m.copy(dst, src)
		} else {
			m.decode(want, dst)
		}
		if got := naive(dst); !bytes.Equal(got, want) {
			return fmt.Errorf("%s: %x, want %x", way, got, want)
		}
		if got := naive(src); !bytes.Equal(got, want) {
			return fmt.Errorf("%s: the source became %x, want %x", way, got, want)
		}
		list := append(extents(dst, nil), extent{dst.Addr().Pointer(), dst.Addr().Pointer() + typ.Size()})
		if way == "copy" {
			list = append(list, distinct(extents(src, nil))...)
		}
		if overlapping(list) {
			return fmt.Errorf("%s: two slices share memory", way)
		}
		if diff := cmp.Diff(kept, derivedOf(dst)); diff != "" {
			return fmt.Errorf("%s: derived fields changed (-want +got):\n%s", way, diff)
		}
		if err := derivedIsZero(dst, false); err != nil {
			return fmt.Errorf("%s: %w", way, err)
		}
	}
	return nil
}

// distinct is one range around every extent of the source, whose slices may share memory among each other.
func distinct(list []extent) []extent {
	var merged []extent
	for _, e := range list {
		for i := 0; i < len(merged); {
			if o := merged[i]; o.first < e.end && e.first < o.end {
				e = extent{min(e.first, o.first), max(e.end, o.end)}
				merged[i] = merged[len(merged)-1]
				merged = merged[:len(merged)-1]
				i = 0
				continue
			}
			i++
		}
		merged = append(merged, e)
	}
	return merged
}

// share replaces some slices of dst by parts of other slices and arrays in dst and src.
func share(r *rand.Rand, dst, src reflect.Value) {
	var targets, sources []reflect.Value
	collect(dst, &targets, &sources)
	collect(src, new([]reflect.Value), &sources)
	for _, target := range targets {
		if r.IntN(2) == 0 {
			continue
		}
		var fits []reflect.Value
		for _, s := range sources {
			if s.Type().Elem() == target.Type().Elem() {
				fits = append(fits, s)
			}
		}
		s := fits[r.IntN(len(fits))]
		from := r.IntN(s.Len() + 1)
		to := from + r.IntN(s.Len()-from+1)
		if r.IntN(2) == 0 || s.Kind() == reflect.Array {
			target.Set(s.Slice3(from, to, to))
		} else {
			target.Set(s.Slice(from, to))
		}
	}
}

// collect lists the slices in v, and the slices and arrays in v.
func collect(v reflect.Value, list, all *[]reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("state") != "derived" {
				collect(v.Field(i), list, all)
			}
		}
	case reflect.Slice:
		*list = append(*list, v)
		fallthrough
	case reflect.Array:
		*all = append(*all, v)
		for i := range v.Len() {
			collect(v.Index(i), list, all)
		}
	}
}

// derivedOf returns the derived fields of v that are not in a slice.
func derivedOf(v reflect.Value) []any {
	var list []any
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("state") == "derived" {
				list = append(list, v.Field(i).Interface())
			} else {
				list = append(list, derivedOf(v.Field(i))...)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			list = append(list, derivedOf(v.Index(i))...)
		}
	}
	return list
}

// derivedIsZero checks that the derived fields in elements of slices are zero.
func derivedIsZero(v reflect.Value, inSlice bool) error {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			if v.Type().Field(i).Tag.Get("state") != "derived" {
				if err := derivedIsZero(f, inSlice); err != nil {
					return err
				}
			} else if inSlice && !f.IsZero() {
				return fmt.Errorf("the derived field %s of an element is %v, want zero", v.Type().Field(i).Name, f)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := derivedIsZero(v.Index(i), inSlice || v.Kind() == reflect.Slice); err != nil {
				return err
			}
		}
	}
	return nil
}
