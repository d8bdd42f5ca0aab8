package host_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// closedPlayers are the close codes that do not occur in a peaceful match.
func (p *party) unharmed(t *testing.T, honest ...*guest) {
	t.Helper()
	for _, g := range honest {
		if g.id == 0 || g.syncs != 1 || len(g.errors) > 0 || len(g.reasons) > 0 {
			t.Errorf("%s: connected %t, %d keyframes, errors %v, rejected %v, closed as %v", g.name, g.id != 0, g.syncs, g.errors, g.reasons, g.code)
		}
		if g.follower.Tick() != p.h.Now() {
			t.Errorf("%s is at tick %d of %d", g.name, g.follower.Tick(), p.h.Now())
		}
	}
	p.agree()
}

// A hundred join at the same moment. The host makes one keyframe, and the players get every tick when it is due.
func TestHostHundredJoinAtOnce(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) { o.MaxSpectators, o.MaxConnecting = 100, 100 })
	a, b := p.join("a", "p0"), p.join("b", "p1")
	p.pass(20 * lockstep.Second)
	for i := range 100 {
		p.guest(fmt.Sprint("w", i), "watch").connect()
	}
	p.pass(2 * lockstep.Second)
	p.unharmed(t, p.guests...)
	p.unharmed(t, a, b)
	if s := p.h.Stats(); s.SyncKeyframes != 1 || s.Spectators != 100 {
		t.Errorf("made %d keyframes for %d spectators, want 1 for 100", s.SyncKeyframes, s.Spectators)
	}
}

// Each tick is sent to players before spectators, even to players that connected later.
func TestHostPlayersFirst(t *testing.T) {
	p := newParty(t, nil, nil)
	for i := range 20 {
		p.guest(fmt.Sprint("w", i), "watch").connect()
	}
	a, b := p.join("a", "p0"), p.join("b", "p1")
	p.pass(2 * lockstep.Second)
	ticks := 0
	for before := p.h.Now(); ticks < 10; before = p.h.Now() {
		p.h.Advance(p.next())
		p.ids = nil
		if p.h.Now() == before {
			continue
		}
		ticks++
		p.take()
		due := p.ids
		if len(due) != 22 || due[0]+due[1] != a.id+b.id || due[0] != min(a.id, b.id) {
			t.Errorf("tick %d is for %v, want %d and %d first, and 20 more", p.h.Now(), due, a.id, b.id)
		}
	}
}

// At the limit of unauthenticated connections the address with the most loses its oldest, and the newcomer is accepted.
// A connection of another address stays, even if it is older.
func TestHostStrangersAtTheLimit(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) { o.MaxConnecting = 4 })
	open := func(name, addr string) *guest {
		g := p.guest(name, "p0")
		g.addr = addr
		if !g.open() {
			t.Fatalf("%s found no room", name)
		}
		return g
	}
	old := open("old", "home")
	var crowd []*guest
	for range 20 {
		crowd = append(crowd, open("silent", "crowd"))
		p.pass(lockstep.Millisecond)
	}
	for i, g := range crowd {
		if in := g.id != 0; in != (i >= 17) {
			t.Errorf("silent %d of 20: in %t, closed as %v", i, in, g.code)
		}
	}
	if old.id == 0 {
		t.Error("the only one of its address was closed")
	}
	if b := open("b", "elsewhere"); !b.connect() {
		t.Error("a player found no room")
	}
	p.pass(lockstep.Second)
	p.unharmed(t, p.guests[len(p.guests)-1])
}

// Five thousand connect at once to a host with room for a hundred.
func TestHostSpectatorFlood(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) { o.MaxSpectators, o.MaxConnecting = 100, 50 })
	p.impatient = true
	a, b := p.join("a", "p0"), p.join("b", "p1")
	p.pass(lockstep.Second)
	turned := 0
	for i := range 5000 {
		w := p.guest(fmt.Sprint("w", i), "watch")
		w.blocked = i%3 == 0
		if !w.connect() {
			turned++
		}
		if i%100 == 0 {
			p.pass(50 * lockstep.Millisecond)
		}
	}
	p.pass(lockstep.Second)
	p.unharmed(t, a, b)
	c := p.guest("a again", "p0")
	if !c.connect() {
		t.Error("a player found no room")
	}
	refused := p.closes[protocol.CloseRefused]
	if s := p.h.Stats(); s.Spectators != 100 || turned != int(s.NoRoom) || turned+refused < 4000 {
		t.Errorf("%d spectators, %d turned away, %d counted, %d refused", s.Spectators, turned, s.NoRoom, refused)
	}
}

