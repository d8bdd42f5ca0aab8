package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The oracles of this package's tests: a naive encoder, and values of random types.

// naive returns the canonical bytes of v, as the package comment defines them and with none of the package's code.
func naive(v reflect.Value) []byte {
	var buf bytes.Buffer
	writeNaive(&buf, v)
	return buf.Bytes()
}

func writeNaive(buf *bytes.Buffer, v reflect.Value) {
	write := func(v any) {
		if err := binary.Write(buf, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("state") != "derived" {
				writeNaive(buf, v.Field(i))
			}
		}
	case reflect.String:
		write(uint32(v.Len()))
		buf.WriteString(v.String())
	case reflect.Slice:
		write(uint32(v.Len()))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			writeNaive(buf, v.Index(i))
		}
	default:
		write(v.Interface())
	}
}

type (
	ratio  int64  // like fixed.Q
	angle  uint32 // like fixed.Turn
	serial uint16
)

func (ratio) FractionBits() uint8 { return 32 }
func (angle) FractionBits() uint8 { return 32 }

var leafTypes = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[string](),
	reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
	reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
	reflect.TypeFor[ratio](), reflect.TypeFor[angle](), reflect.TypeFor[serial](),
}

var derivedTypes = []reflect.Type{
	reflect.TypeFor[map[string]int](), reflect.TypeFor[*int](), reflect.TypeFor[float64](), reflect.TypeFor[[]string](),
	reflect.TypeFor[uint8](), reflect.TypeFor[any](),
}

// randomType returns a type that may be part of a state.
func randomType(r *rand.Rand, depth int) reflect.Type {
	kind := r.IntN(10)
	switch {
	case depth == 0 || kind < 5:
		return leafTypes[r.IntN(len(leafTypes))]
	case kind < 7:
		return reflect.SliceOf(randomType(r, depth-1))
	case kind < 8:
		return reflect.ArrayOf(1+r.IntN(7), randomType(r, depth-1))
	}
	return randomStruct(r, depth-1)
}

// randomStruct returns a struct type with a few fields, some of them derived.
func randomStruct(r *rand.Rand, depth int) reflect.Type {
	var fields []reflect.StructField
	for range 1 + r.IntN(6) {
		f := reflect.StructField{Name: fmt.Sprintf("F%d", len(fields)), Type: randomType(r, depth)}
		if len(fields) > 0 && r.IntN(12) == 0 {
			f.Tag, f.Type = `state:"derived"`, derivedTypes[r.IntN(len(derivedTypes))]
		}
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

// fill sets v to a random value, derived fields included.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(4), 5))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.String:
		v.SetString(strings.Repeat("é", r.IntN(4)))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]int{"a": r.IntN(9)}))
	case reflect.Pointer:
		v.Set(reflect.ValueOf(new(r.IntN(9))))
	case reflect.Interface:
		v.Set(reflect.ValueOf(r.IntN(9)))
	case reflect.Float64:
		v.SetFloat(r.Float64())
	default:
		if v.CanInt() {
			v.SetInt(int64(r.Uint64()) >> (64 - v.Type().Bits()))
		} else {
			v.SetUint(r.Uint64() >> (64 - v.Type().Bits()))
		}
	}
}

// extent is the memory of a slice, up to its capacity.
type extent struct{ first, end uintptr }

// extents returns the memory of all slices in v that are not derived.
func extents(v reflect.Value, list []extent) []extent {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("state") != "derived" {
				list = extents(v.Field(i), list)
			}
		}
	case reflect.Slice:
		if v.Cap() > 0 {
			list = append(list, extent{v.Pointer(), v.Pointer() + uintptr(v.Cap())*v.Type().Elem().Size()})
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			list = extents(v.Index(i), list)
		}
	}
	return list
}

// overlapping reports whether two of the extents have a byte in common.
func overlapping(list []extent) bool {
	list = slices.SortedFunc(slices.Values(list), func(a, b extent) int {
		return int(int64(a.first) - int64(b.first))
	})
	for i := 1; i < len(list); i++ {
		if list[i].first < list[i-1].end {
			return true
		}
	}
	return false
}

// mover is an engine without its address type, so that tests run on all engines there are.
type mover struct {
	name    string
	append  func(dst []byte, v reflect.Value) []byte
	decode  func(src []byte, v reflect.Value)
	copy    func(dst, src reflect.Value)
	section func(i int, v reflect.Value) (size int, sum uint64)
	prints  func(v reflect.Value) (prints []uint64, sizeBytes int)
}

// fixedText returns an integer, or a fixed-point number, as the shortest decimal that is nearer to it than to any other.
func fixedText(v reflect.Value) string {
	fraction := 0
	if f, ok := v.Interface().(fractional); ok {
		fraction = int(f.FractionBits())
	}
	n := new(big.Int)
	if v.CanInt() {
		n.SetInt64(v.Int())
	} else {
		n.SetUint64(v.Uint())
	}
	exact := new(big.Rat).SetFrac(n, new(big.Int).Lsh(big.NewInt(1), uint(fraction)))
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(fraction)+1))
	for digits := 0; ; digits++ {
		text := exact.FloatString(digits)
		short, _ := new(big.Rat).SetString(text)
		if short.Sub(short, exact).Abs(short).Cmp(half) < 0 {
			return text
		}
	}
}

// randomState returns a random value of a random type.
func randomState(t *testing.T, seed, stream uint64) (*rand.Rand, *Schema, reflect.Value) {
	r := rand.New(rand.NewPCG(seed, stream))
	typ := randomStruct(r, 3)
	s, _, err := compile(typ)
	if err != nil {
		t.Fatalf("seed %d: %v: %v", seed, typ, err)
	}
	v := reflect.New(typ).Elem()
	fill(r, v)
	return r, s, v
}
