package host_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Delayed spectators see the players' match exactly the delay later, whenever they join. When it is over they see the
// rest.
func TestHostSpectatorDelay(t *testing.T) {
	for _, delay := range []lockstep.Tick{1, 7, 100, 600} {
		t.Run(fmt.Sprint(delay), func(t *testing.T) {
			p := newParty(t, nil, func(o *host.Options) { o.SpectatorDelay = delay })
			hashes := map[lockstep.Tick]uint64{}
			p.record = func([]byte) { hashes[p.file.Tick()] = p.file.Simulation().Hash() }
			a, b := p.join("a", "p0"), p.join("b", "p1")
			late := func(g *guest) {
				t.Helper()
				now := p.h.Now()
				present := now - min(now, delay)
				if g.id == 0 || g.follower == nil || g.follower.Tick() != present || g.welcome.Tick > present || len(g.errors) > 0 {
					t.Fatalf("tick %d: %s: connected %t, closed as %v, errors %v, welcome %+v", now, g.name, g.id != 0, g.code, g.errors, g.welcome)
				}
				if got, want := g.follower.Simulation().Hash(), hashes[present]; got != want {
					t.Fatalf("%s at tick %d of %d: got another state", g.name, present, now)
				}
			}
			watchers := []*guest{p.join("w0", "watch")}
			for i := range 450 {
				a.command(t, 1)
				p.pass(100 * lockstep.Millisecond)
				if i%50 == 5 {
					watchers = append(watchers, p.join(fmt.Sprint("w", i), "watch"))
					p.pass(100 * lockstep.Millisecond)
				}
				for _, w := range watchers {
					late(w)
				}
			}
			for _, w := range watchers {
				if w.syncs != 1 {
					t.Errorf("%s got %d keyframes, want 1", w.name, w.syncs)
				}
			}
			p.unharmed(t, a, b)
			if err := p.h.Admin().End(p.now, "enough"); err != nil {
				t.Fatal(err)
			}
			p.pass(lockstep.Second)
			for _, w := range watchers {
				if w.follower.Tick() != p.h.Now() || w.code != protocol.CloseEnded {
					t.Errorf("%s is at tick %d of %d, closed as %v", w.name, w.follower.Tick(), p.h.Now(), w.code)
				}
			}
		})
	}
}

// A delayed spectator with a wrong state is resynced with a state as old as its view.
func TestHostDelayedSpectatorHeals(t *testing.T) {
	for _, delay := range []lockstep.Tick{100, 600} { // and of before the checks that players can still report on
		p := newParty(t, nil, func(o *host.Options) { o.SpectatorDelay = delay })
		p.join("a", "p0")
		p.pass(40 * lockstep.Second)
		w := p.join("w", "watch")
		p.pass(3 * lockstep.Second)
		if err := w.corrupt("Die"); err != nil {
			t.Fatal(err)
		}
		p.pass(3 * lockstep.Second)
		if w.syncs != 2 || p.events[host.PeerDesynced] == 0 || w.follower.Tick() != p.h.Now()-delay || len(w.errors) > 0 {
			t.Errorf("delay %d: %d keyframes, %d desyncs, at tick %d of %d, errors %v", delay, w.syncs, p.events[host.PeerDesynced], w.follower.Tick(), p.h.Now(), w.errors)
		}
	}
}

// A match whose log has failed, or whose server is shut down, may continue: delayed spectators do not get the rest of
// it.
func TestHostSpectatorDelayWithoutEnd(t *testing.T) {
	const delay = 50
	for _, row := range []struct {
		name string
		stop func(p *party)
		more lockstep.Tick // that spectators see
	}{
		{"the log fails", func(p *party) { p.failLog = true }, 0},
		{"a sync fails", func(p *party) { p.h.Fail(p.now, testgame.ErrDisk) }, 0},
		{"a shutdown", func(p *party) { p.h.Admin().Shutdown(p.now, lockstep.Second) }, 0},
		{"the end", func(p *party) { _ = p.h.Admin().End(p.now, "enough") }, delay},
	} {
		p := newParty(t, nil, func(o *host.Options) { o.SpectatorDelay = delay })
		p.join("a", "p0")
		w := p.join("w", "watch")
		p.pass(10 * lockstep.Second)
		row.stop(p)
		p.pass(10 * lockstep.Second)
		if want := p.h.Now() - delay + row.more; w.follower.Tick() != want || w.code == 0 {
			t.Errorf("%s: the spectator sees tick %d of %d, want %d; closed as %v", row.name, w.follower.Tick(), p.h.Now(), want, w.code)
		}
	}
}

// Relay mode has no past states.
func TestHostSpectatorDelayOfRelay(t *testing.T) {
	g := lockstep.MustGame(testgame.BankRules())
	h, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.BankConfig{})
	if err != nil {
		t.Fatal(err)
	}
	o := host.Options{Relay: true, SpectatorDelay: 20, Random: func([]byte) {}}
	if _, err := host.New(g, h, o); err == nil || !strings.Contains(err.Error(), "spectator delay: got 20 ticks in relay mode") {
		t.Errorf("got %v", err)
	}
}

