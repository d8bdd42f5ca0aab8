package server

import (
	"cmp"
	"math"
	"net/netip"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/host"
)

// Limits are the limits among the [Options] that can change while a server runs. The fields are those of Options, also their defaults.
type Limits struct {
	MaxMatches, MaxPerAddress, MaxUnauthenticated, MaxReads, MaxGuesses int
	GuestMatches, GuestMatchesPerAddress, GuestBots, GuestDiskBytes     int
	GuestStateBytes, MatchDiskBytes, DiskReserve                        int64
	IdleMatch                                                           time.Duration
	MatchLimits                                                         *host.Limits
}

// Limits returns the limits in the options.
func (o *Options) Limits() Limits {
	return Limits{
		MaxMatches: o.MaxMatches, MaxPerAddress: o.MaxPerAddress, MaxUnauthenticated: o.MaxUnauthenticated, MaxReads: o.MaxReads, MaxGuesses: o.MaxGuesses,
		GuestMatches: o.GuestMatches, GuestMatchesPerAddress: o.GuestMatchesPerAddress, GuestBots: o.GuestBots, GuestDiskBytes: o.GuestDiskBytes,
		GuestStateBytes: o.GuestStateBytes, MatchDiskBytes: o.MatchDiskBytes, DiskReserve: o.DiskReserve, IdleMatch: o.IdleMatch, MatchLimits: o.MatchLimits,
	}
}

// SetIn sets the limits in the options of a server that does not run yet.
func (l Limits) SetIn(o *Options) {
	o.MaxMatches, o.MaxPerAddress, o.MaxUnauthenticated, o.MaxReads, o.MaxGuesses = l.MaxMatches, l.MaxPerAddress, l.MaxUnauthenticated, l.MaxReads, l.MaxGuesses
	o.GuestMatches, o.GuestMatchesPerAddress, o.GuestBots, o.GuestDiskBytes = l.GuestMatches, l.GuestMatchesPerAddress, l.GuestBots, l.GuestDiskBytes
	o.GuestStateBytes, o.MatchDiskBytes, o.DiskReserve, o.IdleMatch, o.MatchLimits = l.GuestStateBytes, l.MatchDiskBytes, l.DiskReserve, l.IdleMatch, l.MatchLimits
}

// WithDefaults returns the limits by which a server goes that is given these: 0 is the default of most.
func (l Limits) WithDefaults() *Limits {
	var o Options
	l.SetIn(&o)
	o.complete()
	all := o.Limits()
	return &all
}

// SetLimits changes limits at once. Budgets keep what is spent of them. Connections beyond a limit that has changed are closed, as if
// one more had come; matches beyond one go on.
func (s *Server) SetLimits(l Limits) {
	all := l.WithDefaults()
	before := s.limits.Swap(all)
	for _, m := range s.Matches() {
		go m.post(input{do: m.takeLimits}) // it may be busy
	}
	now := time.Now()
	opened := max(leastConnects, all.MaxPerAddress)
	for _, b := range []*budgets[netip.Prefix]{s.connects, s.handshakes, s.kept} {
		b.resize(connectsAtOnce*opened, now)
	}
	s.trials.resize(trials*opened, now)
	s.reads.resize(all.MaxReads, now)
	s.guesses.resize(all.MaxGuesses, now)
	s.guestDisk.resize(all.GuestDiskBytes, now)
	if all.MaxUnauthenticated != before.MaxUnauthenticated {
		s.unauthenticated.resize(s.mostUnauthenticated(all), func(*conn) int { return all.MaxUnauthenticated })
	}
	if all.MaxPerAddress == before.MaxPerAddress {
		return
	}
	s.sockets.resize(s.mostSockets(all), func(x *socket) int {
		if x.proxy {
			return math.MaxInt
		}
		return all.MaxPerAddress
	})
	for _, c := range s.authenticated.resize(all.MaxPerAddress) {
		c.turnedAway("address")
		c.drop()
	}
}

// takeLimits gives the match the limits that the server has now. Without any it keeps what it has.
func (m *Match) takeLimits() {
	l := m.server.limits.Load().MatchLimits
	if l == nil || m.limits != nil && *l == *m.limits {
		return
	}
	m.limits = l
	if err := m.host.Admin().SetLimits(m.now(), *l); err != nil {
		m.logger.Error("limits", "err", err)
		return
	}
	m.maxSpectators = cmp.Or(l.MaxSpectators, defaultSpectators)
	m.publish()
}

// mostUnauthenticated returns the number of unauthenticated WebSockets that the server may have.
func (s *Server) mostUnauthenticated(l *Limits) int {
	return min(max(maxUnauthenticated, l.MaxUnauthenticated), s.descriptorShare())
}

// mostSockets returns the number of connections that are not WebSockets that the server may have, besides those on trial.
func (s *Server) mostSockets(l *Limits) int {
	return min(max(maxSockets, l.MaxPerAddress), max(s.descriptorShare()-3*s.silent.most(), 1))
}

// descriptorShare returns one of the equal parts of the file descriptors.
func (s *Server) descriptorShare() int { return max(s.options.Descriptors/descriptorShares, 1) }
