package host

import (
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/evidence"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// peers are the connections of a match, and which of them have something to send.
type peers struct {
	all     []*peer          // the oldest first
	byID    map[PeerID]*peer // only looked up, never ranged over
	lastID  PeerID
	dirty   []PeerID
	scanned protocol.Position // barrier.Persisted() at the last markNew
	closing int               // peers when the limits changed: they stay until their sockets are closed
}

// find returns a connected peer, or nil.
func (c *peers) find(id PeerID) *peer { return c.byID[id] }

// add adds a connection from an address.
func (c *peers) add(from string) *peer {
	c.lastID++
	p := &peer{id: c.lastID, from: pack.Clip(from, record.MaxName), seat: lockstep.System, witness: evidence.Witness{ID: uint64(c.lastID)}}
	c.all = append(c.all, p)
	c.byID[p.id] = p
	return p
}

// remove forgets a connection.
func (c *peers) remove(p *peer) {
	delete(c.byID, p.id)
	c.all = slices.DeleteFunc(c.all, func(q *peer) bool { return q == p })
}

// connecting returns the number of unauthenticated connections.
func (c *peers) connecting() (n int) {
	for _, p := range c.all {
		if p.state == Connecting {
			n++
		}
	}
	return n
}

// fullest returns the oldest unauthenticated connection of the address that has the most. Of several such addresses it
// chooses the one with the oldest connection. The caller knows that there is one.
func (c *peers) fullest() *peer {
	counts, most := make(map[string]int), 0 // only looked up, never ranged over
	for _, p := range c.all {
		if p.state == Connecting {
			counts[p.from]++
			most = max(most, counts[p.from])
		}
	}
	i := slices.IndexFunc(c.all, func(p *peer) bool { return p.state == Connecting && counts[p.from] == most })
	return c.all[i]
}

// spectators returns the number of welcomed spectators.
func (c *peers) spectators() (n int) {
	for _, p := range c.all {
		if p.seat == lockstep.System && p.state != Connecting && p.state != Closed {
			n++
		}
	}
	return n
}

// read reports whether a player is live and gets records.
func (c *peers) read() bool {
	return slices.ContainsFunc(c.all, func(p *peer) bool { return p.view == nil && p.seat != lockstep.System && p.state == Live })
}

// mark puts a peer on the list of those with something to send.
func (c *peers) mark(p *peer) {
	if !p.dirty {
		p.dirty = true
		c.dirty = append(c.dirty, p.id)
	}
}

// takeDirty appends the peers that were marked since the last call.
func (c *peers) takeDirty(dst []PeerID) []PeerID {
	for _, id := range c.dirty {
		if p := c.find(id); p != nil {
			p.dirty = false
			dst = append(dst, id)
		}
	}
	c.dirty = c.dirty[:0]
	return dst
}

// markNew marks the peers for whom there are new records, players first.
func (c *peers) markNew(j *journal, all seats) {
	if j.barrier.Persisted() == c.scanned {
		return
	}
	c.scanned = j.barrier.Persisted()
	for i := range all {
		if p := all[i].peer; p != nil && p.streams() && p.stream.Cursor() < j.window(p) {
			c.mark(p)
		}
	}
	for _, p := range c.all {
		if p.streams() && p.stream.Cursor() < j.window(p) {
			c.mark(p)
		}
	}
}
