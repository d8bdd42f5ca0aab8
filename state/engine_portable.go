//go:build samestep_portable || !(386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package state

import "reflect"

type (
	engine = *portableEngine
	ref    = reflect.Value
)

func newEngine(s *Schema, places []place) engine { return &portableEngine{s, places} }

func refOf[T any](v *T) ref { return reflect.ValueOf(v).Elem() }
