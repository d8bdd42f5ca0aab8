package host

import (
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
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

	name, build, platform, sources string

	from    string // its address, from the caller of Connect
	subject string // of its grant; empty before the welcome
	guest   bool   // see Grant.Guest
	token   string // see Grant.ID
	tab     budget.Tab

	out   []byte // private messages, encoded
	calm  int    // bytes of out up to here may wait: receipts that datagrams carry
	dirty bool   // on Host.dirty

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

// A PeerState is the state of a connection.
//
//	              auth                  all chunks sent             acks near the present
//	Connecting ────────────► Syncing ────────────────► CatchingUp ────────────────► Live
//	    │  │                  ▲ │ ▲                       ▲ │ │                      │ │
//	    │  └ auth, resumed ───┼─┼─┼───────────────────────┘ │ │                      │ │
//	    │                     │ │ └── ring passed it by ────┘ │                      │ │
//	    │                     └─┼─── behind, desynced, or asked for a keyframe ──────┘ │
//	    ▼                       ▼                             ▼                        ▼
//	  Closed: refused, replaced, left, kicked, slow, silent, abusive, malformed, ended, or the socket is gone
type PeerState uint8

// The states of a connection.
const (
	Connecting PeerState = iota // auth has not arrived
	Syncing                     // receives a keyframe in chunks, or waits for one
	CatchingUp                  // receives records, but is still behind
	Live                        // keeps up with the match
	Closed                      // receives its last private messages, and is no longer read
	peerStates
)

func (s PeerState) String() string {
	return [...]string{"connecting", "syncing", "catching up", "live", "closed"}[s]
}

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