// No peer sees a record that is not persisted: in the stream, in a keyframe, after a reconnect, or when the log fails.
func TestHostPersisted(t *testing.T) {
	p := newParty(t, nil, nil)
	p.lazy = true
	a := p.join("a", "p0")
	seen := func(g *guest) lockstep.Tick {
		if g.follower == nil || g.follower.Simulation() == nil {
			return 0
		}
		return g.follower.Tick()
	}
	persisted := lockstep.Tick(0)
	everybody := func() {
		t.Helper()
		for _, g := range p.guests {
			if seen(g) > persisted {
				t.Fatalf("%s sees tick %d, of which only %d are persisted", g.name, seen(g), persisted)
			}
		}
	}
	waited := 0
	for i := range 60 {
		a.command(t, 1)
		p.pass(100 * lockstep.Millisecond)
		everybody()
		if i%7 == 3 {
			p.join(fmt.Sprint("w", i), "watch")
			a.cut()
			a.resume()
		}
		if i%3 == 0 {
			everybody()
			if seen(a) < p.h.Now() {
				waited++
			}
			persisted = p.h.Now()
			p.h.Persisted(p.now, p.wrote)
			p.deliver()
			if seen(a) != persisted {
				t.Fatalf("a sees tick %d of %d that are persisted", seen(a), persisted)
			}
		}
	}
	if waited < 15 {
		t.Errorf("waited %d times", waited)
	}
	p.pass(lockstep.Second)
	p.h.Fail(p.now, testgame.ErrDisk)
	p.pass(lockstep.Second)
	everybody()
	for _, g := range p.guests {
		if g.code != protocol.CloseEnded || seen(g) != persisted {
			t.Errorf("%s: at tick %d of %d that are persisted, closed as %v", g.name, seen(g), persisted, g.code)
		}
	}
	if err := p.h.Err(); !errors.Is(err, testgame.ErrDisk) {
		t.Errorf("got %v, want %v", err, testgame.ErrDisk)
	}
}

// The end of a match is sent only after it is persisted.
func TestHostPersistedEnd(t *testing.T) {
	p := newParty(t, nil, nil)
	p.lazy = true
	a := p.join("a", "p0")
	p.pass(lockstep.Second)
	if err := p.h.Admin().End(p.now, "enough"); err != nil {
		t.Fatal(err)
	}
	p.pass(lockstep.Second)
	if a.follower.Tick() != 0 || a.code != 0 {
		t.Errorf("at tick %d, closed as %v", a.follower.Tick(), a.code)
	}
	p.h.Persisted(p.now, p.wrote)
	p.deliver()
	if a.follower.Tick() != p.h.Now() || a.code != protocol.CloseEnded {
		t.Errorf("at tick %d of %d, closed as %v", a.follower.Tick(), p.h.Now(), a.code)
	}
}

// After a crash, spectators of a match with a long delay are told when to come back, and then see it.
func TestHostSpectatorDelayAfterRecovery(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) { o.SpectatorDelay = 2400 })
	log := testgame.Records{p.early[0], p.early[1]}
	p.record = func(b []byte) { _ = log.Append(b) }
	p.join("a", "p0")
	p.pass(30 * lockstep.Second)
	r := host.NewRecovery(p.game)
	for _, b := range log {
		if err := r.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	p.h, err = r.Host(p.now, host.Options{Authorize: p.authorize, Random: func(b []byte) { b[0]++ }, SpectatorDelay: 2400})
	if err != nil {
		t.Fatal(err)
	}
	p.guests, p.byID = nil, map[host.PeerID]*guest{}
	var told []string
	p.print = func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
	w := p.guest("w", "watch")
	w.connect()
	p.pass(lockstep.Second)
	if w.code != protocol.CloseBusy || !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "retry after 121") }) {
		t.Errorf("closed as %v: %q", w.code, told)
	}
	p.pass(121 * lockstep.Second)
	w.connect()
	p.pass(lockstep.Second)
	if w.id == 0 || w.syncs != 1 {
		t.Errorf("connected %t, %d keyframes, as it was told", w.id != 0, w.syncs)
	}
}

// While a match is held no tick is sealed. Every peer is told, including those that connect meanwhile, and no peer is
// worse off afterwards.
func TestHostHold(t *testing.T) {
	p := newParty(t, nil, nil)
	a, b := p.join("a", "p0"), p.join("b", "p1")
	p.pass(lockstep.Second)
	before := p.h.Now()
	for range 2 {
		p.h.Admin().Hold(p.now, host.Wait{Reason: "the disk is full"}) // once is told
	}
	p.pass(20 * lockstep.Second)
	w := p.join("w", "watch")
	a.command(t, 5)
	p.pass(20 * lockstep.Second)
	if p.h.Now() != before || p.h.Status().Held != "the disk is full" {
		t.Errorf("%d ticks were sealed, held because %q", p.h.Now()-before, p.h.Status().Held)
	}
	p.h.Admin().Hold(p.now, host.Wait{})
	p.pass(lockstep.Second)
	if got := p.h.Now() - before; got < 18 || got > 21 {
		t.Errorf("%d ticks in the second after it", got)
	}
	for _, g := range []*guest{a, b, w} {
		if want := []string{"the disk is full", ""}; !slices.Equal(g.held, want) {
			t.Errorf("%s was told %q, want %q", g.name, g.held, want)
		}
	}
	if p.events[host.MatchHeld] != 1 || p.events[host.MatchGoesOn] != 1 || a.receipts[a.sequence] != before+1 {
		t.Errorf("%d and %d events, the command is of tick %d, want 1 and 1, and tick %d", p.events[host.MatchHeld], p.events[host.MatchGoesOn], a.receipts[a.sequence], before+1)
	}
	p.unharmed(t, a, b, w)
}
