// Package budget enforces the rate limits of one match. It counts messages, bytes, commands, keyframes, re-simulated ticks and
// match time per person, and decides whether the next one is allowed. It is one of the machines that lockstep/host composes.
//
// # Accounts
//
// A [Ledger] holds the accounts of a match. An account belongs to a person, not to a connection, so reconnecting does not refill it.
// Its key depends on how much the server knows about the person:
//
//	p + subject   a player with a verified token
//	s + subject   all spectators that use the same token
//	a + address   all guests of the same address, because a guest can make up any subject
//
// The last two are shared accounts. Their limits are eight times those of one person, except for kinds that cost the referee's
// time, the match's time or the lobby's time.
//
// A [Tab] says which accounts a connection is charged to. Before the welcome it has an account of its own, which is
// discarded with the connection. [Ledger.Welcome] attaches the accounts of the person, and [Ledger.Leave] detaches them:
//
//	              messages, bytes, commands, chat, offences   all other kinds
//	connecting    its own account                             its own account
//	player        p + subject                                 p + subject
//	guest         p + subject                                 a + address
//	spectator     its own account                             s + subject, or a + address for a guest
//	closed        its own account                             its own account
//
// A seat costs match time even while its player is away, so the seat refers to the account by [ID] and keeps it in use with
// [Ledger.Bill]. The zero ID stands for players who are unknown because the match was recovered.
//
// # Kinds
//
// Each [Kind] of use has a [Rate] and is counted by a [Bucket]. Some kinds also have a limit for the whole match:
//
//	Notes          a rate of its own; shared accounts may use only half of its burst
//	Keyframes      bytes to shared accounts: 32 times the rate of one person, which grows with the size of the state
//	Resimulations  ticks: twice the rate of one person
//	Comparisons    the same again
//	Flights        records of the last ticks that a player is asked for; charged to that player
//	Pace           match time in microseconds: twice the rate of one person
//
// [Ledger.Take] charges the account and the match, or neither if either would exceed its limit. The exception is Notes: the account is
// charged even if the match is at its limit. Pace is charged with [Ledger.Grant] per account and [Ledger.GrantAll] for the match.
//
// When an account asks for more match time than it has left, its share is spent. Until half of the burst has refilled, it is granted
// only what refills in the meantime. This prevents one short slowdown after another.
//
// # Memory
//
// The table has room for two accounts per welcomed connection and 256 more. An unused account is removed once all of its buckets are
// full and the times counted by [Ledger.Wait] and [Ledger.Await] have expired. If the table is full, the unused account that would
// be removed first makes room.
//
// Every method takes the current time as an argument. A Ledger belongs to one goroutine.
//
//samestep:deterministic
package budget

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Kind is a kind of use.
type Kind uint8

// The kinds of use. Kinds up to Chat, and Offences, concern the messages of a connection; the others are costs to the match or to
// other people.
const (
	Messages Kind = iota
	Bytes
	Commands
	Chat
	Syncs
	Resyncs
	Returns
	Notes
	Keyframes
	Resimulations
	Comparisons
	Flights
	Ready
	Offences
	Pace
	Kinds
)

var kindNames = [Kinds]string{
	"messages", "bytes", "commands", "chat", "syncs", "resyncs", "returns", "notes", "keyframes", "resimulations", "comparisons", "flights", "ready", "offences", "pace",
}

func (k Kind) String() string { return kindNames[k] }

// ofFlow reports whether a kind concerns the messages of a connection, and not its cost to others.
func (k Kind) ofFlow() bool { return k <= Chat || k == Offences }

// forOne reports whether a shared account has the rate of one person, because the kind costs the time of the referee, the match or
// the lobby.
func (k Kind) forOne() bool { return k == Resimulations || k == Comparisons || k == Ready || k == Pace }

// ofMatch reports whether a kind has a rate for the whole match, too.
func (k Kind) ofMatch() bool { return k == Notes || k == Resimulations || k == Comparisons }

// Limits are the rates of one person by kind, and the rate of notes of the whole match.
type Limits struct {
	Of    [Kinds]Rate
	Notes Rate
}

// Check returns an error if a rate is out of range.
func (r *Limits) Check() error {
	for i, rate := range append(r.Of[:], r.Notes) {
		if !rate.Valid() {
			return fmt.Errorf("lockstep: host: rate %d: got %+v", i, rate)
		}
	}
	return nil
}

// A Rate allows N things in each interval Per, and at most Burst at once.
type Rate struct {
	N     int
	Per   lockstep.Time
	Burst int
}

