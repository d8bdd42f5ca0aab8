package ownership_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	ms    lockstep.Time = 1000
	lease               = 1000 * ms
)

// A bucket is where servers renew their leases. It is away for some times.
type bucket struct {
	random   *rand.Rand
	away     []interval
	revision uint64
	stored   []update
}

type interval struct{ from, to lockstep.Time }

type update struct {
	server   int
	at       lockstep.Time
	revision uint64
}

func (i interval) has(t lockstep.Time) bool { return i.from <= t && t < i.to }

// A leaser renews a lease, and sees those of others late.
type leaser struct {
	*ownership.Leases
	paused  interval // it does nothing
	crashed lockstep.Time
	skew    lockstep.Time // of its clock
	next    lockstep.Time // renewal
	asks    []ask         // at most one
	read    int           // of the stored updates
	lag     lockstep.Time // after which it sees them
	heard   []lockstep.Time
}

// An ask is a renewal on its way, and its answer.
type ask struct {
	sent, arrives, answers lockstep.Time
	revision               uint64
	failed                 bool
}

func serverName(i int) string { return fmt.Sprint("server-", i) }

// tick does what server i does at a time.
func (b *bucket) tick(i int, s *leaser, now lockstep.Time) {
	for k := range s.asks { // the network works while a server is paused
		if a := &s.asks[k]; a.revision == 0 && !a.failed && now >= a.arrives {
			if a.failed = slices.ContainsFunc(b.away, func(i interval) bool { return i.has(now) }); !a.failed {
				b.revision++
				a.revision = b.revision
				b.stored = append(b.stored, update{i, now, a.revision})
			}
		}
	}
	if s.paused.has(now) || now >= s.crashed {
		return
	}
	for s.read < len(b.stored) && b.stored[s.read].at+s.lag <= now {
		u := b.stored[s.read]
		s.Seen(serverName(u.server), u.revision, now+s.skew)
		s.heard[u.server] = u.at
		s.read++
	}
	if len(s.asks) == 1 && now >= s.asks[0].answers {
		if a := s.asks[0]; a.failed {
			s.Failed()
		} else {
			s.Renewed(a.revision, a.sent+s.skew, now+s.skew)
		}
		s.asks = nil
	}
	if len(s.asks) == 0 && now >= s.next {
		arrives := now + lockstep.Time(1+b.random.IntN(30))*ms
		s.asks = []ask{{sent: now, arrives: arrives, answers: arrives + lockstep.Time(1+b.random.IntN(30))*ms}}
		s.next = now + s.Period()
	}
}

// run runs servers for a time, and calls each every five milliseconds.
func (b *bucket) run(servers []*leaser, from, to lockstep.Time, each func(now lockstep.Time)) {
	for now := from; now < to; now += ms {
		for i, s := range servers {
			b.tick(i, s, now)
		}
		if now%(5*ms) == 0 {
			each(now)
		}
	}
}

func newLeasers(random *rand.Rand, n int) (servers []*leaser) {
	for i := range n {
		servers = append(servers, &leaser{
			Leases: ownership.NewLeases(serverName(i), lease), crashed: 1 << 60, skew: lockstep.Time(random.Int64N(1e12)), next: lockstep.Time(random.IntN(200)) * ms,
			lag: lockstep.Time(1+random.IntN(50)) * ms, heard: make([]lockstep.Time, n),
		})
	}
	return servers
}

// silent returns for how long a server has not renewed its lease while another one did all the time, up to what that one has
// seen. It reads the clock of the storage, which no server can.
func (b *bucket) silent(server, witness int, seen []update) lockstep.Time {
	var from, to lockstep.Time // of the witness, since the last renewal of the server
	for _, u := range seen {
		switch {
		case u.server == server:
			from, to = 0, 0
		case u.server == witness && (from == 0 || u.at-to > lease/2):
			from, to = u.at, u.at
		case u.server == witness:
			to = u.at
		}
	}
	return to - from
}

