package audience

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An assembly puts the chunks of a state_sync together.
type assembly struct {
	position protocol.Position
	tick     lockstep.Tick
	total    int
	bytes    []byte
}

// add takes the chunk of m, and returns the keyframe if it is complete. It takes memory only for bytes that have arrived.
func (a *assembly) add(m *protocol.Message, limit int) (*Keyframe, error) {
	if m.Offset == 0 {
		if m.Total == 0 || int(m.Total) > limit {
			return nil, fmt.Errorf("audience: %w: got a state_sync of %d bytes, want 1 to %d", record.ErrMalformed, m.Total, limit)
		}
		*a = assembly{position: m.Position, tick: m.Tick, total: int(m.Total)}
	}
	if int(m.Offset) != len(a.bytes) || int(m.Total) != a.total || m.Position != a.position || m.Tick != a.tick || len(m.Bytes) == 0 {
		return nil, fmt.Errorf("audience: %w: got a chunk of %d bytes at byte %d of %d, want byte %d of %d", record.ErrMalformed, len(m.Bytes), m.Offset, m.Total, len(a.bytes), a.total)
	}
	if a.bytes = append(a.bytes, m.Bytes...); len(a.bytes) < a.total {
		return nil, nil
	}
	k := &Keyframe{Bytes: a.bytes, Tick: a.tick, Position: a.position}
	*a = assembly{}
	return k, nil
}

// open reads a keyframe: the header, the keyframe, notes and events. The Decoder reads the records after it.
func (k *Keyframe) open() (h *lockstep.Header, dec *record.Decoder, err error) {
	dec = new(record.Decoder)
	b := k.Bytes
	for n := 0; len(b) > 0; n++ {
		r, rest, err := dec.Decode(b)
		if err != nil {
			return nil, dec, err
		}
		fits := r.Kind == record.KindNote || r.Kind == record.KindEvent
		switch n {
		case 0:
			fits, h = r.Kind == record.KindHeader, r.Header
		case 1:
			fits = r.Kind == record.KindKeyframe
		}
		if !fits || n == 1 && r.Tick != k.Tick {
			return nil, dec, fmt.Errorf("audience: %w: record %d of a state_sync of tick %d: got kind %d of tick %d", record.ErrMalformed, n, k.Tick, r.Kind, r.Tick)
		}
		b = rest
	}
	if h == nil || len(k.Bytes) == 0 || dec.Tick() != k.Tick {
		return nil, dec, fmt.Errorf("audience: %w: a state_sync without a keyframe", record.ErrMalformed)
	}
	return h, dec, nil
}
