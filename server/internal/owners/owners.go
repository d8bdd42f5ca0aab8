package owners

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// Owners are the owners of the seats of a match.
type Owners struct {
	granted  *host.Grant // of the token in the message that is being received, or nil
	refusal  error       // of that token, or nil
	owners   map[lockstep.Player]*host.Grant
	claims   map[lockstep.Player]string // that are in the log
	sessions map[lockstep.Player]string // ids of those that had the seats last
}

// New returns the Owners of a match that nobody has joined.
func New() *Owners {
	return &Owners{owners: make(map[lockstep.Player]*host.Grant), claims: make(map[lockstep.Player]string), sessions: make(map[lockstep.Player]string)}
}

// Receive begins a message.
func (o *Owners) Receive() { o.granted, o.refusal = nil, nil }

// Authorized takes the grant of the token in the message, or why it has none.
func (o *Owners) Authorized(g host.Grant, err error) {
	if o.granted = &g; err != nil {
		o.granted = nil
	}
	o.refusal = err
}

// Refusal returns why the token in the message was refused, or nil.
func (o *Owners) Refusal() error { return o.refusal }

// Welcome takes who was just welcomed in a seat, or in none for System, with the id of a session. It returns the subject of the
// connection, "" for a guest or a spectator without a token, and a claim to write into the log, or "".
func (o *Owners) Welcome(match lockstep.MatchID, seat lockstep.Player, session string) (subject, claim string) {
	g := o.granted
	if seat != lockstep.System {
		o.sessions[seat] = session
		if g != nil {
			o.owners[seat] = g
			if claim = host.Claim(match, g.Subject); claim == o.claims[seat] || g.Seat != host.AnySeat && o.claims[seat] == "" {
				claim = "" // the log or the token says so
			} else {
				o.claims[seat] = claim
			}
		} else {
			g = o.owners[seat]
		}
	}
	if g != nil && !g.Guest {
		subject = g.Subject
	}
	return subject, claim
}

// Session returns the id of the session that had a seat last, or "".
func (o *Owners) Session(seat lockstep.Player) string { return o.sessions[seat] }

// Subjects returns the owners of the seats, without guests.
func (o *Owners) Subjects() map[lockstep.Player]string {
	subjects := make(map[lockstep.Player]string)
	for seat, g := range o.owners {
		if !g.Guest && g.Subject != "" {
			subjects[seat] = g.Subject
		}
	}
	return subjects
}
