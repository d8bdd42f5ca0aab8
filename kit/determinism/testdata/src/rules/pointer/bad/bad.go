//samestep:deterministic
package bad

import (
	"fmt"
	"reflect"
)

type unit struct{ target *unit }

func name(u *unit) string {
	return fmt.Sprintf("%p", u) // want `pointer: `
}

func show(u unit) string {
	return fmt.Sprintf("%v", u) // want `pointer: `
}

func call(f func()) string {
	return fmt.Sprint(f) // want `pointer: `
}

func where(u *unit) bool {
	return reflect.ValueOf(u).Pointer()%2 == 0 // want `pointer: `
}

func before(a, b uintptr) bool {
	return a < b // want `pointer: `
}
