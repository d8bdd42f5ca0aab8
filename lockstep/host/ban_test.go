package host

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A match keeps a limited number of bans. Kicks leave room for them, and expired ones make room. The texts are bounded,
// too.
func TestBansAreBounded(t *testing.T) {
	h := &Host{options: Options{KickTime: 60 * lockstep.Second}}
	kick := func(i int) { h.keepOut(&Grant{Role: protocol.Seated, Subject: fmt.Sprint("kicked ", i)}, "", "") }
	for i := range 2 * maxKicks {
		kick(i)
	}
	if len(h.bans) != maxKicks {
		t.Fatalf("got %d bans after %d kicks, want %d", len(h.bans), 2*maxKicks, maxKicks)
	}
	long := strings.Repeat("x", budget.MaxKey-4)
	for i := range maxBans - maxKicks {
		if err := h.addBan(Ban{Subject: fmt.Sprintf("%s%04d", long, i), Name: strings.Repeat("n", record.MaxName), Address: strings.Repeat("y", record.MaxName), Guests: strings.Repeat("y", record.MaxName), Reason: strings.Repeat("z", 2*maxReason)}, maxBans); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.addBan(Ban{Subject: "one more"}, maxBans); !errors.Is(err, ErrBan) {
		t.Errorf("one more: got %v, want %v", err, ErrBan)
	}
	if err := h.addBan(Ban{Subject: "kicked 0"}, maxBans); err != nil {
		t.Errorf("in the place of another: %v", err)
	}
	if got, most := h.bansMemory(), maxBans*(banMemory+budget.MaxKey+3*record.MaxName+maxReason); got > most || got < most/2 {
		t.Errorf("got %d bytes of bans, want at most %d", got, most)
	}
	h.now = 61 * lockstep.Second
	if err := h.addBan(Ban{Subject: "one more"}, maxBans); err != nil {
		t.Errorf("after the kicks: %v", err)
	}
	if got, want := len(h.bans), maxBans-maxKicks+2; got != want {
		t.Errorf("got %d bans after the time of the kicks, want %d", got, want)
	}
	for _, b := range []Ban{{}, {Subject: long + "12345"}, {Address: strings.Repeat("y", record.MaxName+1)}, {Subject: "s", Until: h.now}} {
		if err := h.addBan(b, maxBans); !errors.Is(err, ErrBan) {
			t.Errorf("%.20s: got %v, want %v", b.Subject, err, ErrBan)
		}
	}
}
