package host

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/ending"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/evidence"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/link"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/syncing"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/views"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A PeerID identifies a connection of a Host. It is never reused.
type PeerID uint64

const (
	// maxPrivate bounds the private messages that wait for a peer, in bytes.
	maxPrivate = 64 << 10

	// roomClosing is the part of maxPrivate that is reserved for the last messages.
	roomClosing = 4 << 10

	// keepPrivate bounds the memory that a peer keeps for its next messages, in bytes.
	keepPrivate = 2 << 10
)

// A peer is one connection.
type peer struct {
	id    PeerID
	state PeerState
	role  protocol.Role
	seat  lockstep.Player // System for a spectator

	welcomed bool

	name, build, platform, sources string

	from    string // its address, from the caller of Connect
	subject string // of its grant; empty before the welcome
	guest   bool   // see Grant.Guest
	token   string // see Grant.ID
	tab     budget.Tab

	out   []byte // private messages, encoded
	calm  int    // bytes of out up to here may wait: receipts that datagrams carry
	dirty bool   // on peers.dirty, unless it was removed

	panicked bool // its client has said so

	view   *views.Viewing  // of a peer that is sent views and no records, or nil
	viewer lockstep.Viewer // whose views a spectator gets

	waitVersion uint64 // of what it knows about the match's waits

	datagrams *datagram.HostEnd // nil: no datagram has come
	refused   datagram.Refused  // or nil

	stream syncing.Stream
	link   link.Link

	sentEnd bool // it was sent the end of the match

	errorAt lockstep.Time // when the next error about a limit may be sent
	witness evidence.Witness

	retry  uint32 // milliseconds after which it may come back when it is closed; 0: never, or as its code says
	code   protocol.CloseCode
	reason string
}

// joined reports whether the peer is welcomed, and not closed.
func (p *peer) joined() bool { return p.state != Connecting && p.state != Closed }

// watches reports whether the peer is a welcomed spectator.
func (p *peer) watches() bool { return p.seat == lockstep.System && p.joined() }

// streams reports whether the peer is sent records.
func (p *peer) streams() bool { return p.state == CatchingUp || p.state == Live }

// PeerInfo describes one connection of a Host.
type PeerInfo struct {
	ID       PeerID          `json:"id"`
	State    PeerState       `json:"state"`
	Role     protocol.Role   `json:"role"`
	Seat     lockstep.Player `json:"seat"` // System for a spectator
	Name     string          `json:"name"`
	Build    string          `json:"build"`
	Platform string          `json:"platform"`
	Lag      lockstep.Tick   `json:"lag"` // ticks from the last simulated one to the last sealed one
	RTT      lockstep.Time   `json:"rtt"` // smoothed round trip; 0 if unknown
	Jitter   lockstep.Time   `json:"jitter"`
}

// peers are the connections of a match: which of them have something to send, and which are to end.
type peers struct {
	all     []*peer          // the oldest first
	byID    map[PeerID]*peer // only looked up, never ranged over
	lastID  PeerID
	dirty   []*peer
	ended   []*peer           // closed, and the Host has not released their seats yet
	scanned protocol.Position // barrier.Persisted() at the last markNew
	closing int               // peers when the limits changed: they stay until their sockets are closed

	ending  *ending.Ending
	budget  *budget.Ledger
	stats   *Stats
	writer  protocol.Writer
	message protocol.Message // scratch
}

// send queues a message for one peer. It closes a peer whose queue is full.
func (c *peers) send(p *peer, m protocol.Message) {
	c.message = m
	c.queue(p)
}

// queue queues the message of c for one peer.
func (c *peers) queue(p *peer) {
	if p.state == Closed {
		return
	}
	before := len(p.out)
	p.out = c.writer.Append(p.out, &c.message)
	if len(p.out) > maxPrivate-roomClosing {
		p.out = p.out[:before]
		c.close(p, protocol.CloseSlow, "does not read its answers")
		return
	}
	c.mark(p)
}

// tell queues an error for one peer.
func (c *peers) tell(p *peer, code protocol.ErrorCode, text, field string) {
	c.send(p, protocol.Message{Kind: protocol.KindError, Code: uint8(code), Text: text, Field: field})
}

