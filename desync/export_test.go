package desync

// The searches for a state with a given checksum.
var (
	Invert   = invert
	Transfer = transfer
)

// MaxText is the limit of a command's text.
const MaxText = maxText