// Two connections want one seat again and again, and one of them always has it.
func TestHostOneOwnerOfASeat(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) {
		o.Rates.Returns = host.Rate{N: 1 << 20, Per: lockstep.Second, Burst: 1 << 20}
		o.Rates.Messages, o.Rates.Bytes = o.Rates.Returns, host.Rate{N: 1 << 30, Per: lockstep.Second, Burst: 1 << 30}
	})
	book := newBook(t, p)
	d := dice(1)
	one, two := p.guest("one", "p0"), p.guest("two", "p0")
	owners, moves := 0, 8000
	if testenv.Small(t) {
		moves = 2000
	}
	for range moves {
		g, other := one, two
		if d.roll(2) == 0 {
			g, other = two, one
		}
		switch d.roll(5) {
		case 0, 1:
			if g.id == 0 {
				g.connect()
			}
		case 2:
			if g.id != 0 {
				g.cut()
			}
		case 3:
			g.sequence = max(g.sequence, other.sequence)
			g.command(t, 1)
		case 4:
			p.pass(lockstep.Time(d.roll(60)) * lockstep.Millisecond)
		}
		live := 0
		for _, info := range p.h.Info().Peers() {
			if info.Seat == 0 && info.State != host.Closed {
				live++
			}
		}
		if live > 1 {
			t.Fatalf("%d connections own seat 0", live)
		}
		owners += live
		p.deliver()
	}
	p.pass(lockstep.Second)
	for seq, tick := range two.receipts {
		if before, ok := one.receipts[seq]; ok && before != tick {
			t.Errorf("command %d was accepted for tick %d and for %d", seq, before, tick)
		}
		one.receipts[seq] = tick
	}
	book.audit(one, 0)
	if owners == 0 || len(one.receipts) < moves/16 {
		t.Errorf("%d owners, %d commands: the test shows nothing", owners, len(one.receipts))
	}
}

// Only the current session resumes a seat.
func TestHostSessionGuessing(t *testing.T) {
	p := newParty(t, nil, nil)
	a := p.join("a", "p0")
	p.pass(lockstep.Second)
	first := a.welcome.Session
	a.cut()
	a.resume()
	p.pass(lockstep.Second)
	thief := p.guest("thief", "")
	thief.auth.Session = first
	thief.connect()
	p.deliver()
	d := dice(2)
	guesses := 30_000
	if testenv.Small(t) {
		guesses = 3_000
	}
	for i := range guesses {
		for k := range thief.auth.Session {
			thief.auth.Session[k] = byte(d.roll(256))
		}
		if i%2 == 0 { // all but one bit
			thief.auth.Session = a.welcome.Session
			thief.auth.Session[d.roll(16)] ^= 1 << d.roll(8)
		}
		thief.connect()
		p.deliver()
	}
	if got := thief.errors[protocol.ErrorRefused]; got != guesses+1 || thief.welcome != nil {
		t.Errorf("refused %d of %d", got, guesses+1)
	}
	p.pass(lockstep.Second)
	p.unharmed(t, a)
}

// Ten thousand commands a second are answered until they count as abuse. The other player's match is the same.
func TestHostCommandFlood(t *testing.T) {
	p := newParty(t, nil, nil)
	book := newBook(t, p)
	a, b := p.join("a", "p0"), p.join("b", "p1")
	p.pass(lockstep.Second)
	sent := 0
	for range 20 {
		for a.id != 0 && sent < 10000 {
			a.command(t, 1)
			sent++
			if sent%500 == 0 {
				break
			}
		}
		b.command(t, 2)
		p.pass(50 * lockstep.Millisecond)
	}
	p.pass(lockstep.Second)
	p.unharmed(t, b)
	book.audit(a, 0)
	book.audit(b, 1)
	s := p.h.Stats()
	answered := int(s.Rejected[lockstep.RateLimited]+s.Rejected[lockstep.Accepted]) - len(b.receipts)
	if a.code != protocol.CloseAbuse || answered > sent || len(a.receipts) > 400 || len(b.receipts) != 20 {
		t.Errorf("closed as %v after %d commands: %d answered, %d accepted; the other's: %d", a.code, sent, answered, len(a.receipts), len(b.receipts))
	}
}

