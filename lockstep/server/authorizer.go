package server

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// ErrRefused is the error of an [Authorizer] for an unknown token. The client learns only that its token was refused.
var ErrRefused = errors.New("server: refused")

// An Authorizer returns the grant of a token in a match. It must be safe for concurrent use.
type Authorizer interface {
	Authorize(token, match string) (host.Grant, error)
}

// AnyOf returns an Authorizer that asks the given ones in turn until one of them knows the token.
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
