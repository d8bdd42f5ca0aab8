package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Remove removes the log of a match that is over.
func (c *Conn) Remove(ctx context.Context, id lockstep.MatchID) error {
	log, subject := c.LogOf(id)
	return errors.Join(c.purge(ctx, log, subject), c.purge(ctx, segmentStream, segmentsOf(id)))
}

// purge removes all messages of a subject.
func (c *Conn) purge(ctx context.Context, stream, subject string) error {
	s, err := c.JS.Stream(ctx, stream)
	if err == nil {
		err = s.Purge(ctx, jetstream.WithPurgeSubject(subject))
	}
	if err != nil {
		return fmt.Errorf("storage: removing %s: %w", subject, err)
	}
	return nil
}
