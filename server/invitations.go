package server

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/seed-49bee653/samestep/lockstep"
)

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
