package desync

// Limits on the cost of explaining a bundle. The [Options] can set others. docs/limits.md lists the limits with their
// reasons, and a test compares it with this file.
const (
	maxEvidence = 1 << 17   // checksums that are compared
	maxReplay   = 256 << 20 // bytes of the replay
	maxStates   = 512 << 20 // bytes of all states in the bundle
	maxKept     = 64 << 20  // bytes of states that are kept during the re-simulation
	maxExhibits = 512       // ticks of which the bundle has states
	maxTicks    = 100_000   // ticks simulated to reach the desync
	maxTrials   = 20_000    // ticks simulated for trials, and as many again to find the last changes
)
