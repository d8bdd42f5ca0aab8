package desync

// Limits on what a bundle can make an explanation cost, unless the [Options] set
// others. docs/limits.md lists them with their reasons, and a test compares it
// with this file.
const (
	maxEvidence = 1 << 17   // checksums that are compared with each other
	maxReplay   = 256 << 20 // bytes of the replay
	maxStates   = 512 << 20 // bytes of all states in the bundle
	maxKept     = 64 << 20  // bytes of states that are kept while the match is simulated again
	maxExhibits = 512       // ticks of which the bundle has states
	maxTicks    = 100_000   // that are simulated to reach the desync
	maxTrials   = 20_000    // ticks that are simulated in search of the cause, and again as many
)
