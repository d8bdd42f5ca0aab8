package cluster

import (
	"hash/fnv"

	"github.com/seed-49bee653/samestep/lockstep"
)

type leases interface {
	Renewed(lockstep.Time)
	Failed(lockstep.Time)
	Seen(string, lockstep.Time)
	Gone(string, lockstep.Time)
	Expired(string, lockstep.Time) bool
	Taker(string, []string, lockstep.Time) string
}

type simple struct {
	self  string
	lease lockstep.Time
	since lockstep.Time // of own uninterrupted renewals
	ok    bool
	seen  map[string]lockstep.Time
}

func newLeases(self string, lease lockstep.Time) leases {
	return &simple{self: self, lease: lease, seen: map[string]lockstep.Time{}}
}
func (s *simple) Renewed(now lockstep.Time) {
	if !s.ok {
		s.ok, s.since = true, now
	}
}
func (s *simple) Failed(now lockstep.Time)         { s.ok = false }
func (s *simple) Seen(n string, now lockstep.Time) { s.seen[n] = now }
func (s *simple) Gone(n string, now lockstep.Time) {}
func (s *simple) Expired(n string, now lockstep.Time) bool {
	return s.ok && now-max(s.since, s.seen[n]) > s.lease
}
func (s *simple) Taker(match string, able []string, now lockstep.Time) (best string) {
	var most uint32
	for _, n := range able {
		if n != s.self && s.Expired(n, now) {
			continue
		}
		h := fnv.New32a()
		h.Write([]byte(match + " " + n))
		if v := h.Sum32(); best == "" || v > most {
			best, most = n, v
		}
	}
	return best
}
