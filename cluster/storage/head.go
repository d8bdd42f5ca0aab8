package storage

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Head says how far the log of a match is, in the words of the server that owns it. It is not in the stream of the log: a reader
// that looks for the log in the wrong place, or at a copy that is cut off, learns from it what it lacks.
type Head struct {
	Sequence uint64        `json:"sequence"` // of the last message that is stored
	Tick     lockstep.Tick `json:"tick"`     // of the match, about then
}

// TellHead says how far a log is. It waits for nothing: a head that is lost makes room for the next one.
func (c *Conn) TellHead(id lockstep.MatchID, h Head) error {
	value, err := json.Marshal(h)
	if err != nil {
		panic(err) // numbers only
	}
	return c.NATS.Publish(headOf(id), value)
}

// Head returns the last head of a log that has arrived at any copy. The error is [jetstream.ErrMsgNotFound] if there is none: the match
// is over, or has just begun.
func (c *Conn) Head(ctx context.Context, id lockstep.MatchID) (h Head, err error) {
	body, err := json.Marshal(map[string]string{"last_by_subj": headOf(id)})
	if err != nil {
		panic(err) // texts only
	}
	m, err := c.NATS.RequestWithContext(ctx, directGet+segmentStream, body)
	if err != nil {
		return h, fmt.Errorf("storage: the head of a log: %w", err)
	}
	switch status := m.Header.Get("Status"); status {
	case "":
	case "404":
		return h, jetstream.ErrMsgNotFound
	default:
		return h, fmt.Errorf("storage: the head of a log: got the status %s %s", status, m.Header.Get("Description"))
	}
	if err := json.Unmarshal(m.Data, &h); err != nil {
		return Head{}, fmt.Errorf("storage: the head of a log: %w", err)
	}
	return h, nil
}
