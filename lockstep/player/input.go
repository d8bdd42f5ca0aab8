package player

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/outbox"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Submit queues a command, given as a pointer to its registered type, and returns its sequence. Its answer is a
// [lockstep.Receipt] among the events. The client sends it on each new connection until it is answered; it runs once.
func (c *Client) Submit(value any) (lockstep.Sequence, error) {
	if !c.welcomed || c.role == protocol.Spectator || c.link.State() == dialing.Over || c.link.Err() != nil || c.link.Leaving() || c.over {
		return 0, ErrNotPlaying
	}
	kind, payload, err := c.payloads.Encode(value)
	if err != nil {
		return 0, err
	}
	seq, ok := c.own.Submit(c.clock, kind, payload)
	if !ok {
		return 0, fmt.Errorf("%w: %d commands", ErrUnanswered, record.CommandWindow)
	}
	path, expects := c.path()
	c.predict.Assume(&c.own, &path, expects, c.pace.Fraction())
	return seq, nil
}

// Chat queues a line of text for people, of at most [record.MaxNote] bytes.
func (c *Client) Chat(text string) error {
	if c.link.State() != dialing.Up {
		return ErrNotPlaying
	}
	if !c.out.Chat(pack.Clip(text, record.MaxNote)) {
		return fmt.Errorf("%w: %d lines", ErrUnanswered, outbox.MaxChat)
	}
	return nil
}

// Leave gives up the seat, or stops watching. The reason is for the others, who hear it in [SeatChanged]; it is cut to
// record.MaxNote bytes, and may be "". After the match's end Leave drops the ticks that have not been run.
func (c *Client) Leave(reason string) {
	if c.over {
		c.run.Discard()
	}
	if c.link.Leaving() || c.link.State() == dialing.Over {
		return
	}
	c.out.Reason(pack.Clip(reason, record.MaxNote))
	if c.link.Leave(c.clock, c.Stage() == StageLive) {
		c.out.Want(outbox.Leave)
	}
}

// Corrupt inverts a bit of the field at a path of the confirmed state, for tests and demonstrations.
func (c *Client) Corrupt(path string) error {
	s := c.Simulation()
	if s == nil {
		return ErrNotPlaying
	}
	b := s.AppendState(nil)
	v, err := c.game.StateSchema().Lookup(b, path)
	if err != nil {
		return err
	}
	if !v.Flip() {
		return fmt.Errorf("lockstep: client: corrupt: got the path %q, want that of a number, a bool or a text that is not empty", path)
	}
	c.predict.Refuse()
	return c.run.Follower().Restore(b)
}