// maxRate bounds N and Burst, so that the arithmetic of buckets cannot overflow.
const maxRate = 1 << 30

// Valid reports whether all fields are in range.
func (r Rate) Valid() bool {
	return r.N > 0 && r.N <= maxRate && r.Burst > 0 && r.Burst <= maxRate && r.Per > 0 && r.Per <= 60*lockstep.Second
}

// times returns n times the rate, at most maxRate.
func (r Rate) times(n int) Rate {
	r.N, r.Burst = int(min(int64(n)*int64(r.N), maxRate)), int(min(int64(n)*int64(r.Burst), maxRate))
	return r
}

// A Bucket counts the use of a [Rate]. The zero Bucket is full.
type Bucket struct {
	used lockstep.Time // Per for each thing, drained by N a microsecond
	at   lockstep.Time
}

// Take takes n things. It returns false, and takes nothing, if the rate does not allow them now.
func (b *Bucket) Take(now lockstep.Time, r Rate, n int) bool {
	b.drain(now, r)
	cost := lockstep.Time(min(n, maxRate)) * r.Per
	if b.used+cost > lockstep.Time(r.Burst)*r.Per {
		return false
	}
	b.used += cost
	return true
}

// Room returns the number of things that the rate allows now.
func (b *Bucket) Room(now lockstep.Time, r Rate) int {
	b.drain(now, r)
	return int(max(lockstep.Time(r.Burst)*r.Per-b.used, 0) / r.Per)
}

// percent returns how much of a rate is used, in percent of its burst, rounded up.
func (b *Bucket) percent(now lockstep.Time, r Rate) int {
	b.drain(now, r)
	most := lockstep.Time(r.Burst) * r.Per
	return int((100*b.used + most - 1) / most)
}

func (b *Bucket) drain(now lockstep.Time, r Rate) {
	dt := now - b.at
	b.at = now
	if dt > b.used/lockstep.Time(r.N) {
		b.used = 0
		return
	}
	b.used -= dt * lockstep.Time(r.N)
}

// An ID identifies an account. IDs are not reused. The zero ID is the account of unknown players.
type ID uint64

// An account counts the use of a person, or of all people who share it.
type account struct {
	id     ID
	key    string
	shared bool // several people may share it
	users  int  // tabs and seats that refer to it
	used   [Kinds]Bucket

	spent   bool          // Pace is used up, and less than half of its burst has refilled
	spentAt lockstep.Time // when spent was last true

	waited               lockstep.Time // how long the match has waited for it in the minute from waitedFrom on
	waitedFrom, waitedAt lockstep.Time

	lobbyWaited lockstep.Time // how long the lobby has waited for it
	lobbyAt     lockstep.Time // when that was last counted
}

const (
	// crowd multiplies the rates of shared accounts.
	crowd = 8

	// minute is the window of [Ledger.Wait].
	minute = 60 * lockstep.Second

	// keepAwaited is how long an account keeps the time counted by [Ledger.Await].
	keepAwaited = 10 * minute

	// accountMemory is the size of an account without its key, in bytes.
	accountMemory = 512

	// never is a time later than all others.
	never lockstep.Time = 1<<63 - 1
)

// limit returns the rate of a kind for an account.
func (a *account) limit(r *Limits, k Kind) Rate {
	if a.shared && !k.forOne() {
		return r.Of[k].times(crowd)
	}
	return r.Of[k]
}

// debt returns an upper bound of the time until the account can be removed.
func (a *account) debt(now lockstep.Time, rates *Limits) (most lockstep.Time) {
	for k := range a.used {
		r := a.limit(rates, Kind(k))
		a.used[k].drain(now, r)
		most = max(most, a.used[k].used/lockstep.Time(r.N))
		if a.used[k].used > 0 {
			most = max(most, 1)
		}
	}
	if a.waited > 0 {
		most = max(most, a.waitedFrom+minute-now)
	}
	if a.lobbyWaited > 0 {
		most = max(most, a.lobbyAt+keepAwaited-now)
	}
	return most
}

// grant charges match time for an interval, and returns the granted part.
func (a *account) grant(now lockstep.Time, r Rate, ask, interval lockstep.Time) lockstep.Time {
	room := lockstep.Time(a.used[Pace].Room(now, r))
	if a.spent && room >= lockstep.Time(r.Burst)/2 {
		a.spent = false
	}
	if ask > room {
		a.spent = true
	}
	if a.spent {
		a.spentAt = now
		ask = min(ask, room, interval*lockstep.Time(r.N)/r.Per)
	}
	a.used[Pace].Take(now, r, int(ask))
	return ask
}
