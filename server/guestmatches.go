package server

import (
	"cmp"
	"net/http"
	"net/netip"
	"time"

	"github.com/seed-49bee653/samestep/server/internal/guests"
)

// refuseGuest answers a request for a match that a guest may not start.
func (s *Server) refuseGuest(w http.ResponseWriter, remote string, err *guests.Error) {
	s.turnedAway("guests", remote)
	w.Header().Set("Retry-After", "30")
	if err.Own {
		fail(w, codeGuestLimit, err.Error())
	} else {
		fail(w, codeGuestsFull, err.Error())
	}
}

// reserveGuest reserves a place for a guest's match, with as many bots as it can have at a time: all seats if players have substitutes.
func (s *Server) reserveGuest(from netip.Prefix, spec *MatchSpec) (err error) {
	bots := spec.bots()
	if o := cmp.Or(spec.Host, &s.options.Host); spec.Substitute != nil || o.Substitute != nil {
		bots = int(spec.Settings.Players)
	}
	l := s.gates.limits.Load()
	spec.guest, err = s.guests.Reserve(from, bots, guests.Limits{Matches: l.GuestMatches, Each: l.GuestMatchesPerAddress, Bots: l.GuestBots}, time.Now())
	return err
}

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
	if m.writer != nil {
		written = m.writer.Size()
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
