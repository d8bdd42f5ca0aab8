package host

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/internal/ring"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/bans"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/ending"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/evidence"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/idle"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/link"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/lobby"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/pace"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/syncing"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/talk"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/views"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/vote"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Host runs one live match. It owns the Coordinator, the ring of records that all connections share, the connections
// and their seats. It is a state machine: bytes and the caller's time go in, bytes come out. It has no socket, clock,
// goroutine or file, and belongs to one goroutine.
//
// Its owner (a server, or a test) calls
//
//   - Connect, Receive and Disconnect when sockets are opened, read and closed,
//   - Advance at the time that [Ready] gives, which seals the ticks that are due,
//   - Ready after any of these. The owner appends the records to the log, and calls Persisted
//     when they are durable, or Fail. For each peer it then calls Send until it returns nothing
//     more or the socket is busy, and then Closed.
//
// No peer is sent a record that is not persisted, or a state after such a record.
//
// See [PeerState] for the states of a connection. A seat belongs to the holder of its token, not to a connection: the
// latest welcomed connection owns it, and older ones are no longer read.
type Host struct {
	game    *lockstep.Game
	header  *lockstep.Header
	options Options
	c       *coordinator.Coordinator
	ring    *ring.Ring
	log     journal
	auth    *protocol.Auth // the identity that a client must have

	syncing syncing.Policy
	donors  syncing.Donors // relay mode

	now   lockstep.Time
	wake  alarm // when the next timer other than a tick is due
	peers peers
	seats seats

	botPayloads *record.Payloads

	budget *budget.Ledger
	idle   *idle.Seats
	bans   bans.Table

	seatsChanged bool // a seat's change is not in the log yet
	untold       bool // the peers do not know a seat's change
	ending       *ending.Ending

	made  *output // since the last Ready
	given *output // the last Ready

	pace     *pace.Pace
	seen     []pace.Seat // scratch of paceSeats
	lobby    *lobby.Lobby
	votes    *vote.Votes
	views    *views.Views // nil if the match has none
	evidence *evidence.Collector

	datagrams datagramBuffers

	reader   protocol.Reader
	received protocol.Message
	writer   protocol.Writer
	message  protocol.Message // scratch
	stats    Stats
}

// New begins a match. The first [Ready] has its header and its first state. New returns a [*lockstep.SelfTestError] on
// a machine whose results would differ from those of all others. A [Recovery] continues a match.
func New(g *lockstep.Game, h *lockstep.Header, o Options) (*Host, error) {
	x, err := newHost(g, h, o)
	if err != nil {
		return nil, err
	}
	c, err := coordinator.New(g, h, (*hostLog)(x), x.options.coordinator(&x.header.Settings, (*hostFrames)(x)))
	if err != nil {
		return nil, err
	}
	x.c, x.log.c, x.header = c, c, c.Header()
	x.seatsChanged = x.seats.seatBots(x.options.Bots)
	x.log.barrier.Begin(x.log.policy.Delay, 0, x.log.keyframes.Begin(0, 0, x.log.policy.Delay > 0))
	return x, nil
}

// newHost returns a Host without a Coordinator.
func newHost(g *lockstep.Game, h *lockstep.Header, o Options) (*Host, error) {
	if err := g.SelfTest().Check(); err != nil {
		return nil, err
	}
	if err := h.Settings.Check(); err != nil {
		return nil, err
	}
	if err := o.complete(&h.Settings); err != nil {
		return nil, err
	}
	v, err := newViews(g, &h.Settings, &o)
	if err != nil {
		return nil, err
	}
	auth, records := protocol.NewAuth(g), ring.New(o.RingRecords, o.RingBytes)
	ledger := budget.New(o.Rates.list(), int(h.Settings.Players)+o.MaxSpectators)
	return &Host{
		game: g, header: h, options: o, auth: auth,
		ring: records,
		log: journal{
			ring:      records,
			policy:    o.Disclosure(),
			checks:    evidence.NewChecks(o.Disclosure().Delay, lockstep.Tick(h.Settings.CheckEvery)),
			talk:      talk.New(int(h.Settings.Players), talk.Policy{Bytes: o.MaxNoteBytes, History: o.ChatHistory, Spectators: o.SpectatorChat}),
			keyframes: syncing.NewKeyframes(o.KeyframeInterval, o.Relay),
		},
		made:        &output{},
		given:       &output{},
		peers:       peers{byID: make(map[PeerID]*peer)},
		botPayloads: g.NewPayloads(),
		budget:      ledger,
		idle:        idle.New(h.Settings, o.Inactive),
		seats:       make(seats, h.Settings.Players),
		wake:        alarm(never),
		pace:        pace.New(h.Settings, pace.Policies{Wait: o.Wait, Slow: o.Slow, Delay: o.Delay, Every: o.PingEvery}, ledger),
		lobby:       lobby.New(o.Start, int(h.Settings.Players), ledger),
		votes:       vote.New(int(h.Settings.Players)),
		views:       v,
		evidence:    evidence.New(g, h, o.MaxEvidence),
		donors:      syncing.NewDonors(h.Settings),
		syncing:     syncing.Policy{BytesPerTick: o.SyncBytesPerTick, Timeout: o.SyncTimeout, Lag: o.Lag, AckEvery: o.AckEvery, Strikes: o.MaxStrikes},
		ending:      ending.New(ending.Policy{Linger: o.Linger, EndLinger: o.EndLinger, Abandoned: o.Abandoned}),
	}, nil
}

