package replay

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A heap is the configuration and state of a match without rules: arbitrary bytes.
type heap struct{ Bytes []byte }

// heapHeader returns the header of such a match with two seats. Its only command has no fields.
func heapHeader() *lockstep.Header {
	codec := state.MustCompile[heap]()
	schema := codec.Schema().AppendDescription(nil)
	return &lockstep.Header{
		Protocol: 1, Settings: lockstep.DefaultSettings(2),
		Config: codec.Append(nil, &heap{}), ConfigSchema: schema, StateSchema: schema,
		Commands: []record.CommandDescription{{Kind: 1, Name: "nothing", Schema: state.MustCompile[struct{}]().Schema().AppendDescription(nil)}},
	}
}

// heapState returns a state of n bytes after their count.
func heapState(n int) []byte {
	world := heap{make([]byte, n)}
	for i := range world.Bytes {
		world.Bytes[i] = byte(i * i >> 5)
	}
	return state.MustCompile[heap]().Append(nil, &world)
}
