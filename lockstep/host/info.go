package host

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/bans"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Stats returns the counters and the current sizes.
func (h *Host) Stats() Stats {
	s := h.stats
	s.Tick, s.InputDelay, s.StateBytes = h.c.Now(), h.c.InputDelay(), h.c.StateBytes()
	s.Resimulated, s.SyncKeyframes = h.c.Resimulated(), h.log.keyframes.Made
	s.Players, s.Spectators = h.seats.players(), h.peers.spectators()
	s.RingRecords = int(h.ring.Next() - h.ring.First())
	s.Memory = h.Info().Memory()
	s.TwinTicks = h.twins.count.Ticks
	for _, p := range h.peers.all {
		s.Peers[p.state]++
		if p.state == Live {
			s.MaxLag = max(s.MaxLag, p.stream.Lag(h.log.present(p.reader())))
			if p.datagrams != nil && p.datagrams.Alive(h.now) {
				s.ByDatagrams++
			}
		}
	}
	return s
}

// An Info describes the connections, seats and memory of a match. See [Host.Info].
type Info struct{ h *Host }

// Info returns what the Host knows of those who take part.
func (h *Host) Info() Info { return Info{h} }

// Peers describes each connection, oldest first.
func (x Info) Peers() []PeerInfo {
	all := make([]PeerInfo, len(x.h.peers.all))
	for i, p := range x.h.peers.all {
		all[i] = PeerInfo{
			ID: p.id, State: p.state, Role: p.role, Seat: p.seat, Name: p.name, Build: p.build, Platform: p.platform,
			Lag: p.stream.Lag(x.h.log.present(p.reader())), RTT: p.link.RTT, Jitter: p.link.Jitter,
		}
	}
	return all
}

// A SeatInfo describes a seat that somebody has.
type SeatInfo struct {
	Seat  lockstep.Player
	Name  string
	State SeatState
}

// A SeatState is what the owner of a seat does.
type SeatState uint8

// The states of seats that somebody has.
const (
	SeatJoining   SeatState = iota // connected, and not in the present yet
	SeatPlaying                    // connected, also until the end of a match that is over
	SeatAway                       // lost, and may come back
	SeatTakenOver                  // did not come back in time, so the rules play; may still come back
	SeatBot                        // a bot of the host
)

// String returns the state as it is in JSON.
func (s SeatState) String() string {
	return [...]string{"joining", "playing", "away", "taken_over", "bot"}[s]
}

// Seats describes the seats that somebody has.
func (x Info) Seats() (all []SeatInfo) {
	for i := range x.h.seats.table {
		s, p := &x.h.seats.table[i], lockstep.Player(i)
		state := SeatPlaying
		switch {
		case s.want == vacant:
			continue
		case s.bot != nil:
			state = SeatBot
		case s.want == away:
			state = SeatAway
		case s.want == takenOver:
			state = SeatTakenOver
		case s.peer != nil && s.peer.state != Live && s.peer.state != Closed:
			state = SeatJoining
		}
		all = append(all, SeatInfo{p, s.name, state})
	}
	return all
}

// Awaited returns the players who were connected when the match was interrupted, and are not live again.
func (x Info) Awaited() (players []lockstep.Player) {
	for i := range x.h.seats.table {
		s := &x.h.seats.table[i]
		if s.awaited = s.awaited && (s.peer == nil || s.peer.state != Live); s.awaited {
			players = append(players, lockstep.Player(i))
		}
	}
	return players
}

// PeerState returns the state of a connection, and false if there is no connection with that ID.
func (x Info) PeerState(id PeerID) (PeerState, bool) {
	p := x.h.peers.find(id)
	if p == nil {
		return 0, false
	}
	return p.state, true
}

// peerMemory is the size of one connection without its queue, in bytes.
const peerMemory = 4 << 10

// MemoryParts are what Info.Memory sums, in bytes.
type MemoryParts struct {
	Ring      int `json:"ring"`      // the latest records, for all connections
	Queues    int `json:"queues"`    // of connections, and the last Readys
	Keyframes int `json:"keyframes"` // to be sent
	Views     int `json:"views"`
	Evidence  int `json:"evidence"` // states that are being collected
	Accounts  int `json:"accounts"` // budgets and bans
}

