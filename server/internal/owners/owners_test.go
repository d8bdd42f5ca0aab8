package owners

import (
	"errors"
	"maps"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A seat has the owner whose token came last; a session that comes back keeps it. A claim is written when the log cannot tell otherwise.
func TestWelcome(t *testing.T) {
	id := lockstep.MatchID{7}
	of := func(subject string) string { return host.Claim(id, subject) }
	o := New()
	for _, c := range []struct {
		name           string
		grant          *host.Grant
		seat           lockstep.Player
		subject, claim string
	}{
		{"a token for a seat", &host.Grant{Subject: "ann", Seat: 0}, 0, "ann", ""},
		{"a token for any seat", &host.Grant{Subject: "bob", Seat: host.AnySeat}, 1, "bob", of("bob")},
		{"the same again", &host.Grant{Subject: "bob", Seat: host.AnySeat}, 1, "bob", ""},
		{"a session", nil, 1, "bob", ""},
		{"another owner, whose token names the seat", &host.Grant{Subject: "cid", Seat: 1}, 1, "cid", of("cid")},
		{"a guest", &host.Grant{Subject: "guest", Guest: true, Seat: host.AnySeat}, 2, "", of("guest")},
		{"a spectator", &host.Grant{Subject: "eve", Seat: host.AnySeat}, lockstep.System, "eve", ""},
		{"a spectator without a token", nil, lockstep.System, "", ""},
	} {
		o.Receive()
		if c.grant != nil {
			o.Authorized(*c.grant, nil)
		}
		if subject, claim := o.Welcome(id, c.seat, c.name); subject != c.subject || claim != c.claim {
			t.Errorf("%s: got %q and the claim %q, want %q and %q", c.name, subject, claim, c.subject, c.claim)
		}
	}
	if want := map[lockstep.Player]string{0: "ann", 1: "cid"}; !maps.Equal(o.Subjects(), want) {
		t.Errorf("got owners %v, want %v", o.Subjects(), want)
	}
	if got := o.Session(1) + o.Session(lockstep.System); got != "another owner, whose token names the seat" {
		t.Errorf("got the session %q", got)
	}
	wrong := errors.New("wrong")
	o.Authorized(host.Grant{Subject: "mal"}, wrong)
	if subject, _ := o.Welcome(id, 0, ""); subject != "ann" || o.Refusal() != wrong {
		t.Errorf("after a refusal: got %q, %v", subject, o.Refusal())
	}
	if o.Receive(); o.Refusal() != nil {
		t.Error("a refusal outlives its message")
	}
}