// With a referee, no reports of f of n players affect an honest player.
func TestHostLiars(t *testing.T) {
	for n := 1; n <= 5; n++ {
		for f := 0; f <= n; f++ {
			t.Run(fmt.Sprintf("%d of %d", f, n), func(t *testing.T) {
				p := newParty(t, func(s *lockstep.Settings) { s.Players = uint8(n) }, nil)
				for i := range n {
					p.join(fmt.Sprint("p", i), fmt.Sprint("p", i))
				}
				p.pass(2 * lockstep.Second)
				for _, g := range p.guests[:f] {
					g.lies = true
				}
				p.pass(2 * lockstep.Second) // a check is every quarter of a second
				if got := p.h.Stats().Desyncs; got != uint64(f) {
					t.Errorf("%d desyncs, want one of each of %d liars", got, f)
				}
				if f < n {
					p.unharmed(t, p.guests[f:]...)
				}
				for _, g := range p.guests[:f] { // honest again: and heard again
					g.lies = false
				}
				p.pass(2 * lockstep.Second)
				for _, g := range p.guests[:f] {
					if err := g.corrupt("Die"); err != nil {
						t.Fatal(err)
					}
				}
				p.pass(2 * lockstep.Second)
				if got := p.h.Stats().Desyncs; got != uint64(2*f) {
					t.Errorf("%d desyncs after a real one of each, want %d", got, 2*f)
				}
			})
		}
	}
}

// Checksums of any size, for any tick, any number of times.
func TestHostChecksumFlood(t *testing.T) {
	p := newParty(t, nil, nil)
	a, b := p.join("a", "p0"), p.join("b", "p1")
	p.pass(lockstep.Second)
	for i := range 700 {
		if a.id == 0 {
			break
		}
		a.send(&protocol.Message{Kind: protocol.KindChecksum, Tick: lockstep.Tick(i * 1000), Hash: 1, Sections: make([]uint64, 200)})
		p.deliver()
	}
	if a.code != protocol.CloseAbuse {
		t.Errorf("closed as %v", a.code)
	}
	c := p.join("c", "p0")
	c.raw([]byte(strings.Repeat("\xcf", 1<<20))) // more than a message may have
	p.deliver()
	if c.code != protocol.CloseMalformed {
		t.Errorf("closed as %v", c.code)
	}
	e := p.join("e", "p0")
	e.send(&protocol.Message{Kind: protocol.KindChecksum, Tick: 5, Sections: make([]uint64, 257)})
	p.deliver()
	if e.code != protocol.CloseMalformed {
		t.Errorf("closed as %v", e.code)
	}
	p.pass(lockstep.Second)
	p.unharmed(t, b)
}

// The host notices stalled readers by their acks within the lag bound, and closes them before they cost other peers
// anything.
func TestHostStalledReaders(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) {
		o.Lag, o.MaxSpectators, o.IdleTimeout = 60, 50, 3600*lockstep.Second
	})
	p.impatient = true
	a := p.join("a", "p0")
	for i := range 50 {
		p.join(fmt.Sprint("w", i), "watch")
	}
	p.pass(lockstep.Second)
	for _, w := range p.guests[1:] {
		w.blocked = true
	}
	noticed, gone := lockstep.Tick(0), lockstep.Tick(0)
	from := p.h.Now()
	for range 400 {
		p.pass(50 * lockstep.Millisecond)
		if noticed == 0 && p.h.Stats().Syncs == 51+50 {
			noticed = p.h.Now() - from
		}
		if gone == 0 && p.h.Stats().Spectators == 0 {
			gone = p.h.Now() - from
		}
	}
	if noticed == 0 || noticed > 60/2+2*10 || gone == 0 || gone > 200 {
		t.Errorf("noticed after %d ticks, gone after %d", noticed, gone)
	}
	p.unharmed(t, a)
	t.Logf("50 readers that stall: noticed after %d ticks, gone after %d", noticed, gone)
}

// A reader that is a tenth too slow gets a few keyframes and is then closed, instead of being resynced for ever.
func TestHostReaderATenthTooSlow(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) { o.Lag, o.SyncTimeout = 60, 5*lockstep.Second })
	p.impatient = true
	a, b := p.join("a", "p0"), p.join("b", "p1")
	p.pass(lockstep.Second)
	a.still = true
	for range 3000 {
		p.pass(50 * lockstep.Millisecond)
		if a.id == 0 {
			break
		}
		if p.h.Now()%10 != 0 { // simulates nine ticks of ten
			a.acked = min(a.acked+1, a.follower.Tick())
		}
		if a.acked+200 < p.h.Now() {
			a.acked = a.follower.Tick()
		}
	}
	if a.code != protocol.CloseSlow || a.syncs > 1+3 {
		t.Errorf("closed as %v after %d keyframes", a.code, a.syncs)
	}
	p.unharmed(t, b)
}

