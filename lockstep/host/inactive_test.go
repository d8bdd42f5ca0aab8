package host_test

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A player without a command for the time of the policy makes an event, and then the policy's action. Commands begin the time
// again; a reconnect does not, and a pause and the time away do not count.
func TestInactive(t *testing.T) {
	for _, c := range []struct {
		name  string
		then  host.InactiveAction
		does  func(p *party, a *guest) // in the 4 s after the first second
		event bool
		code  protocol.CloseCode // 0: still connected
		kind  host.EventKind     // what follows the event
	}{
		{"silent", host.ReportInactive, func(p *party, a *guest) { p.pass(4 * lockstep.Second) }, true, 0, 0},
		{"plays", host.RemoveInactive, func(p *party, a *guest) {
			for range 4 {
				a.command(t, 1)
				p.pass(lockstep.Second)
			}
		}, false, 0, 0},
		{"is taken over", host.TakeOverInactive, func(p *party, a *guest) { p.pass(4 * lockstep.Second) }, true, protocol.CloseInactive, host.PeerTakenOver},
		{"is removed", host.RemoveInactive, func(p *party, a *guest) { p.pass(4 * lockstep.Second) }, true, protocol.CloseInactive, host.PeerLeft},
		{"reconnects", host.TakeOverInactive, func(p *party, a *guest) {
			p.pass(lockstep.Second)
			a.cut()
			a.resume()
			p.pass(5 * lockstep.Second / 2)
		}, true, protocol.CloseInactive, host.PeerTakenOver},
		{"repeats a command", host.TakeOverInactive, func(p *party, a *guest) {
			for range 4 {
				a.submit(t, 1, 1)
				p.pass(lockstep.Second)
			}
		}, true, protocol.CloseInactive, host.PeerTakenOver},
		{"in a pause", host.TakeOverInactive, func(p *party, a *guest) {
			if err := p.h.Admin().Pause(p.now, 0); err != nil {
				t.Fatal(err)
			}
			p.pass(4 * lockstep.Second)
		}, false, 0, 0},
		{"away", host.TakeOverInactive, func(p *party, a *guest) {
			a.cut()
			p.pass(3 * lockstep.Second)
			a.resume()
			p.pass(lockstep.Second)
		}, false, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParty(t, nil, func(o *host.Options) { o.Inactive = host.InactivePolicy{After: 3 * lockstep.Second, Then: c.then} })
			var text []string
			followed := host.EventKind(0)
			p.observed = func(e host.Event) {
				switch {
				case e.Kind == host.PeerInactive && e.Player == 0:
					text = append(text, e.String())
				case e.Player == 0 && len(text) > 0 && e.Kind != host.PeerClosed && followed == 0:
					followed = e.Kind
				}
			}
			a := p.join("a", "p0")
			p.pass(lockstep.Second / 2)
			a.command(t, 1)
			p.pass(lockstep.Second / 2)
			c.does(p, a)
			if got := len(text) == 1; got != c.event || c.event && !strings.HasSuffix(text[0], ": player 0 inactive 3") {
				t.Errorf("got events %q, want one: %t", text, c.event)
			}
			if followed != c.kind {
				t.Errorf("got event %v after it, want %v", followed, c.kind)
			}
			if c.code == 0 && a.id == 0 || c.code != 0 && (a.id != 0 || a.code != c.code) {
				t.Errorf("got code %v, want %v", a.code, c.code)
			}
		})
	}
}

func TestInactiveOptions(t *testing.T) {
	game, header := testgame.NewBankMatch(t, 2)
	for _, policy := range []host.InactivePolicy{{After: -1 << 41}, {After: 25 * 3600 * lockstep.Second}, {Then: 3}} {
		if _, err := host.New(game, header, host.Options{Random: func([]byte) {}, Inactive: policy}); err == nil || !strings.Contains(err.Error(), "host: inactive ") {
			t.Errorf("%+v: got error %v", policy, err)
		}
	}
}

