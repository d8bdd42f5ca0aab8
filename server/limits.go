package server

import (
	"cmp"
	"time"
)

// SetLimits changes limits at once. Budgets keep what is spent of them. Connections beyond a limit that has changed are closed, as if
// one more had come; matches beyond one go on.
func (s *Server) SetLimits(l Limits) {
	all, now := l.WithDefaults(), time.Now()
	s.gates.resize(all, now)
	s.guests.SetDisk(all.GuestDiskBytes, now)
	for _, m := range s.registry.running() {
		go m.post(input{do: m.takeLimits}) // it may be busy
	}
}

// takeLimits gives the match the limits that the server has now. Without any it keeps what it has.
func (m *Match) takeLimits() {
	l := m.server.gates.limits.Load().MatchLimits
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
