package host_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// pacers are the ways in which one player can hold up a match, or slow it down.
var pacers = []struct {
	name    string
	options func(*host.Options)
	begin   func(g *guest)
	each    func(g *guest) // every tenth of a second
}{
	{
		"late acks, wait", func(o *host.Options) { o.Wait.Bound = 60 * lockstep.Second },
		func(g *guest) { g.silent = true }, (*guest).lateAck,
	},
	{
		"late acks, slow", func(o *host.Options) { o.Slow.Percent = 1 },
		func(g *guest) { g.silent = true }, (*guest).lateAck,
	},
	{
		"both", func(o *host.Options) { o.Wait.Bound, o.Slow.Percent = 60*lockstep.Second, 1 },
		func(g *guest) { g.silent = true }, (*guest).lateAck,
	},
}

// lateAck acks ticks as late as is possible without being too far behind.
func (g *guest) lateAck() {
	now := g.party.h.Now()
	g.send(&protocol.Message{Kind: protocol.KindAck, Position: g.position, Tick: max(now-min(now, 60), g.acked)})
	g.acked = max(now-min(now, 60), g.acked)
}

// minutes lets minutes pass. It returns the fewest ticks of any minute, and the sum.
func (p *party) minutes(n int, each func()) (fewest, all int) {
	var sealed []lockstep.Tick // by tenths of a second
	fewest = 1 << 30
	for i := range n * 600 {
		sealed = append(sealed, p.h.Now())
		if i >= 600 {
			fewest = min(fewest, int(p.h.Now()-sealed[i-600]))
		}
		each()
		p.deliver()
		p.pass(100 * lockstep.Millisecond)
	}
	return fewest, int(p.h.Now() - sealed[0])
}

// One player costs a match at most a fifth of its ticks in any minute, and at most a tenth in the long run.
func TestHostPaceOfOne(t *testing.T) {
	for _, way := range pacers {
		p := newParty(t, nil, way.options)
		p.join("honest", "p0")
		g := p.join("griefer", "p1")
		p.pass(10 * lockstep.Second)
		way.begin(g)
		fewest, all := p.minutes(10, func() { way.each(g) })
		t.Logf("%s: %d of 1200 ticks in the worst minute, %d of 12000 in all", way.name, fewest, all)
		if fewest < 1200*80/100-20 || all < 12000*89/100 {
			t.Errorf("%s: got %d ticks in the worst minute and %d in ten, want 940 and 10680", way.name, fewest, all)
		}
		if g.id == 0 {
			t.Errorf("%s: the griefer was closed as %v", way.name, g.code)
		}
	}
}

// Leaving and joining again does not refill a budget: neither a player's with a token, nor a guest's with a new name
// each time.
func TestHostPaceAfterLeaving(t *testing.T) {
	for _, token := range []string{"p1", "free-%d"} {
		p := newParty(t, nil, func(o *host.Options) { o.Wait.Bound = 60 * lockstep.Second })
		p.join("honest", "p0")
		g, i := p.guest("griefer", ""), 0
		fewest, all := p.minutes(5, func() {
			switch i++; i % 40 {
			case 1:
				g.auth.Token, g.silent = token, false
				if token != "p1" {
					g.auth.Token = fmt.Sprintf(token, i)
				}
				g.acked = 0
				g.connect()
			case 5:
				g.silent = true
			case 0:
				g.send(&protocol.Message{Kind: protocol.KindLeave})
			}
		})
		t.Logf("%s: %d of 1200 ticks in the worst minute, %d of 6000 in all", token, fewest, all)
		if fewest < 1200*80/100-20 || all < 6000*87/100 {
			t.Errorf("%s: got %d ticks in the worst minute and %d in five, want 940 and 5220", token, fewest, all)
		}
	}
}

// All players together hold a match up twice as much as one can.
func TestHostPaceOfGang(t *testing.T) {
	for _, way := range pacers {
		p := newParty(t, func(s *lockstep.Settings) { s.Players = 8 }, way.options)
		p.join("honest", "p0")
		var gang []*guest
		for i := range 7 {
			gang = append(gang, p.join(fmt.Sprint("griefer ", i), fmt.Sprint("p", i+1)))
		}
		p.pass(10 * lockstep.Second)
		turn := 0
		fewest, all := p.minutes(5, func() {
			if turn%100 == 0 && turn/100 < len(gang) { // one begins after the other
				way.begin(gang[turn/100])
			}
			for i := range min(turn/100+1, len(gang)) {
				way.each(gang[i])
			}
			turn++
		})
		t.Logf("%s: %d of 1200 ticks in the worst minute, %d of 6000 in all", way.name, fewest, all)
		if fewest < 1200*60/100-20 || all < 6000*75/100 {
			t.Errorf("%s: got %d ticks in the worst minute and %d in five, want 700 and 4500", way.name, fewest, all)
		}
	}
}

