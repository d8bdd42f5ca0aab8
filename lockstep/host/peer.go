package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/evidence"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/link"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/syncing"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/views"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
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
