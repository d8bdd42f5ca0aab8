//go:build samestep_portable || !(386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package state

const portable = true

func movers(s *Schema, places []place) []mover { return []mover{portableMover(s, places)} }
