package locksteptest

import (
	"math/bits"
	"reflect"
)

// simplify makes plain data simpler step by step, as long as try agrees: slices lose elements, and numbers move towards
// zero. It leaves out fields that it cannot set.
func simplify(v reflect.Value, try func() bool) {
	if !v.CanSet() || v.IsZero() {
		return
	}
	attempt := func(simpler reflect.Value) bool {
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		v.Set(simpler)
		if try() {
			return true
		}
		v.Set(old)
		return false
	}
	if attempt(reflect.Zero(v.Type())) {
		return
	}
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			simplify(v.Field(i), try)
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			simplify(v.Index(i), try)
		}
	case v.Kind() == reflect.Slice:
		shorten(v, attempt)
		for i := range v.Len() {
			simplify(v.Index(i), try)
		}
	case v.Kind() == reflect.String:
		for n := v.Len() / 2; n > 0 && attempt(reflect.ValueOf(v.String()[:n]).Convert(v.Type())); n /= 2 {
		}
	case v.CanInt():
		towards(v.Int(), func(n int64) bool { return attempt(reflect.ValueOf(n).Convert(v.Type())) })
	case v.CanUint():
		towards(v.Uint(), func(n uint64) bool { return attempt(reflect.ValueOf(n).Convert(v.Type())) })
	}
}

// shorten removes elements of a slice, many at a time first.
func shorten(v reflect.Value, attempt func(reflect.Value) bool) {
	for n := v.Len() / 2; n > 0; n /= 2 {
		for from := 0; from < v.Len(); {
			rest := reflect.MakeSlice(v.Type(), 0, v.Len())
			rest = reflect.AppendSlice(rest, v.Slice(0, from))
			rest = reflect.AppendSlice(rest, v.Slice(min(from+n, v.Len()), v.Len()))
			if !attempt(rest) {
				from += n
			}
		}
	}
}

// towards moves n towards zero in shrinking steps.
func towards[N int64 | uint64](n N, attempt func(N) bool) {
	for step := n / 2; step != 0; {
		if attempt(n - step) {
			n -= step
			step = n / 2
		} else {
			step /= 2
		}
	}
}

// clone returns a copy of plain data that shares no memory with v.
func clone(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c = reflect.New(v.Type().Elem())
			c.Elem().Set(clone(v.Elem()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if c.Field(i).CanSet() {
				c.Field(i).Set(clone(v.Field(i)))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			c.Index(i).Set(clone(v.Index(i)))
		}
	case reflect.Slice:
		if !v.IsNil() {
			c = reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			for i := range v.Len() {
				c.Index(i).Set(clone(v.Index(i)))
			}
		}
	}
	return c
}

// valueWeight measures how complex a value is, by its digits and elements.
func valueWeight(v reflect.Value) (weight int) {
	switch {
	case v.Kind() == reflect.Pointer:
		return valueWeight(v.Elem())
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			weight += valueWeight(v.Field(i))
		}
	case v.Kind() == reflect.Array || v.Kind() == reflect.Slice:
		for i := range v.Len() {
			weight += 1 + valueWeight(v.Index(i))
		}
	case v.Kind() == reflect.String:
		return v.Len()
	case v.CanInt():
		return bits.Len64(uint64(max(v.Int(), -v.Int())))
	case v.CanUint():
		return bits.Len64(v.Uint())
	case v.Kind() == reflect.Bool && v.Bool():
		return 1
	}
	return weight
}
