package guests

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/server/internal/allowance"
)

// diskPeriod is the time in which the disk budget of guests' matches refills.
const diskPeriod = 24 * time.Hour

// The guests of one address may try to start maxTries matches in a triesPeriod: the server must make a state before it
// knows its size.
const (
	maxTries    = 20
	triesPeriod = time.Minute
)

// Limits are those of all guests' matches.
type Limits struct {
	Matches, Each, Bots int // Each: matches of an address
}

// An Error says which limit a guest's match exceeds.
type Error struct {
	Own  bool // a limit of the address; otherwise one of all guests
	text string
}

func (e *Error) Error() string { return "server: guests: " + e.text }

// A Usage is what a match that a guest has started uses.
type Usage struct {
	from       netip.Prefix
	bots       int
	stateBytes int64 // 0 until the first state is known
	written    int64 // bytes of the replay that are counted
}

// A Quota tracks the matches of all guests. It is safe for concurrent use.
type Quota struct {
	tries *allowance.Table[netip.Prefix]
	disk  *allowance.Table[struct{}] // bytes, of all replays

	mu  sync.Mutex
	all map[*Usage]struct{}
}

// New returns a Quota without matches, whose replays may grow by so many bytes in a day.
func New(diskBytes int) *Quota {
	return &Quota{tries: allowance.New[netip.Prefix](maxTries, triesPeriod), disk: allowance.New[struct{}](diskBytes, diskPeriod), all: make(map[*Usage]struct{})}
}

// SetDisk changes the bytes of New.
func (q *Quota) SetDisk(bytes int, now time.Time) { q.disk.Resize(bytes, now) }

// Tried returns how much of its tries an address has spent, in percent.
func (q *Quota) Tried(from netip.Prefix, now time.Time) int { return q.tries.Spent(from, now) }

// Reserve reserves a place for a match with some bots. The error is an [*Error].
func (q *Quota) Reserve(from netip.Prefix, bots int, l Limits, now time.Time) (*Usage, error) {
	if !q.tries.Spend(from, 1, now) {
		return nil, &Error{true, "your address has asked for too many matches"}
	}
	if q.disk.Wait(struct{}{}, 0, now) > 0 {
		return nil, &Error{false, "their replays have used up the disk budget of this day"}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	each, all := 0, q.sum()
	for u := range q.all {
		if u.from == from {
			each++
		}
	}
	u := &Usage{from: from, bots: max(bots, 0)}
	switch {
	case each >= l.Each:
		return nil, &Error{true, fmt.Sprintf("got %d matches of your address, want at most %d", each+1, l.Each)}
	case len(q.all) >= l.Matches:
		return nil, &Error{false, fmt.Sprintf("got %d of their matches, want at most %d", len(q.all)+1, l.Matches)}
	case all.bots+u.bots > l.Bots:
		return nil, &Error{false, fmt.Sprintf("got %d bots in their matches, want at most %d", all.bots+u.bots, l.Bots)}
	}
	q.all[u] = struct{}{}
	return u, nil
}

// Release gives back the place of a match. A second call does nothing, nor does one with nil.
func (q *Quota) Release(u *Usage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.all, u)
}

// sum returns what all matches use. The caller holds the lock.
func (q *Quota) sum() (all Usage) {
	for u := range q.all {
		all.bots += u.bots
		all.stateBytes += u.stateBytes
	}
	return all
}

// Sum returns what all matches use.
func (q *Quota) Sum() (matches, bots int, stateBytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.sum()
	return len(q.all), all.bots, all.stateBytes
}

// Grow records the present size of a match's state and of its replay.
func (q *Quota) Grow(u *Usage, stateBytes, replayBytes int64, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.disk.Wait(struct{}{}, int(replayBytes-u.written), now)
	u.written, u.stateBytes = replayBytes, stateBytes
}

// Check returns an [*Error] if the states of all matches are larger than allowed.
func (q *Quota) Check(most int64) error {
	if _, _, got := q.Sum(); got > most {
		return &Error{false, fmt.Sprintf("got %d bytes of state in their matches, want at most %d", got, most)}
	}
	return nil
}
