package audience

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Fetch gets one keyframe over a connection of its own, for [Audience.Offer]: the stream of an [Upstream] goes on meanwhile,
// because a server skips records where it sends a keyframe.
type Fetch struct {
	options  UpstreamOptions
	reader   protocol.Reader
	message  protocol.Message
	assembly assembly
}

// NewFetch returns a Fetch.
func NewFetch(o UpstreamOptions) *Fetch {
	or(&o.MaxState, 64<<20)
	return &Fetch{options: o}
}

// Send returns the only message to the server.
func (f *Fetch) Send() []byte {
	var w protocol.Writer
	return w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: &f.options.Auth})
}

// Receive takes one WebSocket message, and returns the keyframe when it is complete.
func (f *Fetch) Receive(b []byte) (*lockstep.Header, *Keyframe, error) {
	if len(b) == 0 || len(b) > protocol.MaxServerMessage {
		return nil, nil, fmt.Errorf("audience: %w: got a message of %d bytes, want 1 to %d", record.ErrMalformed, len(b), protocol.MaxServerMessage)
	}
	m := &f.message
	for len(b) > 0 {
		rest, err := f.reader.Read(m, b)
		if err != nil {
			return nil, nil, err
		}
		b = rest
		switch m.Kind {
		case protocol.KindError, protocol.KindClosing:
			return nil, nil, fmt.Errorf("%w: %s", ErrClosed, m.Text)
		case protocol.KindStateSync:
			k, err := f.assembly.add(m, f.options.MaxState)
			if err != nil || k == nil {
				if err != nil {
					return nil, nil, err
				}
				continue
			}
			h, _, err := k.open()
			return h, k, err
		}
	}
	return nil, nil, nil
}
