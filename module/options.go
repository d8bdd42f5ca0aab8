// Package module runs rules in WebAssembly modules. docs/spec/abi.md specifies what such a module is.
//
// [Compile] makes [Rules] of the bytes of a module. lockstep.NewGameElsewhere makes a game of them, which is hosted, verified and
// debugged like any other:
//
//	rules, err := module.Compile(bytes, module.Options{Cache: folder})
//	game, err := lockstep.NewGameElsewhere(rules)
//
// A module is not trusted. It imports nothing, so it reaches nothing outside its own memory; its size, its memory, its stack and
// the time of each call are bounded. A module that exceeds a bound or traps is a panic of the rules, as one of native rules is.
package module

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// DefaultTime is the longest that a call may take without [Options].
const DefaultTime = 10 * time.Second

// DefaultPasses is the most that a call may do without [Options].
const DefaultPasses = 1_000_000_000

// Options are those of [Compile].
type Options struct {
	Cache string        // the folder of compiled modules, at most 512 MiB, refused if somebody else can write to it; "": compile each time
	Time  time.Duration // the longest that a call may take; 0: DefaultTime

	// Passes is the most that a call may do: passes of loops, calls of functions that call others, and KiB of long copies. A call
	// without an end ends there, on fast and slow machines alike, unless its Time is over before. What the module's garbage collector
	// does counts too, so that calls close to the limit may end on one machine and not on another. 0: DefaultPasses.
	Passes int64

	// Budget bounds what compiling takes, and counts it. Calls count with [Rules.Within]. Nil: only Process is bounded.
	Budget *Budget

	// Process returns another process, not started, that compiles the module by [CompileFor]. It is ended with the context, and when
	// it takes more than the budget has, or DefaultCompileTime or DefaultCompileMemory without one. A module that such a process has
	// compiled into the Cache needs none again. Nil: the module is compiled in this process, which takes up to some 250 MiB and
	// about a minute for a module within the limits.
	Process func(context.Context) *exec.Cmd

	// Interpret runs the module without compiling it to machine code. It is more than ten times slower, and gives the same.
	Interpret bool

	traced    bool // as [CompileTraced] does
	temporary bool // the cache goes when the module is loaded
}

// pauseAfter is the number of passes between two pauses. A pause takes as long as a hundred of them.
const pauseAfter = 10_000

// The depth of calls. Interpreters, compilers and browsers bound it by memory that each counts in its own way, so guard counts it the
// same way for all, and its bound is below all of theirs: wazero's interpreter has 2,000 frames, and a browser a stack of about 1 MB.
// A frame counts 1, and more if it may take more than 256 bytes in a browser, or 8 KiB in wazero's machine code.
const (
	maxDepth    = 1900
	frameValues = 32   // local variables and operands of a frame that count 1
	frameCode   = 1024 // bytes of code of a function that count 1 for its frames
)

// Errors of a module that is no rules.
var (
	ErrMalformed = errors.New("module: not a rules module")
	ErrImports   = errors.New("module: rules must not import anything")
	ErrLimit     = errors.New("module: exceeds a limit")
)

// The limits of a module.
const (
	MaxBytes  = 32 << 20 // of the module
	MaxMemory = 1 << 30  // bytes of an instance; a module gets no more on any machine
	MaxAnswer = 64 << 20 // bytes of an answer
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

// tooMuch returns the fault of a call that does more than it may.
func tooMuch(passes int64) *abi.Fault {
	return &abi.Fault{Limit: true, Text: fmt.Sprintf("the call did more than %d passes of loops and calls of functions", passes)}
}

// tooDeep returns the fault of a call in which functions call each other too deeply.
func tooDeep() *abi.Fault {
	return &abi.Fault{Limit: true, Text: fmt.Sprintf("calls of functions in the call went deeper than %d", maxDepth)}
}

// outside returns the fault of a module whose buffer is not in its memory.
func outside(at uint32, size int) *abi.Fault {
	return &abi.Fault{Wrong: true, Text: fmt.Sprintf("samestep_buffer gave address %d for %d bytes, which is outside the memory", at, size)}
}

// parseAnswer returns the answer that a packed word says. read returns a part of the memory.
func parseAnswer(packed uint64, most int, read func(at, size uint32) ([]byte, bool)) ([]byte, error) {
	status, at, size := abi.Status(packed>>62), uint32(packed>>32)&(1<<30-1), uint32(packed)
	if int64(size) > int64(most) {
		return nil, &abi.Fault{Limit: true, Text: fmt.Sprintf("an answer of %d bytes, want at most %d", size, most)}
	}
	out, ok := read(at, size)
	if !ok {
		return nil, &abi.Fault{Wrong: true, Text: fmt.Sprintf("an answer of %d bytes at address %d, which is outside the memory", size, at)}
	}
	switch status {
	case abi.OK:
		return out, nil
	case abi.Refused:
		return nil, &abi.Refusal{Text: text(out)}
	case abi.Panicked:
		message, stack, _ := strings.Cut(text(out), "\n\n")
		return nil, &abi.Fault{Text: message, Stack: stack}
	}
	return nil, &abi.Fault{Wrong: true, Text: fmt.Sprintf("an answer of status %d, want at most %d", status, abi.Panicked)}
}

// maxText is the longest text of a module that the host keeps, in bytes.
const maxText = 64 << 10

// text returns a text of a module for people: valid UTF-8 without characters that control a terminal, other than those of lines.
func text(b []byte) string {
	return strings.Map(func(c rune) rune {
		if c != '\n' && c != '\t' && !unicode.IsPrint(c) {
			return '\ufffd'
		}
		return c
	}, strings.ToValidUTF8(string(b[:min(len(b), maxText)]), "\ufffd"))
}
