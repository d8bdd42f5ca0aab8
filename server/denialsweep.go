package server

import (
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	// sweepEvery is the period of sweeps of bans and revocations.
	sweepEvery = 5 * time.Minute

	// staleAfter is how long they stay when they are over: another server's clock may be behind.
	staleAfter = 5 * time.Minute
)

// sweepLater has the bans and revocations that nobody needs deleted, now and then until the server is shut down. No other place deletes
// what has expired.
func (s *Server) sweepLater() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keeper.store != nil && !s.closed {
		s.sweep = time.AfterFunc(sweepEvery, func() {
			if err := s.keeper.store.Sweep(stale); err != nil && !s.isClosed() {
				s.log.Warn("bans and revocations that are over are not deleted yet", "err", err)
			}
			s.sweepLater()
		})
	}
}

// stale reports whether nobody needs a value: bans of a match that is gone, or that are over, or a revocation that is over. It keeps
// what makes no sense, because somebody may have meant to deny something.
func stale(key string, value []byte, now time.Time, live func(lockstep.MatchID) bool) bool {
	past := now.Add(-staleAfter)
	if match, ok := matchOfBans(key); ok {
		all, err := parseBans(value)
		return !live(match) || err == nil && !slices.ContainsFunc(all, func(b keptBan) bool { return b.active(past) })
	}
	if !strings.HasPrefix(key, revocationKey) {
		return false
	}
	r, err := parseRevocation(key, value)
	return err == nil && !r.active(past)
}
