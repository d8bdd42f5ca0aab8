package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server/internal/front"
)

// access decides who may make a request. It notes refused tokens, and what admins do.
type access struct {
	authorizer Authorizer
	revoked    *revocations
	registry   *registry
	gates      *gates
	turned     *turned
	log        *slog.Logger
	refusals   refusalLog
}

// An audit is what the log says about a call of an admin.
type audit struct {
	grant host.Grant
	log   *slog.Logger // with the match that the path names
	match string       // that the call created
	why   error        // the token was refused; not for the client
}

type auditKey struct{}

// auditOf returns the audit of a request. Without one the caller's notes are lost.
func auditOf(r *http.Request) *audit {
	if a, ok := r.Context().Value(auditKey{}).(*audit); ok {
		return a
	}
	return &audit{}
}

// authorize asks the server's Authorizer unless the token is an invitation, and refuses revoked tokens. A grant without a subject gets one from the
// token's hash, because an admin may read subjects, but never a token.
func (ac *access) authorize(token, match string) (host.Grant, error) {
	g, invited := ac.invited(token, match)
	var err error
	if !invited {
		g, err = ac.authorizer.Authorize(token, match)
	}
	if err == nil && g.Subject == "" {
		g.Subject = tokenSubject(sha256.Sum256([]byte(token)))
	}
	if err == nil && ac.revoked.includes(&g, time.Now()) {
		return host.Grant{}, fmt.Errorf("%w: token revoked", ErrRefused)
	}
	return g, err
}

// A face is one of the server's handlers, which the context of a request names; 0 is the server itself.
type face int

const (
	public  face = iota + 1 // [Server.Public]
	private                 // [Server.Private]
)

func (f face) of(r *http.Request) bool { return r.Context().Value(public) == f }

func (f face) mark(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), public, f))
}

// refusedText is the message for a client whose token is not valid or not permitted. It does not say which.
const refusedText = "refused"

// authenticate returns the grant of a request's bearer token in a match; "" for all matches. It counts an invalid token and answers
// the request. A valid token passes however many wrong ones its address has sent, because many people can share an address.
func (ac *access) authenticate(w http.ResponseWriter, r *http.Request, match string) (g host.Grant, ok bool) {
	token, shown := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a := auditOf(r)
	if a.why = errNoToken; shown {
		a.grant, a.why = ac.authorize(token, match)
	}
	switch {
	case a.why == nil && a.grant.Role == protocol.Admin && public.of(r):
		fail(w, codeRefused, "admins have another address on this server")
	case a.why == nil:
		return a.grant, true
	case shown && !ac.countGuess(wsmatch.AddressOf(r.RemoteAddr), r.RemoteAddr):
		fail(w, codeGuesses, "too many tokens from your address were refused")
	default:
		fail(w, codeRefused, refusedText)
	}
	return host.Grant{}, false
}

// permitted answers a request whose valid token does not permit it.
func permitted(w http.ResponseWriter, ok bool) bool {
	if !ok {
		fail(w, codeRefused, refusedText)
	}
	return ok
}

// invited returns the grant of a token that is an invitation to a match.
func (ac *access) invited(token, match string) (g host.Grant, ok bool) {
	m := ac.registry.match(match)
	if m == nil {
		return host.Grant{}, false
	}
	seat, ok := m.invited[invitationHash(token)]
	return host.Grant{Role: protocol.Seated, Seat: seat, Name: fmt.Sprintf("player-%d", seat)}, ok
}

// countGuess counts a wrong token or session, and reports false if the address has spent its budget.
func (ac *access) countGuess(from netip.Prefix, remote string) bool {
	ok := ac.gates.guesses.Spend(from, 1, time.Now())
	if !ok {
		ac.turned.away("guessing", remote)
	}
	return ok
}

// invitationHash returns what a server keeps of an invitation. The token has 128 random bits, so no salt is needed.
func invitationHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// audited logs each call of a handler for admins, also a refused one.
func (ac *access) audited(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := &audit{log: ac.log}
		if name := matchIn(r); name != "" {
			a.log = ac.registry.logOf(name) // the call may end the match
		}
		r = r.WithContext(context.WithValue(r.Context(), auditKey{}, a))
		answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			if v := recover(); v != nil {
				ac.logCall(r, a, http.StatusInternalServerError, "")
				panic(v)
			}
			ac.logCall(r, a, answer.status, answer.message)
		}()
		next(answer, r)
	}
}

// auditedValues are the values of a request that the log may have. The others, such as a token's ID, may not.
var auditedValues = []string{"seat", "peer", "percent", "subject", "name", "address", "for", "reason"}

