package server

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"time"
)

// guestDiskPeriod is the time in which the disk budget of guests' matches refills.
const guestDiskPeriod = 24 * time.Hour

// The guests of one address may try to start maxGuestTries matches in a guestTryPeriod: the server must make a state
// before it knows its size.
const (
	maxGuestTries  = 20
	guestTryPeriod = time.Minute
)

// A guestError says which budget a guest's match exceeds.
type guestError struct {
	code code
	text string
}

func (e *guestError) Error() string { return "server: guests: " + e.text }

func (e *guestError) reply(w http.ResponseWriter, s *Server, remote string) {
	s.turnedAway("guests", remote)
	w.Header().Set("Retry-After", "30")
	fail(w, e.code, e.Error())
}

// reserveGuest reserves a place for a guest's match.
func (s *Server) reserveGuest(from netip.Prefix, bots int) (*guestUsage, error) {
	if !s.guestTries.spend(from, 1, time.Now()) {
		return nil, &guestError{codeGuestLimit, "your address has asked for too many matches"}
	}
	if s.guestDisk.wait(struct{}{}, 0, time.Now()) > 0 {
		return nil, &guestError{codeGuestsFull, "their replays have used up the disk budget of this day"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, all, each := s.limits.Load(), s.guestUsage(), 0
	for g := range s.guests {
		if g.from == from {
			each++
		}
	}
	g := &guestUsage{from: from, bots: max(bots, 0)}
	switch {
	case each >= o.GuestMatchesPerAddress:
		return nil, &guestError{codeGuestLimit, fmt.Sprintf("got %d matches of your address, want at most %d", each+1, o.GuestMatchesPerAddress)}
	case len(s.guests) >= o.GuestMatches:
		return nil, &guestError{codeGuestsFull, fmt.Sprintf("got %d of their matches, want at most %d", len(s.guests)+1, o.GuestMatches)}
	case all.bots+g.bots > o.GuestBots:
		return nil, &guestError{codeGuestsFull, fmt.Sprintf("got %d bots in their matches, want at most %d", all.bots+g.bots, o.GuestBots)}
	}
	s.guests[g] = struct{}{}
	return g, nil
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

// mostBots returns the number of bots that a match can have at a time: all seats if players have substitutes.
func (s *Server) mostBots(m *MatchSpec) int {
	if o := cmp.Or(m.Host, &s.options.Host); m.Substitute != nil || o.Substitute != nil {
		return int(m.Settings.Players)
	}
	return m.bots()
}

// releaseGuest gives back the place of a guest's match. A second call does nothing.
func (s *Server) releaseGuest(g *guestUsage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.guests, g)
}

// guestUsage returns the sum of all guests' matches. The caller holds the lock.
func (s *Server) guestUsage() (all guestUsage) {
	for g := range s.guests {
		all.bots += g.bots
		all.stateBytes += g.stateBytes
	}
	return all
}

// updateGuestUsage records the present size of the state and the replay of a guest's match.
func (m *Match) updateGuestUsage() {
	g := m.spec.guest
	if g == nil {
		return
	}
	if m.log.Recorded() {
		grown := m.log.Size() - g.written
		g.written += grown
		m.server.guestDisk.wait(struct{}{}, int(grown), time.Now())
	}
	m.server.mu.Lock()
	defer m.server.mu.Unlock()
	g.stateBytes = int64(m.host.Stats().StateBytes)
}

// checkGuestState refuses a guest's match with a state that is too large. It is called before the match starts. A match
// whose state grows later continues, but no other guest can start one meanwhile.
func (m *Match) checkGuestState() error {
	m.updateGuestUsage()
	s := m.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if all := s.guestUsage(); m.spec.guest != nil && all.stateBytes > s.limits.Load().GuestStateBytes {
		return &guestError{codeGuestsFull, fmt.Sprintf("got %d bytes of state in their matches, want at most %d", all.stateBytes, s.limits.Load().GuestStateBytes)}
	}
	return nil
}
