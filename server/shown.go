package server

import (
	"context"
	"encoding/hex"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// knownTime is how long a match may take to say whether it knows a session.
const knownTime = time.Second

// reserved takes a request from the part of an address's budgets that is kept for those who show a valid token or session. It reports
// false if the request shows none, or if that part is spent, too.
func (ac *access) reserved(r *http.Request, from netip.Prefix) bool {
	if r.Context().Value(reservedKey{}) != nil {
		return true // it was taken already
	}
	subject, ok := ac.shown(r, from)
	return ok && ac.gates.keep(from, subject, time.Now())
}

// reservedKey is the context key of a request that was taken from the reserve.
type reservedKey struct{}

// withReserve returns a request that was taken from the reserve, so that it is not taken again.
func withReserve(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), reservedKey{}, true))
}

// shown returns whose token or session a request shows. A guest must have a seat, because guests make up their tokens. A wrong token
// for a match counts as a guess.
func (ac *access) shown(r *http.Request, from netip.Prefix) (subject string, ok bool) {
	token, session := shownIn(r.Header)
	name := matchIn(r)
	m := ac.registry.match(name)
	if session != (protocol.SessionToken{}) && m != nil {
		if subject, ok = m.knows(r.Context(), session, ""); ok {
			return subject, true
		}
	}
	if token == "" {
		return "", false
	}
	g, err := ac.authorize(token, name)
	if err != nil {
		if name != "" { // otherwise it may be for one match
			ac.countGuess(from, r.RemoteAddr)
		}
		return "", false
	}
	if !g.Guest {
		return g.Subject, true
	}
	if m == nil {
		return "", false
	}
	return m.knows(r.Context(), session, g.Subject)
}

// matchIn returns the name of the match in the path of a request, or "".
func matchIn(r *http.Request) string {
	_, path, _ := strings.Cut(r.URL.Path, "/matches/") // there may be a base path
	name, _, _ := strings.Cut(path, "/")
	return name
}

// knows asks the match whether it knows a session, or a subject has a seat.
func (m *Match) knows(ctx context.Context, session protocol.SessionToken, subject string) (owner string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, knownTime)
	defer cancel()
	type known struct {
		owner string
		ok    bool
	}
	answer := make(chan known, 1) // the match may answer too late
	if m.Do(ctx, func(h *host.Host) {
		owner, ok := h.Info().Known(session, subject)
		answer <- known{owner, ok}
	}) != nil {
		return "", false
	}
	k := <-answer
	return k.owner, k.ok
}

// shownIn returns the first token and the first session in the headers of a request.
func shownIn(h http.Header) (token string, session protocol.SessionToken) {
	token, _ = strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	for part := range strings.SplitSeq(strings.Join(h.Values("Sec-Websocket-Protocol"), ","), ",") {
		part = strings.TrimSpace(part)
		if text, ok := strings.CutPrefix(part, protocol.ShownToken); ok && token == "" {
			b, _ := hex.DecodeString(text) // what is wrong is not valid either
			token = string(b)
		}
		if text, ok := strings.CutPrefix(part, protocol.ShownSession); ok && session == (protocol.SessionToken{}) && len(text) == 2*len(session) {
			hex.Decode(session[:], []byte(text))
		}
	}
	return token, session
}
