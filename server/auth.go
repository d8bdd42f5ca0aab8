package server

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
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
		return host.Grant{}, fmt.Errorf("%w: it was revoked", ErrRefused)
	}
	return g, err
}

// publicKey marks the requests of [Server.Public] in their context.
type publicKey struct{}

// isPublic reports whether a request came to [Server.Public].
func isPublic(r *http.Request) bool { return r.Context().Value(publicKey{}) != nil }

// privateKey marks the requests of [Server.Private] in their context.
type privateKey struct{}

// isPrivate reports whether a request came to [Server.Private].
func isPrivate(r *http.Request) bool { return r.Context().Value(privateKey{}) != nil }

// refusedText is the message for a client whose token is not valid or not permitted. It does not say which.
const refusedText = "refused"

// authenticate returns the grant of a request's bearer token in the match that the path names. It counts an invalid
// token and answers the request. A valid token passes however many wrong ones its address has sent, because many
// people can share an address.
func (ac *access) authenticate(w http.ResponseWriter, r *http.Request) (g host.Grant, ok bool) {
	return ac.authenticateIn(w, r, r.PathValue("name"))
}

// authenticateIn is authenticate for a match that the path does not name; "" for all matches.
func (ac *access) authenticateIn(w http.ResponseWriter, r *http.Request, match string) (g host.Grant, ok bool) {
	token, shown := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a := auditOf(r)
	a.why = errNoToken
	if shown {
		a.grant, a.why = ac.authorize(token, match)
		if a.why == nil && a.grant.Role == protocol.Admin && isPublic(r) {
			fail(w, codeRefused, "admins have another address on this server")
			return host.Grant{}, false
		}
		if a.why == nil {
			return a.grant, true
		}
	}
	if shown && !ac.countGuess(wsmatch.AddressOf(r.RemoteAddr), r.RemoteAddr) {
		fail(w, codeGuesses, "too many tokens from your address were refused")
		return host.Grant{}, false
	}
	fail(w, codeRefused, refusedText)
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
