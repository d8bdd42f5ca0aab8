package player

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An assembly puts the chunks of a state sync together.
type assembly struct {
	active   bool
	position protocol.Position // of the record after it
	tick     lockstep.Tick
	total    uint32
	bytes    []byte
}

// add takes the chunk of m, and reports whether the sync is complete. It takes memory only for bytes that have arrived.
func (a *assembly) add(m *protocol.Message, limit int) (complete bool, err error) {
	if m.Offset == 0 {
		if m.Total == 0 || uint64(m.Total) > uint64(limit) {
			return false, fmt.Errorf("%w: got a state sync of %d bytes, want 1 to %d", record.ErrMalformed, m.Total, limit)
		}
		*a = assembly{active: true, position: m.Position, tick: m.Tick, total: m.Total, bytes: a.bytes[:0]}
	}
	switch {
	case !a.active:
		return false, fmt.Errorf("%w: a state sync begins at byte %d", record.ErrMalformed, m.Offset)
	case int(m.Offset) != len(a.bytes) || m.Total != a.total || m.Position != a.position || m.Tick != a.tick:
		return false, fmt.Errorf("%w: got a chunk at byte %d of %d, want byte %d of %d", record.ErrMalformed, m.Offset, m.Total, len(a.bytes), a.total)
	case len(m.Bytes) == 0:
		return false, fmt.Errorf("%w: an empty chunk", record.ErrMalformed)
	}
	a.bytes = append(a.bytes, m.Bytes...)
	return len(a.bytes) == int(a.total), nil
}

// drop forgets the chunks that have arrived.
func (a *assembly) drop() { *a = assembly{} }
