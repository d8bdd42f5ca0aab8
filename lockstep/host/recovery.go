package host

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/syncing"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/talk"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Texts of [record.EventPaused]. No tick has this pause, because it holds the match ([Admin.Hold]).
const (
	PausedYes = "yes"
	PausedNo  = "no"
)

// A Recovery makes the [Host] that continues an interrupted match. It is a [lockstep.Log]: it takes the records of the
// match's log, from the header on.
//
// A recovery loses everything that was not in the log: connections and their sessions, which come back with their
// tokens, and commands without a frame, which the clients send again. Every player counts as lost and has Options.Grace
// to come back. A token that names no seat has the seat that the log's claims say.
type Recovery struct {
	game      *lockstep.Game
	match     *coordinator.Recovery
	dec       record.Decoder
	header    []byte            // the header record
	position  protocol.Position // of the next record
	seats     table
	end       []byte // the end record, which only a match that its rules have ended may have
	talk      *talk.Talk
	options   string // the text of the last [record.EventOptions]
	disclosed disclosure.Log
	paused    bool // by an admin, see record.EventPaused
	invited   map[string]lockstep.Player
	speed     uint16
	sealed    int // ticks since the first keyframe
	origin    int // of them, those with which a match begins in the state of another one
}

// NewRecovery returns a Recovery of a match of game g.
func NewRecovery(g *lockstep.Game) *Recovery {
	return &Recovery{game: g, match: coordinator.NewRecovery(g), invited: make(map[string]lockstep.Player), speed: 100}
}

// SkipTo makes the Recovery simulate only from the keyframe of a tick on, see [coordinator.Recovery.SkipTo].
func (r *Recovery) SkipTo(keyframe lockstep.Tick) { r.match.SkipTo(keyframe) }

// Check returns an error if no Host can continue the match, see [coordinator.Recovery.Check].
func (r *Recovery) Check() error { return r.match.Check() }

// Tick returns the last simulated tick of the log so far.
func (r *Recovery) Tick() lockstep.Tick { return r.match.Follower().Tick() }

// Header returns the header of the match, or nil before the Recovery has it.
func (r *Recovery) Header() *lockstep.Header { return r.match.Follower().Header() }

// Options returns the text of the last [record.EventOptions], or "".
func (r *Recovery) Options() string { return r.options }

// Disclosure returns who may see what of the match, as the log says, or [disclosure.ErrUnknown].
func (r *Recovery) Disclosure() (disclosure.Policy, error) { return r.disclosed.Policy() }

// Paused reports whether an admin has paused the match, according to the last [record.EventPaused].
func (r *Recovery) Paused() bool { return r.paused }

// Invitations returns the texts of [record.EventInvitation], with their seats.
func (r *Recovery) Invitations() map[string]lockstep.Player { return r.invited }

// Append takes one record. An error means that the match cannot continue: the record is malformed, or of another game.
func (r *Recovery) Append(raw []byte) error {
	rec, rest, err := r.dec.Decode(raw)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("lockstep: after tick %d: %w: %d bytes after a record", r.Tick(), record.ErrMalformed, len(rest))
	}
	r.disclosed.Take(rec)
	if err := r.match.Apply(rec); err != nil {
		return err
	}
	for i := range rec.Frame.Commands {
		switch c := &rec.Frame.Commands[i]; {
		case c.Player == lockstep.System:
			r.system(c.Value)
		case int(c.Player) < len(r.seats):
			r.seats[c.Player].played = true
		}
	}
	switch rec.Kind {
	case record.KindHeader:
		r.header = slices.Clone(raw)
		r.seats = make(table, rec.Header.Settings.Players)
		r.talk = talk.New(len(r.seats), talk.Policy{History: talk.MaxHistory})
		r.position = 1
		return nil
	case record.KindKeyframe:
		return nil
	case record.KindNote, record.KindEvent:
		switch seated := int(rec.Player) < len(r.seats); {
		case seated && rec.Topic == record.TopicName:
			r.seats[rec.Player].name = rec.Text
			r.talk.Rename(rec.Player, rec.Text)
		case rec.Topic == record.TopicChat:
			r.talk.Read(rec.Player, rec.Text)
		case seated && rec.Event == record.EventPresence:
			r.presence(&r.seats[rec.Player], rec.Text)
		case seated && rec.Event == record.EventClaim:
			r.seats[rec.Player].claim = rec.Text
		case seated && rec.Event == record.EventInvitation:
			r.invited[rec.Text] = rec.Player
		case seated && rec.Event == record.EventReserved:
			r.seats[rec.Player].reserved = rec.Text
		case seated && rec.Event == record.EventSubstitute:
			r.seats[rec.Player].substitution.recorded(rec.Text)
		case rec.Event == record.EventOptions:
			r.options = rec.Text
		case rec.Event == record.EventPaused:
			r.paused = rec.Text == PausedYes
		case rec.Event == record.EventLineage:
			r.origin = 1
			for i := range r.seats {
				r.seats[i].inherited = true
			}
		}
		if rec.Event != record.EventSubstitute {
			r.talk.Count(rec.Text)
		}
	case record.KindEnd:
		r.end = slices.Clone(raw)
		return nil
	}
	if rec.LogOnly() {
		return nil // no peer counts it
	}
	r.sealed += int(rec.Ticks())
	r.position += protocol.Position(max(1, rec.Ticks())) // in a live match each empty tick is one record
	return nil
}

