package simulate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A hand is a kind of attack on the limits: whoever does it comes back over new
// connections, and under new names.
type hand struct {
	name     string
	every    lockstep.Time // between two acts
	act      func(v *visitor)
	welcomed func(c *call)
	synced   func(c *call) // a whole state has arrived
	told     func(c *call) // that the connection ends
}

// hands are the attacks that visitors make.
var hands = []hand{
	{name: "hands: notes", every: 50 * ms, act: func(v *visitor) {
		if v.fault.N/3%2 == 0 {
			v.callAs("guest/" + v.name() + "/" + number(v.made))
		} else {
			v.callAs("names/" + v.name() + "/" + number(v.made))
		}
	}, welcomed: func(c *call) {
		line := strings.Repeat("x", 900)
		for range 5 {
			c.say(&protocol.Message{Kind: protocol.KindChat, Text: line})
		}
		c.leave()
	}},
	{name: "hands: commands", every: 50 * ms, act: func(v *visitor) {
		v.callAs("names/" + v.name() + "/")
	}, welcomed: func(c *call) {
		b := c.v.out[:0]
		for i := range lockstep.Sequence(100) {
			b = c.v.writer.Append(b, &protocol.Message{
				Kind: protocol.KindCommand, Sequence: c.welcome.LastSequence + 1 + i, Command: 1, Bytes: []byte{0xc1},
			})
		}
		c.raw(b)
		c.leave()
	}},
	{name: "hands: keyframes", every: 40 * ms, act: func(v *visitor) {
		if v.fault.N/3%2 == 0 {
			v.callAs("guest/" + v.name() + "/" + number(v.made))
		} else {
			v.callAs("watch/" + v.name() + "/" + number(v.made%2))
		}
	}, synced: func(c *call) { c.leave() }},
	{name: "hands: syncs", every: 200 * ms, act: func(v *visitor) {
		v.callAs("names/" + v.name() + "/")
	}, synced: func(c *call) { c.say(&protocol.Message{Kind: protocol.KindStateSyncRequest}) }},
	{name: "hands: seats", every: 50 * ms, act: func(v *visitor) {
		if v.fault.N/3%2 == 0 {
			v.callAs("guest/" + v.name() + "/" + number(v.made))
		} else {
			v.callAs("names/" + v.name() + "/")
		}
	}, welcomed: (*call).leave},
	{name: "hands: guesses", every: 50 * ms, act: func(v *visitor) {
		for range 4 {
			a := protocol.NewAuth(v.w.subject.Game)
			a.Token, a.Position = string(noise(v.random, 30)), protocol.Position(v.random.IntN(4000))
			copy(a.Session[:], noise(v.random, 30))
			v.call(a)
		}
	}},
	{name: "hands: silence", every: 20 * ms, act: func(v *visitor) {
		for range 2 {
			v.call(nil)
		}
	}},
	{name: "hands: return", every: 100 * ms, act: func(v *visitor) {
		if len(v.calls) == 0 {
			v.callAs("guest/" + v.name() + "/" + number(v.made))
		}
	}, welcomed: (*call).kicked},
	{name: "hands: thief", every: 100 * ms, act: func(v *visitor) {
		if m := v.w.machines[v.fault.Who]; m.lives == 0 && len(v.calls) == 0 {
			v.callAs("thief/" + number(int(m.seat)) + "/" + v.name())
		}
	}, told: func(c *call) {
		if c.closed != protocol.CloseReplaced {
			return
		}
		c.v.w.count("thief that was replaced")
		a := protocol.NewAuth(c.v.w.subject.Game)
		a.Session = c.welcome.Session
		c.v.call(a)
	}, welcomed: func(c *call) {
		if c.token == "" {
			c.v.w.fail("I13", "%s has the seat of %s back, with the session of before", c.v.name(), c.v.w.machines[c.v.fault.Who])
		}
	}},
}

func number(n int) string { return strconv.Itoa(n) }

// isHand reports whether a kind of faults is an attack on the limits.
func isHand(name string) bool { return strings.HasPrefix(name, "hands: ") }

// handKinds are the attacks as kinds of faults. Who is the machine beside which the
// attacker lives, and N says how it goes about it.
func handKinds() (all []kind) {
	for i := range hands {
		h := &hands[i]
		all = append(all, kind{
			name: h.name, group: "hands", perHour: 40, low: 5 * sec, high: 20 * sec, n: 5,
			inject: func(w *world, m *machine, f *Fault) bool {
				w.visit(h, f)
				return true
			},
			restores: func(w *world, _ *machine, f *Fault) { w.goHome(f) },
		})
	}
	return append(all, kind{name: "hands: every second check", group: "hands", perHour: 60, low: 10 * sec, high: 30 * sec, liar: true, inject: trickKind(trickSecond)},
		kind{name: "hands: pace", group: "hands", perHour: 60, low: 5 * sec, high: 20 * sec, liar: true, inject: trickKind(trickPace)})
}

