package host

import (
	"cmp"
	"fmt"

	"github.com/seed-49bee653/samestep/internal/ring"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/evidence"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/lobby"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/syncing"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/talk"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A journal is the log of a match. It says what of it readers may see: what is durable, what the policy hides from whom, and whether
// it has ended. It writes what becomes of the seats, and makes the states with which readers begin.
type journal struct {
	c         *coordinator.Coordinator
	ring      *ring.Ring
	barrier   syncing.Barrier
	policy    disclosure.Policy // who may see what, as the log says
	checks    evidence.Checks   // for spectators
	talk      *talk.Talk        // what is said in it
	header    []byte            // its first record
	keyframes syncing.Keyframes
	last      []record.LastSequence // scratch
	lost      lockstep.Tick         // ticks that were sealed but not in the log when it failed
}

// now returns the last sealed tick, or after a failure the last one in the log.
func (j *journal) now() lockstep.Tick { return j.c.Now() - j.lost }

// ended reports whether the log has its last record, see [Status].
func (j *journal) ended() bool { return j.c.Err() != nil && !j.c.Broken() }

// next returns the position of the next record, or of the end that the rules have decided: a joiner gets it, too.
func (j *journal) next() protocol.Position {
	next := j.ring.Next()
	if _, byRules := j.c.Result(); byRules {
		next--
	}
	return next
}

// visible returns the position of the first record that a reader may not see.
func (j *journal) visible(r disclosure.Reader) protocol.Position {
	return j.barrier.Visible(j.policy.Late(r, j.ended()), j.ring.Next())
}

// shown returns the position of the first record that a reader may not see even if it is persisted.
func (j *journal) shown(r disclosure.Reader) protocol.Position {
	return j.barrier.Shown(j.policy.Late(r, j.ended()), j.ring.Next())
}

// present returns the last sealed tick that a reader may know of.
func (j *journal) present(r disclosure.Reader) lockstep.Tick {
	return j.policy.Shown(r, j.now(), j.ended())
}

// window returns the position up to which records may be sent to a peer. It limits the number of records without an
// ack.
func (j *journal) window(p *peer) protocol.Position {
	return min(j.visible(p.reader()), p.stream.Window())
}

// persisted returns the last tick that is durable in the log.
func (j *journal) persisted() lockstep.Tick {
	t := j.c.Now()
	for p := j.ring.Next(); p > max(j.barrier.Persisted(), j.ring.First()); p-- {
		if record.KindOf(j.ring.Record(p - 1)).Advances() {
			t--
		}
	}
	return t
}

// check returns the check of tick t for spectators, or another one that uses its slot.
func (j *journal) check(t lockstep.Tick) coordinator.Check {
	for _, t := range j.checks.Stale() {
		if k, ok := j.c.Check(t); ok {
			j.checks.Show(k)
		}
	}
	k, ok := j.checks.Of(t)
	if !ok {
		k, _ = j.c.Check(t)
	}
	return k
}

// announce writes an event about a player to the log, within the limit for announcements.
func (j *journal) announce(about lockstep.Player, name, text string) {
	if j.talk.Announce(text) {
		_ = j.c.Event(about, name, text) // an error ends the match; Advance handles that
	}
}

// noteName writes the name of a player to the log if the log has another one, or later if a limit is exceeded.
func (j *journal) noteName(seat lockstep.Player, s *hostSeat, p talk.Purse) {
	if j.talk.Name(p, seat, s.name) {
		_ = j.c.Note(seat, record.TopicName, s.name) // an error ends the match; Advance handles that
	}
}

// enterBot completes the join of a bot: it has a name in the log and reports no checksums.
func (j *journal) enterBot(p lockstep.Player, s *hostSeat) error {
	if err := j.introduce(p, s); err != nil {
		return err
	}
	return j.c.AwaitState(p, true)
}

// introduce tells the peers who the bot of a seat is, unless they know it.
func (j *journal) introduce(p lockstep.Player, s *hostSeat) error {
	if j.talk.Rename(p, s.name) {
		if err := j.c.Note(p, record.TopicName, s.name); err != nil {
			return err
		}
	}
	if s.shown == record.PresenceBot {
		return nil
	}
	s.shown = record.PresenceBot
	return j.c.Event(p, record.EventPresence, s.shown)
}

// show notes a presence that the peers do not know.
func (j *journal) show(p lockstep.Player, s *hostSeat, presence string) {
	before := cmp.Or(s.shown, record.PresenceVacant)
	if presence == before {
		return
	}
	if s.why != "" && before != record.PresenceVacant {
		j.announce(p, record.EventReason, s.why)
	}
	s.shown, s.why = presence, ""
	j.announce(p, record.EventPresence, presence)
}

// seat writes the change of a seat. again says that it has more to write after the next tick.
func (j *journal) seat(p lockstep.Player, s *hostSeat) (again bool, err error) {
	if s.why != "" && s.told != vacant {
		j.announce(p, record.EventReason, s.why)
	}
	s.why = ""
	if s.leaves {
		if _, err = j.c.Leave(p); err != nil {
			return false, err
		}
		s.leaves, s.told = false, vacant
	}
	switch {
	case s.want == s.told:
	case s.told == vacant:
		if _, err = j.c.Join(p); err == nil && s.want != here {
			s.told = here
			_, err = j.seat(p, s)
			return true, err
		}
		if err == nil && s.bot != nil {
			err = j.enterBot(p, s)
		}
	case s.want == here:
		if _, err = j.c.Return(p); err == nil && s.bot != nil {
			err = j.enterBot(p, s)
		}
	case s.want == away:
		_, err = j.c.Lose(p)
	case s.want == takenOver:
		_, err = j.c.TakeOver(p)
	}
	return false, err
}

// keyframe returns the latest keyframe if it is young enough, or else makes one, at most one per interval, and returns nil if there is none yet.
// In relay mode it makes none.
func (j *journal) keyframe(now lockstep.Time, all seats, l *lobby.Lobby) *syncing.Keyframe {
	k, due := j.keyframes.Latest(now, j.ring.First())
	if !due {
		return k
	}
	at := j.next()
	j.last = j.c.AppendLast(j.last[:0])
	return j.keyframes.Make(now, j.c.Referee().Simulation(), &syncing.State{Header: j.header, Last: j.last, Roster: all.roster(j.talk, l, at), Position: at})
}

// giveBack ends the substitution of a player who is back, or has left for good.
func (j *journal) giveBack(p lockstep.Player, s *substitution) {
	if s.open && j.c.Err() == nil {
		_ = j.c.Event(p, record.EventSubstitute, fmt.Sprint(toCommand, j.c.LastDecided(p))) // an error ends the match; Advance handles that
	}
	s.end(j.c.LastDecided(p))
}

// keyframeFor returns the latest keyframe that a peer may see, or nil.
func (h *Host) keyframeFor(p *peer) *syncing.Keyframe {
	k := h.log.keyframe(h.now, h.seats, h.lobby)
	if k == nil && h.options.Relay {
		h.seekState()
	}
	return h.log.keyframes.For(k, h.log.shown(p.reader()), h.log.visible(p.reader()), h.ring.First())
}

// seekState asks clients for the latest state that can be verified, as many as may be asked now: live players who reported the agreed checksum of
// a check and are not being asked.
func (h *Host) seekState() {
	more := h.donors.Wants(h.now, h.evidence.Asked())
	if more == 0 {
		return
	}
	var all []syncing.Offer
	for _, t := range h.donors.Moments(h.c.Now(), h.ring.First()) {
		k, ok := h.c.Check(t)
		if !ok || k.Status != coordinator.CheckAgreed {
			continue
		}
		offer := syncing.Offer{Tick: t}
		for i := range h.seats {
			if p := h.seats[i].peer; p == nil || p.witness.Busy() || p.state != Live {
				continue
			}
			if hash, ok := h.c.Reported(t, lockstep.Player(i)); ok && hash == k.Hash {
				offer.Players = append(offer.Players, lockstep.Player(i))
			}
		}
		all = append(all, offer)
	}
	for _, q := range h.donors.Ask(h.now, more, all) {
		h.evidence.Ask(h.now, &h.seats[q.Player].peer.witness, q.Tick)
	}
	h.settle()
}

// awaitState tells the coordinator that a player lacks a state, or has one again. In relay mode no check waits for a
// player without a state.
func (h *Host) awaitState(p *peer, awaits bool) {
	if h.options.Relay && p.seat != lockstep.System {
		_ = h.c.AwaitState(p.seat, awaits) // an error ends the match; Advance handles that
		h.takeDesyncs()
	}
}

// startSync begins to send a peer a keyframe in place of the records up to it, or a viewer the whole view.
func (h *Host) startSync(p *peer, why string) {
	h.stats.Syncs++
	if p.view != nil {
		h.made.event(h.log.now(), Event{Kind: PeerSynced, Peer: p.id, Player: p.seat, Text: why})
		if p.view.Begin() {
			at := h.log.next()
			p.out = append(p.out, h.seats.roster(h.log.talk, h.lobby, at)...)
			for i := range h.seats {
				p.view.Present(lockstep.Player(i), h.seats[i].shown)
			}
			p.stream.Pass(at)
		}
		p.state = Live
		p.stream.Reach(h.log.present(p.reader()))
		h.awaitState(p, false)
		h.made.event(h.log.now(), Event{Kind: PeerLive, Peer: p.id, Player: p.seat})
		h.makeViews(true)
		h.peers.mark(p)
		return
	}
	p.state = Syncing
	p.stream.Begin(h.now, h.pace.Period())
	if p.datagrams != nil {
		p.datagrams.Restart()
	}
	p.witness.Forget()
	h.awaitState(p, true)
	p.stream.Give(h.keyframeFor(p))
	h.wake.at(p.stream.Deadline())
	h.peers.mark(p)
	h.made.event(h.log.now(), Event{Kind: PeerSynced, Peer: p.id, Player: p.seat, Text: why})
}

// waitingTime gives a keyframe to the waiting peers.
func (h *Host) waitingTime() {
	for _, p := range h.peers.all {
		if !p.stream.Waits() {
			continue
		}
		if k := h.keyframeFor(p); k != nil {
			p.stream.Give(k)
			h.peers.mark(p)
		} else {
			h.wake.at(h.now + 100*lockstep.Millisecond)
		}
	}
}

// syncTime sends more of a peer's keyframe, and checks how far the peer is behind.
func (h *Host) syncTime(p *peer) {
	more, next := p.stream.More(h.now, h.pace.Period())
	if more {
		h.peers.mark(p)
	}
	h.wake.at(next)
	if p.state == Live {
		if p.stream.Behind(h.log.present(p.reader()), p.seat == lockstep.System) {
			h.strike(p)
		}
		return
	}
	k := p.stream.Keyframe()
	switch {
	case h.now < p.stream.Deadline():
		h.wake.at(p.stream.Deadline())
	case p.stream.Confirmed():
		h.strike(p)
	case p.stream.Waits():
		h.close(p, protocol.CloseTimeout, "no keyframe available")
	case k != nil && h.budget.KeyframeRoom(h.now, &p.tab, len(k.Bytes)) < protocol.MaxChunk:
		h.close(p, protocol.CloseBusy, "too many keyframes were sent")
	default:
		h.close(p, protocol.CloseSlow, "the keyframe was not read in time")
	}
}

// strike sends a keyframe to a peer that is too far behind, and closes one that has had MaxStrikes of them.
func (h *Host) strike(p *peer) {
	if !p.stream.Strike(h.now) {
		h.close(p, protocol.CloseSlow, "too far behind")
		return
	}
	h.startSync(p, "too far behind")
	p.stream.Hurry(h.now, h.pace.Period())
}

// ack takes a client's progress.
func (h *Host) ack(p *peer, m *protocol.Message) {
	if m.Position > p.stream.High() || m.Tick > h.c.Now() {
		h.malformed(p, "an ack of what was not sent")
		return
	}
	if p.stream.Outdated(m.Position) {
		return
	}
	if g := p.datagrams; g != nil && g.Ahead(m.Position) && g.Flows(h.now, p.link.RTT()) {
		return // a datagram has said more
	}
	p.stream.Ack(h.now, m.Position, m.Tick)
	if p.state == CatchingUp && p.stream.Near(h.log.present(p.reader())) {
		p.state = Live
		p.link.Live()
		h.awaitState(p, false)
		h.made.event(h.log.now(), Event{Kind: PeerLive, Peer: p.id, Player: p.seat})
	}
	if p.stream.Cursor() < h.log.window(p) {
		h.peers.mark(p)
	}
}

// reader returns for whom a peer reads the match.
func (p *peer) reader() disclosure.Reader {
	if p.seat == lockstep.System {
		return disclosure.Spectator
	}
	return disclosure.Player
}
