//go:build !js

package module

import (
	"runtime"
	"time"

	"github.com/tetratelabs/wazero/experimental"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// A memory is that of an instance, and counts in a budget. When the budget has no more, the module is stopped: it must not see that its
// memory does not grow, because it would go on in another way than on a machine where it does.
type memory struct {
	experimental.LinearMemory
	image  *image
	budget *Budget
	size   int64  // that is reserved
	stop   func() // ends the call; nil before the instance is complete
	full   bool   // the budget has no more
}

// newMemory reserves the first size of a memory. The fault is that of a spent budget.
func newMemory(image *image, b *Budget, size int64) (*memory, *abi.Fault) {
	for tries := 0; !b.reserve(size); tries++ {
		if tries == 5 {
			return nil, b.tooLarge()
		}
		runtime.GC() // gives back the instances that nobody refers to
		time.Sleep(time.Millisecond)
	}
	return &memory{image: image, budget: b, size: size}, nil
}

// Allocate implements [experimental.MemoryAllocator].
func (m *memory) Allocate(first, most uint64) experimental.LinearMemory {
	m.LinearMemory = m.image.Allocate(first, most)
	return m
}

// Reallocate implements [experimental.LinearMemory].
func (m *memory) Reallocate(size uint64) []byte {
	more := max(int64(size)-m.size, 0)
	if !m.budget.reserve(more) {
		m.full = true
		if m.stop != nil {
			m.stop()
		}
		return nil
	}
	m.size += more
	return m.LinearMemory.Reallocate(size)
}

// Free implements [experimental.LinearMemory].
func (m *memory) Free() {
	m.budget.free(m.size)
	m.size = 0
	m.LinearMemory.Free()
}
