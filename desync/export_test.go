package desync

// The searches for a state with a given checksum.
var (
	Invert   = invert
	Transfer = transfer
)