// presence updates a seat with an event, which tells of a player who came or went while no tick was sealed.
func (r *Recovery) presence(s *hostSeat, text string) {
	s.shown = text
	switch text {
	case record.PresenceHere:
		s.inherited = false
	case record.PresenceVacant:
		s.inherited = r.origin > 0 && s.told != here
	}
}

// awaits reports whether a match that continues waits for the player of a seat: one who was here, or may come to a match that
// has only its beginning in the state of another one.
func (r *Recovery) awaits(s *hostSeat) bool {
	begins := r.sealed <= r.origin
	return s.told == here || s.told == away && r.origin > 0 && begins || s.told != vacant && s.shown == record.PresenceHere
}

// system updates the seats with a command of System.
func (r *Recovery) system(value any) {
	switch v := value.(type) {
	case *lockstep.Joined:
		s := &r.seats[v.Player]
		s.inherited = false
		if s.told = here; s.shown != record.PresenceBot {
			s.shown = record.PresenceHere
		}
	case *lockstep.Left:
		s := &r.seats[v.Player]
		*s = hostSeat{claim: s.claim, reserved: s.reserved, substitution: s.substitution, shown: record.PresenceVacant}
	case *lockstep.Lost:
		r.seats[v.Player].told, r.seats[v.Player].shown = away, record.PresenceAway
	case *lockstep.TakenOver:
		r.seats[v.Player].told, r.seats[v.Player].shown = takenOver, record.PresenceTakenOver
	case *lockstep.SpeedSet:
		r.speed = v.Percent
	}
}

// Host returns a Host that continues after the last tick of the log. Who may see what of the match stays as the log says,
// whatever o says. If the rules have ended the match in that tick, the
// Host is over, writes the end record if it is missing, and lingers. A [*lockstep.DesyncError] means that the game
// computes other checksums, or another end, than the log has.
func (r *Recovery) Host(now lockstep.Time, o Options) (*Host, error) {
	if err := r.match.Check(); err != nil {
		return nil, err
	}
	switch p, err := r.disclosed.Policy(); {
	case err == nil:
		o.SpectatorDelay, o.Views.Only = p.Delay, p.Views
	case !errors.Is(err, disclosure.ErrUnknown):
		return nil, fmt.Errorf("lockstep: host: %w", err)
	}
	header, sim := r.match.Follower().Header(), r.match.Follower().Simulation()
	x, err := newHost(r.game, header, o)
	if err != nil {
		return nil, err
	}
	x.now, x.log.header = now, r.header
	x.ring.Begin(r.position)
	x.log.barrier.Durable(r.position)
	c, err := r.match.Coordinator(&r.dec, &x.log, x.options.coordinator(&x.header.Settings, x.log.frames))
	if err != nil {
		return nil, err
	}
	x.c, x.log.c, x.header = c, c, c.Header()
	x.pace.SetSpeed(r.speed)
	copy(x.seats.table, r.seats)
	if r.sealed > r.origin {
		x.lobby.Close()
	}
	for i := range x.seats.table {
		s := &x.seats.table[i]
		s.awaited = r.awaits(s)
		if s.want = s.told; s.told == here {
			s.want = away
		}
		s.lostAt, s.role = now, protocol.Seated
		s.substitution.recovered(x.c.LastDecided(lockstep.Player(i)), s.told == takenOver)
	}
	x.seats.seatBots(o.Bots)
	x.log.talk.Recover(r.talk)
	x.log.keyframes.Put(now, &syncing.State{
		Header: r.header, Tick: sim.Tick(), Hash: sim.Hash(), Last: r.dec.AppendLast(nil), Bytes: sim.AppendState(nil),
		Roster: x.seats.roster(x.log.talk, x.lobby, r.position), Position: r.position,
	})
	x.log.barrier.Begin(x.log.policy.Delay, sim.Tick(), x.log.keyframes.Begin(now, sim.Tick(), x.log.policy.Delay > 0))
	x.seats.changed = true
	x.wake.at(now)
	if err := r.writeOn(x); err != nil {
		return nil, err
	}
	for i := range x.seats.table {
		if s := &x.seats.table[i]; s.want == s.told {
			x.log.show(lockstep.Player(i), s, s.presence(s.want)) // an event has said that the player is here, and no tick
		}
	}
	if x.c.Err() != nil { // the rules ended the match before the crash
		x.finish()
	}
	return x, nil
}

