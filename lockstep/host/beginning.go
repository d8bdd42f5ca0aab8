package host

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/lobby"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

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
	if x.c, err = r.match.Begin(&r.dec, h, (*hostLog)(x), x.coordinatorOptions()); err != nil {
		return nil, err
	}
	x.header = x.c.Header()
	x.barrier.Begin(x.disclosed.Delay, x.c.Now(), x.keyframes.Begin(now, x.c.Now(), x.disclosed.Delay > 0))
	if err := x.c.Event(lockstep.System, record.EventLineage, origin.Lineage.Text()); err != nil {
		return nil, err
	}
	x.inherit(r.seats)
	if err := x.reserve(origin.Players); err != nil {
		return nil, err
	}
	if r.speed != x.pace.Speed() {
		if _, err := x.c.SetSpeed(x.pace.Speed()); err != nil {
			return nil, err
		}
	}
	after := x.lobby
	x.lobby = lobby.New(StartPolicy{}, len(x.seats), x.budget)
	x.tick() // so that the log says at once what became of the players, before a lobby opens
	x.lobby = after
	if _, byRules := x.c.Result(); x.c.Err() != nil && !byRules {
		return nil, x.c.Err()
	}
	return x, nil
}

// inherit takes over the seats of the match in whose state this one begins.
func (h *Host) inherit(seats []hostSeat) {
	for i := range seats {
		s := &h.seats[i]
		s.role, s.lostAt = protocol.Seated, h.now
		switch seats[i].told {
		case vacant:
			continue
		case takenOver:
			s.want = takenOver
		default:
			s.want, s.awaited = away, seats[i].told == here
		}
		s.shown = record.PresenceHere
		s.told, s.inherited = here, true // so that the new log says it again
	}
	h.seatBots()
	for i := range h.seats {
		if s := &h.seats[i]; h.isBot(lockstep.Player(i)) && s.inherited {
			s.told, s.inherited = away, false // the bot joins
		}
	}
	h.seatsChanged = true
}

// reserve keeps seats for players.
func (h *Host) reserve(players []string) error {
	if len(players) > len(h.seats) {
		return fmt.Errorf("lockstep: host: players: got %d, want at most %d, the seats", len(players), len(h.seats))
	}
	for i, who := range players {
		if who == "" {
			continue
		}
		if other := slices.Index(players, who); other < i {
			return fmt.Errorf("lockstep: host: player %q: got seats %d and %d, want one", who, other, i)
		}
		seat := lockstep.Player(i)
		if h.isBot(seat) {
			return fmt.Errorf("lockstep: host: player %q: a bot has seat %d", who, seat)
		}
		h.seats[i].reserved = Claim(h.header.Match, who)
		h.made.record(record.Event(seat, record.EventReserved, h.seats[i].reserved))
	}
	return nil
}