// roleRefused is the reason in the log why a valid token was refused.
const roleRefused = "role not permitted"

// logCall writes the line of a call, with the message of an error.
func (ac *access) logCall(r *http.Request, a *audit, status int, message string) {
	log := a.log
	if a.match != "" {
		log = ac.registry.logOf(a.match)
	}
	words := []any{"action", r.Method + " " + wsmatch.Clip(r.URL.Path), "status", status, "address", clientText(r.RemoteAddr)}
	if a.grant.Subject != "" {
		words = append(words, "identity", a.grant.Subject, "name", a.grant.Name)
	}
	for _, name := range auditedValues {
		if v := r.Form.Get(name); v != "" {
			if name == "name" {
				name = "named" // the caller's own is in the line, too
			}
			words = append(words, name, wsmatch.Clip(v))
		}
	}
	switch {
	case a.why != nil && status >= http.StatusBadRequest:
		words = append(words, "why", refusalText(a.why))
	case message == refusedText:
		words = append(words, "why", roleRefused)
	case message != "":
		words = append(words, "why", wsmatch.Clip(message))
	}
	level := slog.LevelInfo
	if status == http.StatusForbidden || status == http.StatusTooManyRequests {
		omitted, ok := ac.refusals.allow()
		if !ok {
			return
		}
		level = slog.LevelWarn
		if omitted > 0 {
			words = append(words, "omitted", omitted)
		}
	}
	log.Log(r.Context(), level, "admin", words...)
}

// A statusWriter keeps the status of an answer, and the message of an error.
type statusWriter struct {
	http.ResponseWriter
	status  int
	message string
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// onlyAdmins lets only admins pass.
func (ac *access) onlyAdmins(next http.HandlerFunc) http.HandlerFunc {
	return ac.audited(func(w http.ResponseWriter, r *http.Request) {
		if g, ok := ac.authenticate(w, r, r.PathValue("name")); ok && permitted(w, g.Role == protocol.Admin) {
			next(w, r)
		}
	})
}

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
	}) == nil {
		k := <-answer
		owner, ok = k.owner, k.ok
	}
	return owner, ok
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

// listReader returns for whom a request reads the list of matches. A token that is not valid for all matches may be for one of them,
// so it is neither refused nor a guess.
func (ac *access) listReader(r *http.Request) disclosure.Reader {
	token, shown := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !shown {
		return disclosure.Spectator
	}
	g, err := ac.authorize(token, "")
	if err != nil || public.of(r) && g.Role == protocol.Admin {
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
	g, ok := ac.authenticate(w, face(0).mark(r), match)
	if public.of(r) && g.Role == protocol.Admin {
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
type toldStatus struct {
	*Status
	Tick  lockstep.Tick `json:"tick"`
	Stats toldStats     `json:"stats"`
	Load  *loadJSON     `json:"load,omitempty"` // only in the answer of GET /matches/NAME to an admin
}

// toldStats are the statistics in an answer.
type toldStats struct {
	host.PublicStats
	*figures // nil for those who may not know them; JSON then leaves them out
}

type figures struct{ host.Stats }

// told returns what a reader may know of the match.
func (v *Status) told(r disclosure.Reader) toldStatus {
	tick := v.disclosed.Shown(r, v.Tick, v.over)
	t := toldStatus{Status: v, Tick: tick, Stats: toldStats{PublicStats: v.Stats.Public(tick)}}
	if v.disclosed.Figures(r, v.over) {
		t.Stats.figures = &figures{v.Stats}
	}
	return t
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

// nobodyFits says that a ban or a revocation has ended nothing.
const nobodyFits = "nobody connected or seated matches, so it applies to those who come; to match a name, give name in place of subject"

// rateLimited limits how often an address may call a handler.
func (ac *access) rateLimited(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if from := wsmatch.AddressOf(r.RemoteAddr); !ac.gates.reads.Spend(from, 1, time.Now()) && !ac.reserved(r, from) {
			ac.turned.away("reading", r.RemoteAddr)
			failFor(w, 1, codeRequests, "too many requests from your address")
			return
		}
		next(w, r)
	}
}

// admin lets only admins pass. The values of the request are in its Form then; a JSON object may have the given names.
func (ac *access) admin(next http.HandlerFunc, names ...string) http.HandlerFunc {
	return ac.onlyAdmins(func(w http.ResponseWriter, r *http.Request) {
		if takeArguments(w, r, names) {
			next(w, r)
		}
	})
}
