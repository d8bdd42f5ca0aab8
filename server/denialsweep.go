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
func (dn *denier) sweepLater() {
	dn.mu.Lock()
	defer dn.mu.Unlock()
	if dn.keeper.store != nil && !dn.registry.isClosed() {
		dn.sweep = time.AfterFunc(sweepEvery, func() {
			if err := dn.keeper.store.Sweep(stale); err != nil && !dn.registry.isClosed() {
				dn.log.Warn("bans and revocations that are over are not deleted yet", "err", err)
			}
			dn.sweepLater()
		})
	}
}

// stop ends the sweeps of a server whose registry is closed.
func (dn *denier) stop() {
	dn.mu.Lock()
	defer dn.mu.Unlock()
	if dn.sweep != nil {
		dn.sweep.Stop()
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
