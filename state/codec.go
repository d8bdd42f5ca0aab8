package state

import (
	"reflect"

	"github.com/cespare/xxhash/v2"
)

// Codec converts values of the Go type T to canonical bytes and back. It is immutable and safe for concurrent use.
type Codec[T any] struct {
	schema *Schema
	places []place
	engine engine
}

// Compile returns the codec of T, a struct of plain data. The error is a [*TypeError] that names the first field that
// cannot be part of a state.
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

// Decode sets v to the value whose canonical bytes are exactly src, or returns a [*DecodeError] and leaves v unchanged. It
// reuses the memory of v's slices, which no other value may share, and shares no memory with src. Derived fields of v
// keep their values; those in elements of slices become zero. Decode allocates at most about 64 times the size of src,
// for most types less than twice.
func (c *Codec[T]) Decode(src []byte, v *T) error {
	if err := c.schema.Validate(src); err != nil {
		return err
	}
	c.engine.decode(src, refOf(v))
	return nil
}

// Copy sets dst to src, as Decode would from src's canonical bytes. It reuses the memory of dst's slices, which no value
// but src may share: a dst that began as a plain assignment of *src gets its own memory.
func (c *Codec[T]) Copy(dst, src *T) {
	if dst != src {
		c.engine.copy(refOf(dst), refOf(src))
	}
}

// WriteSection hashes the canonical bytes of section i of v without building them in memory. It returns their number.
func (c *Codec[T]) WriteSection(h *xxhash.Digest, i int, v *T) int {
	return c.engine.writeSection(h, i, refOf(v))
}

// DerivedFields returns the paths of the fields of T that are tagged as derived, such as "Units[].path".
func (c *Codec[T]) DerivedFields() (paths []string) {
	for _, p := range c.places {
		if p.typ.Kind() != reflect.Struct {
			continue
		}
		for f := range p.typ.Fields() {
			if f.Tag.Get("state") == "derived" {
				paths = append(paths, joinPath(p.path, f.Name))
			}
		}
	}
	return paths
}
