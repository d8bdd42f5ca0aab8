package state

import (
	"reflect"

	"github.com/cespare/xxhash/v2"
)

// Codec moves values of the Go type T to canonical bytes and back. It is immutable and safe for concurrent use.
// Nil and empty slices are one and the same state.
type Codec[T any] struct {
	schema *Schema
	places []place
	engine engine
}

// Compile derives the codec of T, which must be a struct of plain data. It returns a [*TypeError] that names the
// first field that cannot be part of a state.
func Compile[T any]() (*Codec[T], error) {
	s, places, err := compile(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	return &Codec[T]{s, places, newEngine(s, places)}, nil
}

// MustCompile is [Compile] for types known to be good: it panics on an error.
func MustCompile[T any]() *Codec[T] {
	c, err := Compile[T]()
	if err != nil {
		panic(err)
	}
	return c
}

// Schema returns the description of T.
func (c *Codec[T]) Schema() *Schema { return c.schema }

// Size returns the number of canonical bytes of v.
func (c *Codec[T]) Size(v *T) int { return c.engine.size(refOf(v)) }

// Append appends the canonical bytes of v. It panics if a slice or string is longer than 2^32-1.
func (c *Codec[T]) Append(dst []byte, v *T) []byte { return c.engine.append(dst, refOf(v)) }

// Decode sets v to the value whose canonical bytes are exactly src, or returns a [*DecodeError] and leaves v as it is.
// It reuses the memory of v's slices, which no other value may share, and shares none with src. Derived fields of v stay
// as they are; those in elements of slices become zero. It allocates at most some 64 times the size of src, and for most
// types not more than twice.
func (c *Codec[T]) Decode(src []byte, v *T) error {
	if err := c.schema.Validate(src); err != nil {
		return err
	}
	c.engine.decode(src, refOf(v))
	return nil
}

// Copy sets dst to src as Decode would from src's canonical bytes: it reuses the memory of dst's slices, which no other
// value may share, except src itself: a dst that began as a plain assignment of *src gets memory of its own.
func (c *Codec[T]) Copy(dst, src *T) {
	if dst != src {
		c.engine.copy(refOf(dst), refOf(src))
	}
}

// WriteSection writes the canonical bytes of section i of v to h, without making them in memory, and returns their number.
func (c *Codec[T]) WriteSection(h *xxhash.Digest, i int, v *T) int {
	return c.engine.writeSection(h, i, refOf(v))
}
