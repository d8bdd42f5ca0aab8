package host_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

var chaosRuns = flag.Int("chaos", 0, "how many random hosted matches TestHostChaos plays; 0: 15, and 60 in .ci/run")

// A dice gives the same numbers for the same seed.
type dice uint64

func (d *dice) roll(n int) int {
	*d = *d*6364136223846793005 + 1442695040888963407
	return int(uint64(*d) >> 33 % uint64(n))
}

// A book is the knowledge of an independent reader of the log: the tick in which each command ran.
type book struct {
	t    testing.TB
	dec  record.Decoder
	ran  map[[2]uint32]lockstep.Tick // by player and sequence
	last map[lockstep.Player]lockstep.Sequence
}

func (b *book) record(raw []byte) {
	r, _, err := b.dec.Decode(append([]byte(nil), raw...))
	if err != nil {
		b.t.Fatal(err)
	}
	if r.Kind != record.KindFrame {
		return
	}
	for i, c := range r.Frame.Commands {
		key := [2]uint32{uint32(c.Player), uint32(c.Sequence)}
		if before, ok := b.ran[key]; ok {
			b.t.Errorf("command %d of player %d ran at ticks %d and %d", c.Sequence, c.Player, before, c.Tick)
		}
		if c.Sequence <= b.last[c.Player] || i > 0 && record.Compare(&r.Frame.Commands[i-1], &c) >= 0 {
			b.t.Errorf("tick %d: command %d of player %d out of order", c.Tick, c.Sequence, c.Player)
		}
		b.ran[key], b.last[c.Player] = c.Tick, c.Sequence
	}
}

// audit fails unless each command that a guest was told about ran at the told tick.
func (b *book) audit(g *guest, seat lockstep.Player) {
	for seq, tick := range g.receipts {
		if ran, ok := b.ran[[2]uint32{uint32(seat), uint32(seq)}]; !ok || ran != tick {
			b.t.Errorf("%s: command %d was accepted for tick %d, and ran at %d (%t)", g.name, seq, tick, ran, ok)
		}
	}
}

func newBook(t testing.TB, p *party) *book {
	b := &book{t: t, ran: map[[2]uint32]lockstep.Tick{}, last: map[lockstep.Player]lockstep.Sequence{}}
	for _, record := range p.early {
		b.record(record)
	}
	p.record = b.record
	return b
}

// faults are what TestHostChaos does to a match, by name.
var faults = []struct {
	name string
	do   func(p *party, g *guest, d *dice)
}{
	{"cut", func(p *party, g *guest, d *dice) { g.cut() }},
	{"blocked", func(p *party, g *guest, d *dice) { g.blocked = true }},
	{"deaf", func(p *party, g *guest, d *dice) { g.deaf = true }},
	{"both", func(p *party, g *guest, d *dice) { g.blocked, g.deaf = true, true }},
	{"corrupt", func(p *party, g *guest, d *dice) {
		if g.follower != nil && g.corrupt("Die") != nil {
			p.t.Error("not corrupted")
		}
	}},
	{"lie", func(p *party, g *guest, d *dice) { g.lies = true }},
	{"mute", func(p *party, g *guest, d *dice) { g.mute = true }},
	{"still", func(p *party, g *guest, d *dice) { g.still = true }},
	{"repeat", func(p *party, g *guest, d *dice) {
		for seq := range g.sequence {
			g.submit(p.t, seq+1, uint16(seq+1))
		}
	}},
	{"gap", func(p *party, g *guest, d *dice) { g.submit(p.t, g.sequence+lockstep.Sequence(d.roll(600)), 1) }},
	{"flood", func(p *party, g *guest, d *dice) {
		for range 400 {
			g.command(p.t, 9)
		}
	}},
	{"garbage", func(p *party, g *guest, d *dice) {
		b := make([]byte, d.roll(40))
		for i := range b {
			b[i] = byte(d.roll(256))
		}
		g.raw(b)
	}},
	{"take over", func(p *party, g *guest, d *dice) {
		id := g.id // both at the same instant: the older one is fenced
		if g.connect() && id != 0 && g.id != id {
			p.h.Receive(p.now, id, []byte{0x92, byte(protocol.KindLeave), 0xa0})
		}
	}},
	{"leave", func(p *party, g *guest, d *dice) { g.send(&protocol.Message{Kind: protocol.KindLeave}) }},
	{"syncs", func(p *party, g *guest, d *dice) {
		for range 5 {
			g.send(&protocol.Message{Kind: protocol.KindStateSyncRequest})
		}
	}},
	{"chat", func(p *party, g *guest, d *dice) {
		g.send(&protocol.Message{Kind: protocol.KindChat, Text: "\u20ac\U0001f600"})
	}},
	{"stall", func(p *party, g *guest, d *dice) { p.now += lockstep.Time(d.roll(3000)) * lockstep.Millisecond }},
	{"join half", func(p *party, g *guest, d *dice) {
		for range 3 {
			half := p.guest(fmt.Sprint("half", len(p.guests)), "watch")
			half.blocked = true
			if half.connect() && d.roll(2) == 0 {
				half.cut()
			}
		}
	}},
	{"old session", func(p *party, g *guest, d *dice) {
		thief := p.guest("thief", "")
		thief.auth.Session = protocol.SessionToken{1, 1, 1, byte(d.roll(256))}
		thief.connect()
	}},
}

