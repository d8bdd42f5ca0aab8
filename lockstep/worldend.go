package lockstep

import (
	"fmt"

	"github.com/seed-49bee653/samestep/state"
)

// A ResultType is the type of the result with which the rules of a game end a match. Make one with [Result].
type ResultType struct {
	compile func() (*resultCodec, error)
}

// Result makes R the type of a game's results. R is plain data, as package state describes it, of at most
// [record.MaxResult] canonical bytes. Result[struct{}] is for rules that end matches without a result.
func Result[R any]() ResultType {
	return ResultType{func() (*resultCodec, error) {
		codec, err := state.Compile[R]()
		if err != nil {
			return nil, err
		}
		c := &resultCodec{schema: codec.Schema()}
		c.append = func(dst []byte, result any) []byte {
			switch r := result.(type) {
			case nil:
				return dst
			case *R:
				return codec.Append(dst, r)
			case R:
				return codec.Append(dst, &r)
			}
			panic(fmt.Sprintf("lockstep: Turn.End: got a result of type %T, want one of type %T, or nil", result, *new(R)))
		}
		c.decode = func(b []byte) (any, error) {
			r := new(R)
			return r, codec.Decode(b, r)
		}
		return c, nil
	}}
}

// A resultCodec is a compiled ResultType.
type resultCodec struct {
	schema *state.Schema
	append func(dst []byte, result any) []byte
	decode func(b []byte) (any, error)
}

// compileResult returns nil for rules without a result.
func compileResult(t ResultType) (*resultCodec, error) {
	if t.compile == nil {
		return nil, nil
	}
	return t.compile()
}

// description returns the schema of the result as a header has it.
func (c *resultCodec) description() []byte {
	if c == nil {
		return nil
	}
	return c.schema.AppendDescription(nil)
}

// difference names the first field in which two results differ.
func (c *resultCodec) difference(got, want []byte) string {
	if len(got) == 0 || len(want) == 0 {
		return fmt.Sprintf("got %d bytes, want %d", len(got), len(want))
	}
	found, err := c.schema.Diff(got, want, 1)
	if err != nil || len(found.List) == 0 {
		return fmt.Sprintf("got %x, want %x", got, want)
	}
	d := found.List[0]
	return fmt.Sprintf("%s: got %s, want %s", d.Path, d.A, d.B)
}
