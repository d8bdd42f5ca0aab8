package host_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// substituted is a party whose lost players are taken over after two seconds.
func substituted(t *testing.T, of func(lockstep.Player) lockstep.Bot) *party {
	return newParty(t, func(s *lockstep.Settings) { s.Players = 3 }, func(o *host.Options) {
		o.Grace, o.Substitute, o.InputDelay = 2*lockstep.Second, of, 3
	})
}

// A substitute plays a seat that is taken over, from the takeover until the player is back. Its commands have the
// sequences after the player's, which the player's welcome counts.
func TestSubstitute(t *testing.T) {
	asked := []lockstep.Player{}
	p := substituted(t, func(who lockstep.Player) lockstep.Bot {
		asked = append(asked, who)
		return earner
	})
	var dec record.Decoder
	for _, raw := range p.early {
		if _, _, err := dec.Decode(raw); err != nil {
			t.Fatal(err)
		}
	}
	var sequences []lockstep.Sequence // of player 1
	p.record = func(raw []byte) {
		r, _, err := dec.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Frame.Commands {
			if c.Player == 1 {
				sequences = append(sequences, c.Sequence)
			}
		}
	}
	a, b := p.join("a", "any-a"), p.join("b", "any-b")
	p.pass(lockstep.Second)
	a.command(t, 1)
	p.pass(lockstep.Second)
	b.cut()
	p.pass(lockstep.Second)
	if len(asked) > 0 {
		t.Fatalf("asked for %v in the grace time", asked)
	}
	p.pass(2 * lockstep.Second)
	if !slices.Equal(asked, []lockstep.Player{1}) {
		t.Errorf("asked for %v, want once for player 1", asked)
	}
	b.command(t, 7) // not connected: never arrives
	b.sequence = 0
	b.auth.Session = protocol.SessionToken{}
	b.connect()
	p.pass(lockstep.Second / 10)
	own := b.welcome.LastSequence
	if own < 15 || b.welcome.Seat != 1 || b.welcome.Resumed {
		t.Errorf("got %+v, want seat 1 after the substitute's commands", b.welcome)
	}
	b.submit(t, own, 9) // a command from before the takeover, whose number the substitute has used
	b.submit(t, 1, 9)
	b.command(t, 5)
	p.pass(lockstep.Second)
	if b.reasons[lockstep.StaleCommand] != 2 || len(b.receipts) != 1 || b.receipts[own+1] == 0 {
		t.Errorf("got receipts %v and %v, want one for command %d, and two stale ones", b.receipts, b.reasons, own+1)
	}
	for i, seq := range sequences {
		if seq != lockstep.Sequence(i)+1 {
			t.Fatalf("got sequences %v in the log, want all in order", sequences)
		}
	}
	if got := lockstep.Sequence(len(sequences)); got != own+1 {
		t.Errorf("got %d commands of player 1 in the log, want %d", got, own+1)
	}
	b.cut()
	p.pass(4 * lockstep.Second)
	if !slices.Equal(asked, []lockstep.Player{1, 1}) || p.h.Stats().Rejected[lockstep.Accepted] < 40 {
		t.Errorf("asked for %v, want again for player 1", asked)
	}
	p.agree()
}

// A substitute that panics or returns nonsense leaves its seat idle, and its player can return.
func TestSubstituteFails(t *testing.T) {
	for _, c := range []struct {
		name, want string
		of         func(lockstep.Player) lockstep.Bot
	}{
		{"panics", "the bot panicked: unlucky", func(lockstep.Player) lockstep.Bot {
			return func(*lockstep.Simulation) []any { panic("unlucky") }
		}},
		{"cannot be made", "the bot panicked: nobody", func(lockstep.Player) lockstep.Bot { panic("nobody") }},
		{"returns a number", "got a command of type int, want a pointer to", func(lockstep.Player) lockstep.Bot {
			return func(*lockstep.Simulation) []any { return []any{&testgame.Earn{Coins: 1}, 3} }
		}},
		{"returns nil", "got a command of type <nil>", func(lockstep.Player) lockstep.Bot {
			return func(*lockstep.Simulation) []any { return []any{nil} }
		}},
		{"returns a nil pointer", "got a nil *testgame.Earn", func(lockstep.Player) lockstep.Bot {
			return func(*lockstep.Simulation) []any { return []any{(*testgame.Earn)(nil)} }
		}},
		{"returns a value", "got a command of type testgame.Earn, want a pointer", func(lockstep.Player) lockstep.Bot {
			return func(*lockstep.Simulation) []any { return []any{testgame.Earn{}} }
		}},
		{"returns too much", "", func(lockstep.Player) lockstep.Bot {
			return func(s *lockstep.Simulation) []any {
				if testenv.Small(t) && s.Tick()%8 > 0 {
					return nil
				}
				return slices.Repeat([]any{&testgame.Give{To: 200, Coins: make([]uint16, 3000)}}, 1000)
			}
		}},
		{"is nobody", "", func(lockstep.Player) lockstep.Bot { return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := substituted(t, c.of)
			var texts []string
			p.observed = func(e host.Event) {
				if e.Kind == host.SubstituteFailed {
					texts = append(texts, e.String())
					if panicked := strings.Contains(c.want, "panicked"); panicked != strings.Contains(e.Stack, "TestSubstituteFails") {
						t.Errorf("got the stack %q", e.Stack)
					}
				}
			}
			p.join("a", "any-a")
			b := p.join("b", "any-b")
			p.pass(lockstep.Second)
			b.cut()
			p.pass(4 * lockstep.Second)
			if c.want == "" && len(texts) > 0 || c.want != "" && (len(texts) != 1 || !strings.Contains(texts[0], "player 1 substitute failed: ") || !strings.Contains(texts[0], c.want)) {
				t.Errorf("got events %q, want %q once", texts, c.want)
			}
			b.sequence, b.auth.Session = 0, protocol.SessionToken{}
			b.connect()
			p.pass(lockstep.Second)
			b.command(t, 1)
			p.pass(lockstep.Second)
			if p.h.Err() != nil || len(b.receipts) != 1 {
				t.Errorf("got %v, and receipts %v, want the match to go on with its player", p.h.Err(), b.receipts)
			}
			p.agree()
		})
	}
}

