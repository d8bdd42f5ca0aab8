package protocol

import (
	"fmt"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
)

// NewAuth returns the identity that a client of a game gives, without a token.
func NewAuth(g *lockstep.Game) *Auth {
	return &Auth{
		Protocol: lockstep.Protocol, Engine: lockstep.Engine, Game: g.Name(), Build: g.Build(), Platform: lockstep.Platform(),
		StateSchema: g.StateSchema().Fingerprint(), CommandSchema: g.CommandFingerprint(), SelfTest: g.SelfTest(),
	}
}

// CheckIdentity returns an [*lockstep.IdentityError] that names the first thing in which a
// client is not of the game of want.
func (a *Auth) CheckIdentity(want *Auth) error {
	for _, f := range []struct {
		field     string
		got, want any
	}{
		{"protocol", a.Protocol, want.Protocol},
		{"engine", a.Engine, want.Engine},
		{"game", a.Game, want.Game},
		{"build", a.Build, want.Build},
		{"state schema", checksum.FormatHash(a.StateSchema), checksum.FormatHash(want.StateSchema)},
		{"command schema", checksum.FormatHash(a.CommandSchema), checksum.FormatHash(want.CommandSchema)},
	} {
		if f.got != f.want {
			return &lockstep.IdentityError{Field: f.field, Got: fmt.Sprint(f.got), Want: fmt.Sprint(f.want)}
		}
	}
	ours := want.SelfTest.Parts()
	for i, p := range a.SelfTest.Parts() {
		if *p.Sum != *ours[i].Sum {
			return &lockstep.IdentityError{Field: "self-test of " + p.Name, Got: checksum.FormatHash(*p.Sum), Want: checksum.FormatHash(*ours[i].Sum)}
		}
	}
	return nil
}
