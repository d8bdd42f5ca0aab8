//go:build !samestep_portable && (386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package state

import (
	"reflect"

	"github.com/cespare/xxhash/v2"
)

const portable = false

func movers(s *Schema, places []place) []mover {
	e := newFastEngine(s, places)
	at := func(v reflect.Value) pointer { return v.Addr().UnsafePointer() }
	return []mover{portableMover(s, places), {
		name:   "fast",
		append: func(dst []byte, v reflect.Value) []byte { return e.append(dst, at(v)) },
		decode: func(src []byte, v reflect.Value) { e.decode(src, at(v)) },
		copy:   func(dst, src reflect.Value) { e.copy(at(dst), at(src)) },
		section: func(i int, v reflect.Value) (int, uint64) {
			d := xxhash.New()
			return e.writeSection(d, i, at(v)), d.Sum64()
		},
		prints: func(v reflect.Value) ([]uint64, int) { return e.appendPrints(nil, at(v)) },
	}}
}
