package triage

// The limits. docs/limits.md names this file, and lists no single one.
const (
	maxGroups     = 4096    // fingerprints of a Triage
	maxNames      = 16      // builds or platforms of each
	maxMachines   = 1 << 18 // machines of all groups
	maxUnreadable = 1000    // names of files that cannot be read, with as many bytes of their errors
)