// grantOf says what a token of a visitor entitles to. Nobody vouches for guests and
// thieves, who make up their subjects.
func grantOf(token string) (host.Grant, bool) {
	part := strings.Split(token, "/")
	g := host.Grant{Role: protocol.Seated, Seat: host.AnySeat, Subject: token, Name: token}
	switch part[0] {
	case "guest":
		g.Guest = true
	case "thief":
		seat, err := strconv.Atoi(part[1])
		if err != nil {
			return g, false
		}
		g.Guest, g.Seat = true, lockstep.Player(seat)
	case "names":
		g.Subject = part[0] + "/" + part[1]
	case "watch":
		g.Role, g.Seat = protocol.Spectator, lockstep.System
	default:
		return g, false
	}
	return g, len(part) > 1
}

// hostile reports whether a seed is one of attacks on the limits: they have the
// limits of a real server, and half of the honest players have no faults.
func (o *Options) hostile(seed uint64) bool {
	if o.Calm {
		return false
	}
	if len(o.Only) > 0 && !slices.ContainsFunc(o.Only, func(name string) bool { return !isHand(name) }) {
		return true
	}
	return stream(seed, "hands", 0).IntN(4) == 0
}

// expandHands makes the plan one of attacks on the limits.
func expandHands(o *Options, p *Plan) {
	r := stream(p.Seed, "hands", 1)
	h := &p.Host
	h.Limits, h.Wait, h.Slow, h.MaxDelay, h.Relay = true, 0, 0, 0, false
	switch r.IntN(5) {
	case 0:
		h.Wait = 40 * sec
	case 1:
		h.Slow = 50
	case 2:
		h.MaxDelay = 12
	}
	if r.IntN(2) == 0 {
		h.NoteBytes = 32 << 10
	}
	if r.IntN(2) == 0 {
		h.KeyframeBytes = 1 << 20
	}
	p.Settings.CheckEvery = uint16(5 + r.IntN(8))
	for i := range p.Machines {
		m := &p.Machines[i]
		if m.Spectator {
			m.Liar = true // others may use up what spectators have
		}
		m.Backlog = 1 << 20 // the default: everybody reads the notes of others
		if i < o.Clients && i%2 == 0 {
			for _, l := range []*Link{&m.Up, &m.Down} {
				l.Loss, l.Rate, l.Delay = 0, 0, 10*ms+l.Delay%(50*ms)
			}
		}
	}
	if p.Chaos > 16*sec {
		p.Machines[0].JoinAt = span(r, 8*sec, 14*sec)
	}
}

// aim has the first attack of each kind begin when a player is about to join, as
// one that comes has the most to lose; thieves have to be there before.
func (p *Plan) aim(faults []Fault) {
	join := p.Machines[0].JoinAt
	if !p.Host.Limits || join == 0 {
		return
	}
	for i := range faults {
		f := &faults[i]
		if i > 0 && f.Kind != "hands: thief" {
			break
		}
		f.At = max(4*sec, join-f.For/4)
		if f.Kind == "hands: thief" {
			f.Who, f.At, f.For = 0, min(f.At, join-sec), f.For+4*sec
		}
	}
}

// elsewhere moves a fault of a link or a client to a machine that is to have some.
func (p *Plan) elsewhere(o *Options, who int) (int, bool) {
	if who < o.Clients && who%2 == 0 {
		who++
	}
	return who, who < len(p.Machines)
}

// allowsHand reports whether a plan of attacks has faults of a kind: none touches
// the server, and no state is flipped, as sending states costs what has limits.
func (k *kind) allowsHand() bool {
	return slices.Contains([]string{"network", "client", "byzantine", "hands"}, k.group) && k.name != "flip"
}

// limits are those that hold in a plan of attacks: the ones of a real server, but
// for the bytes of keyframes, of which there may be as few as there can be.
func (p *HostPlan) limits() host.Rates {
	if p.Limits {
		n := max(p.KeyframeBytes, 1)
		return host.Rates{Keyframes: host.Rate{N: n, Per: sec, Burst: n}}
	}
	return host.Rates{
		Resyncs:  host.Rate{N: 30, Per: sec, Burst: 30}, // flips come more often than in nature
		Retrials: host.Rate{N: 1 << 20, Per: sec, Burst: 1 << 20},
		Returns:  host.Rate{N: 60, Per: sec, Burst: 60},
	}
}
