package host_test

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// earner is a bot that earns in every tick.
func earner(*lockstep.Simulation) []any { return []any{&testgame.Earn{Coins: 3}} }

func botParty(t *testing.T, bot lockstep.Bot) *party {
	return newParty(t, func(s *lockstep.Settings) { s.Players = 3 }, func(o *host.Options) {
		o.Bots, o.Start.Players = []lockstep.Bot{nil, bot}, 1
	})
}

// A bot plays its seat without a connection, and no token gets that seat.
func TestBotPlays(t *testing.T) {
	p := botParty(t, earner)
	p.pass(lockstep.Second)
	if p.h.Now() != 0 {
		t.Errorf("got tick %d with one bot, want to wait for a player", p.h.Now())
	}
	a, b := p.join("a", "any-a"), p.join("b", "any-b")
	p.pass(2 * lockstep.Second)
	if a.welcome.Seat != 0 || b.welcome.Seat != 2 {
		t.Errorf("got seats %d and %d, want 0 and 2: a bot has 1", a.welcome.Seat, b.welcome.Seat)
	}
	before := p.closes[protocol.CloseRefused]
	c := p.join("c", "p1")
	p.pass(lockstep.Second)
	if c.welcome != nil || p.closes[protocol.CloseRefused] != before+1 {
		t.Errorf("a token for the bot's seat: got welcome %+v, want a refusal", c.welcome)
	}
	if n := p.h.Stats().Rejected[lockstep.Accepted]; n < 30 {
		t.Errorf("got %d accepted commands of the bot, want one in each tick", n)
	}
	if err := p.h.Info().CheckBounds(1000); err != nil {
		t.Error(err)
	}
	p.agree()
	if piles := lockstep.World[testgame.Bank](p.file.Simulation()).Piles; piles[1].Coins < piles[0].Coins+60 {
		t.Errorf("got piles %+v, want the bot's to be the largest", piles)
	}
}

// A bot that panics, or returns what is no command, leaves the match, which goes on.
func TestBotFails(t *testing.T) {
	for want, fault := range map[string]func() []any{
		"the bot panicked: unlucky":                    func() []any { panic("unlucky") },
		"got a command of type int, want a pointer to": func() []any { return []any{3} },
	} {
		p := botParty(t, func(s *lockstep.Simulation) []any {
			if s.Tick() == 20 {
				return fault()
			}
			return nil
		})
		text, stack := "", ""
		p.observed = func(e host.Event) {
			if e.Kind == host.BotFailed {
				text, stack = e.String(), e.Stack
			}
		}
		p.join("a", "any-a")
		p.pass(3 * lockstep.Second)
		if !strings.HasPrefix(text, "tick 20: player 1 failed: ") || !strings.Contains(text, want) {
			t.Errorf("got event %q, want %q of player 1 at tick 20", text, want)
		}
		if strings.Contains(stack, "TestBotFails") != strings.Contains(want, "panicked") || strings.Contains(text, "TestBotFails") {
			t.Errorf("got the stack %q of %q", stack, text)
		}
		if world := lockstep.World[testgame.Bank](p.file.Simulation()); p.h.Now() < 50 || world.Piles[1].Active {
			t.Errorf("got tick %d and piles %+v, want the match to go on without the bot", p.h.Now(), world.Piles)
		}
		if b := p.join("b", "any-b"); b.welcome == nil || b.welcome.Seat != 1 {
			t.Errorf("got %+v, want the free seat of the bot", b.welcome)
		}
	}
}

// A removed bot gives its seat up. It cannot be banned, because it has no subject.
func TestBotRemoved(t *testing.T) {
	p := botParty(t, earner)
	p.join("a", "any-a")
	p.pass(lockstep.Second)
	if _, err := p.h.Bans().AddPlayer(p.now, 1, 0, "no"); err == nil {
		t.Error("a bot was banned")
	}
	if _, err := p.h.Admin().Remove(p.now, 1, "enough"); err != nil {
		t.Fatal(err)
	}
	p.flush()
	p.pass(lockstep.Second)
	before := p.h.Stats().Rejected[lockstep.Accepted]
	p.pass(lockstep.Second)
	if after := p.h.Stats().Rejected[lockstep.Accepted]; after != before || len(p.h.Bans().List(p.now)) > 0 {
		t.Errorf("got %d commands after %d, and bans %v, want none", after, before, p.h.Bans().List(p.now))
	}
}

// A recovered match has its bots at once, and their sequences continue.
func TestBotRecovers(t *testing.T) {
	p := botParty(t, earner)
	var log [][]byte
	p.record = func(raw []byte) { log = append(log, append([]byte(nil), raw...)) }
	p.join("a", "any-a")
	p.pass(2 * lockstep.Second)
	r := host.NewRecovery(p.game)
	for _, raw := range append(p.early, log...) {
		if err := r.Append(raw); err != nil {
			t.Fatal(err)
		}
	}
	tick := r.Tick()
	h, err := r.Host(0, host.Options{Random: func([]byte) {}, Bots: []lockstep.Bot{nil, earner}})
	if err != nil {
		t.Fatal(err)
	}
	for h.Now() < tick+20 {
		r := h.Ready()
		h.Persisted(r.Next, r.Position)
		h.Advance(r.Next)
	}
	if n := h.Stats().Rejected[lockstep.Accepted]; n < 18 {
		t.Errorf("got %d accepted commands in 20 ticks after the recovery, want one in each", n)
	}
}

func TestBotOptions(t *testing.T) {
	game := lockstep.MustGame(testgame.BankRules())
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.BankConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]host.Options{
		"got 3, want at most 2":          {Bots: []lockstep.Bot{nil, nil, earner}},
		"got 2 in relay mode, want none": {Bots: []lockstep.Bot{nil, earner}, Relay: true},
	} {
		o.Random = func([]byte) {}
		if _, err := host.New(game, header, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}
