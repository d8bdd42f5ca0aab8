package host_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A client with another self-test learns which number differs, and is refused.
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
