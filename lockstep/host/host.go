package host

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/internal/ring"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
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

// A Host runs one live match; the package's page has its states and its owner's loop. It belongs to one goroutine. No peer is sent a record
// that is not persisted, or a state after such a record.
type Host struct {
	game    *lockstep.Game
	header  *lockstep.Header
	options Options
	c       *coordinator.Coordinator
	ring    *ring.Ring
	log     journal
	auth    *protocol.Auth // the identity that a client must have

	syncing syncing.Policy

	now   lockstep.Time
	wake  alarm // when the next timer other than a tick is due
	out   outputs
	peers peers
	seats seats
	bots  bots
	stats Stats

	refusals refusals

	budget   *budget.Ledger
	idle     *idle.Seats
	bans     bans.Table
	ending   *ending.Ending
	pace     *pace.Pace
	lobby    *lobby.Lobby
	votes    *vote.Votes
	views    *views.Views // nil if the match has none
	evidence *evidence.Collector
	twins    twins

	datagrams datagramBuffers
	reader    protocol.Reader
	received  protocol.Message
}

// datagramBuffers are what all peers share to read and write datagrams.
type datagramBuffers struct {
	reader  datagram.Reader
	writer  datagram.Writer
	in      datagram.ToHost
	records [][]byte // that a player lacks
}

