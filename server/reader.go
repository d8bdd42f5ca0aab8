package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server/internal/front"
)

// listReader returns for whom a request reads the list of matches. A token that is not valid for all matches may be for one of them,
// so it is neither refused nor a guess.
func (ac *access) listReader(r *http.Request) disclosure.Reader {
	token, shown := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !shown {
		return disclosure.Spectator
	}
	g, err := ac.authorize(token, "")
	if err != nil || isPublic(r) && g.Role == protocol.Admin {
		return disclosure.Spectator
	}
	return readerWith(&g)
}

// readerOf returns for whom a request reads a match, or the metrics with "". It needs no token, but answers a request whose token
// is refused. At the address of players an admin is nobody in particular.
func (ac *access) readerOf(w http.ResponseWriter, r *http.Request, match string) (disclosure.Reader, bool) {
	if r.Header.Get("Authorization") == "" {
		return disclosure.Spectator, true
	}
	g, ok := ac.authenticateIn(w, r.WithContext(context.WithValue(r.Context(), publicKey{}, nil)), match)
	if isPublic(r) && g.Role == protocol.Admin {
		return disclosure.Spectator, ok
	}
	return readerWith(&g), ok
}

// readerWith returns for whom the holder of a grant reads a match over HTTP.
func readerWith(g *host.Grant) disclosure.Reader {
	switch g.Role {
	case protocol.Admin:
		return disclosure.Operator
	case protocol.Seated:
		return disclosure.Player
	}
	return disclosure.Spectator
}

// A toldView is what a reader may know of a match, in an answer.
type toldView struct {
	*View
	Tick  lockstep.Tick `json:"tick"`
	Stats toldStats     `json:"stats"`
	Load  *loadView     `json:"load,omitempty"` // only in the answer of GET /matches/NAME to an admin
}

// toldStats are the statistics in an answer.
type toldStats struct {
	host.PublicStats
	*figures // nil for those who may not know them; JSON then leaves them out
}

type figures struct{ host.Stats }

// told returns what a reader may know of the match.
func (v *View) told(r disclosure.Reader) toldView {
	tick := v.disclosed.Shown(r, v.Tick, v.over)
	t := toldView{View: v, Tick: tick, Stats: toldStats{PublicStats: v.Stats.Public(tick)}}
	if v.disclosed.Figures(r, v.over) {
		t.Stats.figures = &figures{v.Stats}
	}
	return t
}

// Operators returns h for requests with the token of an admin, at the address of [Server.Private], and from this machine, for what
// is no call of an admin, such as metrics. While a match hides something, clients on this machine need the token, too: the metrics count what
// all players do; in a server with one match these are its commands. h is behind [Server.Guard].
func (s *Server) Operators(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isPrivate(r) || s.access.mayScrape(w, r) {
			h.ServeHTTP(w, r)
		}
	})
}

// mayScrape answers a request for the metrics by somebody who may not have them.
func (ac *access) mayScrape(w http.ResponseWriter, r *http.Request) bool {
	who, ok := ac.readerOf(w, r, "")
	switch hides := ac.registry.hides(); {
	case !ok:
		return false
	case (disclosure.Policy{}).Figures(who, false), !hides && front.IsHere(r):
		return true
	case hides:
		fail(w, codeRefused, "a match on this server hides what the metrics count: ask with the token of an admin, or at the address of serve --admin-listen")
	default:
		fail(w, codeRefused, "ask with the token of an admin, on the server's own machine, or at the address of serve --admin-listen")
	}
	return false
}