// Servers come and go, are paused, and the storage is away. Whenever a lease counts as expired, its server has not renewed it for a
// lease time, in which the other one did so all the time.
func TestLeases(t *testing.T) {
	expired := 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 0))
		b := &bucket{random: random}
		for at := lockstep.Time(0); at < 30_000*ms; {
			at += lockstep.Time(random.IntN(6000)) * ms
			end := at + lockstep.Time(random.IntN(4000))*ms
			b.away = append(b.away, interval{at, end})
			at = end
		}
		servers := newLeasers(random, 3)
		for _, s := range servers {
			s.paused.from = lockstep.Time(random.IntN(30_000)) * ms
			s.paused.to = s.paused.from + lockstep.Time(random.IntN(5000))*ms
		}
		servers[2].crashed = lockstep.Time(random.IntN(30_000)) * ms
		b.run(servers, 0, 30_000*ms, func(now lockstep.Time) {
			for i, s := range servers[:2] {
				for k := range servers {
					if i == k || s.paused.has(now) || !s.Expired(serverName(k), now+s.skew) {
						continue
					}
					expired++
					if got := b.silent(k, i, b.stored[:s.read]); got < lease {
						t.Fatalf("seed %d, %d ms: the lease of %d has expired for %d after %d ms", seed, now/ms, k, i, got/ms)
					}
				}
			}
		})
	}
	if expired < 10_000 {
		t.Errorf("got %d moments with an expired lease, want 10,000 or more", expired)
	}
}

// While the storage is away, and when it is back, no lease of a living server expires, however long it takes.
func TestStorageAway(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		servers := newLeasers(random, 4)
		b := &bucket{random: random, away: []interval{{5000 * ms, 5000*ms + lockstep.Time(random.IntN(20_000))*ms}}}
		naive := 0
		b.run(servers, 0, 30_000*ms, func(now lockstep.Time) {
			for i, s := range servers {
				for k := range servers {
					if now-s.heard[k] > lease {
						naive++
					}
					if s.Expired(serverName(k), now+s.skew) {
						t.Fatalf("seed %d, %d ms: the lease of %d has expired for %d", seed, now/ms, k, i)
					}
				}
			}
		})
		if b.away[0].to-b.away[0].from > 2*lease && naive == 0 {
			t.Errorf("seed %d: the storage was away, and nobody would have noticed", seed)
		}
	}
}

// After the death of a server, the others notice within 1.5 lease times, and for each match one server is the first to take it. The
// matches are spread over all of them.
func TestTurn(t *testing.T) {
	able := []string{serverName(0), serverName(1), serverName(2), serverName(3)}
	first := make([]int, 4)
	var slowest lockstep.Time
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 2))
		servers := newLeasers(random, 4)
		b := &bucket{random: random}
		dead := 5000*ms + lockstep.Time(random.IntN(200))*ms
		servers[3].crashed = dead
		matches := make([][]lockstep.Time, 50) // when each server takes it, or 0
		for m := range matches {
			matches[m] = make([]lockstep.Time, 4)
		}
		b.run(servers, 0, dead, func(lockstep.Time) {})
		b.run(servers, dead, 8000*ms, func(now lockstep.Time) {
			for m, times := range matches {
				for i, s := range servers[:3] {
					if dead := serverName(3); times[i] == 0 && s.Expired(dead, now+s.skew) && s.Turn(fmt.Sprint(seed, m), able, s.Since(dead), now+s.skew) {
						times[i] = now
					}
				}
			}
		})
		for m, times := range matches {
			order := []int{0, 1, 2}
			slices.SortFunc(order, func(i, k int) int { return int(times[i] - times[k]) })
			first[order[0]]++
			for n, i := range order {
				after := times[i] - dead
				if n == 0 {
					slowest = max(slowest, after)
				}
				if after < lease-200*ms || after > lease*3/2+lockstep.Time(n)*lease/4 {
					t.Errorf("seed %d, match %d: server %d takes it %d ms after the death as number %d", seed, m, i, after/ms, n)
				}
			}
		}
	}
	t.Logf("first %v, the last one of them %d ms after the death", first, slowest/ms)
	for i, n := range first[:3] {
		if n < 250 {
			t.Errorf("server %d is the first for %d of 1000 matches, want about a third", i, n)
		}
	}
}
