package host_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Somebody whose numbers differ learns which, and does not come in.
func TestHostRefusesSelfTest(t *testing.T) {
	p := newParty(t, nil, nil)
	g := p.guest("a", "p0")
	g.auth.SelfTest.Game++
	g.connect()
	p.pass(lockstep.Second)
	if g.errors[protocol.ErrorIdentity] != 1 || g.id != 0 {
		t.Errorf("got errors %v, connected %t", g.errors, g.id != 0)
	}
}
