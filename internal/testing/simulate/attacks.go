package simulate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// An attack is a kind of attack on limits. The attacker returns over new connections
// and under new names.
type attack struct {
	name     string
	every    lockstep.Time // between two acts
	act      func(v *attacker)
	welcomed func(c *attackConn)
	synced   func(c *attackConn) // a whole state has arrived
	closing  func(c *attackConn) // the server closes the connection
}

// attacks are the attacks of attackers without a client.
var attacks = []attack{
	{name: "hands: notes", every: 50 * ms, act: func(v *attacker) {
		v.guestOr("names/" + v.name() + "/" + number(v.opened))
	}, welcomed: func(c *attackConn) {
		line := strings.Repeat("x", 900)
		for range 5 {
			c.send(&protocol.Message{Kind: protocol.KindChat, Text: line})
		}
		c.leave()
	}},
	{name: "hands: commands", every: 50 * ms, act: func(v *attacker) {
		v.connectAs("names/" + v.name() + "/")
	}, welcomed: func(c *attackConn) {
		b := c.v.out[:0]
		for i := range lockstep.Sequence(100) {
			b = c.v.writer.Append(b, &protocol.Message{
				Kind: protocol.KindCommand, Sequence: c.welcome.LastSequence + 1 + i, Command: 1, Bytes: []byte{0xc1},
			})
		}
		c.sendBytes(b)
		c.leave()
	}},
	{name: "hands: keyframes", every: 40 * ms, act: func(v *attacker) {
		v.guestOr("watch/" + v.name() + "/" + number(v.opened%2))
	}, synced: func(c *attackConn) { c.leave() }},
	{name: "hands: syncs", every: 200 * ms, act: func(v *attacker) {
		v.connectAs("names/" + v.name() + "/")
	}, synced: func(c *attackConn) { c.send(&protocol.Message{Kind: protocol.KindStateSyncRequest}) }},
	{name: "hands: seats", every: 50 * ms, act: func(v *attacker) {
		v.guestOr("names/" + v.name() + "/")
	}, welcomed: (*attackConn).leave},
	{name: "hands: guesses", every: 50 * ms, act: func(v *attacker) {
		for range 4 {
			a := protocol.NewAuth(v.w.subject.Game)
			a.Token, a.Position = string(noise(v.random, 30)), protocol.Position(v.random.IntN(4000))
			copy(a.Session[:], noise(v.random, 30))
			v.connect(a)
		}
	}},
	{name: "hands: silence", every: 20 * ms, act: func(v *attacker) {
		for range 2 {
			v.connect(nil)
		}
	}},
	{name: "hands: return", every: 100 * ms, act: func(v *attacker) {
		if len(v.conns) == 0 {
			v.connectAs(v.guest())
		}
	}, welcomed: (*attackConn).kicked},
	{name: "hands: thief", every: 100 * ms, act: func(v *attacker) {
		if m := v.w.machines[v.fault.Who]; m.starts == 0 && len(v.conns) == 0 {
			v.connectAs("thief/" + number(int(m.seat)) + "/" + v.name())
		}
	}, closing: func(c *attackConn) {
		if c.closed != protocol.CloseReplaced {
			return
		}
		c.v.w.count("thief that was replaced")
		a := protocol.NewAuth(c.v.w.subject.Game)
		a.Session = c.welcome.Session
		c.v.connect(a)
	}, welcomed: func(c *attackConn) {
		if c.token == "" {
			c.v.w.fail("I13", "%s has the seat of %s back, with the session of before", c.v.name(), c.v.w.machines[c.v.fault.Who])
		}
	}},
}

// guest returns the token of a new guest.
func (v *attacker) guest() string { return "guest/" + v.name() + "/" + number(v.opened) }

// guestOr connects as a new guest or with a token, by the variant of the attack.
func (v *attacker) guestOr(token string) {
	if v.fault.N/3%2 == 0 {
		token = v.guest()
	}
	v.connectAs(token)
}

func number(n int) string { return strconv.Itoa(n) }

// isAttack reports whether a kind of fault is an attack on limits.
func isAttack(name string) bool { return strings.HasPrefix(name, "hands: ") }

// attackKinds returns the attacks as kinds of faults. Fault.Who is a machine whose
// address the attacker may share, and Fault.N selects a variant.
func attackKinds() (all []kind) {
	for i := range attacks {
		h := &attacks[i]
		all = append(all, kind{
			name: h.name, group: "hands", perHour: 40, low: 5 * sec, high: 20 * sec, n: 5,
			inject: func(w *world, m *machine, f *Fault) bool {
				w.startAttack(h, f)
				return true
			},
			restores: func(w *world, _ *machine, f *Fault) { w.endAttack(f) },
		})
	}
	return append(all, kind{name: "hands: every second check", group: "hands", perHour: 60, low: 10 * sec, high: 30 * sec, liar: true, inject: trickKind(trickSecond)},
		kind{name: "hands: pace", group: "hands", perHour: 60, low: 5 * sec, high: 20 * sec, liar: true, inject: trickKind(trickPace)})
}

// grantOf returns the grant of an attacker's token. Guests and thieves choose their
// subjects themselves.
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

// hostile reports whether a seed has attacks on limits. Such a plan has the limits of
// a real server, and no fault touches half of its honest players.
func (o *Options) hostile(seed uint64) bool {
	if o.Calm {
		return false
	}
	if len(o.Only) > 0 && !slices.ContainsFunc(o.Only, func(name string) bool { return !isAttack(name) }) {
		return true
	}
	return stream(seed, "hands", 0).IntN(4) == 0
}

// expandAttacks makes a plan one with attacks on limits.
func expandAttacks(o *Options, p *Plan) {
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
			m.Liar = true // others may use up the limits of spectators
		}
		m.Backlog = 1 << 20 // the default, as everybody reads the notes of others
		if i < o.Clients && i%2 == 0 {
			for _, l := range []*Link{&m.Up, &m.Down} {
				l.Loss, l.Rate, l.Delay = 0, 0, 10*ms+l.Delay%(50*ms)
			}
		}
	}
	if p.Chaos > 16*sec {
		p.Machines[0].JoinAt = between(r, 8*sec, 14*sec)
	}
}

// aim starts the first attack of each kind when a player is about to join, who has
// the most to lose. Thieves must be connected before.
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

// reassign moves a fault of a link or a client to a machine that may have faults.
func (p *Plan) reassign(o *Options, who int) (int, bool) {
	if who < o.Clients && who%2 == 0 {
		who++
	}
	return who, who < len(p.Machines)
}

// allowedInAttacks reports whether a plan with attacks may have faults of a kind. It
// has none of the server, and no flips, because resyncs are limited.
func (k *kind) allowedInAttacks() bool {
	return slices.Contains([]string{"network", "client", "byzantine", "hands"}, k.group) && k.name != "flip"
}

// limits returns the rates of a plan. With attacks they are those of a real server,
// but for the bytes of keyframes, which may be fewer.
func (p *HostPlan) limits() host.Rates {
	if p.Limits {
		n := max(p.KeyframeBytes, 1)
		return host.Rates{Keyframes: host.Rate{N: n, Per: sec, Burst: n}}
	}
	return host.Rates{
		Resyncs:       host.Rate{N: 30, Per: sec, Burst: 30}, // flips are more frequent than in reality
		Resimulations: host.Rate{N: 1 << 20, Per: sec, Burst: 1 << 20},
		Returns:       host.Rate{N: 60, Per: sec, Burst: 60},
	}
}
