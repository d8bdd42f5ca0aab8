package desync

// The limits. The [Options] can set others for an explanation. docs/limits.md lists those of an explanation.
const (
	maxEvidence = 1 << 17   // checksums that are compared
	maxReplay   = 256 << 20 // bytes of the replay
	maxStates   = 512 << 20 // bytes of all states in the bundle
	maxKept     = 64 << 20  // bytes of states that are kept during the re-simulation
	maxApart    = 4 << 20   // bytes of states that another process computes again: those of the last ticks, and always two
	maxPast     = 8 << 20   // bytes of states that bisect and diff keep to order the fields
	maxExhibits = 512       // ticks of which the bundle has states
	maxTicks    = 100_000   // ticks simulated to reach the desync
	maxTrialsMS = 10_000    // milliseconds for trials, and as long again to find the last changes

	// MaxText bounds the bytes of a command's text. The text of a payload of 16 KiB can have 4 MiB, because it has the
	// names of the fields.
	MaxText = 4 << 10

	maxListed = 100_000 // fields that differ, in JSON

	MaxName = 128 // bytes of a build, a platform, or a section that a bundle claims
)
