package server

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// An Invitation is a token for one seat of one match, besides those of the server's [Authorizer]. The server draws it.
type Invitation struct {
	Seat  lockstep.Player `json:"seat"`
	Token string          `json:"token"`
}

// Invitations returns the invitations that the match was created with, see MatchSpec.Invite. After a [Server.Resume] they
// are still valid, but nobody knows them except those who have got them.
func (m *Match) Invitations() []Invitation { return m.invitations }

// invite draws an invitation to each seat that no bot has, and that is not reserved for a player.
func (spec *MatchSpec) invite() (all []Invitation) {
	for seat := range lockstep.Player(spec.Settings.Players) {
		if int(seat) < len(spec.Bots) && spec.Bots[seat] != nil || int(seat) < len(spec.Players) && spec.Players[seat] != "" {
			continue
		}
		var b [16]byte
		rand.Read(b[:])
		all = append(all, Invitation{seat, hex.EncodeToString(b[:])})
	}
	return all
}

// invitationHash returns what a server keeps of an invitation. The token has 128 random bits, so no salt is needed.
func invitationHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// invited returns the grant of a token that is an invitation to a match.
func (s *Server) invited(token, match string) (g host.Grant, ok bool) {
	s.mu.Lock()
	m := s.matches[match]
	s.mu.Unlock()
	if m == nil {
		return host.Grant{}, false
	}
	seat, ok := m.invited[invitationHash(token)]
	return host.Grant{Role: protocol.Seated, Seat: seat, Name: fmt.Sprintf("player-%d", seat)}, ok
}
