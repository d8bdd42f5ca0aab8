package host

import (
	"cmp"
	"fmt"
	"slices"

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
	out       *outputs
	relay     bool
	barrier   syncing.Barrier
	policy    disclosure.Policy // who may see what, as the log says
	checks    evidence.Checks   // for spectators
	talk      *talk.Talk        // what is said in it
	header    []byte            // its first record
	keyframes syncing.Keyframes
	donors    syncing.Donors        // relay mode
	last      []record.LastSequence // scratch
	lost      lockstep.Tick         // ticks that were sealed but not in the log when it failed
}

// Append takes a record of the Coordinator. It adds the record to the next Ready and to the ring, and keeps the header for keyframes.
func (j *journal) Append(raw []byte) error {
	switch record.KindOf(raw) {
	case record.KindHeader:
		if len(raw) > protocol.MaxServerMessage {
			return fmt.Errorf("lockstep: host: got a header of %d bytes, want at most %d", len(raw), protocol.MaxServerMessage)
		}
		j.header = slices.Clone(raw)
	case record.KindKeyframe:
		j.keyframes.First(j.header, raw) // the state at tick 0, the only own state in relay mode
	}
	j.out.made.record(raw)
	return j.ring.Append(raw)
}

// sealed says that a tick was sealed: late spectators and joiners may now see what its barrier shows.
func (j *journal) sealed(now lockstep.Time, t lockstep.Tick, all table, l *lobby.Lobby) {
	if j.relay {
		j.last = j.c.AppendLast(j.last[:0])
		j.donors.Remember(t, j.ring.Next(), j.last)
	}
	delay := j.policy.Delay
	if delay == 0 {
		return
	}
	j.barrier.Seal(t, j.ring.Next())
	if k, ok := j.c.Check(t); ok {
		j.checks.Show(k)
	}
	j.check(t)
	if t%((delay+3)/4) == 0 {
		if k := j.keyframe(now, all, l); k != nil {
			j.keyframes.Keep(k, j.barrier.Hidden(t))
		}
	}
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
	for p := j.ring.Next(); p > max(j.barrier.Persisted, j.ring.First()); p-- {
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
func (j *journal) keyframe(now lockstep.Time, all table, l *lobby.Lobby) *syncing.Keyframe {
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

// frames is [coordinator.Options.Frames] with the ring.
func (j *journal) frames(from, to lockstep.Tick) []lockstep.Frame {
	commands, reached := j.since(from, to)
	if reached > from {
		return nil
	}
	return evidence.Frames(commands, from, to)
}

// since returns the commands of the ticks from+1 to to, and the tick after which the ring has them.
//
// Sequences in the log are relative to earlier ones, some of which the ring may have lost. But they add up to the
// current ones, which are known.
func (j *journal) since(from, to lockstep.Tick) (all []lockstep.Command, reached lockstep.Tick) {
	at, tick := j.ring.Next(), j.c.Now()
	for ; at > j.ring.First() && tick > from; at-- {
		if record.KindOf(j.ring.Record(at - 1)).Advances() {
			tick-- // the coordinator writes each empty tick as one record
		}
	}
	dec := record.DecoderAt(tick)
	for ; at < j.ring.Next(); at++ {
		r, _, err := dec.Decode(slices.Clone(j.ring.Record(at)))
		if err != nil {
			panic(err) // our own record
		}
		if r.Tick <= to {
			all = append(all, r.Frame.Commands...)
		}
	}
	for i := range all {
		c := &all[i]
		c.Sequence += j.c.LastLogged(c.Player) - dec.Last(c.Player)
	}
	return all, tick
}

// offers returns the ticks at which a joiner could begin, with the live players who reported the agreed checksum and are not being asked.
func (j *journal) offers(all table) (offers []syncing.Offer) {
	for _, t := range j.donors.Moments(j.c.Now(), j.ring.First()) {
		k, ok := j.c.Check(t)
		if !ok || k.Status != coordinator.CheckAgreed {
			continue
		}
		offer := syncing.Offer{Tick: t}
		for i := range all {
			if p := all[i].peer; p == nil || p.witness.Busy() || p.state != Live {
				continue
			}
			if hash, ok := j.c.Reported(t, lockstep.Player(i)); ok && hash == k.Hash {
				offer.Players = append(offer.Players, lockstep.Player(i))
			}
		}
		offers = append(offers, offer)
	}
	return offers
}

// awaitState tells the coordinator that a player lacks a state, or has one again. In relay mode no check waits for a
// player without a state.
func (j *journal) awaitState(p *peer, awaits bool) {
	if j.relay && p.seat != lockstep.System {
		_ = j.c.AwaitState(p.seat, awaits) // an error ends the match; Advance handles that
	}
}

// markNew marks the peers for whom there are new records, players first.
func (j *journal) markNew(c *peers, all table) {
	if j.barrier.Persisted == c.scanned {
		return
	}
	c.scanned = j.barrier.Persisted
	for i := range all {
		if p := all[i].peer; p != nil && p.streams() && p.stream.Cursor < j.window(p) {
			c.mark(p)
		}
	}
	for _, p := range c.all {
		if !p.dirty && p.streams() && p.stream.Cursor < j.window(p) {
			c.mark(p)
		}
	}
}