// hostLog is the Host as the log of its Coordinator: it adds the records to the next Ready and to the ring, and keeps
// the header for keyframes.
type hostLog Host

func (l *hostLog) Append(raw []byte) error {
	switch record.KindOf(raw) {
	case record.KindHeader:
		if len(raw) > protocol.MaxServerMessage {
			return fmt.Errorf("lockstep: host: got a header of %d bytes, want at most %d", len(raw), protocol.MaxServerMessage)
		}
		l.log.header = slices.Clone(raw)
	case record.KindKeyframe:
		l.log.keyframes.First(l.log.header, raw) // the state at tick 0, a relay's only own state
	}
	l.made.record(raw)
	return l.ring.Append(raw)
}

// Disclosure returns who may see what of the match. The owner of the log writes its event into the log, after the first records.
func (h *Host) Disclosure() disclosure.Policy { return h.log.policy }

// Header returns the match's header.
func (h *Host) Header() *lockstep.Header { return h.header }

// Referee returns the coordinator's own copy of the match, for reading, or nil in relay mode.
func (h *Host) Referee() *lockstep.Follower { return h.c.Referee() }

// Now returns the last sealed tick, or after Fail the last one in the log.
func (h *Host) Now() lockstep.Tick { return h.log.now() }

// Result returns the canonical bytes of the result, and false unless the rules have ended the match.
func (h *Host) Result() (result []byte, byRules bool) { return h.c.Result() }

// Err returns why the match is over, and nil while it goes on.
func (h *Host) Err() error { return h.c.Err() }

// Connect takes a new connection, which must authenticate. from is its address, in any form: peers with unverified
// subjects share the limits of their address. Connect returns false if there is no room; the caller should then close
// the socket.
//
// Unauthenticated connections have a limit of their own, so they cannot take the players' places. At that limit, the address with
// the most of them loses its oldest, so that no address can keep all places.
func (h *Host) Connect(now lockstep.Time, from string) (PeerID, bool) {
	h.now = max(h.now, now)
	if h.peers.connecting() >= h.options.MaxConnecting {
		h.close(h.peers.fullest(), protocol.CloseBusy, "others want to come in")
	}
	if len(h.peers.all) >= h.options.maxPeers(len(h.seats)) {
		h.stats.NoRoom++
		return 0, false
	}
	p := h.peers.add(from)
	p.stream, p.link = syncing.NewStream(&h.syncing, h.now+h.options.AuthTimeout), link.New(h.now)
	h.wake.at(p.stream.Deadline())
	if h.ending.Over() && !h.ending.Lingers(h.now, h.seats.seen()) {
		h.closeEnded(p)
	}
	return p.id, true
}

// Disconnect forgets a connection whose socket is closed. Unless the host had closed the connection, its player is lost
// and may come back.
func (h *Host) Disconnect(now lockstep.Time, id PeerID) {
	h.now = max(h.now, now)
	p := h.peers.find(id)
	if p == nil {
		return
	}
	h.leaveSeat(p)
	if p.sentEnd && p.seat != lockstep.System {
		h.seats[p.seat].sawEnd = true // a lost connection takes longer to close
		h.wake.at(h.ending.ClosesAt(h.seats.seen()))
	}
	h.budget.Leave(&p.tab)
	p.state = Closed
	p.witness.Leave()
	h.peers.remove(p)
}

