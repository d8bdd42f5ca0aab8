package host_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// inLobby makes a party of four in a lobby, of whom the first three are ready at once if eager.
func inLobby(t *testing.T, eager bool, change func(*host.Options)) (p *party, honest []*guest, griefer *guest) {
	t.Helper()
	p = newParty(t, func(s *lockstep.Settings) { s.Players = 4 }, func(o *host.Options) {
		o.Start = host.StartPolicy{Ready: true, Countdown: 5 * lockstep.Second}
		if change != nil {
			change(o)
		}
	})
	for _, x := range [][2]string{{"a", "p0"}, {"b", "p1"}, {"c", "p2"}} {
		honest = append(honest, p.join(x[0], x[1]))
	}
	griefer = p.join("d", "p3")
	if eager {
		for _, g := range honest {
			g.says(true)
		}
	}
	return p, honest, griefer
}

func (g *guest) says(ready bool) { g.send(&protocol.Message{Kind: protocol.KindReady, Ready: ready}) }

// One player cannot keep the others in a lobby when at least half of those who are there are ready. The match waits for its players as
// long as they are not there, or do not want to begin.
func TestLobbyGriefers(t *testing.T) {
	const deadline = 5 * 60 * lockstep.Second
	for _, c := range []struct {
		name   string
		eager  bool
		does   func(p *party, g *guest, second int) // in each second
		change func(*host.Options)
		within lockstep.Time // of which the match begins; 0: it does not
	}{
		{"is never ready", true, nil, nil, deadline / 5},
		{"takes back that it is ready", true, func(_ *party, g *guest, second int) { g.says(second%4 < 3) }, nil, deadline / 5},
		{"comes and goes", true, func(_ *party, g *guest, second int) {
			switch second % 20 {
			case 0:
				g.says(true)
			case 3:
				g.cut()
			case 19:
				g.resume()
			}
		}, nil, deadline / 5 * 2},
		{"leaves and comes", true, func(p *party, g *guest, second int) {
			switch second % 10 {
			case 3:
				g.send(&protocol.Message{Kind: protocol.KindLeave})
			case 8:
				g.connect()
			}
		}, nil, deadline + 10*lockstep.Second},
		{"and the others are not ready", false, nil, nil, 0},
		{"and no deadline", true, nil, func(o *host.Options) { o.Start.Deadline = -1 }, 0},
		{"and a seat is free", true, func(_ *party, g *guest, second int) {
			g.says(true)
		}, func(o *host.Options) { o.Start.Players = 5 }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, honest, griefer := inLobby(t, c.eager, func(o *host.Options) {
				if c.change != nil {
					c.change(o)
				}
				if o.Start.Players == 5 {
					o.Start.Players = 0
				}
			})
			if c.name == "and a seat is free" {
				griefer.send(&protocol.Message{Kind: protocol.KindLeave})
			}
			began := lockstep.Time(0)
			for second := range 700 {
				if c.does != nil && c.name != "and a seat is free" {
					c.does(p, griefer, second)
				}
				p.pass(lockstep.Second)
				if began == 0 && !p.h.Status().InLobby {
					began = lockstep.Time(second+1) * lockstep.Second
				}
			}
			if (began > 0) != (c.within > 0) || began > c.within+10*lockstep.Second {
				t.Errorf("the match began after %d s, want at most %d; 0: not", began/lockstep.Second, c.within/lockstep.Second)
			}
			p.unharmed(t, honest...)
		})
	}
}

// The time for which the server holds a match is not charged to those for whom its lobby waits, nor to all together.
func TestLobbyHeld(t *testing.T) {
	const deadline = 60 * lockstep.Second
	for _, c := range []struct {
		name   string
		unsure int // players who are not ready in turn
		most   lockstep.Time
	}{
		{"one is not ready", 1, deadline / 5},
		{"two are not ready in turn", 2, deadline},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, honest, griefer := inLobby(t, true, func(o *host.Options) {
				o.Start.Deadline, o.Rates.Ready = deadline, host.Rate{N: 100, Per: lockstep.Second, Burst: 100}
			})
			waited := lockstep.Time(0)
			wait := func(seconds int) {
				for range seconds {
					if p.h.Status().InLobby {
						p.pass(lockstep.Second)
						waited += lockstep.Second
					}
				}
			}
			wait(5)
			for _, reason := range []string{"the disk is full", "an admin"} {
				p.h.Admin().Hold(p.now, host.Wait{Reason: reason})
				p.pass(10 * deadline)
				p.h.Admin().Hold(p.now, host.Wait{})
				if c.unsure == 2 {
					griefer.says(true)
					honest[0].says(false)
				}
				wait(3)
			}
			if !p.h.Status().InLobby {
				t.Fatalf("the match has begun after %d s besides the holds", waited/lockstep.Second)
			}
			wait(120)
			if p.h.Status().InLobby || waited > c.most+10*lockstep.Second {
				t.Errorf("the lobby has waited for %d s, want at most %d", waited/lockstep.Second, c.most/lockstep.Second)
			}
		})
	}
}

// The players in a lobby can vote out one for whom they wait, and nobody else.
func TestLobbyVote(t *testing.T) {
	vote := func(o *host.Options) { o.VoteKick = true }
	p, honest, griefer := inLobby(t, true, vote)
	p.pass(lockstep.Second)
	for _, g := range honest[:2] {
		g.send(&protocol.Message{Kind: protocol.KindChat, Text: "/kick 3"})
	}
	p.pass(lockstep.Second)
	if griefer.code != protocol.CloseBanned {
		t.Errorf("the player who was not ready: got code %d, want that it is voted out", griefer.code)
	}
	p, honest, griefer = inLobby(t, true, vote)
	griefer.says(true)
	p.pass(lockstep.Second)
	for _, g := range honest {
		g.send(&protocol.Message{Kind: protocol.KindChat, Text: "/kick 3"})
	}
	p.pass(lockstep.Second)
	if griefer.code != 0 {
		t.Errorf("a player who is ready was voted out: code %d", griefer.code)
	}
}
