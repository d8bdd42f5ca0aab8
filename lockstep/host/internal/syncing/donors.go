package syncing

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Donors are the players of a match without a referee, who give joiners a state.
type Donors struct {
	every   lockstep.Tick // ticks between checks
	moments []moment      // of the last checked ticks
	asked   []int         // of each seat, the number of the last request; 0 for none
	last    int           // the number of the last request
	askAt   lockstep.Time // when other players are asked, too
}

// A moment is a checked tick at which a joiner could begin.
type moment struct {
	tick     lockstep.Tick
	position protocol.Position // of the first record after its frame
	last     []record.LastSequence
}

// patience is the time that a player has to send a state before other players are asked as well.
const patience = lockstep.Second

// NewDonors returns the donors of a match.
func NewDonors(s lockstep.Settings) Donors {
	return Donors{every: lockstep.Tick(s.CheckEvery), asked: make([]int, s.Players)}
}

// Remember remembers a tick that was just sealed, if it is checked: where its records end, and the last sequences of the players, which it copies.
func (d *Donors) Remember(t lockstep.Tick, end protocol.Position, last []record.LastSequence) {
	if t%d.every != 0 {
		return
	}
	if d.moments == nil {
		d.moments = make([]moment, record.CheckWindow)
	}
	m := d.at(t)
	*m = moment{t, end, append(m.last[:0], last...)}
}

func (d *Donors) at(t lockstep.Tick) *moment {
	return &d.moments[t/d.every%record.CheckWindow]
}

// Wants returns how many more players may be asked for a state now, if some have not answered yet. Each second without an
// answer it is one more than these.
func (d *Donors) Wants(now lockstep.Time, unanswered int) int {
	if d.moments == nil || now < d.askAt {
		return 0 // the host asks again
	}
	return 1 + unanswered
}

// Moments returns the ticks at which a joiner could begin, latest first. The ring begins at first.
func (d *Donors) Moments(now lockstep.Tick, first protocol.Position) (all []lockstep.Tick) {
	for t, i := now/d.every*d.every, 0; t > 0 && i < record.CheckWindow; t, i = t-d.every, i+1 {
		if m := d.at(t); m.tick == t && first <= m.position {
			all = append(all, t)
		}
	}
	return all
}

// An Offer is a tick at which a joiner could begin, and the players who could give its state.
type Offer struct {
	Tick    lockstep.Tick
	Players []lockstep.Player
}

// A Request asks a player for its state of a tick.
type Request struct {
	Player lockstep.Player
	Tick   lockstep.Tick
}

// Ask chooses some players, each one for a state of the first offer that it is in. Of an offer it chooses those that were asked least recently.
func (d *Donors) Ask(now lockstep.Time, most int, offers []Offer) (all []Request) {
	for _, o := range offers {
		slices.SortStableFunc(o.Players, func(a, b lockstep.Player) int { return cmp.Compare(d.asked[a], d.asked[b]) })
		for _, p := range o.Players {
			if len(all) == most || slices.ContainsFunc(all, func(r Request) bool { return r.Player == p }) {
				continue
			}
			all = append(all, Request{p, o.Tick})
		}
	}
	for _, r := range all {
		d.last++
		d.asked[r.Player], d.askAt = d.last, now+patience
	}
	return all
}

// Leave forgets that a seat's player was asked.
func (d *Donors) Leave(p lockstep.Player) { d.asked[p] = 0 }

// Take returns what a player's state gives for a keyframe, if it has the checksum on which the players agree. Otherwise another player is
// asked at once. k is the check of its tick, and ok says that there is one. The ring begins at first.
func (d *Donors) Take(now lockstep.Time, t lockstep.Tick, state []byte, hash uint64, k coordinator.Check, ok bool, first protocol.Position) *State {
	m := d.at(t)
	if state == nil || !ok || k.Status != coordinator.CheckAgreed || k.Hash != hash || m.tick != t || first > m.position {
		d.askAt = now
		return nil
	}
	return &State{Tick: t, Hash: hash, Last: m.last, Bytes: state, Position: m.position}
}
