package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// softMemory is what the runtime may take before it collects garbage more often
// than by default. The pages of the program itself take about 20 MiB more, and
// together they keep the 64 MiB of the memory rule; see docs/limits.md.
const softMemory = 36 << 20

// limitMemory makes the runtime collect garbage before the process has more than
// the memory rule allows, where it would otherwise wait until the heap is twice as
// large as what is in use. It does nothing if GOMEMLIMIT is set.
func limitMemory() {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	debug.SetMemoryLimit(softMemory)
	runtime.SetFinalizer(&heapWatch{limit: softMemory}, (*heapWatch).collected)
}

// A heapWatch is garbage at once, so that its finalizer runs after each
// collection.
type heapWatch struct{ limit int64 }

// collected raises the limit if what is in use, such as large states, comes close
// to it: a limit below that would only make the runtime collect all the time.
func (w *heapWatch) collected() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if limit := softLimit(live[0].Value.Uint64()); limit != w.limit {
		w.limit = limit
		debug.SetMemoryLimit(limit)
	}
	runtime.SetFinalizer(w, (*heapWatch).collected)
}

// softLimit returns the limit for a heap of which so many bytes are in use: an
// eighth more, in steps of 1 MiB.
func softLimit(live uint64) int64 {
	return max(softMemory, int64(live+live/8)&^(1<<20-1))
}
