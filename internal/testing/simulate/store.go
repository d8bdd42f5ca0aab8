package simulate

import (
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A store is a model of the replicated storage of a cluster: the log of the match, the leases of servers, and the
// directory's entry of the match. It orders all changes. Requests and answers can be late or lost, and reads can be old,
// but what is stored stays.
type store struct {
	random   *rand.Rand
	delay    lockstep.Time // of a request or an answer, at most
	requests []*request    // on their way, in the order in which they were sent
	log      []stored
	revision uint64 // of the last change of a lease or the entry
	leases   []lease
	entry    entry

	stalled lockstep.Time // nothing happens before, as while its nodes elect a leader
	away    lockstep.Time // nobody reaches it before
	losing  bool          // half of the answers are lost
	old     bool          // reads may give what was the end a moment ago
	slow    lockstep.Time // added to the delay, at most
}

// A stored is a message of the log.
type stored struct {
	sequence uint64
	message  []byte
}

// A lease is the last renewal of a server.
type lease struct {
	name     string
	revision uint64
	at       lockstep.Time
}

// An entry says who has the match, as far as the directory knows.
type entry struct {
	server   string
	state    placed
	term     uint32 // of the log, while it is played
	revision uint64
	at       lockstep.Time
}

// A placed is the state of a match in the directory.
type placed uint8

const (
	playing placed = iota
	recovering
	released
)

// A request is on its way to the store, or its answer is on the way back.
type request struct {
	from   *node
	starts int           // of the program that has sent it
	at     lockstep.Time // when it arrives
	do     func() func() // what the store does, which returns what the answer does at the server; nil afterwards
	answer func()
}

// newsTime is how long a change of the leases or the entry takes to a server that watches them.
const newsTime = 2 * ms

// send sends a request to the store, which may never get it.
func (x *store) send(now lockstep.Time, from *node, do func() func()) {
	if now < x.away || now < from.cut {
		return
	}
	x.requests = append(x.requests, &request{from: from, starts: from.starts, at: now + x.trip(), do: do})
}

// trip returns how long a request or an answer takes.
func (x *store) trip() lockstep.Time {
	return between(x.random, 1, x.delay) + between(x.random, 0, x.slow)
}

func (x *store) due() lockstep.Time {
	at := never
	for _, r := range x.requests {
		at = min(at, r.at)
	}
	return at
}

// step lets requests and answers arrive.
func (x *store) step(now lockstep.Time) {
	for i := 0; i < len(x.requests); {
		r := x.requests[i]
		if r.at > now || x.arrives(r, now) {
			i++
			continue
		}
		x.requests = slices.Delete(x.requests, i, i+1)
		if r.answer != nil {
			r.answer()
		}
	}
}

// arrives lets a request or an answer arrive. It reports whether it is still on its way.
func (x *store) arrives(r *request, now lockstep.Time) bool {
	lost := x.random.IntN(2) == 0
	switch {
	case r.do == nil && (now < r.from.cut || r.starts != r.from.starts || r.from.down > 0 || now < r.from.paused && lost):
		r.answer = nil
		return false
	case r.do == nil && now < r.from.paused:
		r.at = r.from.paused
		return true
	case r.do == nil:
		return false
	case now < x.away && lost:
		return false
	case now < max(x.away, x.stalled):
		r.at = max(x.away, x.stalled) + x.trip()
		return true
	}
	answer := r.do()
	if r.do = nil; x.losing && lost {
		return false
	}
	r.answer, r.at = answer, now+x.trip()
	return true
}

// append stores a message if the sequence of the last one is the expected one.
func (x *store) append(expect uint64, message []byte) (sequence uint64, ok bool) {
	last := uint64(0)
	if n := len(x.log); n > 0 {
		last = x.log[n-1].sequence
	}
	if last != expect {
		return 0, false
	}
	last += 1 + x.random.Uint64N(3) // other matches have messages in the same stream
	x.log = append(x.log, stored{last, message})
	return last, true
}

// end returns how many messages a reader of the log finds.
func (x *store) end() int {
	n := len(x.log)
	if x.old && n > 1 {
		n -= x.random.IntN(min(n, 4))
	}
	return n
}

// renew renews the lease of a server.
func (x *store) renew(name string, now lockstep.Time) uint64 {
	x.revision++
	i := slices.IndexFunc(x.leases, func(l lease) bool { return l.name == name })
	if i < 0 {
		i = len(x.leases)
		x.leases = append(x.leases, lease{name: name})
	}
	x.leases[i].revision, x.leases[i].at = x.revision, now
	return x.revision
}

// place changes the entry if its revision is the expected one.
func (x *store) place(e entry, now lockstep.Time) (entry, bool) {
	if e.revision != x.entry.revision {
		return x.entry, false
	}
	x.revision++
	e.revision, e.at = x.revision, now
	x.entry = e
	return e, true
}
