package desync

// The searches for a state with a given checksum.
var (
	Invert   = invert
	Transfer = transfer
)

// MaxText is the limit of a command's text.
const MaxText = maxText

// Advise returns the advice on an explanation's programs.
func (e *Explanation) Advise() (text, revision string) { return e.advise() }