// Late pongs by design do not keep the input delay at its maximum. A player can add at most a tenth of a second for
// ever, even if its connection is really bad. A delay that more than half of the players need costs no budget.
func TestHostPaceOfDelay(t *testing.T) {
	for _, c := range []struct {
		name      string
		late      int // of five players
		address   string
		peak, end lockstep.Tick
	}{
		{"one", 1, "", 11, 3},
		{"two", 2, "", 11, 3},
		{"most", 3, "", 11, 11},
		{"guests of one address", 3, "a", 11, 3}, // with the two others
	} {
		p := newParty(t, func(s *lockstep.Settings) { s.Players = 5 }, func(o *host.Options) { o.Delay.Max = 11 })
		for i := range 5 {
			g := p.guest(fmt.Sprint("player ", i), fmt.Sprint("p", i))
			if i >= 5-c.late {
				g.pongAfter = 3 * lockstep.Second
			}
			if c.address != "" {
				g.addr, g.auth.Token = c.address, fmt.Sprint("free-", i)
			}
			g.connect()
		}
		var peak lockstep.Tick
		sum, looks := 0, 0
		p.minutes(10, func() {
			delay := p.h.Stats().InputDelay
			peak = max(peak, delay)
			sum += int(delay) - 1
			looks++
		})
		end := p.h.Stats().InputDelay
		t.Logf("%s: at most %d ticks, %d ticks after ten minutes, %.1f on average", c.name, peak, end, float64(sum)/float64(looks)+1)
		if peak != c.peak || end != c.end {
			t.Errorf("%s: got at most %d ticks, and %d after ten minutes, want %d and %d", c.name, peak, end, c.peak, c.end)
		}
	}
}

// The delay still adapts, within the bound, to a connection that is bad for a while.
func TestHostPaceOfHonestDelay(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) { o.Delay.Max = 11 })
	g := p.join("a", "p0")
	p.join("b", "p1")
	g.pongAfter = 200 * lockstep.Millisecond // 100 ms to the server, and jitter at first
	p.pass(300 * lockstep.Second)
	if got := p.h.Stats().InputDelay; got != 3 {
		t.Errorf("got an input delay of %d ticks, want 3", got)
	}
}

// All peers are told which player costs the match time, and how, but not so often that it fills the log.
func TestHostPaceIsTold(t *testing.T) {
	late := func(g *guest) { g.pongAfter = 3 * lockstep.Second }
	delay := func(o *host.Options) { o.Delay.Max = 11 }
	for _, c := range []struct {
		name    string
		options func(*host.Options)
		begin   func(*guest)
		each    func(*guest)
		want    string
	}{
		{"wait", pacers[0].options, pacers[0].begin, pacers[0].each, "the match waits for this player"},
		{"slow", pacers[1].options, pacers[1].begin, pacers[1].each, "the match is slower for this player"},
		{"delay", delay, late, func(*guest) {}, "commands take longer because of this player's connection"},
		{"no room", func(o *host.Options) { delay(o); o.MaxNoteBytes = 2 * 130 }, late, func(*guest) {}, ""},
	} {
		p := newParty(t, nil, c.options)
		told := map[string]int{}
		var dec record.Decoder
		take := func(raw []byte) {
			if r, _, err := dec.Decode(append([]byte(nil), raw...)); err != nil {
				t.Fatal(err)
			} else if r.Event == record.EventPace && r.Player == 1 {
				told[r.Text]++
			}
		}
		for _, record := range p.early {
			take(record)
		}
		p.record = take
		p.join("honest", "p0")
		g := p.join("griefer", "p1")
		p.pass(5 * lockstep.Second)
		c.begin(g)
		p.minutes(10, func() { c.each(g) })
		all := 0
		for _, n := range told {
			all += n
		}
		if c.want != "" && (told[c.want] == 0 || told["the match does not wait for this player for a while"] == 0) || all > 40 {
			t.Errorf("%s: got %d notes in ten minutes: %v", c.name, all, told)
		}
		if c.want == "" && all > 1 {
			t.Errorf("%s: got %d notes: %v", c.name, all, told)
		}
		if p.events[host.TimeLost] == 0 {
			t.Errorf("%s: no event", c.name)
		}
	}
}
