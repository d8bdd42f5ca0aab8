// Package pack reads and writes the MessagePack that Samestep uses on the wire and on disk: integers, booleans,
// strings, byte strings and arrays, each in its one smallest form.
//
// The bytes may come from an attacker. So a [Reader] never decodes into an untyped value and never skips one; it
// compares every length with the bytes that are left before it returns it, checks every number against the range the
// caller states, and refuses each encoding that a [Writer] would not have written. What was accepted is therefore
// written back the same.
//
// A [Writer] appends to a slice, a Reader keeps its first error, so a message is written and read in straight lines:
//
//	w.Begin(nil)             r.Reset(b)
//	w.Array(2)               r.Array(2, 2)
//	w.Uint(3)                n := r.Uint(255)
//	w.String("hi")           s := r.String(16)
//	b := w.Bytes()           err := r.End()
//
//samestep:deterministic
package pack
