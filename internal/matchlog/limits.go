package matchlog

// Limits of a match.
const (
	maxLine     = 1 << 20 // bytes
	maxSeats    = 250
	maxTick     = 1<<31 - 1 // three years of 20 ticks a second: a world's own ticks
	MaxEntries  = 1 << 20   // forty times those of the longest match that we have seen
	MaxSums     = 5 << 19   // checksums of sections: an hour of 60 ticks a second with 12 sections
	MaxState    = 8 << 20   // bytes of one state
	maxStates   = 1 << 16
	maxBytes    = 256 << 20  // of all lines, uncompressed
	maxKinds    = 4096       // of commands, as in a replay's header
	maxRate     = 1000       // ticks a second
	maxPeriod   = 60_000_000 // microseconds of a tick: a slower match has this period
	maxNumber   = 32         // bytes of a number that is kept as text
	maxName     = 128        // bytes of a topic, as in a note of a replay, and of the names in a header
	maxText     = 1024
	maxSections = 64
)
