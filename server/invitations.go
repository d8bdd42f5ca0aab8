package server

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Invitations returns the invitations that the match was created with, see MatchSpec.Invite. After a [Server.Resume] they
// are still valid, but nobody knows them except those who have got them.
func (m *Match) Invitations() []Invitation { return m.invitations }

// invite draws an invitation to each seat that no bot has, and that is not reserved for a player. The log gets their hashes, for the server that resumes the
// match.
func (m *Match) invite() {
	m.invited = make(map[string]lockstep.Player)
	for seat := range lockstep.Player(m.spec.Settings.Players) {
		if int(seat) < len(m.spec.Bots) && m.spec.Bots[seat] != nil || int(seat) < len(m.spec.Players) && m.spec.Players[seat] != "" {
			continue
		}
		var b [16]byte
		rand.Read(b[:])
		token := hex.EncodeToString(b[:])
		m.invitations = append(m.invitations, Invitation{seat, token})
		m.invited[invitationHash(token)] = seat
		m.remember(seat, record.EventInvitation, invitationHash(token))
	}
}

// invitationHash returns what a server keeps of an invitation. The token has 128 random bits, so no salt is needed.
func invitationHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
