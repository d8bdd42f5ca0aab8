//go:build !js

package console

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// softMemory is the memory above which the runtime collects garbage more often than by default. With about 32 MiB for
// the program itself, this keeps the memory rule of 76 MiB; see docs/limits.md.
const softMemory = 33 << 20

// LimitMemory makes the runtime collect garbage before the process exceeds the memory rule. It does nothing if GOMEMLIMIT is set.
func LimitMemory() {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	debug.SetMemoryLimit(softMemory)
	runtime.SetFinalizer(&heapWatch{limit: softMemory}, (*heapWatch).collected)
}

// A heapWatch is always garbage, so its finalizer runs after each collection.
type heapWatch struct{ limit int64 }

// collected raises the limit when the live heap comes close to it, or the runtime would collect all the time.
func (w *heapWatch) collected() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	least := int64(softMemory)
	if usesModules.Load() {
		least = moduleMemory
	}
	if limit := softLimit(least, live[0].Value.Uint64()); limit != w.limit {
		w.limit = limit
		debug.SetMemoryLimit(limit)
	}
	runtime.SetFinalizer(w, (*heapWatch).collected)
}

// softLimit returns the limit for live bytes on the heap: an eighth more, in steps of 1 MiB, and at least a given one.
func softLimit(least int64, live uint64) int64 {
	return max(least, int64(live+live/8)&^(1<<20-1))
}

// moduleMemory is softMemory of a program that runs modules: a runtime of Go in each instance, and their code.
const moduleMemory = 256 << 20

// usesModules says that the program runs modules.
var usesModules atomic.Bool

// AllowModuleMemory raises the limit of memory, if there is one.
func AllowModuleMemory() {
	usesModules.Store(true)
	if debug.SetMemoryLimit(-1) < moduleMemory {
		debug.SetMemoryLimit(moduleMemory)
	}
}
