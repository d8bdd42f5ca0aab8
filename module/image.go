//go:build !js

package module

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/seed-49bee653/samestep/lockstep/abi"
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

type heapMemory []byte

func (m *heapMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(*m)) {
		*m = append(*m, make([]byte, size-uint64(len(*m)))...)
	}
	return (*m)[:size:size]
}

func (m *heapMemory) Free() { *m = nil }

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

func (m *memory) Allocate(first, most uint64) experimental.LinearMemory {
	m.LinearMemory = m.image.Allocate(first, most)
	return m
}

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

func (m *memory) Free() {
	m.budget.free(m.size)
	m.size = 0
	m.LinearMemory.Free()
}

// leavesCode: the module leaves its compiled code for Go's now and then.
const leavesCode = true

type instance struct {
	module       api.Module
	buffer, call api.Function
	stop         api.MutableGlobal // not 0: the module traps
	left, budget api.MutableGlobal // leftName and budgetName
	depth        api.MutableGlobal // depthName
	passes       int64             // of a call, at most
	time         time.Duration     // of a call, at most
	budgets      *Budget           // nil: none
	memory       *memory
	interpreted  bool            // a context ends its calls: an interpreter may not read what a timer writes
	ctx          context.Context // of the calls of one run
	stack        [2]uint64
	cheap        bool  // another one costs less than the memory that this one has taken for a world
	spent        bool  // it is cheap and had a world
	broken       error // after which the instance is unusable
}

// run runs a part of the module, at most for its passes and its time. After a fault the instance is closed.
func (i *instance) run(f func() error) error {
	i.left.Set(pauseAfter)
	i.budget.Set(uint64(i.passes))
	i.depth.Set(maxDepth)
	late, err := i.timed(f)
	if int32(i.depth.Get()) < 0 {
		err = tooDeep()
	} else if int64(i.budget.Get()) <= 0 {
		err = tooMuch(i.passes)
	} else if i.budgets.ended() {
		err = &abi.Fault{Text: "the calls of the rules were interrupted"}
	} else if i.memory.full {
		err = i.budgets.tooLarge()
	} else if late != nil {
		err = late
	}
	if fault := (*abi.Fault)(nil); errors.As(err, &fault) {
		i.broken = fault
		i.budgets.note(fault)
		i.close()
	}
	return err
}

// timed runs a part of the module, and returns a fault if its time was over.
func (i *instance) timed(f func() error) (late *abi.Fault, err error) {
	d := deadline{passing: i.time, work: i.budgets.left(), budget: i.budgets, end: func() { i.stop.Set(1) }}
	if d.work <= 0 {
		return i.budgets.tooLong(), nil
	}
	if i.budgets != nil {
		runtime.LockOSThread() // whose time counts
		defer runtime.UnlockOSThread()
		d.clock = threadClock()
		if i.budgets.Context != nil {
			defer context.AfterFunc(i.budgets.Context, func() { i.stop.Set(1) })()
		}
	}
	i.ctx = context.Background()
	if i.interpreted {
		i.ctx, d.end = context.WithCancel(i.ctx)
		defer d.end()
	}
	d.begin()
	err = f()
	switch d.stop() {
	case timeOver:
		return &abi.Fault{Limit: true, Text: fmt.Sprintf("the call took longer than %v", i.time)}, err
	case workOver:
		return i.budgets.tooLong(), err
	}
	return nil, err
}

// exchange writes the input, calls the function and returns what the module answers.
func (i *instance) exchange(f abi.Function, in []byte) ([]byte, error) {
	i.stack[0] = uint64(len(in))
	if err := i.buffer.CallWithStack(i.ctx, i.stack[:]); err != nil {
		return nil, trap(err)
	}
	if at := uint32(i.stack[0]); !i.module.Memory().Write(at, in) {
		return nil, outside(at, len(in))
	}
	i.stack[0], i.stack[1] = uint64(f), uint64(len(in))
	if err := i.call.CallWithStack(i.ctx, i.stack[:]); err != nil {
		return nil, trap(err)
	}
	return parseAnswer(i.stack[0], i.budgets.mostAnswer(), i.module.Memory().Read)
}

// trap returns the fault of a call that has not come back.
func trap(err error) *abi.Fault {
	message, stack, _ := strings.Cut(err.Error(), "\nwasm stack trace:\n")
	return &abi.Fault{Text: strings.TrimSuffix(message, " (recovered by wazero)"), Stack: text([]byte(stack))}
}

func (i *instance) sizeBytes() int { return int(i.module.Memory().Size()) }

func (i *instance) close() { i.module.Close(context.Background()) }