// A host commands for bots and for seats that are taken over, and for nobody else.
func TestHostSubmits(t *testing.T) {
	p := newParty(t, func(s *lockstep.Settings) { s.Players = 4 }, func(o *host.Options) {
		o.Grace = lockstep.Second
		o.Bots = []lockstep.Bot{2: func(*lockstep.Simulation) []any { return nil }}
	})
	a, b := p.join("a", "p0"), p.join("b", "p1")
	p.pass(lockstep.Second)
	b.cut()
	for _, who := range []lockstep.Player{0, 1, 3, 4, lockstep.System} {
		if _, err := p.h.Submit(who, &testgame.Earn{Coins: 5}); !errors.Is(err, coordinator.ErrSeat) {
			t.Errorf("player %d: got error %v, want %v", who, err, coordinator.ErrSeat)
		}
	}
	if _, err := p.h.Submit(2, "earn"); err == nil || errors.Is(err, coordinator.ErrSeat) {
		t.Errorf("got error %v, want one about the type", err)
	}
	if r, err := p.h.Submit(2, &testgame.Earn{Coins: 500}); err != nil || r.Sequence != 1 || r.Err() != nil {
		t.Errorf("the host's own seat: got %v, %v", r, err)
	}
	if r, err := p.h.Submit(2, &testgame.Give{To: 9}); err != nil || r.Sequence != 2 || r.Reason != lockstep.Refused {
		t.Errorf("a refused command: got %v, %v", r, err)
	}
	p.pass(2 * lockstep.Second)
	if r, err := p.h.Submit(1, &testgame.Earn{Coins: 700}); err != nil || r.Err() != nil {
		t.Errorf("a seat that is taken over: got %v, %v", r, err)
	}
	p.pass(lockstep.Second)
	if piles := lockstep.World[testgame.Bank](a.follower.Simulation()).Piles; piles[2].Coins < 600 || piles[1].Coins < 800 {
		t.Errorf("got piles %+v, want 500 and 700 coins more", piles)
	}
	if err := p.h.Admin().End(p.now, "done"); err != nil {
		t.Fatal(err)
	}
	if r, err := p.h.Submit(1, &testgame.Earn{}); err != nil || r.Reason != lockstep.MatchEnded {
		t.Errorf("after the end: got %v, %v", r, err)
	}
}

// After a recovery a seat that is taken over has a substitute again, and the sequences of the earlier one are not the
// player's.
func TestSubstituteRecovers(t *testing.T) {
	of := func(lockstep.Player) lockstep.Bot { return earner }
	p := substituted(t, of)
	log := [][]byte{}
	p.record = func(raw []byte) { log = append(log, slices.Clone(raw)) }
	p.join("a", "any-a")
	b := p.join("b", "any-b")
	p.pass(lockstep.Second)
	b.cut()
	p.pass(3 * lockstep.Second)
	for _, crash := range []string{"while it plays", "after the player is back"} {
		r := host.NewRecovery(p.game)
		for _, raw := range append(slices.Clone(p.early), log...) {
			if err := r.Append(raw); err != nil {
				t.Fatal(err)
			}
		}
		h, err := r.Host(p.now, host.Options{Random: func(b []byte) { b[0] = 1 }, Authorize: p.authorize, Substitute: of, Grace: 60 * lockstep.Second})
		if err != nil {
			t.Fatal(err)
		}
		p.h, p.byID, p.ids = h, map[host.PeerID]*guest{}, nil
		tick := h.Now()
		p.pass(2 * lockstep.Second)
		played := h.Stats().Rejected[lockstep.Accepted]
		if got := played > 30; h.Now() < tick+30 || got != (crash == "while it plays") {
			t.Errorf("%s: got %d commands in %d ticks", crash, played, h.Now()-tick)
		}
		b.id, b.auth.Session, b.auth.Token = 0, protocol.SessionToken{}, "p1"
		b.connect()
		p.pass(lockstep.Second)
		stale := b.reasons[lockstep.StaleCommand]
		b.submit(t, 2, 9)
		b.submit(t, b.welcome.LastSequence, 9)
		p.pass(lockstep.Second / 2)
		if got := b.reasons[lockstep.StaleCommand] - stale; got != 2 || len(b.receipts) > 0 {
			t.Errorf("%s: got %d stale commands and receipts %v, want 2 and none", crash, got, b.receipts)
		}
	}
}

// A substitute needs a referee.
func TestSubstituteOptions(t *testing.T) {
	game, header := testgame.NewBankMatch(t, 2)
	_, err := host.New(game, header, host.Options{Random: func([]byte) {}, Relay: true, Substitute: func(lockstep.Player) lockstep.Bot { return nil }})
	if err == nil || !strings.Contains(err.Error(), "substitute: got one in relay mode") {
		t.Errorf("got error %v", err)
	}
}
