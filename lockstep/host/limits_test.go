package host_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// limitedBank is the bank, in which a player earns at most three times in two seconds.
func limitedBank() lockstep.Rules[testgame.Bank, testgame.BankConfig] {
	rules := testgame.BankRules()
	rules.Commands = slices.Clone(rules.Commands)
	rules.Commands[0] = rules.Commands[0].Limit(3, 2*lockstep.Second)
	return rules
}

// The budget of commands is the player's, whatever the connection.
func TestReconnectingDoesNotRefillTheBudgetOfCommands(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) { o.Rates.Commands = host.Rate{N: 1, Per: 60 * lockstep.Second, Burst: 3} })
	a := p.join("a", "p0")
	p.pass(lockstep.Second)
	for range 3 {
		a.command(t, 1)
	}
	p.pass(lockstep.Second)
	a.cut()
	a.resume()
	p.pass(lockstep.Second)
	a.command(t, 1)
	p.pass(lockstep.Second)
	a.cut()
	a.auth.Session = protocol.SessionToken{}
	a.connect()
	p.pass(lockstep.Second)
	a.command(t, 1)
	p.pass(lockstep.Second)
	if len(a.receipts) != 3 || a.reasons[lockstep.RateLimited] != 2 {
		t.Errorf("got %d accepted commands and %v, want 3 and 2 beyond the rate", len(a.receipts), a.reasons)
	}
}

// A kind's window slides with the ticks. It outlives a reconnect with the session or with the token, another player's
// commands, and a recovery.
func TestKindLimit(t *testing.T) {
	p := newPartyOf(t, limitedBank(), nil, nil)
	log := [][]byte{}
	p.record = func(raw []byte) { log = append(log, slices.Clone(raw)) }
	a, b := p.join("a", "p0"), p.join("b", "p1")
	p.pass(lockstep.Second)
	for range 4 {
		a.command(t, 1)
		b.command(t, 1)
	}
	p.pass(lockstep.Second / 10)
	a.cut()
	a.resume()
	p.pass(lockstep.Second / 2)
	a.command(t, 1)
	p.pass(lockstep.Second / 10)
	a.cut()
	a.auth.Session = protocol.SessionToken{}
	a.connect()
	p.pass(lockstep.Second / 2)
	a.command(t, 1)
	p.pass(lockstep.Second / 10)
	if len(a.receipts) != 3 || a.reasons[lockstep.TooOften] != 3 || len(b.receipts) != 3 || b.reasons[lockstep.TooOften] != 1 {
		t.Errorf("got %d and %d accepted commands, %v and %v, want 3 of each player", len(a.receipts), len(b.receipts), a.reasons, b.reasons)
	}
	rejected := a.rejected
	if want := a.receipts[1] + 40; rejected.Wait() == 0 || rejected.Wait() > 40 || p.h.Now()+rejected.Wait() > want+1 || a.reasons[lockstep.Refused] > 0 {
		t.Errorf("got %+v at tick %d, want to wait until tick %d", rejected, p.h.Now(), want)
	}

	r := host.NewRecovery(p.game)
	for _, raw := range append(p.early, log...) {
		if err := r.Append(raw); err != nil {
			t.Fatal(err)
		}
	}
	h, err := r.Host(p.now, host.Options{Random: func([]byte) {}, Authorize: p.authorize})
	if err != nil {
		t.Fatal(err)
	}
	p.h, a.id, p.byID = h, 0, map[host.PeerID]*guest{}
	a.auth.Session = protocol.SessionToken{}
	a.connect()
	p.pass(lockstep.Second / 10)
	a.command(t, 1)
	p.pass(lockstep.Second / 10)
	if len(a.receipts) != 3 || a.reasons[lockstep.TooOften] != 4 {
		t.Errorf("after a recovery: got %d accepted commands and %v, want 3 and one more refusal", len(a.receipts), a.reasons)
	}
	p.pass(lockstep.Second)
	a.command(t, 1)
	p.pass(lockstep.Second / 10)
	if len(a.receipts) != 4 || p.h.Stats().Rejected[lockstep.TooOften] != 1 {
		t.Errorf("got %d accepted commands after the window, want 4; stats %v", len(a.receipts), p.h.Stats().Rejected)
	}
}