// close ends a connection: the peer is sent the reason, and is no longer read. It may come back after peer.retry, if that is set.
func (h *Host) close(p *peer, code protocol.CloseCode, reason string) {
	switch code {
	case protocol.CloseSlow, protocol.CloseTimeout, protocol.CloseShutdown, protocol.CloseBusy:
		p.retry = cmp.Or(p.retry, h.ending.Retry(), 1000)
	}
	if p.state == Closed {
		return
	}
	h.message = protocol.Message{Kind: protocol.KindClosing, Code: uint8(code), Text: reason, RetryMS: p.retry}
	p.out = h.writer.Append(p.out, &h.message)
	p.code, p.reason = code, reason
	h.stats.Closed[code]++
	welcomed := p.state != Connecting
	h.leaveSeat(p)
	h.budget.Leave(&p.tab)
	p.state = Closed
	p.stream.Close()
	p.witness.Leave()
	h.peers.mark(p)
	if welcomed {
		h.made.event(h.log.now(), Event{Kind: PeerClosed, Peer: p.id, Player: p.seat, Code: code, Text: reason})
	} else {
		h.made.event(h.log.now(), Event{Kind: PeerRefused, Peer: p.id, Player: p.seat, Code: code, Text: reason})
	}
}

// Closed reports whether the host has closed a connection. Once Send returns nothing more, the caller should close its
// socket and call Disconnect.
func (h *Host) Closed(id PeerID) (code protocol.CloseCode, reason string, closed bool) {
	p := h.peers.find(id)
	if p == nil || p.state != Closed {
		return 0, "", false
	}
	return p.code, p.reason, true
}

// private queues a message for one peer. It closes a peer whose queue is full.
func (h *Host) private(p *peer, m *protocol.Message) {
	if p.state == Closed {
		return
	}
	before := len(p.out)
	p.out = h.writer.Append(p.out, m)
	if len(p.out) > maxPrivate-roomClosing {
		p.out = p.out[:before]
		h.close(p, protocol.CloseSlow, "its answers are not read")
		return
	}
	h.peers.mark(p)
}

// never is a time later than all others.
const never lockstep.Time = 1<<63 - 1

// An alarm is when the next timer other than a tick is due.
type alarm lockstep.Time

// at makes it due at a time, or earlier.
func (a *alarm) at(t lockstep.Time) { *a = min(*a, alarm(t)) }

// due returns when Advance is due next in a match that is over, or goes on.
func (a alarm) due(now lockstep.Time, over bool, p *pace.Pace) lockstep.Time {
	switch {
	case over:
		return lockstep.Time(a)
	case !p.Running():
		return now
	}
	return min(lockstep.Time(a), p.Due())
}

// Advance seals the ticks that are due and runs the timers: it closes silent and slow connections, gives up on lost
// players, sends pings, and follows the policies. The first call starts the match's clock. After a stall Advance seals
// at most MaxCatchUp ticks and skips the others: the match stays late instead of hurrying. A stall does not count as a
// peer's silence.
func (h *Host) Advance(now lockstep.Time) {
	h.now = max(h.now, now)
	h.pace.Start(h.now)
	if late := h.now - h.wake.due(h.now, h.ending.Over(), h.pace); late > stall {
		// The program or its machine did not run, so messages that arrived meanwhile were not read.
		for _, p := range h.peers.all {
			p.link.Forgive(h.now, late)
			p.stream.Forgive(late)
		}
		h.seats.forgive(h.now, late)
		h.pace.Forgive(h.now, late)
		h.ending.Forgive(h.now, late)
		h.lobby.Forgive(h.now, late)
		h.evidence.Forgive(late)
	}
	for range h.options.MaxCatchUp {
		if h.ending.Over() || h.c.Err() != nil || h.pace.Due() > h.now || !h.ready() {
			break
		}
		h.tick()
	}
	if !h.ending.Over() && h.c.Err() == nil && h.pace.Due() <= h.now {
		if late := h.pace.Skip(h.now); late > 0 {
			h.stats.Skipped += uint64(late)
			h.made.event(h.log.now(), Event{Kind: TicksSkipped, Player: lockstep.System, Number: late})
		}
	}
	h.logSeats()
	h.tellSeats()
	if h.c.Err() != nil && !h.ending.Over() {
		h.finish()
	}
	h.keepTime()
	h.tellWait()
}

// stall is the lateness of Advance from which on the lost time is added to all timers.
const stall = lockstep.Second / 2

// tick seals one tick.
func (h *Host) tick() {
	h.pace.Tick()
	h.logSeats()
	f, err := h.c.Tick()
	h.takeDesyncs()
	if err != nil || f == nil {
		return
	}
	h.stats.Ticks++
	h.stats.Commands += uint64(len(f.Commands))
	h.seats.tickTold()
	h.sealed(f.Tick)
	h.runBots()
	h.countIdle()
}

