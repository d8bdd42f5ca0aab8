package host_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// from makes a guest who joins from an address.
func (p *party) from(address, token string) *guest {
	g := p.guest(token, token)
	g.addr = address
	g.connect()
	p.deliver()
	return g
}

// crash continues the match of a party from its log.
func (p *party) crash(log *testgame.Records) {
	p.t.Helper()
	r := host.NewRecovery(p.game)
	for _, b := range *log {
		if err := r.Append(b); err != nil {
			p.t.Fatal(err)
		}
	}
	for _, g := range p.guests {
		claim := record.Event(g.welcome.Seat, record.EventClaim, host.Claim(p.header.Match, g.auth.Token)) // as a server writes it
		if err := r.Append(claim); err != nil {
			p.t.Fatal(err)
		}
		g.cut()
	}
	h, err := r.Host(p.now, host.Options{Authorize: p.authorize, Random: func(b []byte) {
		p.random++
		b[0] = p.random
	}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.h = h
	p.take()
}

// The guests of one address who have never played keep all seats only as long as nobody else wants one: beyond half of the seats, and
// beyond two, the one who has been idle for longest makes room for people of other addresses.
func TestGuestSeats(t *testing.T) {
	for _, c := range []struct {
		name   string
		play   bool // the guests of the crowd give commands
		lobby  bool
		most   int // Options.GuestSeats
		enter  int // of three newcomers
		tokens []string
	}{
		{"idle guests", false, false, 0, 2, []string{"free-x", "free-y", "free-z"}},
		{"guests who play", true, false, 0, 0, []string{"free-x", "free-y", "free-z"}},
		{"guests who are not ready", false, true, 0, 2, []string{"free-x", "free-y", "free-z"}},
		{"three seats", false, false, 3, 1, []string{"free-x", "free-y", "free-z"}},
		{"no budget", false, false, -1, 0, []string{"free-x", "free-y", "free-z"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParty(t, func(s *lockstep.Settings) { s.Players = 4 }, func(o *host.Options) {
				o.GuestSeats, o.Start.Ready = c.most, c.lobby
			})
			var crowd []*guest
			for i := range 4 {
				crowd = append(crowd, p.from("crowded", fmt.Sprint("free-", i)))
			}
			for range 31 {
				p.pass(lockstep.Second)
				for _, g := range crowd {
					if c.play && g.welcome != nil {
						g.command(t, 1)
					}
				}
			}
			entered := 0
			for i, token := range c.tokens {
				if g := p.from(fmt.Sprint("address ", i), token); g.welcome != nil && g.code == 0 {
					entered++
				}
				p.pass(lockstep.Second / 2)
			}
			if entered != c.enter {
				t.Errorf("%d of 3 newcomers got a seat, want %d", entered, c.enter)
			}
			gone := 0
			for _, g := range crowd {
				if g.code == protocol.CloseInactive {
					gone++
				}
			}
			if gone != c.enter {
				t.Errorf("%d guests of the crowded address made room, want %d", gone, c.enter)
			}
		})
	}
}

// A stranger takes no seat of a family at one address who has played, however long it pauses within the limit for idle guests, nor one
// of two guests in a match of two.
func TestFamilyKeepsItsSeats(t *testing.T) {
	for _, c := range []struct {
		name          string
		players       uint8
		family, plays int
		lobby         bool
		before, pause lockstep.Time // how long they play, and then do not
		crash         bool          // then
		enters        bool
	}{
		{"a duel that pauses", 2, 2, 2, false, 110 * lockstep.Second, 100 * lockstep.Second, false, false},
		{"a duel that has not begun to play", 2, 2, 0, false, 0, 100 * lockstep.Second, false, false},
		{"a duel in the lobby", 2, 2, 0, true, 0, 100 * lockstep.Second, false, false},
		{"four who pause", 4, 4, 4, false, 60 * lockstep.Second, 100 * lockstep.Second, false, false},
		{"four, of whom two play", 4, 4, 2, false, 60 * lockstep.Second, 0, false, true},
		{"four who look at the match first", 4, 4, 0, false, 0, 20 * lockstep.Second, false, false},
		{"four in the lobby who have come just now", 4, 4, 0, true, 0, 20 * lockstep.Second, false, false},
		{"four who have played before a crash", 4, 4, 4, false, 60 * lockstep.Second, 40 * lockstep.Second, true, false},
		{"four, of whom two have played before a crash", 4, 4, 2, false, 60 * lockstep.Second, 40 * lockstep.Second, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParty(t, func(s *lockstep.Settings) { s.Players = c.players }, func(o *host.Options) { o.Start.Ready = c.lobby })
			log := recordsOf(p)
			p.pass(40 * lockstep.Second)
			var family []*guest
			for i := range c.family {
				family = append(family, p.from("home", fmt.Sprint("free-", i)))
			}
			for range c.before / lockstep.Second {
				p.pass(lockstep.Second)
				for _, g := range family[:c.plays] {
					g.command(t, 1)
				}
			}
			if c.crash {
				p.crash(log)
				for _, g := range family {
					g.connect()
				}
			}
			p.pass(c.pause)
			stranger := p.from("elsewhere", "free-x")
			p.pass(lockstep.Second)
			gone := 0
			for _, g := range family {
				if g.code != 0 {
					gone++
				}
			}
			if entered := stranger.welcome != nil && stranger.code == 0; entered != c.enters || (gone > 0) != c.enters {
				t.Errorf("the stranger got a seat: %t, want %t; %d of the family lost theirs", entered, c.enters, gone)
			}
			for _, g := range family[:c.plays] {
				if g.code != 0 {
					t.Errorf("%s has played and lost its seat: code %d", g.name, g.code)
				}
			}
		})
	}
}

// A guest who gives no command is removed, whatever happens to other players, unless the policy says otherwise.
func TestIdleGuests(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy host.InactivePolicy
		after  lockstep.Time // of which the guest is gone; 0: never in 5 minutes
	}{
		{"by default", host.InactivePolicy{}, 120 * lockstep.Second},
		{"no policy for others", host.InactivePolicy{After: -1}, 120 * lockstep.Second},
		{"others are taken over later", host.InactivePolicy{After: 200 * lockstep.Second, Then: host.TakeOverInactive}, 120 * lockstep.Second},
		{"others are removed sooner", host.InactivePolicy{After: 60 * lockstep.Second, Then: host.RemoveInactive}, 60 * lockstep.Second},
		{"not by default", host.InactivePolicy{Guests: -1}, 0},
	} {
		p := newParty(t, nil, func(o *host.Options) { o.Inactive = c.policy })
		player, idle := p.join("a", "p0"), p.from("there", "free-1")
		gone := lockstep.Time(0)
		for second := range 300 {
			p.pass(lockstep.Second)
			player.command(t, 1)
			if gone == 0 && idle.code != 0 {
				gone = lockstep.Time(second) * lockstep.Second
			}
		}
		if (gone > 0) != (c.after > 0) || gone > 0 && (gone < c.after-5*lockstep.Second || gone > c.after+5*lockstep.Second) {
			t.Errorf("%s: the guest was gone after %d s, want %d", c.name, gone/lockstep.Second, c.after/lockstep.Second)
		}
		if player.code != 0 || c.after > 0 && idle.code != protocol.CloseInactive {
			t.Errorf("%s: got close codes %d and %d", c.name, player.code, idle.code)
		}
	}
}
