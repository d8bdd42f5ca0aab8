package host_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Only more than half of the other players can vote out a player that has used up its share. Guests of one address have
// one vote, and one vote is not enough.
func TestHostVoteKick(t *testing.T) {
	all := []string{"p0", "p1", "p2", "p3", "p4"}
	for _, c := range []struct {
		name    string
		tokens  []string // the last one is late, and accused
		off     bool
		still   bool // the accused does what it should
		voters  []int
		line    string
		wait    lockstep.Time // between votes
		kicked  bool
		refused int
		over    lockstep.Time // for which the accused has done what it should again
	}{
		{name: "three of four", tokens: all, voters: []int{0, 1, 2}, kicked: true},
		{name: "by name", tokens: all, voters: []int{0, 1, 2}, line: "/kick p4", kicked: true},
		{name: "half", tokens: all, voters: []int{0, 1}},
		{name: "the same twice", tokens: all, voters: []int{0, 1, 0, 1}},
		{name: "votes end", tokens: all, voters: []int{0, 1, 2}, wait: 40 * lockstep.Second},
		{name: "its share is left", tokens: all, voters: []int{0, 1, 2, 3}, still: true, refused: 4},
		{name: "nobody has the name", tokens: all, voters: []int{0, 1, 2}, line: "/kick p5", refused: 3},
		{name: "two have the name", tokens: []string{"free-p4", "p1", "p2", "p3", "p4"}, voters: []int{1, 2, 3}, line: "/kick p4", refused: 3},
		{name: "it was long ago", tokens: all, voters: []int{0, 1, 2, 3}, over: 100 * lockstep.Second, refused: 4},
		{name: "it was not long ago", tokens: all, voters: []int{0, 1, 2}, over: 50 * lockstep.Second, kicked: true},
		{name: "no such seat", tokens: all, voters: []int{0, 1, 2}, line: "/kick 7", refused: 3},
		{name: "itself", tokens: all, voters: []int{4}, refused: 1},
		{name: "not allowed", tokens: all, voters: []int{0, 1, 2, 3}, off: true},
		{name: "one of one", tokens: all[:2], voters: []int{0}, line: "/kick 1"},
		{name: "two of two", tokens: all[:3], voters: []int{0, 1}, line: "/kick 2", kicked: true},
		{name: "guests of one address", tokens: []string{"free-a", "free-b", "free-c", "p3", "p4"}, voters: []int{0, 1, 2}},
		{name: "guests and another", tokens: []string{"free-a", "free-b", "free-c", "p3", "p4"}, voters: []int{0, 3}, kicked: true},
	} {
		p := newParty(t, func(s *lockstep.Settings) { s.Players = 5 }, func(o *host.Options) {
			o.Wait.Bound, o.VoteKick = 60*lockstep.Second, !c.off
		})
		var guests []*guest
		for i, token := range c.tokens {
			g := p.guest(fmt.Sprint("player ", i), token)
			g.connect()
			p.deliver()
			guests = append(guests, g)
		}
		accused := guests[len(guests)-1]
		p.pass(2 * lockstep.Second)
		accused.silent = !c.still
		late := func(tenths int) {
			for range tenths {
				if !c.still {
					accused.lateAck()
				}
				p.deliver()
				p.pass(100 * lockstep.Millisecond)
			}
		}
		late(90)
		if c.over > 0 {
			accused.silent = false
			p.pass(c.over)
		}
		line := c.line
		if line == "" {
			line = "/kick 4"
		}
		for _, i := range c.voters {
			guests[i].send(&protocol.Message{Kind: protocol.KindChat, Text: line})
			p.deliver()
			late(int(c.wait / lockstep.Second * 10))
		}
		if kicked := accused.code == protocol.CloseBanned; kicked != c.kicked || (accused.id == 0) != c.kicked {
			t.Errorf("%s: kicked %t (%v), want %t", c.name, kicked, accused.code, c.kicked)
		}
		refused := 0
		for _, g := range guests {
			refused += g.errors[protocol.ErrorRole]
		}
		if refused != c.refused {
			t.Errorf("%s: got %d errors, want %d", c.name, refused, c.refused)
		}
		if c.kicked {
			accused.connect()
			p.deliver()
			if accused.code != protocol.CloseBanned {
				t.Errorf("%s: back again, %v", c.name, accused.code)
			}
		}
	}
}

// A seat's next player does not inherit its vote.
func TestHostVoteOfAnother(t *testing.T) {
	p := newParty(t, func(s *lockstep.Settings) { s.Players = 4 }, func(o *host.Options) {
		o.Wait.Bound, o.VoteKick = 60*lockstep.Second, true
	})
	var guests []*guest
	for i, token := range []string{"free-a", "p1", "p2", "p3", "p0"} {
		guests = append(guests, p.guest(fmt.Sprint("player ", i), token))
	}
	for _, g := range guests[:4] {
		g.connect()
		p.deliver()
	}
	accused := guests[3]
	p.pass(2 * lockstep.Second)
	accused.silent = true
	for range 90 {
		accused.lateAck()
		p.deliver()
		p.pass(100 * lockstep.Millisecond)
	}
	vote := func(g *guest) {
		g.send(&protocol.Message{Kind: protocol.KindChat, Text: "/kick 3"})
		p.deliver()
	}
	vote(guests[0])
	guests[4].connect() // has the token of the first guest's seat
	p.deliver()
	vote(guests[1])
	if guests[0].code != protocol.CloseReplaced || accused.code != 0 {
		t.Errorf("one of three has voted, and one who is gone (%v): the accused was closed as %v", guests[0].code, accused.code)
	}
	vote(guests[2])
	if accused.code != protocol.CloseBanned {
		t.Errorf("control: two of three have voted, and the accused has %v", accused.code)
	}
}
