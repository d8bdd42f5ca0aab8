//go:build !js

package module

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// A kind says what a function is for those who compare calls.
type kind uint8

const (
	ofRules   kind = iota
	ofRuntime      // which is left out
	allocates      // which is left out with all that it calls
	restarts       // Go's runtime: the function that called it begins again, on a larger stack or after other goroutines
	entry          // samestep_call
)

// goLoop is the name of the function in which Go's scheduler calls others.
const goLoop = "wasm_pc_f_loop"

// These find the names of functions that belong to a runtime, as compilers write them.
var (
	goNames = regexp.MustCompile(`^((runtime|internal|sync|reflect|type_|go_)[._]|` + engineNames() + `(lockstep|state|checksum|internal)[._]|github\.com_vmihailenco_)` +
		`|^[^.]*$` + // written in assembly
		`|\.Type_go\.shape\.`) // of lockstep.Type
	allocators = regexp.MustCompile(`^(_*(libc_|dl|mi_)?(malloc|free|calloc|realloc|memalign|aligned_alloc|posix_memalign)|sbrk|dispose_chunk|emmalloc.*|runtime\..*|~lib/rt/.*|_*(rust|rdl|rg)_(alloc|dealloc|realloc|alloc_zeroed).*|.*dlmalloc.*|operator (new|delete).*|_Zn[wa].*|_Zd[la].*)$`)
)

// engineNames returns how the names of functions in this module begin where Go writes them.
func engineNames() string {
	path := strings.TrimSuffix(reflect.TypeFor[Rules]().PkgPath(), "module")
	return regexp.MustCompile(`[^\w.]`).ReplaceAllString(path, "_")
}

func kindOf(name string, inGo bool) kind {
	switch {
	case inGo && strings.HasPrefix(name, "runtime.morestack"):
		return restarts
	case inGo && goNames.MatchString(name):
		return ofRuntime
	case !inGo && allocators.MatchString(name):
		return allocates
	}
	return ofRules
}

// An Event is the beginning or the end of the call of a function.
type Event struct {
	Function int // its number
	Begins   bool

	// Values are the parameters at the beginning, and the results at the end, with 0 for those that are no integers. Nil if the
	// functions pass them in the memory, as those of Go do. They are valid during the call with the event.
	Values []uint64

	Watched uint64 // a hash of the bytes at the addresses that are watched
}

// none is the number of no function.
const none = -1

// calls makes events of the calls in one instance.
//
// Go's functions come back early, with a result of 1, to let another goroutine run or to get a larger stack. The scheduler then
// calls the innermost one again, at a position that is its parameter. These are no calls of the program: so the functions that are
// under way are kept apart from those on the stack of the machine.
type calls struct {
	tell    func(Event) // nil: nobody listens
	wanted  abi.Function
	watch   []uint32
	memory  api.Memory // of the instance
	inGo    bool
	inside  bool // samestep_call, with the wanted function
	leftOut int  // functions under way that are left out with all that they call
	stack   []int
	values  []uint64
	pending int    // the last function that began in Go, of which nobody was told yet; or none
	watched uint64 // when it began
}

// integers returns values with 0 for those that are no integers. They are valid until the next call.
func (c *calls) integers(types []api.ValueType, values []uint64) []uint64 {
	c.values = append(c.values[:0], values[:len(types)]...)
	for i, t := range types {
		switch t {
		case api.ValueTypeI64:
		case api.ValueTypeI32:
			c.values[i] = uint64(uint32(values[i])) // the rest may have other bits
		default:
			c.values[i] = 0
		}
	}
	return c.values
}

// begin is called when a function begins.
func (c *calls) begin(f int, k kind, values []uint64) {
	if k == entry {
		c.inside, c.leftOut, c.pending, c.stack = values[0] == uint64(c.wanted), 0, none, c.stack[:0]
	}
	switch {
	case !c.inside:
		return
	case k == allocates:
		c.leftOut++
	case k == restarts && c.pending != none:
		c.stack = c.stack[:len(c.stack)-1]
		c.pending = none
	}
	if k != ofRules && k != entry || c.leftOut > 0 {
		return
	}
	if c.inGo && k == ofRules && (len(values) != 1 || values[0] != 0) {
		return // it goes on
	}
	c.flush()
	c.stack = append(c.stack, f)
	if c.inGo && k == ofRules {
		c.pending, c.watched = f, c.hash()
		return
	}
	c.tell(Event{f, true, c.valuesOf(values), c.hash()})
}

// flush tells of the function that began last: it was not to begin again.
func (c *calls) flush() {
	if c.pending != none {
		c.tell(Event{Function: c.pending, Begins: true, Watched: c.watched})
		c.pending = none
	}
}

// end is called when a function comes back.
func (c *calls) end(f int, k kind, values []uint64) {
	if !c.inside {
		return
	}
	if k == allocates {
		c.leftOut--
	}
	if k != ofRules && k != entry || c.leftOut > 0 || c.inGo && k == ofRules && (len(values) != 1 || values[0] != 0) {
		return
	}
	c.inside = k != entry
	at := len(c.stack) - 1
	for at >= 0 && c.stack[at] != f {
		at--
	}
	if at < 0 {
		return // the instance was called before anybody listened
	}
	c.flush()
	for _, inner := range slices.Backward(c.stack[at+1:]) { // which a panic left
		c.tell(Event{Function: inner, Watched: c.hash()})
	}
	c.stack = c.stack[:at]
	c.tell(Event{f, false, c.valuesOf(values), c.hash()})
}

// valuesOf returns the values of an event.
func (c *calls) valuesOf(values []uint64) []uint64 {
	if c.inGo {
		return nil
	}
	return values
}

// hash returns the FNV-1a hash of the watched bytes.
func (c *calls) hash() uint64 {
	if len(c.watch) == 0 {
		return 0
	}
	h := uint64(14695981039346656037)
	for _, at := range c.watch {
		b, _ := c.memory.ReadByte(at)
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}