// close ends a connection: the peer is sent the reason, and is no longer read. It may come back after peer.retry, if that is set. The
// Host releases its seat once the present message or timer is done: until then nothing else changes, so no decision meets itself.
func (c *peers) close(p *peer, code protocol.CloseCode, reason string) {
	if p.state == Closed {
		return
	}
	switch code {
	case protocol.CloseSlow, protocol.CloseTimeout, protocol.CloseShutdown, protocol.CloseBusy:
		p.retry = cmp.Or(p.retry, c.ending.Retry, 1000)
	}
	c.message = protocol.Message{Kind: protocol.KindClosing, Code: uint8(code), Text: reason, RetryMS: p.retry}
	p.out = c.writer.Append(p.out, &c.message)
	p.code, p.reason = code, reason
	c.stats.Closed[code]++
	p.state = Closed
	p.stream.Close()
	p.witness.Leave()
	c.mark(p)
	c.ended = append(c.ended, p)
}

// closeEnded ends a connection because the match is over. err is the coordinator's.
func (c *peers) closeEnded(p *peer, err error) {
	code, text := c.ending.Closing(err)
	c.close(p, code, text)
}

// refuse tells a newcomer why it cannot join, and closes its connection.
func (c *peers) refuse(p *peer, code protocol.ErrorCode, text, field string) {
	c.tell(p, code, text, field)
	c.close(p, protocol.CloseRefused, text)
}

// malformed closes a peer that violates the protocol.
func (c *peers) malformed(p *peer, text string) {
	c.tell(p, protocol.ErrorMalformed, text, "")
	c.close(p, protocol.CloseMalformed, "malformed")
}

// offend answers a message that is not allowed, and closes a peer that sends too many of them. Code 0 sends no error,
// because the offence was answered in another way.
func (c *peers) offend(now lockstep.Time, p *peer, code protocol.ErrorCode, text string) {
	c.stats.Offences++
	if !c.budget.Take(now, &p.tab, budget.Offences, 1) {
		c.close(p, protocol.CloseAbuse, "limits were exceeded again and again")
		return
	}
	if code != 0 && (code != protocol.ErrorLimit || p.limited(now)) {
		c.tell(p, code, text, "")
	}
}

// limited reports whether to tell a peer about a limit, at most once a second.
func (p *peer) limited(now lockstep.Time) bool {
	if now < p.errorAt {
		return false
	}
	p.errorAt = now + lockstep.Second
	return true
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
	p.dirty = false
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
		if p.watches() {
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
		c.dirty = append(c.dirty, p)
	}
}

// takeDirty appends the peers that were marked since the last call.
func (c *peers) takeDirty(dst []PeerID) []PeerID {
	for _, p := range c.dirty {
		if p.dirty {
			p.dirty = false
			dst = append(dst, p.id)
		}
	}
	clear(c.dirty)
	c.dirty = c.dirty[:0]
	return dst
}

// leftUntold is the reason of a player who leaves and does not say why. The log needs none then.
const leftUntold = "left"

// connectionEnded is the reason in events of a connection that the host has not closed. The log needs none then.
const connectionEnded = "the connection ended"

// clientPanicked is the reason why a client is lost that has said so.
const clientPanicked = "the rules panicked on its machine"

// whyGone returns the reason in an event of the peer's end. The code says enough of one who leaves and gives no reason.
func (p *peer) whyGone() string {
	if p.reason == leftUntold {
		return ""
	}
	if p.panicked {
		return clientPanicked
	}
	return cmp.Or(p.reason, connectionEnded)
}

// late returns how late a player's commands come. Where packets are lost, they come sooner by datagrams than by the stream.
func (p *peer) late(now lockstep.Time) lockstep.Time {
	late := p.link.RTT/2 + 2*p.link.Jitter
	if g := p.datagrams; g != nil && g.Flows(now, p.link.RTT) {
		late = min(late, g.Lateness())
	}
	return late
}

// reader returns for whom a peer reads the match.
func (p *peer) reader() disclosure.Reader {
	if p.seat == lockstep.System {
		return disclosure.Spectator
	}
	return disclosure.Player
}

// noPlace is what a spectator too many is told.
const noPlace = "no place is free"
