// Package bans keeps the list of those who are kept out of a match. It is one of the machines of lockstep/host.
//
// # A ban
//
// A [Ban] names a subject, a name, an address, or several of them, and then concerns a [Person] whom all of them fit. With only an
// address it concerns the guests of that address, because a guest can make up another subject. Guests adds the guests of an
// address to the ban of a subject, so that the holder of a token cannot come back as one of them. [For] is the ban that fits a person.
//
// # States
//
//	      Add, KeepOut            Remove, or Until
//	none ─────────────► in force ─────────────────► none
//
// A ban replaces another one of the same subject, name and address. At most [Max] bans are in force. [Table.KeepOut], for kicks,
// uses only half of the room, never replaces a longer ban, and does without one if there is no room: it is still a kick.
// Bans that are over are dropped whenever the table is used.
//
// # Calls
//
// The host asks [Table.Of] about each newcomer. A ban of an address does not concern guests who have seats, who may come back,
// so the host says whether the newcomer has one. The host itself ends the connections and seats that a new ban concerns. [Table.Changes]
// tells the owner of the host when to write the list down.
//
//samestep:deterministic
package bans

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Err is wrapped by the errors of Add.
var Err = errors.New("lockstep: cannot ban")

// A Ban keeps a subject or the holders of a name out of a match, or all guests of an address who have no seat. With several
// of these fields it concerns those whom all of them fit, such as one of several spectators with the same token.
type Ban struct {
	Subject string
	Name    string        // as grants have it; guests choose theirs
	Address string        // as it was given to Connect
	Until   lockstep.Time // on the caller's clock; 0: for the rest of the match
	Reason  string        // sent to peers that are kept out
	Guests  string        // an address; its guests without a seat are kept out, too
}

// A Person is somebody who has come with a grant from an address.
type Person struct {
	Subject, Name, Address string
	Guest, Spectator       bool
}

const (
	// Max bounds the bans of a match, including those of kicks.
	Max = 256

	// maxKicks is the number of bans from which on a kick adds none, so that kicks leave room for bans.
	maxKicks = 128

	// maxReason bounds the reason of a ban, in bytes.
	maxReason = 128

	// size is that of a ban without its texts, in bytes.
	size = 128

	// MemoryBound bounds the memory of a table, in bytes.
	MemoryBound = Max * (size + budget.MaxKey + 3*record.MaxName + maxReason)
)

// For returns the ban of a person. A guest is banned by address because it could make up another subject. A spectator is
// banned by both because it may share its token. The guests of the address are banned, too, because a token's holder could
// come back as a guest.
func For(p Person) Ban {
	switch {
	case p.Guest && p.Address != "":
		return Ban{Address: p.Address}
	case p.Spectator:
		return Ban{Subject: p.Subject, Address: p.Address, Guests: p.Address}
	}
	return Ban{Subject: p.Subject, Guests: p.Address}
}

// Concerns reports whether a ban applies to a person, apart from Guests.
func (b *Ban) Concerns(p Person) bool {
	of := p.Guest
	if b.named() {
		of = (b.Subject == "" || b.Subject == p.Subject) && (b.Name == "" || b.Name == p.Name)
	}
	return of && (b.Address == "" || b.Address == p.Address)
}

// named reports whether a ban concerns certain people, and not all guests of an address.
func (b *Ban) named() bool { return b.Subject != "" || b.Name != "" }

// Text returns the reason that is sent to peers.
func (b *Ban) Text(now lockstep.Time) string {
	duration := "the rest of the match"
	if b.Until > 0 {
		duration = fmt.Sprintf("%d s", (b.Until-now+lockstep.Second-1)/lockstep.Second)
	}
	if b.Reason == "" {
		return "banned for " + duration
	}
	return "banned for " + duration + ": " + b.Reason
}

// A Table has the bans of a match. The zero Table is empty.
type Table struct {
	bans    []Ban
	Changes uint64
}

// List returns the bans in force, oldest first.
func (t *Table) List(now lockstep.Time) []Ban {
	t.expire(now)
	return slices.Clone(t.bans)
}

func (t *Table) expire(now lockstep.Time) {
	t.bans = slices.DeleteFunc(t.bans, func(b Ban) bool { return b.Until > 0 && b.Until <= now })
}

func (t *Table) find(of *Ban) int {
	return slices.IndexFunc(t.bans, func(b Ban) bool { return b.Subject == of.Subject && b.Name == of.Name && b.Address == of.Address })
}

// Add adds a ban. The error wraps [Err]: the ban has neither subject nor name nor address, it is over, a text is too long, or
// Max others are in force.
func (t *Table) Add(now lockstep.Time, b Ban) error { return t.add(now, b, Max) }

// add adds a ban unless there are most of them already.
func (t *Table) add(now lockstep.Time, b Ban, most int) error {
	switch {
	case !b.named() && b.Address == "":
		return fmt.Errorf("%w: want a subject, a name or an address", Err)
	case len(b.Subject) > budget.MaxKey || max(len(b.Name), len(b.Address), len(b.Guests)) > record.MaxName:
		return fmt.Errorf("%w: got %d bytes of subject, %d of name and %d of address, want at most %d, %d and %d", Err, len(b.Subject), len(b.Name), max(len(b.Address), len(b.Guests)), budget.MaxKey, record.MaxName, record.MaxName)
	case b.Until != 0 && b.Until <= now:
		return fmt.Errorf("%w: the ban has expired", Err)
	}
	b.Subject, b.Name, b.Address, b.Reason, b.Guests = strings.Clone(b.Subject), strings.Clone(b.Name), strings.Clone(b.Address), strings.Clone(pack.Clip(b.Reason, maxReason)), strings.Clone(b.Guests)
	if i := t.find(&b); i >= 0 {
		t.bans[i] = b
		t.Changes++
		return nil
	}
	if t.expire(now); len(t.bans) >= most {
		return fmt.Errorf("%w: %d others are in force", Err, len(t.bans))
	}
	t.bans = append(t.bans, b)
	t.Changes++
	return nil
}

// KeepOut bans a person until a time, unless a longer ban exists or there are too many.
func (t *Table) KeepOut(now, until lockstep.Time, p Person, reason string) {
	b := For(p)
	b.Until, b.Reason = until, reason
	if i := t.find(&b); i >= 0 && (t.bans[i].Until == 0 || t.bans[i].Until > until) {
		return
	}
	_ = t.add(now, b, maxKicks) // without room for a ban it is still a kick
}

// Remove ends the ban of a subject, name and address. It returns false if there is none.
func (t *Table) Remove(now lockstep.Time, b Ban) bool {
	t.expire(now)
	i := t.find(&b)
	if i >= 0 {
		t.bans = slices.Delete(t.bans, i, i+1)
		t.Changes++
	}
	return i >= 0
}

// Of returns the ban of a newcomer, or nil. seated says that the newcomer has a seat: then a ban of an address does not concern it.
func (t *Table) Of(now lockstep.Time, p Person, seated bool) *Ban {
	t.expire(now)
	guest := p.Guest && !seated
	for i := range t.bans {
		b := &t.bans[i]
		if b.Concerns(p) && (b.named() || guest) || guest && b.Guests != "" && b.Guests == p.Address {
			return b
		}
	}
	return nil
}

// Memory returns the memory of the table, in bytes.
func (t *Table) Memory() int {
	sum := 0
	for i := range t.bans {
		b := &t.bans[i]
		sum += size + len(b.Subject) + len(b.Name) + len(b.Address) + len(b.Reason) + len(b.Guests)
	}
	return sum
}