// New begins a match. The first [Ready] has its header and its first state. New returns an error on
// a machine whose results would differ from those of all others. A [Recovery] continues a match.
func New(g *lockstep.Game, h *lockstep.Header, o Options) (*Host, error) {
	x, err := newHost(g, h, o)
	if err != nil {
		return nil, err
	}
	c, err := coordinator.New(g, h, &x.log, x.options.coordinator(&x.header.Settings, x.log.frames))
	if err != nil {
		return nil, err
	}
	x.c, x.log.c, x.header = c, c, c.Header()
	x.seats.changed = x.seats.seatBots(x.options.Bots)
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
	var v *views.Views
	if g.ViewSchema() != nil && !o.Relay {
		var err error
		if v, err = views.New(g, &h.Settings, o.Views.Every, o.Views.Budget); err != nil {
			return nil, err
		}
	} else if o.Views.Only {
		return nil, errors.New("lockstep: host: views only: needs a game with views, and a referee")
	}
	players, records := int(h.Settings.Players), ring.New(o.RingRecords, o.RingBytes)
	ledger := budget.New(o.Rates.list(), players+o.MaxSpectators)
	x := &Host{
		game: g, header: h, options: o, auth: protocol.NewAuth(g),
		ring: records,
		log: journal{
			ring:      records,
			relay:     o.Relay,
			policy:    o.Disclosure(),
			checks:    evidence.NewChecks(o.Disclosure().Delay, lockstep.Tick(h.Settings.CheckEvery)),
			talk:      talk.New(int(h.Settings.Players), talk.Policy{Bytes: o.MaxNoteBytes, History: o.ChatHistory, Spectators: o.SpectatorChat}),
			keyframes: syncing.NewKeyframes(o.KeyframeInterval, o.Relay),
			donors:    syncing.NewDonors(h.Settings),
		},
		wake:     alarm(never),
		budget:   ledger,
		idle:     idle.New(h.Settings, o.Inactive),
		pace:     pace.New(h.Settings, pace.Policies{Wait: o.Wait, Slow: o.Slow, Delay: o.Delay, Every: o.PingEvery}, ledger),
		lobby:    lobby.New(o.Start, players, ledger),
		votes:    vote.New(players),
		views:    v,
		evidence: evidence.New(g, h, o.MaxEvidence),
		syncing:  syncing.Policy{BytesPerTick: o.SyncBytesPerTick, Timeout: o.SyncTimeout, Lag: o.Lag, AckEvery: o.AckEvery, Strikes: o.MaxStrikes},
		ending:   ending.New(ending.Policy{Linger: o.Linger, EndLinger: o.EndLinger, Abandoned: o.Abandoned}),
	}
	x.options.Heavy.Found, x.options.Heavy.Count = x.twins.take, &x.twins.count
	x.out = outputs{now: x.log.now, made: &output{}, given: &output{}}
	x.log.out = &x.out
	x.peers = peers{byID: make(map[PeerID]*peer), ending: x.ending, budget: ledger, stats: &x.stats}
	x.seats = seats{
		table: make(table, players), options: &x.options, log: &x.log, out: &x.out, wake: &x.wake,
		budget: ledger, idle: x.idle, ending: x.ending, pace: x.pace, lobby: x.lobby, votes: x.votes,
	}
	x.bots = bots{seats: &x.seats, log: &x.log, out: &x.out, options: &x.options, stats: &x.stats, payloads: g.NewPayloads()}
	return x, nil
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

// Submit gives a command for a seat that the Host itself plays: that of a bot, or one that is taken over. The value is a
// pointer to a registered type. The command is numbered after the seat's last sequence, and is in the log like any
// other. The receipt says why a command is rejected. The error is that the value is no command, or wraps
// [coordinator.ErrSeat] for any other seat: the commands of a connected player are its own.
func (h *Host) Submit(p lockstep.Player, value any) (lockstep.Receipt, error) {
	return h.bots.submit(p, value)
}

// Connect takes a new connection, which must authenticate. from is its address, in any form: peers with unverified
// subjects share the limits of their address. Connect returns false if there is no room; the caller should then close
// the socket.
//
// Unauthenticated connections have a limit of their own, so they cannot take the players' places. At that limit, the address with
// the most of them loses its oldest, so that no address can keep all places.
func (h *Host) Connect(now lockstep.Time, from string) (PeerID, bool) {
	h.now = max(h.now, now)
	if h.peers.connecting() >= h.options.MaxConnecting {
		h.peers.close(h.peers.fullest(), protocol.CloseBusy, "others want to come in")
		h.release()
	}
	if len(h.peers.all) >= h.options.maxPeers(len(h.seats.table)) {
		h.stats.NoRoom++
		return 0, false
	}
	p := h.peers.add(from)
	p.stream, p.link = syncing.NewStream(&h.syncing, h.now+h.options.AuthTimeout), link.New(h.now)
	h.wake.at(p.stream.Deadline)
	if h.ending.Over && !h.ending.Lingers(h.now, h.seats.seen()) {
		h.peers.closeEnded(p, h.c.Err())
	}
	h.release()
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
	if p.state != Closed {
		h.seats.leave(h.now, p)
		h.budget.Leave(&p.tab)
		p.state = Closed
		p.witness.Leave()
	}
	if p.sentEnd && p.seat != lockstep.System {
		h.seats.table[p.seat].sawEnd = true // a lost connection takes longer to close
		h.wake.at(h.ending.ClosesAt(h.seats.seen()))
	}
	h.peers.remove(p)
}

// conclude carries out what was decided during a message or a timer: desyncs, and the endings of connections.
func (h *Host) conclude() {
	h.takeDesyncs()
	h.release()
}

// release gives up the seats of the connections that were closed.
func (h *Host) release() {
	if len(h.peers.ended) > 0 {
		h.seats.release(h.now, &h.peers)
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

// Advance seals the ticks that are due and runs the timers: it closes silent and slow connections, gives up on lost
// players, sends pings, and follows the policies. The first call starts the match's clock. After a stall Advance seals
// at most MaxCatchUp ticks and skips the others: the match stays late instead of hurrying. A stall does not count as a
// peer's silence.
func (h *Host) Advance(now lockstep.Time) {
	h.now = max(h.now, now)
	h.pace.Start(h.now)
	if late := h.now - h.wake.due(h.now, h.ending.Over, h.pace); late > stall {
		// The program or its machine did not run, so messages that arrived meanwhile were not read.
		for _, p := range h.peers.all {
			p.link.Forgive(h.now, late)
			p.stream.Forgive(late)
		}
		for i := range h.seats.table {
			s := &h.seats.table[i]
			s.lostAt = min(s.lostAt+late, h.now)
		}
		h.pace.Forgive(h.now, late)
		h.ending.Forgive(h.now, late)
		h.lobby.Forgive(h.now, late)
		h.evidence.Forgive(late)
	}
	for range h.options.MaxCatchUp {
		if h.ending.Over || h.c.Err() != nil || h.pace.Due() > h.now || !h.ready() {
			break
		}
		h.tick()
	}
	if !h.ending.Over && h.c.Err() == nil && h.pace.Due() <= h.now {
		if late := h.pace.Skip(h.now); late > 0 {
			h.stats.Skipped += uint64(late)
			h.out.event(Event{Kind: TicksSkipped, Player: lockstep.System, Number: late})
		}
	}
	h.logSeats()
	h.seats.tell()
	if h.c.Err() != nil && !h.ending.Over {
		h.finish()
	}
	h.keepTime()
	h.tellWait()
}

// logSeats writes the changes of the seats into the log.
func (h *Host) logSeats() {
	h.release()
	h.seats.write()
	h.conclude()
}

// Ready returns the work since the last call. The owner calls it after each other method, and does the work in the
// order of the fields: it appends the records, calls Persisted when they are durable, and calls Send for the peers.
// That can make more work, so the owner repeats this until a Ready is [Ready.Empty].
func (h *Host) Ready() *Ready {
	h.out.made, h.out.given = h.out.given, h.out.made
	h.out.made.clear()
	r := h.out.given
	r.cut()
	r.Position, r.Next = h.ring.Next(), h.wake.due(h.now, h.ending.Over, h.pace)
	h.log.markNew(&h.peers, h.seats.table)
	r.Peers = h.peers.takeDirty(r.Peers)
	return &r.Ready
}

// Persisted tells the Host that the records before a position are durable in the log. No peer sees a record before
// that. After Fail it does nothing.
func (h *Host) Persisted(now lockstep.Time, upTo protocol.Position) {
	h.now = max(h.now, now)
	upTo = min(upTo, h.ring.Next())
	if upTo <= h.log.barrier.Persisted || h.c.Broken() {
		return
	}
	h.log.barrier.Durable(upTo)
	h.log.barrier.Reveal(h.c.Now())
	if h.log.keyframes.Awaited() {
		h.waitingTime()
	}
	if h.log.barrier.Persisted == h.ring.Next() {
		h.refusals.tell(&h.seats, &h.peers)
	}
	h.log.markNew(&h.peers, h.seats.table) // frames go before views
	due, wake := h.views.Await(h.now, h.pace.Period(), !h.ending.Over && h.peers.read())
	if h.wake.at(wake); due {
		h.makeViews(false)
	}
	h.release()
}

// Fail ends the match because its log failed. No peer sees the records that are not persisted, and nothing more is
// written.
func (h *Host) Fail(now lockstep.Time, err error) {
	h.now = max(h.now, now)
	if !h.c.Broken() {
		h.log.lost = h.c.Now() - h.log.persisted()
	}
	_ = h.c.BreakOff(h.Now(), err)
	if !h.ending.Over {
		h.finish()
	}
	h.peers.scanned = 0
}

// stall is the lateness of Advance from which on the lost time is added to all timers.
const stall = lockstep.Second / 2

// tick seals one tick.
func (h *Host) tick() {
	h.pace.Tick()
	h.logSeats()
	f, err := h.c.Tick()
	h.takeDesyncs()
	h.twins.tell(h)
	if err != nil || f == nil {
		return
	}
	h.stats.Ticks++
	h.stats.Commands += uint64(len(f.Commands))
	if h.views != nil {
		h.refusals.take(f, h.c.Referee().Simulation(), &h.seats)
	}
	h.seats.tickTold()
	h.log.sealed(h.now, f.Tick, h.seats.table, h.lobby)
	h.bots.run()
	h.countIdle()
	h.conclude()
}

const noCommand = "no command for a long time"

// countIdle counts a tick for the players who could have commanded in it.
func (h *Host) countIdle() {
	for i := range h.seats.table {
		s, player := &h.seats.table[i], lockstep.Player(i)
		if s.peer == nil || s.peer.state != Live || s.told != here {
			continue
		}
		v := h.idle.Tick(player, s.guest)
		if v == nil {
			continue
		}
		if v.Warn {
			h.peers.tell(s.peer, protocol.ErrorInactive, fmt.Sprintf("%s: without one you lose your seat in %d s", noCommand, v.Left), "")
		}
		if !v.Lost {
			continue
		}
		h.out.event(Event{Kind: PeerInactive, Peer: s.peer.id, Player: player, Number: v.After})
		h.log.announce(player, record.EventInactive, noCommand)
		if v.Then != ReportInactive {
			h.peers.close(s.peer, protocol.CloseInactive, noCommand)
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
	h.out.event(Event{Kind: MatchOver, Player: lockstep.System, Text: h.ending.Reason(h.c.Err(), byRules), ByRules: byRules, Result: h.header.ResultJSON(result)})
	for _, p := range h.peers.all {
		h.peers.mark(p)
		if p.state == Connecting && !h.ending.Lingers(h.now, h.seats.seen()) {
			h.peers.closeEnded(p, h.c.Err())
		}
	}
	h.release()
	h.wake.at(h.ending.ClosesAt(h.seats.seen()))
}

const allLeft = "all players have left"

// keepTime runs every timer, and finds the earliest of the remaining ones.
func (h *Host) keepTime() {
	h.wake = alarm(never)
	for _, p := range h.peers.all {
		if p.state != Closed {
			h.peerTime(p)
			h.release()
		}
	}
	h.takeDesyncs()
	if !h.ending.Over {
		for i := range h.seats.table {
			if h.seats.table[i].want == away && h.seats.graceOver(h.now, lockstep.Player(i)) {
				h.logSeats()
			}
		}
		if h.log.talk.Retry() { // what exceeded a limit is offered again
			for i := range h.seats.table {
				if s, p := &h.seats.table[i], lockstep.Player(i); s.peer != nil {
					purse := h.budget.Purse(h.now, &s.peer.tab)
					h.log.noteName(p, s, purse)
					h.seats.noteReady(h.now, p, purse)
				}
			}
			if h.log.talk.Waits {
				h.wake.at(h.now + lockstep.Second)
			}
		}
		h.evidence.Advance(h.now)
		h.settle()
		h.release()
		h.waitingTime()
		h.release()
		h.paceTime()
		if ends, at := h.ending.Abandoned(h.now, !h.seats.peopled()); ends {
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
	h.release()
}

// peerTime runs the timers of one peer.
func (h *Host) peerTime(p *peer) {
	if h.ending.Over && h.now >= h.ending.ClosesAt(h.seats.seen()) {
		h.peers.closeEnded(p, h.c.Err())
		return
	}
	if p.state == Connecting {
		if h.now >= p.stream.Deadline {
			h.peers.close(p, protocol.CloseTimeout, "no auth in time")
			return
		}
		h.wake.at(p.stream.Deadline)
		return
	}
	if p.link.Silent(h.now, h.options.IdleTimeout) {
		h.peers.close(p, protocol.CloseTimeout, "nothing was heard")
		return
	}
	if p.link.Due(h.now) {
		h.peers.send(p, protocol.Message{Kind: protocol.KindPing, Nonce: p.link.Ping(h.now, h.options.PingEvery, uint64(p.id))})
	}
	h.wake.at(p.link.Next(h.options.IdleTimeout))
	if p.datagrams != nil { // sends again what is due, or lets the stream carry it
		due, next := p.datagrams.Due(h.now)
		if h.wake.at(next); due {
			h.peers.mark(p)
		}
	}
	h.syncTime(p)
	if h.ending.Over {
		h.wake.at(h.ending.ClosesAt(h.seats.seen()))
	}
}

// ready reports whether the next tick may be sealed.
func (h *Host) ready() bool {
	gathers := h.pace.Held() == "" && h.lobby.Open
	if gathers {
		over, wake := h.lobby.Time(h.now, h.seats.occupants())
		h.wake.at(wake)
		if gathers = !over; over {
			_ = h.Admin().Start(h.now) // the lobby is open
		}
	}
	var seats []pace.Seat
	if h.options.Wait.Bound > 0 {
		seats = h.seats.look(h.now)
	}
	ready := h.pace.Await(h.now, gathers, h.c.Now() > 0, seats)
	h.seats.tellCosts()
	return ready
}

// paceTime applies the policies at their times.
func (h *Host) paceTime() {
	if h.now >= h.pace.Next() {
		percent, changed := h.pace.Slow(h.now, h.seats.look(h.now))
		h.seats.tellCosts()
		if changed && h.Admin().logSpeed(percent) == nil {
			h.pace.Slowed(percent)
		}
		delay := h.pace.Delay(h.now, h.c.InputDelay(), h.seats.look(h.now))
		h.seats.tellCosts()
		if delay != h.c.InputDelay() {
			_ = h.Admin().SetInputDelay(h.now, delay) // the tick is full; the next measurement tries again
		}
	}
	h.wake.at(h.pace.Next())
}

// tellWait tells the peers what the match waits for, if that has changed.
func (h *Host) tellWait() {
	now := pace.Situation{Over: h.ending.Over, Paused: h.c.Paused()}
	if h.lobby.Open && !now.Over && !now.Paused && h.pace.Held() == "" {
		w := h.lobby.Wait(h.now, h.seats.occupants())
		now.Lobby = Wait{Reason: w.Reason, Players: w.Players, Until: w.Until}
	}
	changed, again := h.pace.Tell(h.now, now)
	h.wake.at(again)
	if !changed {
		return
	}
	for _, p := range h.peers.all {
		if p.joined() {
			h.peers.mark(p)
		}
	}
}
