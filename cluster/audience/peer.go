package audience

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// maxPrivate bounds the private messages that wait for a peer, in bytes. Spectators get few of them.
	maxPrivate = 8 << 10

	// roomClosing is the part of maxPrivate that is reserved for the last messages.
	roomClosing = 4 << 10

	// keepPrivate bounds the memory that a peer keeps for its next messages, in bytes.
	keepPrivate = 256
)

// A peer is one connection.
type peer struct {
	id       host.PeerID
	state    host.PeerState
	from     *address // of a peer that is not closed
	dirty    bool     // on Audience.dirty
	auth     *protocol.Auth
	platform string // of its client, as it describes it

	out  []byte // private messages, encoded
	told uint64 // version of the wait that it knows

	sync      *Keyframe     // being sent
	syncAt    int           // bytes of it that were sent
	syncRoom  int           // bytes of it that may still be sent before syncMore
	syncMore  lockstep.Time //
	confirmed bool          // an ack has arrived since the keyframe was sent
	strikes   uint8         // keyframes sent because it was too far behind
	pinged    bool          // a ping is unanswered
	struckAt  lockstep.Time
	deadline  lockstep.Time // of auth, of the first ack after a sync, of reaching the present

	cursor protocol.Position // of the next record to send
	high   protocol.Position // the highest cursor so far
	acked  protocol.Position
	base   protocol.Position // of the last keyframe that it was sent
	tick   lockstep.Tick     // the last simulated one, from its acks

	heard    lockstep.Time // when its last message arrived
	nonce    uint64        // of the latest ping
	errorAt  lockstep.Time // when the next error about a limit may be sent
	reported lockstep.Tick // its latest checksum
	agreed   lockstep.Tick // the latest tick at which it agreed

	messages, bytes, offences, syncs, resyncs host.Bucket // of Rates

	code   protocol.CloseCode
	reason string
}

// streams reports whether the peer is sent records.
func (p *peer) streams() bool { return p.state == host.CatchingUp || p.state == host.Live }

// become changes the state of a peer.
func (a *Audience) become(p *peer, s host.PeerState) {
	a.count[p.state]--
	p.state = s
	a.count[s]++
}

// spectators returns the number of welcomed connections.
func (a *Audience) spectators() int {
	return a.count[host.Syncing] + a.count[host.CatchingUp] + a.count[host.Live]
}

// Connect takes a new connection, which must authenticate. from is its address, in any form. Connect returns false if there is no
// room; the caller should then close the socket.
func (a *Audience) Connect(now lockstep.Time, from string) (host.PeerID, bool) {
	a.at(now)
	if a.count[host.Connecting] >= a.options.MaxConnecting {
		i := slices.IndexFunc(a.peers, func(p *peer) bool { return p.state == host.Connecting })
		a.close(a.peers[i], protocol.CloseBusy, "others want to come in", 1000)
	}
	if len(a.peers) >= a.options.MaxSpectators+2*a.options.MaxConnecting {
		a.stats.NoRoom++
		return 0, false
	}
	a.lastID++
	p := &peer{id: a.lastID, heard: a.now, deadline: a.now + a.options.AuthTimeout}
	p.from = a.addresses.open(a.now, pack.Clip(from, record.MaxName), a.keyframeRate(0))
	a.peers = append(a.peers, p)
	a.byID[p.id] = p
	a.count[host.Connecting]++
	a.wakeAt(p.deadline)
	if a.closed != nil {
		a.close(p, protocol.CloseCode(a.closed.Code), a.closed.Text, a.closed.RetryMS)
	}
	return p.id, true
}

// Disconnect forgets a connection whose socket is closed.
func (a *Audience) Disconnect(now lockstep.Time, id host.PeerID) {
	a.at(now)
	p := a.byID[id]
	if p == nil {
		return
	}
	a.discharge(p)
	a.count[p.state]--
	delete(a.byID, id)
	i, _ := slices.BinarySearchFunc(a.peers, id, func(p *peer, id host.PeerID) int { return cmp.Compare(p.id, id) })
	a.peers = slices.Delete(a.peers, i, i+1)
}

func (a *Audience) discharge(p *peer) {
	if p.from != nil {
		p.from.users--
		p.from = nil
	}
}

// mark puts a peer on the list of those with something to send.
func (a *Audience) mark(p *peer) {
	if !p.dirty {
		p.dirty = true
		a.dirty = append(a.dirty, p.id)
	}
}

// close ends a connection: the peer is sent the reason, and is no longer read. It may come back after retryMS; 0 means never.
func (a *Audience) close(p *peer, code protocol.CloseCode, reason string, retryMS uint32) {
	if p.state == host.Closed {
		return
	}
	a.message = protocol.Message{Kind: protocol.KindClosing, Code: uint8(code), Text: reason, RetryMS: retryMS}
	p.out = a.writer.Append(p.out, &a.message)
	p.code, p.reason = code, reason
	if int(code) < len(a.stats.Closed) {
		a.stats.Closed[code]++
	}
	a.discharge(p)
	a.become(p, host.Closed)
	p.sync, p.auth = nil, nil
	a.mark(p)
}

// Closed reports whether the Audience has closed a connection. Once Send returns nothing more, the caller should close its socket
// and call Disconnect.
func (a *Audience) Closed(id host.PeerID) (code protocol.CloseCode, reason string, closed bool) {
	p := a.byID[id]
	if p == nil || p.state != host.Closed {
		return 0, "", false
	}
	return p.code, p.reason, true
}

// private queues a message for one peer. It closes a peer whose queue is full.
func (a *Audience) private(p *peer, m *protocol.Message) {
	if p.state == host.Closed {
		return
	}
	before := len(p.out)
	p.out = a.writer.Append(p.out, m)
	if len(p.out) > maxPrivate-roomClosing {
		p.out = p.out[:before]
		a.close(p, protocol.CloseSlow, "does not read its answers", 1000)
		return
	}
	a.mark(p)
}

// offend answers a message that is not allowed, and closes a peer that sends too many of them. Code 0 sends no error.
func (a *Audience) offend(p *peer, code protocol.ErrorCode, text string) {
	a.stats.Offences++
	if !p.offences.Take(a.now, a.options.Rates.Offences, 1) {
		a.close(p, protocol.CloseAbuse, "limits were exceeded again and again", 0)
		return
	}
	if code == protocol.ErrorLimit {
		if a.now < p.errorAt {
			return
		}
		p.errorAt = a.now + lockstep.Second
	}
	if code != 0 {
		a.error(p, code, text, "")
	}
}

func (a *Audience) error(p *peer, code protocol.ErrorCode, text, field string) {
	a.message = protocol.Message{Kind: protocol.KindError, Code: uint8(code), Text: text, Field: field}
	a.private(p, &a.message)
}

// malformed closes a peer that violates the protocol.
func (a *Audience) malformed(p *peer, text string) {
	a.error(p, protocol.ErrorMalformed, text, "")
	a.close(p, protocol.CloseMalformed, "malformed", 0)
}
