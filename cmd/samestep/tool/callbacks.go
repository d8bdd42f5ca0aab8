package tool

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
)

// configOf returns f, which takes some numbers and returns a C and perhaps an error, as a function that returns a pointer to the C and
// panics with the error, which its callers recover, as a panic of f. C is the type that want is a pointer to, or any if want is nil.
func configOf(f any, numbers int, want reflect.Type) (func(in ...int) any, error) {
	v, fits := reflect.ValueOf(f), false
	if f != nil && v.Kind() == reflect.Func && !v.IsNil() {
		t := v.Type()
		fits = t.NumIn() == numbers && !t.IsVariadic() && (t.NumOut() == 1 || t.NumOut() == 2 && t.Out(1) == reflect.TypeFor[error]()) &&
			(want == nil || t.Out(0) == want.Elem())
		for i := 0; fits && i < numbers; i++ {
			fits = t.In(i) == reflect.TypeFor[int]()
		}
	}
	if !fits {
		c := "C"
		if want != nil {
			c = want.Elem().String()
		}
		in := strings.TrimSuffix(strings.Repeat("int, ", numbers), ", ")
		return nil, fmt.Errorf("got a %T, want a func(%s) %s or a func(%s) (%s, error)", f, in, c, in, c)
	}
	return func(in ...int) any {
		args := make([]reflect.Value, numbers)
		for i := range args {
			args[i] = reflect.ValueOf(in[i])
		}
		out := v.Call(args)
		if len(out) == 2 && !out[1].IsNil() {
			panic(out[1].Interface())
		}
		config := reflect.New(out[0].Type())
		config.Elem().Set(out[0])
		return config.Interface()
	}, nil
}

// guardedRead returns the read of Assets, of which a panic is an error.
func guardedRead(read func(lockstep.Asset) ([]byte, error)) func(lockstep.Asset) ([]byte, error) {
	return func(a lockstep.Asset) (b []byte, err error) {
		defer func() {
			if v := recover(); v != nil {
				b, err = nil, fmt.Errorf("the game's function of tool.Assets panicked: %v", v)
			}
		}()
		return read(a)
	}
}