// A player is warned before it loses its seat, on each connection once. A command in time keeps the seat.
func TestInactiveWarns(t *testing.T) {
	for _, c := range []struct {
		name   string
		then   host.InactiveAction
		does   func(a *guest)
		warned int
		kept   bool
	}{
		{"silent", host.TakeOverInactive, func(a *guest) { a.party.pass(50 * lockstep.Second) }, 1, false},
		{"is removed", host.RemoveInactive, func(a *guest) { a.party.pass(50 * lockstep.Second) }, 1, false},
		{"is only reported", host.ReportInactive, func(a *guest) { a.party.pass(200 * lockstep.Second) }, 0, true},
		{"commands", host.TakeOverInactive, func(a *guest) {
			a.command(t, 1)
			a.party.pass(60 * lockstep.Second)
		}, 1, true},
		{"commands, and is silent again", host.TakeOverInactive, func(a *guest) {
			a.command(t, 1)
			a.party.pass(105 * lockstep.Second)
		}, 2, false},
		{"comes back", host.TakeOverInactive, func(a *guest) {
			a.party.pass(25 * lockstep.Second)
			a.cut()
			a.resume()
			a.party.pass(lockstep.Second)
			a.cut()
			a.resume()
			a.party.pass(4 * lockstep.Second)
		}, 3, true},
		{"comes back, and is silent", host.TakeOverInactive, func(a *guest) {
			a.party.pass(28 * lockstep.Second)
			a.cut()
			a.resume()
			a.party.pass(6 * lockstep.Second)
		}, 2, false},
		{"comes back at the last tick", host.TakeOverInactive, func(a *guest) {
			a.party.pass(29*lockstep.Second - lockstep.Second/20)
			a.cut()
			a.resume()
			a.party.pass(4 * lockstep.Second)
		}, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParty(t, nil, func(o *host.Options) { o.Inactive = host.InactivePolicy{After: 100 * lockstep.Second, Then: c.then} })
			a := p.join("a", "p0")
			p.pass(69 * lockstep.Second)
			if n := a.errors[protocol.ErrorInactive]; n != 0 {
				t.Errorf("got %d warnings 31 s before, want none", n)
			}
			p.pass(2 * lockstep.Second)
			c.does(a)
			if n := a.errors[protocol.ErrorInactive]; n != c.warned || (a.id != 0) != c.kept {
				t.Errorf("got %d warnings, and closing %v, want %d and to be connected: %t", n, a.code, c.warned, c.kept)
			}
		})
	}
}

// Without a policy, five minutes without a command are an event and no more. A negative time disables even that.
func TestInactiveDefault(t *testing.T) {
	for after, want := range map[lockstep.Time]int{0: 1, -1: 0} {
		p := newParty(t, nil, func(o *host.Options) { o.Inactive.After = after })
		a := p.join("a", "p0")
		p.pass(299 * lockstep.Second)
		if n := p.events[host.PeerInactive]; n != 0 {
			t.Errorf("%d: got %d events after 299 s, want none", after, n)
		}
		p.pass(60 * lockstep.Second)
		if n := p.events[host.PeerInactive]; n != want || a.id == 0 || a.errors[protocol.ErrorInactive] > 0 {
			t.Errorf("%d: got %d events and closing %v, want %d and none", after, n, a.code, want)
		}
	}
}

// A player who takes the seat of another one has the whole time.
func TestInactiveOfAnother(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) {
		o.Inactive = host.InactivePolicy{After: 3 * lockstep.Second, Then: host.RemoveInactive}
	})
	a := p.join("a", "any-a")
	p.pass(2800 * lockstep.Millisecond)
	b := p.join("b", "p0")
	p.pass(2 * lockstep.Second)
	if a.code != protocol.CloseReplaced || b.welcome.Seat != 0 || b.id == 0 {
		t.Errorf("got closings %v and %v, want seat 0 to be the second player's", a.code, b.code)
	}
	p.pass(2 * lockstep.Second)
	if b.code != protocol.CloseInactive {
		t.Errorf("got closing %v after 4 s, want %v", b.code, protocol.CloseInactive)
	}
}
