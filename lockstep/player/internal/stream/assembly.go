package stream

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An Assembly puts the chunks of a state sync together.
type Assembly struct {
	active   bool
	Position protocol.Position // of the record after it
	Tick     lockstep.Tick
	Total    uint32
	Bytes    []byte // that have come
}

// add takes the chunk of m, and reports whether the sync is complete. It takes memory only for bytes that have arrived.
func (a *Assembly) add(m *protocol.Message, limit int) (complete bool, err error) {
	if m.Offset == 0 {
		if m.Total == 0 || uint64(m.Total) > uint64(limit) {
			return false, fmt.Errorf("%w: got a state sync of %d bytes, want 1 to %d", record.ErrMalformed, m.Total, limit)
		}
		*a = Assembly{active: true, Position: m.Position, Tick: m.Tick, Total: m.Total, Bytes: a.Bytes[:0]}
	}
	switch {
	case !a.active:
		return false, fmt.Errorf("%w: a state sync begins at byte %d", record.ErrMalformed, m.Offset)
	case int(m.Offset) != len(a.Bytes) || m.Total != a.Total || m.Position != a.Position || m.Tick != a.Tick:
		return false, fmt.Errorf("%w: got a chunk at byte %d of %d, want byte %d of %d", record.ErrMalformed, m.Offset, m.Total, len(a.Bytes), a.Total)
	case len(m.Bytes) == 0:
		return false, fmt.Errorf("%w: an empty chunk", record.ErrMalformed)
	}
	a.Bytes = append(a.Bytes, m.Bytes...)
	return len(a.Bytes) == int(a.Total), nil
}
