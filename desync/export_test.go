package desync

// The searches for a state that has a checksum.
var (
	Invert   = invert
	Transfer = transfer
)