// sealed tells what a tick that was just sealed shows to late spectators, and to joiners.
func (h *Host) sealed(t lockstep.Tick) {
	if h.options.Relay {
		h.log.last = h.c.AppendLast(h.log.last[:0])
		h.donors.Remember(t, h.ring.Next(), h.log.last)
	}
	delay := h.log.policy.Delay
	if delay == 0 {
		return
	}
	h.log.barrier.Seal(t, h.ring.Next())
	if k, ok := h.c.Check(t); ok {
		h.log.checks.Show(k)
	}
	h.log.check(t)
	if t%((delay+3)/4) == 0 {
		if k := h.log.keyframe(h.now, h.seats, h.lobby); k != nil {
			h.log.keyframes.Keep(k, h.log.barrier.Hidden(t))
		}
	}
}

// finish handles the end of the match. Peers that are behind may read on until closesAt.
func (h *Host) finish() {
	result, byRules := h.c.Result()
	h.ending.Finish(h.now, byRules)
	h.evidence.Finish()
	h.settle()
	if fault := (*lockstep.PanicError)(nil); errors.As(h.c.Err(), &fault) && h.options.Evidence {
		h.evidence.Panicked(h.Now()+1, lockstep.System, h.seats.participants(), &record.Panic{Where: fault.Where, Text: fmt.Sprint(fault.Value), Stack: string(fault.Stack)})
		h.settle()
	}
	h.made.event(h.log.now(), Event{Kind: MatchOver, Player: lockstep.System, Text: h.ending.Reason(h.c.Err(), byRules), ByRules: byRules, Result: h.header.ResultJSON(result)})
	for _, p := range h.peers.all {
		h.peers.mark(p)
		if p.state == Connecting && !h.ending.Lingers(h.now, h.seats.seen()) {
			h.closeEnded(p)
		}
	}
	h.wake.at(h.ending.ClosesAt(h.seats.seen()))
}

// closeEnded ends a connection because the match is over.
func (h *Host) closeEnded(p *peer) {
	code, text := h.ending.Closing(h.c.Err())
	h.close(p, code, text)
}

const allLeft = "all players have left"

// keepTime runs every timer, and finds the earliest of the remaining ones.
func (h *Host) keepTime() {
	h.wake = alarm(never)
	for _, p := range h.peers.all {
		if p.state != Closed {
			h.peerTime(p)
		}
	}
	if !h.ending.Over() {
		for i := range h.seats {
			h.seatTime(lockstep.Player(i))
		}
		if h.log.talk.Retry() { // what exceeded a limit is offered again
			for i := range h.seats {
				if s, p := &h.seats[i], lockstep.Player(i); s.peer != nil {
					h.log.noteName(p, s, h.budget.Purse(h.now, &s.peer.tab))
					h.noteReady(p)
				}
			}
			if h.log.talk.Waits() {
				h.wake.at(h.now + lockstep.Second)
			}
		}
		h.evidence.Advance(h.now)
		h.settle()
		h.waitingTime()
		h.paceTime()
		people := h.seats.people()
		if ends, at := h.ending.Abandoned(h.now, people == 0); ends {
			_ = h.Admin().End(h.now, allLeft) // the match goes on, so it can end
		} else {
			h.wake.at(at)
		}
		due, wake := h.views.Due(h.now)
		if h.wake.at(wake); due {
			h.makeViews(false)
		}
	} else if h.ending.Lingers(h.now, h.seats.seen()) {
		h.waitingTime()
		h.wake.at(h.ending.ClosesAt(h.seats.seen()))
	}
}

// peerTime runs the timers of one peer.
func (h *Host) peerTime(p *peer) {
	if h.ending.Over() && h.now >= h.ending.ClosesAt(h.seats.seen()) {
		h.closeEnded(p)
		return
	}
	if p.state == Connecting {
		if h.now >= p.stream.Deadline() {
			h.close(p, protocol.CloseTimeout, "no auth in time")
			return
		}
		h.wake.at(p.stream.Deadline())
		return
	}
	if p.link.Silent(h.now, h.options.IdleTimeout) {
		h.close(p, protocol.CloseTimeout, "nothing was heard")
		return
	}
	if p.link.Due(h.now) {
		h.message = protocol.Message{Kind: protocol.KindPing, Nonce: p.link.Ping(h.now, h.options.PingEvery, uint64(p.id))}
		h.private(p, &h.message)
	}
	h.wake.at(p.link.Next(h.options.IdleTimeout))
	if p.datagrams != nil { // sends again what is due, or lets the stream carry it
		due, next := p.datagrams.Due(h.now)
		if h.wake.at(next); due {
			h.peers.mark(p)
		}
	}
	h.syncTime(p)
	if h.ending.Over() {
		h.wake.at(h.ending.ClosesAt(h.seats.seen()))
	}
}