// TestHostChaos plays random matches full of faults. At all times the host's state is consistent. Each accepted command
// ran once, in order, at the tick of its receipt. When the faults stop, all honest clients have the same state.
func TestHostChaos(t *testing.T) {
	injected := map[string]int{}
	runs := *chaosRuns
	if runs == 0 {
		runs = 60
		if testenv.Small(t) {
			runs = 15
		}
	}
	for seed := range runs {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { chaos(t, dice(seed), injected) })
	}
	for _, f := range faults {
		if injected[f.name] == 0 {
			t.Errorf("fault %s was never injected", f.name)
		}
	}
	t.Logf("injected: %v", injected)
}

func chaos(t *testing.T, d dice, injected map[string]int) {
	const players = 4
	d.roll(2)
	p := newParty(t, func(s *lockstep.Settings) { s.Players = players }, func(o *host.Options) {
		o.Lag, o.RingRecords = 60, 150
		o.SyncTimeout, o.Grace = 2*lockstep.Second, 4*lockstep.Second
		o.MaxSpectators, o.MaxConnecting = 6, 4
		if d.roll(2) == 0 {
			o.Wait.Bound, o.Slow.Percent, o.Delay.Max = lockstep.Second, 50, 8
		}
	})
	p.impatient = true
	b := newBook(t, p)
	for i := range players {
		p.join(fmt.Sprint("p", i), fmt.Sprint("p", i))
	}
	p.join("w", "watch")
	honest := p.guests[:players+1]
	for range 120 {
		p.pass(lockstep.Time(1+d.roll(300)) * lockstep.Millisecond)
		g := honest[d.roll(len(honest))]
		if d.roll(3) == 0 {
			f := &faults[d.roll(len(faults))]
			f.do(p, g, &d)
			injected[f.name]++
		} else if g.id != 0 && g.welcome != nil && g.name != "w" {
			g.command(t, uint16(g.sequence+1))
		}
		for _, g := range honest {
			if d.roll(8) == 0 {
				g.heal(&d)
			}
		}
	}
	for i := 0; ; i++ { // the faults stop
		for _, g := range honest {
			g.heal(&d)
		}
		p.pass(20 * lockstep.Second)
		if i == 3 {
			break
		}
	}
	for i, g := range honest {
		if g.id == 0 || g.follower.Tick()+1 < p.h.Now() {
			t.Errorf("%s is not back: connected %t, tick %d of %d, closed as %v, errors %v", g.name, g.id != 0, g.follower.Tick(), p.h.Now(), g.code, g.errors)
		}
		if i < players {
			b.audit(g, lockstep.Player(i))
		}
	}
	p.agree()
}

// heal ends a guest's faults, and makes it come back.
func (g *guest) heal(d *dice) {
	g.blocked, g.silent, g.lies, g.deaf, g.mute, g.still = false, false, false, false, false, false
	if g.id != 0 {
		g.pull()
	}
	if g.id == 0 {
		g.auth.Session, g.auth.Position = protocol.SessionToken{}, 0
		if g.welcome != nil && g.follower != nil && d.roll(2) == 0 {
			g.auth.Session, g.auth.Position = g.welcome.Session, g.position
		}
		g.connect()
	}
}
