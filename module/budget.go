package module

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// A Budget bounds what the instances of [Rules.Within] and [Options.Budget] take together: for one file, or one verb. When it is spent,
// calls end with an [*abi.Fault] whose Limit is set. It is safe for concurrent use. A page in a browser has none.
//
// Its time is that of the processors, where the system tells it for a thread (Linux), so that a busy machine and more workers spend
// no more of it. Elsewhere it is the time that passes in all calls together.
type Budget struct {
	Time   time.Duration // of compiling and of all calls; 0: DefaultCompileTime to compile, and no limit of calls
	Share  time.Duration // of calls in each second since the first one, besides Time; for a match that is being played
	Memory int64         // bytes of the memories of all instances at a time; 0: DefaultCompileMemory to compile, and no limit of instances

	TimeAdvice, MemoryAdvice string // for people: what to do about a spent budget; "": nothing

	Context context.Context // whose end ends all calls; nil: none

	spent atomic.Int64 // nanoseconds
	began atomic.Int64 // Unix time of the first call in nanoseconds; 0 before it
	used  atomic.Int64 // bytes
	fault atomic.Pointer[abi.Fault]
}

// NoLimit is the Time or the Memory of a [Budget] without a limit, also to compile.
const NoLimit = -1

// Fault returns the first fault of a call that has exceeded a limit, or nil: whoever has asked the rules may have gone on without an answer.
func (b *Budget) Fault() *abi.Fault { return b.fault.Load() }

// note keeps the first fault of a limit.
func (b *Budget) note(f *abi.Fault) {
	if b != nil && f.Limit {
		b.fault.CompareAndSwap(nil, f)
	}
}

// What a process that compiles a module may take without a [Budget].
const (
	DefaultCompileTime   = time.Minute
	DefaultCompileMemory = 512 << 20 // bytes
)

// never is longer than anything takes.
const never = time.Duration(math.MaxInt64)

// left returns the time that calls may still take, or without a limit never.
func (b *Budget) left() time.Duration {
	if b == nil || b.Time == 0 || b.Time == NoLimit {
		return never
	}
	now := time.Now().UnixNano()
	b.began.CompareAndSwap(0, now)
	all := b.Time + time.Duration(float64(b.Share)*time.Duration(now-b.began.Load()).Seconds())
	return max(all-time.Duration(b.spent.Load()), 0)
}

// compileTime and compileMemory return what a process that compiles may take.
func (b *Budget) compileTime() time.Duration {
	if b == nil || b.Time == 0 {
		return DefaultCompileTime
	}
	return b.left()
}

func (b *Budget) compileMemory() int64 {
	switch {
	case b == nil || b.Memory == 0:
		return DefaultCompileMemory
	case b.Memory < 0:
		return math.MaxInt64 / 4 // of which the process takes parts
	}
	return b.Memory
}

// tooLong returns the fault of calls that took longer than the budget has.
func (b *Budget) tooLong() *abi.Fault {
	return &abi.Fault{Limit: true, Text: advised(fmt.Sprintf("all calls of the rules together took longer than %v", b.Time), b.TimeAdvice)}
}

// tooLarge returns the fault of instances that take more memory than the budget.
func (b *Budget) tooLarge() *abi.Fault {
	return &abi.Fault{Limit: true, Text: advised(fmt.Sprintf("the memories of the rules together take more than %d MiB", b.Memory>>20), b.MemoryAdvice)}
}

func advised(text, advice string) string {
	if advice == "" {
		return text
	}
	return text + ": " + advice
}

// ended reports whether all calls are to end.
func (b *Budget) ended() bool { return b != nil && b.Context != nil && b.Context.Err() != nil }

// spend counts the time of a call.
func (b *Budget) spend(d time.Duration) {
	if b != nil {
		b.spent.Add(int64(d))
	}
}

// reserve counts memory, and reports whether the budget has it.
func (b *Budget) reserve(size int64) bool {
	if b == nil {
		return true
	}
	if b.used.Add(size) > b.Memory && b.Memory > 0 {
		b.used.Add(-size)
		return false
	}
	return true
}

// free counts memory that is no longer used.
func (b *Budget) free(size int64) {
	if b != nil {
		b.used.Add(-size)
	}
}

// mostAnswer returns the size of the largest answer, in bytes.
func (b *Budget) mostAnswer() int {
	if b == nil || b.Memory <= 0 {
		return MaxAnswer
	}
	return int(min(MaxAnswer, b.Memory/answerPart))
}

// answerPart is the part of a budget's memory that an answer may have. Whoever uses an answer may keep it a few times.
const answerPart = 8

// timeAdvice and memoryAdvice return the advice of a budget, if there is one.
func (b *Budget) timeAdvice() string {
	if b == nil {
		return ""
	}
	return b.TimeAdvice
}

func (b *Budget) memoryAdvice() string {
	if b == nil {
		return ""
	}
	return b.MemoryAdvice
}
