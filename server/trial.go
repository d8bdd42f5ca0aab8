package server

import (
	"net/http"
	"time"
)

// A connection beyond the budget of its address is on trial: it may make one request, which must show a valid token or session. So a
// flood from an address does not keep out the people behind it. Connections that send nothing cost next to nothing, and only push
// each other out.

// hear implements [gate].
func (s *Server) hear(x *socket) bool {
	if !s.gates.trials.Spend(x.addr, 1, time.Now()) {
		s.turned.away("connecting", x.RemoteAddr().String())
		return false
	}
	if x.enter(s.gates.onTrial, maxOnTrial) {
		s.turned.away("connecting", x.RemoteAddr().String())
	}
	return true
}

// admit implements [gate].
func (s *Server) admit(x *socket, w http.ResponseWriter, r *http.Request) bool {
	if !s.access.reserved(r, x.addr) {
		s.turned.away("connecting", r.RemoteAddr)
		fail(closeOnError{w}, codeRequests, "too many connections from your address")
		return false
	}
	x.trial.Store(false)
	if x.enter(s.gates.sockets, s.gates.limits.Load().MaxPerAddress) {
		s.turned.away("socket", r.RemoteAddr)
	}
	return true
}
