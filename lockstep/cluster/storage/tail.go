package storage

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Attach learns how the logs are spread, from a storage that a server has set up. It needs no permission to make anything:
// relays and workers call it instead of Setup.
func (c *Conn) Attach(ctx context.Context) error {
	n := 0
	for ; n < MaxStreams; n++ {
		one, stop := context.WithTimeout(ctx, attemptTime)
		_, err := c.JS.Stream(one, fmt.Sprint(logStream, n))
		stop()
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			break
		}
		if err != nil {
			return fmt.Errorf("storage: stream %s%d: %w", logStream, n, err)
		}
	}
	if n == 0 {
		return errors.New("storage: no server has set it up")
	}
	c.streams = n
	return nil
}

// A Tail reads the log of a match. Unlike a consumer it leaves nothing in the storage: it only asks for one message after the
// other, which a relay may do.
type Tail struct {
	conn            *Conn
	stream, subject string
	handle          jetstream.Stream
	last            uint64
}

// Tail returns a reader of a log behind a sequence; 0 is the beginning.
func (c *Conn) Tail(id lockstep.MatchID, after uint64) *Tail {
	t := &Tail{conn: c, last: after}
	t.stream, t.subject = c.LogOf(id)
	return t
}

// Next returns the next message and its sequence. It returns io.EOF if there is none yet: ask again later. After any other
// error it continues at the same message.
func (t *Tail) Next(ctx context.Context) (sequence uint64, message []byte, err error) {
	if t.handle == nil {
		if t.handle, err = t.conn.JS.Stream(ctx, t.stream); err != nil {
			return 0, nil, fmt.Errorf("storage: %w", err)
		}
	}
	m, err := t.handle.GetMsg(ctx, t.last+1, jetstream.WithGetMsgSubject(t.subject))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return 0, nil, io.EOF
	case err != nil:
		return 0, nil, fmt.Errorf("storage: after sequence %d: %w", t.last, err)
	}
	t.last = m.Sequence
	return m.Sequence, m.Data, nil
}
