package module

import (
	"encoding/binary"
	"strconv"
)

// Limits of the code. A compiler takes memory for each local variable, time and memory with the square of the places in a function where
// branches begin or end, and for each value that is alive at such a place. The largest function of a game in Go has 30 KB, 1,700
// branches and 55,000 values at them; all of its functions have 34 million squares and 6.4 million values.
const (
	maxBody      = 256 << 10   // bytes of a function
	maxValues    = 10_000      // local variables and operands of a function
	maxAllLocals = 4_000_000   // of all functions
	maxBranches  = 6_000       // of a function
	maxWork      = 200_000_000 // the squares of the branches of all functions together
	maxLive      = 300_000     // the values at the branches of a function
	maxAllLive   = 50_000_000  // of all functions
)

// canonical returns the body of a function that returns its parameter, or one NaN for all.
func canonical(constant byte, nan []byte, equal byte) []byte {
	body := append([]byte{0, opLocalGet, 0, constant}, nan...)
	return append(body, opLocalGet, 0, opLocalGet, 0, equal, opSelect, opEnd)
}

// hostName begins the names of exports that guard adds.
const hostName = "samestep_host_"

// The names of the global variables that guard adds.
const (
	stopName   = hostName + "stop"   // the module traps soon after it is not 0
	leftName   = hostName + "left"   // passes until the next pause
	budgetName = hostName + "budget" // passes that the call may still do, at the last pause; the module traps if there are none
	depthName  = hostName + "depth"  // how much deeper calls may still go; the module traps if it is negative
)

// variableName returns the name under which guard exports a variable of the module.
func variableName(variable int) string { return hostName + strconv.Itoa(variable) }

// guarded is a module that guard rewrites.
type guarded struct {
	types, functions, tables int // of the module
	stop                     int // the number of the variable

	kinds     []functionType // of the module
	typed     []functionType // of its functions
	surveys   []survey       // of its functions
	slots     int            // local variables of all functions so far
	work      int            // squares of the branches, so far
	live      int64          // values at the branches, so far
	memory    int64          // bytes at first
	variables int            // of the module that were read
	mutable   []int          // the numbers of those that the module can change
	hidden    bool           // the module may change more than these and its memory
}

// A survey is what guard has to know of a function before it rewrites it.
type survey struct {
	calls  bool // it calls functions
	looped bool // a loop begins before all calls and branches
	frame  int  // how much a call in it goes deeper
}

// left, budget and depth return the numbers of the variables leftName, budgetName and depthName.
func (g *guarded) left() int   { return g.stop + 1 }
func (g *guarded) budget() int { return g.stop + 2 }
func (g *guarded) depth() int  { return g.stop + 3 }

// pause returns a call of the function that pauses.
func (g *guarded) pause() []byte { return binary.AppendUvarint([]byte{opCall}, uint64(g.functions+2)) }

// locals reads the local variables of a function, and returns their number.
func (r *reader) locals() (all int) {
	for n := r.number(); n > 0 && r.err == nil; n-- {
		if all += r.number(); all > maxValues {
			r.fail("%w: got %d local variables, want at most %d", ErrLimit, all, maxValues)
		}
		r.valueType()
	}
	return all
}
