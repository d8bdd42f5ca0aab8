//go:build unix

package module

import (
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// mapped returns a private copy of the image, with zeros behind it.
func (i *image) mapped(size int) (experimental.LinearMemory, error) {
	fd, flags := -1, syscall.MAP_PRIVATE|syscall.MAP_ANON
	if i.file != nil {
		fd, flags = int(i.file.Fd()), syscall.MAP_PRIVATE
	}
	b, err := syscall.Mmap(fd, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, flags)
	if err == nil && i.file == nil {
		copy(b, i.bytes)
	}
	return mappedMemory(b), err
}

type mappedMemory []byte

func (m mappedMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(m)) {
		return nil
	}
	return m[:size]
}

func (m mappedMemory) Free() { syscall.Munmap(m) }
