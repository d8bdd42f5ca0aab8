package server

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// ErrRefused is what an [Authorizer] returns for a token that it does not know.
// Whoever showed the token is told no more than that it was refused.
var ErrRefused = errors.New("server: refused")

// An Authorizer says what a token entitles to in a match. It must be safe for
// concurrent use.
type Authorizer interface {
	Authorize(token, match string) (host.Grant, error)
}

// AnyOf returns an Authorizer that asks each of several in turn, until one
// knows the token.
func AnyOf(authorizers ...Authorizer) Authorizer { return anyOf(authorizers) }

type anyOf []Authorizer

func (a anyOf) Authorize(token, match string) (host.Grant, error) {
	for _, each := range a {
		g, err := each.Authorize(token, match)
		if err == nil || !errors.Is(err, ErrRefused) {
			return g, err
		}
	}
	return host.Grant{}, ErrRefused
}

// authorize asks the server's Authorizer, and refuses what is revoked. A subject without a name is named after its
// token's hash, since an admin may read the names of subjects, and never a token.
func (s *Server) authorize(token, match string) (host.Grant, error) {
	g, err := s.options.Authorizer.Authorize(token, match)
	if err == nil && g.Subject == "" {
		sum := sha256.Sum256([]byte(token))
		g.Subject = tokenSubject(sum)
	}
	if err == nil && s.revoked.of(&g, time.Now()) {
		return host.Grant{}, ErrRefused
	}
	return g, err
}

// tokenSubject returns the subject of a token that names none.
func tokenSubject(sum [sha256.Size]byte) string { return "token " + hex.EncodeToString(sum[:8]) }

// parseRole reads the name of a role.
func parseRole(name string) (protocol.Role, bool) {
	switch name {
	case "spectator":
		return protocol.Spectator, true
	case "player":
		return protocol.Seated, true
	case "admin":
		return protocol.Admin, true
	}
	return 0, false
}