// A game with a limit out of range does not compile.
func TestKindLimitIsChecked(t *testing.T) {
	for _, l := range []struct {
		n   int
		per lockstep.Time
	}{{0, lockstep.Second}, {-1, lockstep.Second}, {1025, lockstep.Second}, {1, 0}, {2, 200}, {2, lockstep.Millisecond - 1}, {1, 3601 * lockstep.Second}} {
		rules := testgame.BankRules()
		rules.Commands = []lockstep.CommandType{lockstep.Type[testgame.Earn](1, "earn").Limit(l.n, l.per)}
		_, err := lockstep.NewGame(rules)
		want := "command 1 (earn): limit: got "
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want %q", l, err, want)
		}
	}
}

// A limit for less than a tick of the match cannot be kept, so the match is refused.
func TestKindLimitOfLessThanATick(t *testing.T) {
	rules := testgame.BankRules()
	rules.Commands = []lockstep.CommandType{lockstep.Type[testgame.Earn](1, "earn").Limit(2, 200*lockstep.Millisecond)}
	g := lockstep.MustGame(rules)
	for micros, want := range map[uint32]string{200_000: "", 200_001: "tick micros: got 200001, want at most 200000, the time of the limit of command 1 (earn)"} {
		s := lockstep.DefaultSettings(2)
		s.TickMicros = micros
		_, err := g.NewHeader(lockstep.MatchID{1}, s, &testgame.BankConfig{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("ticks of %d microseconds: got %v, want %q", micros, err, want)
		}
	}
}

// Limits change while the match runs. Spectators beyond a lower number are closed, the latest first, and a guest who has been idle for
// longer than a new limit is warned and removed.
func TestSetLimits(t *testing.T) {
	p := newParty(t, func(s *lockstep.Settings) { s.Players = 4 }, nil)
	set := func(l host.Limits) {
		t.Helper()
		if err := p.h.Admin().SetLimits(p.now, l); err != nil {
			t.Fatal(err)
		}
		if err := p.h.Info().CheckBounds(1 << 10); err != nil {
			t.Error(err)
		}
		p.pass(lockstep.Second)
	}
	p.join("a", "p0")
	var watchers []*guest
	for range 4 {
		watchers = append(watchers, p.join("w", "watch"))
	}
	set(host.Limits{MaxSpectators: 2})
	for i, w := range watchers {
		if want := map[bool]protocol.CloseCode{true: protocol.CloseBusy}[i >= 2]; w.code != want {
			t.Errorf("spectator %d: got code %d, want %d", i, w.code, want)
		}
	}
	if w := p.from("elsewhere", "watch"); w.code != protocol.CloseRefused {
		t.Errorf("a third spectator: got code %d", w.code)
	}
	set(host.Limits{MaxSpectators: 3})
	if w := p.from("elsewhere", "watch"); w.code != 0 {
		t.Errorf("a third spectator later: got code %d", w.code)
	}

	idle := p.from("crowded", "free-x")
	p.pass(60 * lockstep.Second)
	set(host.Limits{InactiveGuests: 30 * lockstep.Second})
	if idle.code != 0 {
		t.Errorf("a guest who has not been warned: got code %d", idle.code)
	}
	p.pass(20 * lockstep.Second)
	if idle.code != protocol.CloseInactive {
		t.Errorf("a guest beyond the new limit: got code %d", idle.code)
	}

	crowd := []*guest{p.from("crowded", "free-1"), p.from("crowded", "free-2"), p.from("crowded", "free-3")}
	set(host.Limits{InactiveGuests: -1, GuestSeats: 3})
	p.pass(40 * lockstep.Second)
	if g := p.from("other", "free-y"); g.welcome != nil {
		t.Error("three seats are kept by the guests of an address, and one of them makes room")
	}
	set(host.Limits{InactiveGuests: -1, GuestSeats: 1})
	if g := p.from("other", "free-z"); g.welcome == nil {
		t.Error("no guest beyond one makes room")
	}
	if n := len(slices.DeleteFunc(crowd, func(g *guest) bool { return g.code == 0 })); n != 1 {
		t.Errorf("%d guests made room, want 1", n)
	}
	if err := p.h.Admin().SetLimits(p.now, host.Limits{MaxSpectators: -1}); err == nil {
		t.Error("want an error for a negative number")
	}
	if err := p.h.Info().CheckBounds(1 << 10); err != nil {
		t.Error(err)
	}
}