// Memory returns the memory that the host holds for connections now.
func (x Info) Memory() int {
	p := x.MemoryParts()
	return p.Ring + p.Queues + p.Keyframes + p.Views + p.Evidence + p.Accounts
}

// MemoryParts says for what the host holds Memory.
func (x Info) MemoryParts() MemoryParts {
	m := MemoryParts{
		Ring: x.h.ring.Memory() + len(x.h.log.header), Queues: cap(x.h.out.made.bytes) + cap(x.h.out.given.bytes), Keyframes: x.h.log.keyframes.Memory(),
		Views: x.h.views.Memory(), Evidence: x.h.evidence.Memory(), Accounts: x.h.budget.Memory() + x.h.bans.Memory(),
	}
	for i, p := range x.h.peers.all {
		m.Queues += peerMemory + cap(p.out)
		if p.datagrams != nil || p.refused != nil {
			m.Queues += datagram.HostMemory
		}
		m.Views += p.view.Memory()
		if k := p.stream.Keyframe; k != nil && !x.h.log.keyframes.Keeps(k) && !slices.ContainsFunc(x.h.peers.all[:i], func(q *peer) bool { return q.stream.Keyframe == k }) {
			m.Keyframes += k.Memory()
		}
	}
	return m
}

// MemoryBound returns the limit that Memory never exceeds in a match whose states have at most stateBytes bytes:
//
//	ring        max(RingBytes, 256 KiB) + 16·RingRecords
//	peers       (players + MaxSpectators + MaxConnecting) · (8 KiB + 2·64 KiB)
//	keyframes   (3 + (SyncTimeout + Second·size/MiB) / KeyframeInterval) · size,
//	            where size is twice state + header + 4 KiB: as it is, and packed
//	            and 6 more with a SpectatorDelay
//	evidence    4·players·state + 4·MaxEvidence
//	accounts    (2·(players + MaxSpectators) + 256) · 2.5 KiB
//	bans        256 · 2.6 KiB
//	limits      players · 8 · N for each kind of command with a limit of N, see [record.CommandType.Limit]
//	output      4 · MaxCatchUp · (128 KiB + size), for two Readys in memory that grows in steps
//
// In addition, a match has its simulation, EvidenceHistory past states of the referee, and (input delay + 2) frames of
// at most 128 KiB.
func (x Info) MemoryBound(stateBytes int) int {
	o := &x.h.options
	size := stateBytes + len(x.h.log.header) + 4<<10
	blobs := 3 + int((o.SyncTimeout+lockstep.Second*lockstep.Time(size>>20))/o.KeyframeInterval)
	if x.h.log.policy.Delay > 0 {
		blobs += 6
	}
	return x.h.ring.MemoryBound() + len(x.h.log.header) +
		x.peerBound()*(peerMemory+datagram.HostMemory+2*maxPrivate) +
		blobs*2*size +
		4*len(x.h.seats.table)*stateBytes + 4*o.MaxEvidence +
		x.h.budget.MemoryBound() + x.h.views.Bound(x.peerBound()) +
		bans.MemoryBound +
		4*o.MaxCatchUp*(protocol.MaxServerMessage+size) + x.windowMemory()
}

// peerBound returns the most connections, with those that a new limit has closed.
func (x Info) peerBound() int {
	return max(x.h.options.maxPeers(len(x.h.seats.table)), x.h.peers.closing)
}

// windowMemory returns the most bytes of the windows of limited kinds, whose memory grows in steps.
func (x Info) windowMemory() (sum int) {
	for _, c := range x.h.header.Commands {
		sum += len(x.h.seats.table) * 8 * x.h.game.CommandLimit(c.Kind).N
	}
	return sum
}

