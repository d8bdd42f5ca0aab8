package player

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/outbox"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/stream"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// maxWaiting is how many ticks that have arrived wait to be run. A run of empty ones has only some bytes, but may
	// be a day of them.
	maxWaiting = 2 * record.MaxEmptyRun
)

// ask asks for a state because of err, unless that has failed too often.
func (c *Client) ask(err error) {
	if !c.in.Ask(c.clock) {
		c.fail(fmt.Errorf("%w: %w", ErrNoSync, err))
		return
	}
	c.out.Want(outbox.Sync)
}

// chunk takes a part of a state sync.
func (c *Client) chunk(m *protocol.Message) error {
	a, whole, err := c.in.Chunk(c.clock, m, c.options.MaxState)
	if err != nil {
		return err
	}
	c.tell(SyncProgress{Bytes: uint32(len(a.Bytes)), TotalBytes: a.Total, Tick: c.Tick(), Target: c.serverTick})
	if !whole {
		return nil
	}
	c.serverTick = max(c.serverTick, a.Tick)
	err = c.adopt(a)
	c.in.Lost()
	identity, asset := (*lockstep.IdentityError)(nil), (*record.AssetError)(nil)
	if errors.As(err, &identity) || errors.As(err, &asset) { // another state needs the same assets
		c.fail(err)
	} else if err != nil {
		c.ask(err)
	}
	return nil
}

// adopt begins the stream anew with a complete state sync.
func (c *Client) adopt(a *stream.Assembly) error {
	var dec record.Decoder
	r, rest, err := dec.Decode(a.Bytes)
	if err != nil {
		return err
	}
	f := c.game.NewFollower(lockstep.FollowerOptions{
		History:  lockstep.HistoryOptions{Length: c.options.KeepStates, States: true},
		Observer: c.options.Observer,
	})
	if old := c.Header(); old != nil && old.Match != r.Header.Match {
		return &lockstep.IdentityError{Field: "match", Got: r.Header.Match.String(), Want: old.Match.String()}
	}
	if err := f.Apply(r); err != nil {
		return err
	}
	if err := checkSeat(c.seat, f.Header()); err != nil {
		return err
	}
	r, rest, err = dec.Decode(rest)
	if err != nil {
		return err
	}
	if r.Tick != a.Tick {
		return fmt.Errorf("lockstep: client: %w: a state of tick %d, want tick %d", record.ErrMalformed, r.Tick, a.Tick)
	}
	if err := f.Apply(r); err != nil {
		return err
	}
	if err := c.roster.adopt(&dec, rest, f.Header()); err != nil {
		return err
	}
	if n, differs := c.run.Lag(f.Tick(), c.run.Level(c.in.Tick())); differs && (n < 0 || c.runTicks(n) == nil) {
		c.run.KeepWrong() // otherwise the game fails on such a state
	}
	c.in.Adopt(a.Position, &dec)
	c.datagrams.Begin(a.Position)
	c.run.Begin(f, &dec)
	c.events = c.run.Events(c.events)
	c.pace.Begin(&f.Header().Settings)
	c.predict.Refuse()
	c.own.Forget(f.Tick())
	c.out.Adopted(f.Tick())
	c.catchingUp, c.progressed = true, 0
	return nil
}
