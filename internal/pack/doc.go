// Package pack reads and writes the MessagePack that Samestep uses on the wire and on disk: unsigned integers, booleans,
// strings, byte strings and arrays, each in its one smallest form.
//
// The bytes may come from an attacker. So a [Reader] never decodes into an untyped value and never skips one. It compares
// every length with the remaining bytes before it returns it, checks every number against a range that the caller gives,
// and rejects each encoding that a [Writer] does not write. So writing an accepted value again gives the same bytes.
//
// A [Writer] appends to a slice, and a Reader keeps its first error, so a message is written and read in straight lines:
//
//	w.Begin(nil)             r.Reset(b)
//	w.Array(2)               r.Array(2, 2)
//	w.Uint(3)                n := r.Uint(255)
//	w.String("hi")           s := r.String(16)
//	b := w.Bytes()           err := r.End()
//
//samestep:deterministic
package pack
