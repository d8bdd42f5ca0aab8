//go:build !samestep_portable && (386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package state

import "unsafe"

// This file has all uses of package unsafe. Slices and strings are assigned as typed values, so that the garbage collector sees them.

type pointer = unsafe.Pointer

// offset returns the address n bytes after p, in the same object.
func offset(p pointer, n uintptr) pointer { return unsafe.Add(p, n) }

func memory(p pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// moveBlock copies n bytes, without a call where they are one integer. The arrays avoid any assumption about alignment.
func moveBlock(to, from pointer, n int) {
	switch n {
	case 1:
		*(*[1]byte)(to) = *(*[1]byte)(from)
	case 2:
		*(*[2]byte)(to) = *(*[2]byte)(from)
	case 4:
		*(*[4]byte)(to) = *(*[4]byte)(from)
	case 8:
		*(*[8]byte)(to) = *(*[8]byte)(from)
	default:
		copy(memory(to, n), memory(from, n))
	}
}

func dataOf(b []byte) pointer { return pointer(unsafe.SliceData(b)) }

// bytesOf returns the bytes of s, which nobody may change.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// address returns p as a number, for comparisons while p is alive.
func address(p pointer) uintptr { return uintptr(p) }

// sliceHeader has the layout of a slice variable. Assigning one is a typed store of a pointer.
type sliceHeader struct {
	data     pointer
	len, cap int
}

func sliceAt(p pointer) *sliceHeader { return (*sliceHeader)(p) }

func stringAt(p pointer) *string { return (*string)(p) }

// overlap reports whether the n bytes at p and the m bytes at q have a byte in common.
func overlap(p pointer, n uintptr, q pointer, m uintptr) bool {
	return n > 0 && m > 0 && address(p) < address(q)+m && address(q) < address(p)+n
}
