package server

import "time"

// bots returns the number of bots of a match.
func (m *MatchSpec) bots() (n int) {
	for _, b := range m.Bots {
		if b != nil {
			n++
		}
	}
	return n
}

// updateGuestUsage records the present size of the state and the replay of a guest's match.
func (m *Match) updateGuestUsage() {
	g := m.spec.guest
	if g == nil {
		return
	}
	written := int64(0)
	if m.log.Recorded() {
		written = m.log.Size()
	}
	m.server.guests.Grow(g, int64(m.host.Stats().StateBytes), written, time.Now())
}

// checkGuestState refuses a guest's match with a state that is too large. It is called before the match starts.
func (m *Match) checkGuestState() error {
	if m.spec.guest == nil {
		return nil
	}
	m.updateGuestUsage()
	return m.server.guests.Check(m.server.gates.limits.Load().GuestStateBytes)
}
