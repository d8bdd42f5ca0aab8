package server

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// ErrRefused is wrapped by the errors of an [Authorizer] for a token that it does not accept. The client learns only that
// its token was refused. The text is for the operator's log, and must not have the token.
var ErrRefused = errors.New("server: refused")

// errNoToken says why a client without a token was refused.
var errNoToken = fmt.Errorf("%w: it showed no token", ErrRefused)

// refusalText returns the reason of a refusal for the log. No Authorizer's error has the token.
func refusalText(err error) string {
	return wsmatch.Clip(strings.TrimPrefix(err.Error(), ErrRefused.Error()+": "))
}

// An Authorizer returns the grant of a token in a match. It must be safe for concurrent use.
type Authorizer interface {
	Authorize(token, match string) (host.Grant, error)
}

// AnyOf returns an Authorizer that asks the given ones in turn until one of them knows the token.
func AnyOf(authorizers ...Authorizer) Authorizer { return anyOf(authorizers) }

type anyOf []Authorizer

func (a anyOf) Authorize(token, match string) (host.Grant, error) {
	var reasons []string
	for _, each := range a {
		g, err := each.Authorize(token, match)
		if err == nil || !errors.Is(err, ErrRefused) {
			return g, err
		}
		reasons = append(reasons, refusalText(err))
	}
	return host.Grant{}, fmt.Errorf("%w: %s", ErrRefused, strings.Join(reasons, "; "))
}

// tokenSubject returns the subject of a token that names none.
func tokenSubject(sum [sha256.Size]byte) string { return "token " + hex.EncodeToString(sum[:8]) }

// parseViewer reads whose views a spectator gets.
func parseViewer(text string) (lockstep.Viewer, error) {
	v, err := lockstep.ParseViewer(text)
	if err == nil && v.As == lockstep.AsSpectator {
		err = errors.New(`got the viewer "spectator", which every spectator is`)
	}
	return v, err
}

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
