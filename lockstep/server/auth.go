package server

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
)

// ErrRefused is what an [Authorizer] returns for a token that it does not know.
// Whoever showed the token is told no more than that it was refused.
var ErrRefused = errors.New("server: refused")

// An Authorizer says what a token entitles to in a match. It must be safe for
// concurrent use.
type Authorizer interface {
	Authorize(token, match string) (lockstep.Grant, error)
}

// AnyOf returns an Authorizer that asks each of several in turn, until one
// knows the token.
func AnyOf(authorizers ...Authorizer) Authorizer { return anyOf(authorizers) }

type anyOf []Authorizer

func (a anyOf) Authorize(token, match string) (lockstep.Grant, error) {
	for _, each := range a {
		g, err := each.Authorize(token, match)
		if err == nil || !errors.Is(err, ErrRefused) {
			return g, err
		}
	}
	return lockstep.Grant{}, ErrRefused
}

// parseRole reads the name of a role.
func parseRole(name string) (lockstep.Role, bool) {
	switch name {
	case "spectator":
		return lockstep.Spectator, true
	case "player":
		return lockstep.Seated, true
	case "admin":
		return lockstep.Admin, true
	}
	return 0, false
}
