package fixedbench

// LimitOn returns the limit of an operation on any architecture.
func LimitOn(p Pair, arch string) float64 { return p.limit(arch) }

// LimitRows is the number of operations that have limits.
var LimitRows = len(limits)
