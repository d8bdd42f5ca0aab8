// Package vote counts votes to kick a player. It is one of the machines that lockstep/host composes.
//
// # A vote
//
// The chat line "/kick NAME" or "/kick SEAT" is a vote. [Parse] recognizes it, and [Named] finds the accused: a seat number, or a name
// that exactly one seat has.
//
// Accounts vote against accounts. All guests of one address therefore have one vote, and a vote stays valid if the accused
// moves to another seat. A seat has one vote at a time. It expires after a minute, or when the seat gets another account
// ([Votes.Drop]), so that the next player of a seat does not inherit it.
//
// # The count
//
// [Votes.Cast] records a vote and counts all votes against the accused. The electorate is every account with a connected player, except
// the accused and bots. The accused is kicked if more than half of the electorate agrees, and at least two accounts do, so that
// in a match of two neither player can remove the other.
//
// # Calls
//
// The host decides who can be accused (a player who has used up its share of the match's time, or is awaited in a lobby), calls Cast
// with the present occupants of all seats, announces the result, and bans the accused if Cast says so.
//
//samestep:deterministic
package vote

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
)

const (
	// prefix begins a chat line that is a vote.
	prefix = "/kick "

	// fewest is the minimum number of votes to kick a player.
	fewest = 2

	// lasts is how long a vote is valid.
	lasts = 60 * lockstep.Second
)

// Parse returns the accused that a chat line names, if the line is a vote.
func Parse(line string) (whom string, ok bool) {
	whom, ok = strings.CutPrefix(line, prefix)
	return strings.TrimSpace(whom), ok
}

// A Seat describes the occupant of a seat.
type Seat struct {
	Taken   bool
	Name    string
	Account budget.ID
	Votes   bool // the occupant is a connected person
}

// Named returns the player with a seat number, or with a name that is unique.
func Named(whom string, seats []Seat) (lockstep.Player, bool) {
	if n, err := strconv.ParseUint(whom, 10, 8); err == nil {
		return lockstep.Player(n), int(n) < len(seats) && seats[n].Taken
	}
	found, n := lockstep.Player(0), 0
	for i, s := range seats {
		if s.Taken && s.Name == whom && whom != "" {
			found, n = lockstep.Player(i), n+1
		}
	}
	return found, n == 1
}

// Votes are the votes of a match.
type Votes struct {
	cast []cast // by seat
}

type cast struct {
	valid   bool
	accused budget.ID
	at      lockstep.Time
}

// New returns the Votes of a match with so many seats.
func New(seats int) *Votes { return &Votes{cast: make([]cast, seats)} }

// Drop forgets the vote of a seat.
func (v *Votes) Drop(seat lockstep.Player) { v.cast[seat] = cast{} }

// Cast records a vote of a seat against an account. It returns how many accounts agree, the size of the electorate, and whether the
// accused is kicked.
func (v *Votes) Cast(now lockstep.Time, seat lockstep.Player, accused budget.ID, seats []Seat) (agree, all int, kicked bool) {
	v.cast[seat] = cast{true, accused, now}
	var may, did []budget.ID
	for i, s := range seats {
		if !s.Votes || s.Account == accused {
			continue
		}
		may = append(may, s.Account)
		if c := v.cast[i]; c.valid && c.accused == accused && now-c.at <= lasts {
			did = append(did, s.Account)
		}
	}
	agree, all = distinct(did), distinct(may)
	return agree, all, agree >= fewest && 2*agree > all
}

// distinct returns the number of different accounts in a list. It sorts the list.
func distinct(accounts []budget.ID) int {
	slices.Sort(accounts)
	return len(slices.Compact(accounts))
}
