package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/lobby"
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
	if x.c, err = r.match.Begin(&r.dec, h, (*hostLog)(x), x.options.coordinator(&x.header.Settings, (*hostFrames)(x))); err != nil {
		return nil, err
	}
	x.log.c, x.header = x.c, x.c.Header()
	x.log.barrier.Begin(x.log.policy.Delay, x.c.Now(), x.log.keyframes.Begin(now, x.c.Now(), x.log.policy.Delay > 0))
	if err := x.c.Event(lockstep.System, record.EventLineage, origin.Lineage.Text()); err != nil {
		return nil, err
	}
	x.seats.inherit(now, r.seats, o.Bots)
	x.seatsChanged = true
	if err := x.seats.reserve(x.header.Match, origin.Players); err != nil {
		return nil, err
	}
	for i := range x.seats {
		if s := &x.seats[i]; s.reserved != "" {
			x.made.record(record.Event(lockstep.Player(i), record.EventReserved, s.reserved))
		}
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