// Sequences may be far apart, repeated with other content, or beyond 64 bits.
func TestHostHostileSequences(t *testing.T) {
	p := newParty(t, nil, nil)
	book := newBook(t, p)
	a := p.join("a", "p0")
	p.pass(lockstep.Second)
	a.submit(t, 1, 5)
	a.submit(t, 1, 500)
	a.submit(t, 0, 5)
	a.submit(t, 1<<32-1, 5)
	p.pass(lockstep.Second)
	if len(a.receipts) != 1 || a.reasons[lockstep.StaleCommand] != 1 || a.reasons[lockstep.TooFarAhead] != 1 {
		t.Errorf("receipts %v, rejected %v", a.receipts, a.reasons)
	}
	book.audit(a, 0)
	a.raw([]byte{0x94, byte(protocol.KindCommand), 0xcf, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0xc4, 0}) // 2^56
	p.deliver()
	if a.code != protocol.CloseMalformed {
		t.Errorf("closed as %v", a.code)
	}
}

// A late joiner gets a large state in chunks between the ticks of the others, whose records have no gap.
func TestHostLargeKeyframe(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) { o.SyncBytesPerTick = 1 << 10 })
	a := p.join("a", "p0")
	for range 3000 { // each makes the state larger by two bytes
		if err := p.h.Admin().SetSpeed(p.now, 100); err != nil {
			p.pass(50 * lockstep.Millisecond)
		}
	}
	p.pass(6 * lockstep.Second)
	w := p.join("w", "watch")
	from := p.h.Now()
	for w.syncs == 0 {
		p.pass(50 * lockstep.Millisecond)
	}
	if got := p.h.Now() - from; got < 4 {
		t.Errorf("the keyframe of %d bytes took %d ticks, want its budget to matter", len(w.chunks), got)
	}
	p.pass(lockstep.Second)
	p.unharmed(t, a, w)
}

// A large keyframe also arrives without ticks: before the start, and while the match is paused.
func TestHostKeyframeWithoutTicks(t *testing.T) {
	for _, paused := range []bool{false, true} {
		p := newParty(t, func(s *lockstep.Settings) { s.Players = 200 }, func(o *host.Options) {
			o.SyncBytesPerTick, o.Start.Players = 1<<10, 2
		})
		a := p.join("a", "p0")
		if paused {
			b := p.join("b", "p1")
			p.pass(lockstep.Second)
			if err := p.h.Admin().Pause(p.now, 0); err != nil {
				t.Fatal(err)
			}
			p.pass(lockstep.Second)
			b.cut()
		}
		p.pass(5 * lockstep.Second)
		before := p.h.Now()
		w := p.join("w", "watch")
		if w.syncs != 0 {
			t.Errorf("paused %t: the keyframe of %d bytes came at once", paused, len(w.chunks))
		}
		p.pass(lockstep.Second)
		if w.syncs != 1 || a.syncs != 1 || p.h.Now() != before {
			t.Errorf("paused %t: %d and %d keyframes, %d ticks", paused, w.syncs, a.syncs, p.h.Now()-before)
		}
	}
}

// Evidence is complete even if the states exceed the bytes that a client may send. Its commands have their sequences
// even if the ring begins after many others.
func TestHostEvidence(t *testing.T) {
	p := newParty(t, func(s *lockstep.Settings) { s.Players = 200 }, func(o *host.Options) {
		o.RingRecords = 100
		o.Rates.Bytes = host.Rate{N: 1000, Per: lockstep.Second, Burst: 3000}
	})
	book := newBook(t, p)
	a := p.join("a", "p0")
	for range 200 {
		a.command(t, 1)
		p.pass(50 * lockstep.Millisecond)
	}
	if err := a.corrupt("Die"); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		a.command(t, 1)
		p.pass(50 * lockstep.Millisecond)
	}
	if len(p.evidence) != 1 || len(p.evidence[0].Exhibits) != 2 {
		t.Fatalf("got %d pieces of evidence", len(p.evidence))
	}
	e := p.evidence[0]
	for _, x := range e.Exhibits {
		if len(x.Player) < 3000 || len(x.Player) != len(x.Referee) || x.Hash == 0 {
			t.Errorf("tick %d: %d bytes of the player, %d of the referee, root %x", x.Tick, len(x.Player), len(x.Referee), x.Hash)
		}
	}
	if len(e.Commands) != 5 {
		t.Errorf("got %d commands of the five ticks since the last agreed one", len(e.Commands))
	}
	for _, c := range e.Commands {
		if ran := book.ran[[2]uint32{uint32(c.Player), uint32(c.Sequence)}]; ran != c.Tick {
			t.Errorf("command %d is said to be of tick %d, and ran at %d", c.Sequence, c.Tick, ran)
		}
	}
}