// writeOn writes the records that follow those of a recovered log. An end record, is in the log already, but
// the peers need it too.
func (r *Recovery) writeOn(h *Host) error {
	if r.end != nil {
		err := h.ring.Append(r.end)
		h.log.barrier.Durable(h.ring.Next())
		return err
	}
	t := h.c.Now()
	if err := h.c.Event(lockstep.System, record.EventResumed, fmt.Sprintf("after tick %d", t)); err != nil {
		return err
	}
	if err := h.c.CheckAgain(); err != nil {
		return err
	}
	return h.c.Conclude()
}

// An Origin says how a match begins in the state of another one.
type Origin struct {
	Lineage record.Lineage // for the log

	// Players are the subjects or the names, as grants have them, of the only players who may take these seats, by seat,
	// whatever seat their tokens name. Everybody else takes the other seats, which have "".
	Players []string
}

// Begin returns a Host of a new match with header h, which begins in the state after the last tick of the log, in which
// no rules have ended the match. The log may go on elsewhere, and more matches may begin there.
//
// The first tick of the new match is sealed at once: in it, every player of the log who was connected counts as lost, has
// Options.Grace to come, and is then taken over. A lobby (Options.Start) comes after that tick. Anybody with a token takes such
// a seat like a free one. The names, sessions, bans and policies of the log do not matter. [coordinator.Recovery.Begin] has
// the errors.
func (r *Recovery) Begin(now lockstep.Time, h *lockstep.Header, origin Origin, o Options) (*Host, error) {
	if err := r.match.Check(); err != nil {
		return nil, err
	}
	x, err := newHost(r.game, h, o)
	if err != nil {
		return nil, err
	}
	x.now = now
	c, err := r.match.Begin(&r.dec, h, &x.log, x.options.coordinator(&x.header.Settings, x.log.frames))
	if err != nil {
		return nil, err
	}
	x.c, x.log.c, x.header = c, c, c.Header()
	x.log.barrier.Begin(x.log.policy.Delay, x.c.Now(), x.log.keyframes.Begin(now, x.c.Now(), x.log.policy.Delay > 0))
	if err := x.c.Event(lockstep.System, record.EventLineage, origin.Lineage.Text()); err != nil {
		return nil, err
	}
	x.seats.inherit(now, r.seats, o.Bots)
	x.seats.changed = true
	if err := x.seats.reserve(x.header.Match, origin.Players); err != nil {
		return nil, err
	}
	for i := range x.seats.table {
		if s := &x.seats.table[i]; s.reserved != "" {
			x.out.made.record(record.Event(lockstep.Player(i), record.EventReserved, s.reserved))
		}
	}
	if r.speed != x.pace.Speed() {
		if _, err := x.c.SetSpeed(x.pace.Speed()); err != nil {
			return nil, err
		}
	}
	after := *x.lobby
	x.lobby.Close()
	x.tick() // so that the log says at once what became of the players, before a lobby opens
	*x.lobby = after
	if _, byRules := x.c.Result(); x.c.Err() != nil && !byRules {
		return nil, x.c.Err()
	}
	return x, nil
}
