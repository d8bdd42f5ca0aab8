//go:build !js

package module

import (
	"os"

	"github.com/tetratelabs/wazero/experimental"
)

// An image is the first content of the memory of all instances. They share its pages until they write them.
type image struct {
	bytes []byte
	file  *os.File // with the bytes and zeros up to MaxMemory; nil if instances copy the bytes
}

// newImage returns the image with some bytes. A file that cannot be made costs memory, and nothing else.
func newImage(b []byte) *image {
	i := &image{bytes: b}
	f, err := os.CreateTemp("", "samestep-rules-*")
	if err != nil {
		return i
	}
	removed := os.Remove(f.Name()) // so nothing is left over, however the program ends; Windows refuses it
	_, err = f.Write(b)
	if err == nil {
		err = f.Truncate(MaxMemory) // the zeros take no room
	}
	if err != nil || removed != nil {
		f.Close()
		os.Remove(f.Name())
		return i
	}
	i.file = f
	return i
}

func (i *image) close() error {
	if i.file == nil {
		return nil
	}
	return i.file.Close()
}

// Allocate implements [experimental.MemoryAllocator]. It returns addresses for all memory that an instance may ever use, of
// which the system gives pages when the module first writes them. So memory grows without a copy, and the garbage collector
// does not count it.
func (i *image) Allocate(_, most uint64) experimental.LinearMemory {
	if m, err := i.mapped(int(most)); err == nil {
		return m
	}
	m := heapMemory(append([]byte(nil), i.bytes...)) // such as of a process whose addresses are limited
	return &m
}

// heapMemory is memory of an instance on the heap.
type heapMemory []byte

// Reallocate implements [experimental.LinearMemory].
func (m *heapMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(*m)) {
		*m = append(*m, make([]byte, size-uint64(len(*m)))...)
	}
	return (*m)[:size:size]
}

// Free implements [experimental.LinearMemory].
func (m *heapMemory) Free() { *m = nil }
