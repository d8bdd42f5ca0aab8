package module

import (
	"context"
	"os/exec"
	"time"
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