// CheckBounds returns an error if the host's state is inconsistent: a bound is exceeded, a seat has two owners, or a
// cursor is beyond the log. It is for tests.
func (x Info) CheckBounds(stateBytes int) error {
	if got, want := x.Memory(), x.MemoryBound(stateBytes); got > want {
		return fmt.Errorf("lockstep: host: got %d bytes of memory, want at most %d", got, want)
	}
	if got, want := len(x.h.peers.all), x.peerBound(); got > want || got != len(x.h.peers.byID) {
		return fmt.Errorf("lockstep: host: got %d peers and %d ids, want at most %d", got, len(x.h.peers.byID), want)
	}
	if got, want := x.h.peers.spectators(), x.h.options.MaxSpectators; got > want {
		return fmt.Errorf("lockstep: host: got %d spectators, want at most %d", got, want)
	}
	for i := range x.h.seats.table {
		s := &x.h.seats.table[i]
		if p := s.peer; p != nil && (p.seat != lockstep.Player(i) || !p.joined() || s.want != here) {
			return fmt.Errorf("lockstep: host: seat %d is owned by peer %d, %s, of seat %d", i, p.id, p.state, p.seat)
		}
		if s.peer == nil && s.want == here && s.bot == nil && !x.h.ending.Over {
			return fmt.Errorf("lockstep: host: seat %d is present without an owner", i)
		}
	}
	users := 0
	for i := range x.h.seats.table {
		if x.h.seats.table[i].account != 0 {
			users++
		}
	}
	for _, p := range x.h.peers.all {
		if err := x.checkPeer(p); err != nil {
			return err
		}
		users += p.tab.Uses()
	}
	return x.h.budget.Check(users)
}

func (x Info) checkPeer(p *peer) error {
	owner := p.seat != lockstep.System && x.h.seats.table[p.seat].peer == p
	switch {
	case len(p.out) > maxPrivate:
		return fmt.Errorf("lockstep: host: peer %d: %d bytes wait, want at most %d", p.id, len(p.out), maxPrivate)
	case p.seat != lockstep.System && p.state != Closed && p.state != Connecting && !owner:
		return fmt.Errorf("lockstep: host: peer %d, %s, speaks for seat %d, which it does not own", p.id, p.state, p.seat)
	}
	if err := p.stream.Check(x.h.ring.Next(), p.streams()); err != nil {
		return fmt.Errorf("lockstep: host: peer %d, %s: %w", p.id, p.state, err)
	}
	return nil
}

// A Connection describes who is behind a connection, for the operator. Others must not see it.
type Connection struct {
	PeerInfo
	Address string `json:"address"` // as it was given to Connect
	Subject string `json:"subject"` // of its grant; "" before the welcome
	Guest   bool   `json:"guest"`

	// Spent is how much is used of each of [Rates], in percent of what is allowed at once: of the connection's subject, of its address or
	// of the connection itself, whichever counts.
	Spent map[string]int `json:"spent"`
}

// Connections describes the connections, also those that have not authenticated yet, the oldest first.
func (x Info) Connections(now lockstep.Time) (all []Connection) {
	x.h.now = max(x.h.now, now)
	for i, info := range x.Peers() {
		p := x.h.peers.all[i]
		all = append(all, Connection{PeerInfo: info, Address: p.from, Subject: p.subject, Guest: p.guest, Spent: x.h.budget.Spent(x.h.now, &p.tab)})
	}
	return all
}

// A Status says how a match stands.
type Status struct {
	InLobby bool   // it waits for its players to begin
	Paused  bool   // by a player
	Held    string // the reason of [Admin.Hold], or ""
	Wait    Wait   // why it stands still or runs slower, as the peers know it
	Lingers bool   // the rules have ended it, and players may still connect to see its end

	// LogEnded says that the log has its last record. A log that failed, or that a shutdown left, has none: the match may
	// continue from it, and hides what its [disclosure.Policy] hides.
	LogEnded bool

	Grace     lockstep.Time // for which the seat of a lost player is kept, see Options.Grace
	EndReason string        // why it has ended; "" while it goes on
}

// Status returns how the match stands.
func (h *Host) Status() Status {
	s := Status{
		InLobby: h.lobby.Open && !h.ending.Over, Paused: h.c.Paused(), Held: h.pace.Held(), Wait: h.pace.Told,
		Lingers: h.ending.Lingers(h.now, h.seats.seen()), LogEnded: h.log.ended(), Grace: h.options.Grace,
	}
	if err := h.c.Err(); err != nil {
		_, byRules := h.c.Result()
		s.EndReason = h.ending.Reason(err, byRules)
	}
	return s
}
