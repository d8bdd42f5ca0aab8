package server

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Defaults of what all matches that guests have begun may take together.
const (
	defaultGuestEach       = 2
	defaultGuestBots       = 32
	defaultGuestStateBytes = 4 << 20
	defaultGuestDisk       = 1 << 30
)

// guestDiskSpan is how long it takes until the bytes that replays of guests' matches
// may have are all there again.
const guestDiskSpan = 24 * time.Hour

// The guests of one address may try to begin maxGuestTries matches, which come back
// over guestTrySpan: to find out how large a state is, it has to be made.
const (
	maxGuestTries = 20
	guestTrySpan  = time.Minute
)

// A guestLoad is what a match that a guest has begun takes of the server. It is
// the same for every game: a copy of the state for the referee and for each bot.
type guestLoad struct {
	from       netip.Prefix
	bots       int
	stateBytes int64 // of all copies; 0 until the first state is known
	written    int64 // of the replay's bytes, those that were counted
}

// A guestError is the budget that a guest's match exceeds.
type guestError struct {
	status int // of HTTP
	text   string
}

func (e *guestError) Error() string { return "server: guests: " + e.text }

// admit takes a place for a guest's match, which [Server.leave] gives back.
func (s *Server) admit(from netip.Prefix, bots int) (*guestLoad, error) {
	if !s.guestTries.spend(from, 1, time.Now()) {
		return nil, &guestError{http.StatusTooManyRequests, "too many matches were asked for from your address"}
	}
	if s.guestDisk.wait(struct{}{}, 0, time.Now()) > 0 {
		return nil, &guestError{http.StatusServiceUnavailable, "their replays have taken as much of the disk today as they may"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, all, each := &s.options, s.guestLoad(), 0
	for g := range s.guests {
		if g.from == from {
			each++
		}
	}
	g := &guestLoad{from: from, bots: max(bots, 0)}
	switch {
	case each >= o.GuestMatchesPerAddress:
		return nil, &guestError{http.StatusTooManyRequests, fmt.Sprintf("your address has %d matches, want at most %d", each+1, o.GuestMatchesPerAddress)}
	case len(s.guests) >= o.GuestMatches:
		return nil, &guestError{http.StatusServiceUnavailable, "they have begun as many matches as they may"}
	case all.bots+g.bots > o.GuestBots:
		return nil, &guestError{http.StatusServiceUnavailable, fmt.Sprintf("got %d bots in their matches, want at most %d", all.bots+g.bots, o.GuestBots)}
	}
	s.guests[g] = struct{}{}
	return g, nil
}

// leave gives back what a guest's match takes. Giving it back twice does nothing.
func (s *Server) leave(g *guestLoad) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.guests, g)
}

// guestLoad returns what all guests' matches take. The lock is held.
func (s *Server) guestLoad() (all guestLoad) {
	for g := range s.guests {
		all.bots += g.bots
		all.stateBytes += g.stateBytes
	}
	return all
}

// weigh notes how large the state and the replay of a guest's match are now.
func (m *Match) weigh() {
	if g := m.spec.guest; g != nil {
		if m.writer != nil {
			grown := m.writer.Size() - g.written
			g.written += grown
			m.server.guestDisk.wait(struct{}{}, int(grown), time.Now())
		}
		m.server.mu.Lock()
		defer m.server.mu.Unlock()
		g.stateBytes = int64(1+g.bots) * int64(m.host.Stats().StateBytes)
	}
}

// fits refuses a guest's match that is about to begin, if its state is too large.
// A match that has begun goes on, but while its state grows no other one begins.
func (m *Match) fits() error {
	m.weigh()
	s := m.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if all := s.guestLoad(); m.spec.guest != nil && all.stateBytes > s.options.GuestStateBytes {
		return &guestError{http.StatusServiceUnavailable, fmt.Sprintf("got %d bytes of state in the copies of their matches, want at most %d", all.stateBytes, s.options.GuestStateBytes)}
	}
	return nil
}

// creators lets admins begin matches, and players if guests may. A guest's place
// is taken when the request has been read, so that slow ones hold none.
func (s *Server) creators(w http.ResponseWriter, r *http.Request) {
	g, ok := s.bearer(w, r)
	guest := g.Role == protocol.Seated && s.options.GuestMatches > 0
	if !ok || !granted(w, guest || g.Role == protocol.Admin) {
		return
	}
	spec, ok := s.requested(w, r)
	if !ok {
		return
	}
	var err error
	if guest {
		spec.guest, err = s.admit(of(r.RemoteAddr), spec.Bots)
	}
	var m *Match
	if err == nil {
		if m, err = s.Create(spec); err != nil && guest {
			s.leave(spec.guest)
		}
	}
	s.created(w, m, err)
}

// refuse answers a guest whose match exceeds a budget.
func (e *guestError) refuse(w http.ResponseWriter, s *Server) {
	s.metrics.turned.WithLabelValues("guests").Inc()
	w.Header().Set("Retry-After", strconv.Itoa(30))
	http.Error(w, e.Error(), e.status)
}