// If the ring is overwritten within the interval, joiners wait, and the host makes no additional keyframes.
func TestHostKeyframesInAnInterval(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) { o.RingRecords = 16 })
	a := p.join("a", "p0")
	p.pass(10 * lockstep.Second)
	before := p.h.Stats().SyncKeyframes
	for i := range 12 {
		p.join(fmt.Sprint("w", i), "watch")
		p.pass(lockstep.Second)
	}
	if got := p.h.Stats().SyncKeyframes - before; got != 3 {
		t.Errorf("made %d keyframes in 12 s, want 3", got)
	}
	p.pass(5 * lockstep.Second)
	p.unharmed(t, p.guests...)
	a.blocked = true // for longer than the ring
	p.pass(2 * lockstep.Second)
	a.blocked = false
	a.pull()
	p.pass(6 * lockstep.Second)
	if a.syncs != 2 {
		t.Errorf("got %d keyframes, want one in place of the records that the ring has lost", a.syncs)
	}
	p.agree()
}

// The checkers above find the faults that they look for.
func TestHostCheckersControl(t *testing.T) {
	p := newParty(t, nil, nil)
	book := newBook(t, p)
	a := p.join("a", "p0")
	p.pass(lockstep.Second)
	a.command(t, 1)
	p.pass(lockstep.Second)
	for name, check := range map[string]func(tb testing.TB){
		"a command that never ran":   func(tb testing.TB) { a.receipts[9] = 9; book.audit(a, 0); delete(a.receipts, 9) },
		"a command at another tick":  func(tb testing.TB) { a.receipts[1]++; book.audit(a, 0); a.receipts[1]-- },
		"another seat's command":     func(tb testing.TB) { book.audit(a, 1) },
		"a guest with another state": func(tb testing.TB) { _ = a.corrupt("Die"); p.agree(); _ = a.corrupt("Die") },
		"nobody to compare":          func(tb testing.TB) { a.id = 0; p.agree() },
	} {
		found := &finder{TB: t}
		book.t, p.t = found, found
		check(found)
		book.t, p.t = t, t
		if !found.failed {
			t.Errorf("%s was not found", name)
		}
	}
}

// A finder collects errors in place of the test.
type finder struct {
	testing.TB
	failed bool
}

func (f *finder) Errorf(string, ...any) { f.failed = true }
func (f *finder) Error(...any)          { f.failed = true }

// A player that differs is removed even if its connection is lost while its states are requested and it has
// reconnected.
func TestHostRemovesWhoComesBackWrong(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) { o.Desync = host.RemoveDesynced })
	a, b := p.join("a", "p0"), p.join("b", "p1")
	p.pass(lockstep.Second)
	a.mute = true
	if err := a.corrupt("Die"); err != nil {
		t.Fatal(err)
	}
	for p.events[host.PeerDesynced] == 0 {
		p.pass(50 * lockstep.Millisecond)
	}
	a.cut()
	p.pass(100 * lockstep.Millisecond)
	a.resume()
	p.pass(20 * lockstep.Second)
	if a.id != 0 || a.code != protocol.CloseKicked || a.syncs != 1 {
		t.Errorf("connected %t, closed as %v, %d keyframes", a.id != 0, a.code, a.syncs)
	}
	p.unharmed(t, b)
}

// A player that is behind is not charged for the time that the server holds the match, whenever the hold begins and
// ends.
func TestHostHoldIsNotWaiting(t *testing.T) {
	for phase := lockstep.Time(0); phase < 250; phase += 10 {
		p := newParty(t, func(s *lockstep.Settings) { s.TickMicros = lockstep.TickPeriod(1) }, func(o *host.Options) {
			o.Wait.Bound, o.IdleTimeout = 2*lockstep.Second, 600*lockstep.Second
		})
		a := p.join("a", "p0")
		p.join("b", "p1")
		p.pass(3 * lockstep.Second)
		a.blocked, a.silent = true, true
		p.pass(3*lockstep.Second + phase*lockstep.Millisecond)
		before := p.h.Now()
		for range 20 {
			p.h.Admin().Hold(p.now, host.Wait{Reason: "the disk is full"})
			p.pass(240 * lockstep.Millisecond)
			p.h.Admin().Hold(p.now, host.Wait{})
			p.pass(10 * lockstep.Millisecond)
		}
		if p.h.Now() != before {
			t.Errorf("phase %d: goes on at tick %d before it waited for 2 s", phase, before)
		}
		p.pass(4 * lockstep.Second)
		if p.h.Now() == before {
			t.Errorf("phase %d: waits at tick %d for longer than 2 s", phase, before)
		}
	}
}
