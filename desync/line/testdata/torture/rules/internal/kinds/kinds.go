// Package kinds cannot be imported from outside of the rules.
package kinds

// Kind is a kind of unit.
type Kind uint8

// Fast reports whether units of the kind are fast.
func (k Kind) Fast() bool { return k == 1 }
