package player_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A purse is a view of the bank: the player's own coins, and which players are present.
type purse struct {
	Mine  int64
	There []bool
}

func seePurse(w *testgame.Bank, _ *testgame.BankConfig, viewer lockstep.Viewer, v *purse) error {
	v.There = v.There[:0]
	for i := range w.Piles {
		v.There = append(v.There, w.Piles[i].Active)
	}
	if viewer.As == lockstep.AsPlayer {
		v.Mine = w.Piles[viewer.Number].Coins
	}
	return nil
}

// A theatre is a host and clients of views, which a wire with a delay connects.
type theatre struct {
	t       *testing.T
	game    *lockstep.Game
	host    *host.Host
	now     lockstep.Time
	clients []*looker
	slow    bool // the log: nothing becomes durable
	dice    *rand.Rand
}

type looker struct {
	c      *player.Client
	id     host.PeerID // 0: no connection
	events []any
}

func newTheatre(t *testing.T, seats uint8) *theatre {
	rules := testgame.BankRules()
	rules.Validate, rules.View = nil, lockstep.View(seePurse, nil)
	return newTheatreOf(t, lockstep.MustGame(rules), &testgame.BankConfig{Start: 5}, seats)
}

func newTheatreOf(t *testing.T, game *lockstep.Game, config any, seats uint8) *theatre {
	x := &theatre{t: t, game: game, dice: rand.New(rand.NewPCG(1, 2))}
	h, err := x.game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(seats), config)
	if err != nil {
		t.Fatal(err)
	}
	x.host, err = host.New(x.game, h, host.Options{
		Authorize: func(token string) (host.Grant, error) {
			if token == "watch" {
				return host.Grant{Role: protocol.Spectator}, nil
			}
			return host.Grant{Role: protocol.Seated, Seat: host.AnySeat, Name: token}, nil
		},
		Random: func(b []byte) {
			for i := range b {
				b[i] = byte(x.dice.Uint32())
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *theatre) join(token string) *looker {
	return x.joinWith(player.Options{Token: token, Views: true})
}

func (x *theatre) joinWith(o player.Options) *looker {
	l := &looker{c: player.New(x.game, o)}
	x.clients = append(x.clients, l)
	return l
}

// pass lets time pass in steps of 10 ms.
func (x *theatre) pass(d lockstep.Time) {
	for end := x.now + d; x.now < end; x.now += 10 * lockstep.Millisecond {
		x.host.Advance(x.now)
		x.work()
		for _, l := range x.clients {
			x.client(l)
		}
		x.work()
	}
}

func (x *theatre) work() {
	for {
		r := x.host.Ready()
		if r.Empty() {
			return
		}
		if !x.slow {
			x.host.Persisted(x.now, r.Position)
		}
	}
}

func (x *theatre) client(l *looker) {
	l.c.Advance(x.now)
	if l.c.Stage() == player.StageDialing {
		l.id, _ = x.host.Connect(x.now, "here")
		l.c.Connected(x.now)
	}
	for l.id != 0 {
		out := l.c.Send(nil)
		if len(out) == 0 {
			break
		}
		x.host.Receive(x.now, l.id, out)
		x.work()
	}
	for l.id != 0 {
		b := x.host.Send(l.id, nil, 1<<16)
		if len(b) == 0 {
			break
		}
		if err := l.c.Receive(x.now, b); err != nil {
			x.t.Errorf("%v: %v", x.now, err)
		}
	}
	if _, _, closed := x.host.Closed(l.id); closed || l.c.Stage() == player.StageClosing {
		x.cut(l)
	}
	l.events = append(l.events, l.c.Ready().Events...)
}

func (x *theatre) cut(l *looker) {
	if l.id != 0 {
		x.host.Disconnect(x.now, l.id)
		l.id = 0
		l.c.Disconnected(x.now, nil)
	}
}

// purse returns what a client sees.
func (l *looker) purse(t *testing.T, g *lockstep.Game) purse {
	t.Helper()
	s, ok := l.c.Sight()
	if !ok {
		t.Fatal("the client sees nothing")
	}
	var v purse
	if err := lockstep.DecodeView(g, s.Current, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// A client of views plays: it sees what its commands do, though it has no state.
func TestLook(t *testing.T) {
	x := newTheatre(t, 2)
	a, b, w := x.join("a"), x.join("b"), x.join("watch")
	x.pass(lockstep.Second)
	for range 10 {
		if _, err := a.c.Submit(&testgame.Earn{Coins: 100}); err != nil {
			t.Fatal(err)
		}
		x.pass(100 * lockstep.Millisecond)
	}
	x.pass(lockstep.Second)
	bank := lockstep.World[testgame.Bank](x.host.Referee().Simulation())
	if got := a.purse(t, x.game); got.Mine+3 < bank.Piles[0].Coins || got.Mine > bank.Piles[0].Coins || !slices.Equal(got.There, []bool{true, true}) || got.Mine < 1000 {
		t.Errorf("got %+v of %+v", got, bank)
	}
	if got := w.purse(t, x.game); got.Mine != 0 {
		t.Errorf("a spectator got %+v", got)
	}
	if a.c.Simulation() != nil || a.c.Header() != nil || a.c.Stage() != player.StageLive {
		t.Errorf("a client of views has a state, or is %v", a.c.Stage())
	}
	receipts := 0
	for _, e := range a.events {
		if r, ok := e.(lockstep.Receipt); ok && r.Reason == lockstep.Accepted {
			receipts++
		}
	}
	if receipts != 10 || !slices.Contains(a.events, any(player.Looking{Viewer: "player:0"})) || !slices.ContainsFunc(a.events, func(e any) bool { _, ok := e.(player.Synced); return ok }) {
		t.Errorf("got %d receipts among %v", receipts, a.events)
	}
	b.c.Leave("enough")
	x.pass(lockstep.Second)
	var left player.SeatChanged
	for _, e := range w.events {
		if c, ok := e.(player.SeatChanged); ok {
			left = c
		}
	}
	if left.Player != 1 || left.Presence != player.Vacant || left.Name != "b" {
		t.Errorf("the last change of a seat: %+v", left)
	}
	if err := x.host.Admin().End(x.now, "over"); err != nil {
		t.Fatal(err)
	}
	x.pass(8 * lockstep.Second)
	if !slices.Contains(a.events, any(player.Ended{Reason: "over"})) || a.c.Stage() != player.StageDone || a.c.Err() != nil {
		t.Errorf("stage %v, error %v, last event %v", a.c.Stage(), a.c.Err(), a.events[len(a.events)-1])
	}
}

// After lost connections a client sees the same as before, and its commands run once.
func TestLookAgain(t *testing.T) {
	x := newTheatre(t, 2)
	a := x.join("a")
	x.pass(lockstep.Second)
	sent := int64(0)
	for range 30 {
		if _, err := a.c.Submit(&testgame.Earn{Coins: 1000}); err == nil {
			sent += 1000
		}
		if x.dice.IntN(4) == 0 {
			x.cut(a)
		}
		x.pass(lockstep.Time(x.dice.IntN(400)) * lockstep.Millisecond)
	}
	x.pass(20 * lockstep.Second)
	mine := a.purse(t, x.game).Mine
	if bank := lockstep.World[testgame.Bank](x.host.Referee().Simulation()); mine+3 < bank.Piles[0].Coins || mine < sent || mine > sent+1000 || sent < 20_000 {
		t.Errorf("got %d coins of %d, sent %d", mine, bank.Piles[0].Coins, sent)
	}
	if l := a.c.Memory(); l > a.c.MemoryBound(1<<10) {
		t.Errorf("%d bytes", l)
	}
}

// The time between two views passes evenly, and stands still when none comes.
func TestFractionOfViews(t *testing.T) {
	x := newTheatre(t, 1)
	a := x.join("a")
	x.pass(5 * lockstep.Second)
	last, fractions := lockstep.Tick(0), map[player.Fraction]bool{}
	for range 50 {
		x.pass(10 * lockstep.Millisecond)
		s, ok := a.c.Sight()
		if !ok || s.Tick < last || s.PreviousTick > s.Tick || s.Fraction > player.One {
			t.Fatalf("got ticks %d and %d, fraction %d", s.PreviousTick, s.Tick, s.Fraction)
		}
		last = s.Tick
		fractions[s.Fraction] = true
	}
	if len(fractions) < 5 {
		t.Errorf("got fractions %v", fractions)
	}
	a.c.Advance(x.now + 500*lockstep.Millisecond)
	if s, _ := a.c.Sight(); s.Fraction != player.One {
		t.Errorf("half a second later: fraction %d", s.Fraction)
	}
}

// What grows in the match never shrinks in the picture, whether or not a view brings something new.
func TestPictureGoesForward(t *testing.T) {
	x := newTheatre(t, 3)
	a := x.join("a")
	x.pass(lockstep.Second)
	last, quiet := int64(0), 0
	for range 1000 {
		s, _ := a.c.Sight()
		mine := [2]int64{}
		for i, b := range [][]byte{s.Previous, s.Current} {
			var v purse
			if err := lockstep.DecodeView(x.game, b, &v); err != nil {
				t.Fatal(err)
			}
			mine[i] = v.Mine << 16
		}
		at := player.Lerp(mine[0], mine[1], s.Fraction)
		if mine[0] != mine[1] && s.Tick > s.PreviousTick+2 {
			t.Fatalf("got views of ticks %d and %d, which are made every 2 ticks", s.PreviousTick, s.Tick)
		}
		if at < last {
			t.Fatalf("ticks %d to %d, fraction %d: got %d, before it was %d", s.PreviousTick, s.Tick, s.Fraction, at, last)
		}
		if last = at; mine[0] == mine[1] {
			quiet++
		}
		x.pass(10 * lockstep.Millisecond)
	}
	if quiet < 10 || quiet > 900 {
		t.Errorf("nothing moved in %d of 1000 pictures", quiet)
	}
}

// While no view comes, the time goes on for as long as the options say.
func TestExtrapolate(t *testing.T) {
	x := newTheatre(t, 1)
	const ms = lockstep.Millisecond
	for _, row := range []struct{ extrapolate, pause, least, most lockstep.Time }{ // of the time since the last view
		{0, 300 * ms, 100 * ms, 100 * ms},
		{50 * ms, 300 * ms, 150 * ms, 150 * ms},
		{400 * ms, 300 * ms, 300 * ms, 400 * ms}, // the last view is up to 100 ms old
		{-lockstep.Second, 300 * ms, 100 * ms, 100 * ms},
		{1 << 50, 1500 * ms, 1500 * ms, 1600 * ms},
	} {
		a := &looker{c: player.New(x.game, player.Options{Token: "a", Views: true, Extrapolate: row.extrapolate})}
		x.clients = []*looker{a} // in place of the one before
		x.pass(3 * lockstep.Second)
		a.c.Advance(x.now + row.pause)
		s, _ := a.c.Sight()
		since := lockstep.Time(s.Fraction) * 100 * lockstep.Millisecond / lockstep.Time(player.One)
		if s.Tick != s.PreviousTick+2 || since < row.least || since > row.most {
			t.Errorf("%+v: fraction %d, %d µs, of the views %d and %d", row, s.Fraction, since, s.PreviousTick, s.Tick)
		}
	}
}

// A client of views knows which of its own commands its view does not have yet: with them it has each of them once, at any time.
func TestOwnCommands(t *testing.T) {
	x := newTheatre(t, 1)
	a := x.join("a")
	x.pass(lockstep.Second)
	const coins = 1000 // and the game adds up to one in each tick
	ahead, sent := 0, int64(0)
	for i := range 300 {
		if i%3 == 0 {
			if _, err := a.c.Submit(&testgame.Earn{Coins: coins}); err != nil {
				t.Fatal(err)
			}
			sent++
		}
		s, _ := a.c.Sight()
		mine := a.purse(t, x.game).Mine
		for _, c := range s.Own {
			mine += int64(c.Value.(*testgame.Earn).Coins)
		}
		if mine/coins != sent {
			t.Fatalf("got %d coins with %d own commands, want those of %d", mine, len(s.Own), sent)
		}
		ahead += len(s.Own)
		if i == 150 {
			x.cut(a)
		}
		x.pass(10 * lockstep.Millisecond)
	}
	x.pass(lockstep.Second)
	if s, _ := a.c.Sight(); ahead < 300 || len(s.Own) != 0 {
		t.Errorf("%d commands were ahead of the views, %d at the end", ahead, len(s.Own))
	}
}

// Whatever a hostile server sends, a client of views hangs up, and nothing else.
func TestHostileViews(t *testing.T) {
	x := newTheatre(t, 1)
	a := x.join("a")
	x.pass(lockstep.Second)
	plan := x.viewSync()
	for name, bad := range map[string]protocol.Message{
		"a plan that is none":        {Kind: protocol.KindViewSync, Players: 1, Every: 1, Period: 1, Bytes: []byte{1}},
		"a view that does not begin": {Kind: protocol.KindViewDelta, View: 1 << 40, Offset: 5, Total: 9, Bytes: []byte{1}},
		"a view without its base":    {Kind: protocol.KindViewDelta, View: 1 << 40, Base: 1<<40 - 1, Total: 1, Bytes: []byte{0}},
		"a view that is too large":   {Kind: protocol.KindViewDelta, View: 1 << 40, Total: 1 << 27, Bytes: []byte{0}},
		"no delta":                   {Kind: protocol.KindViewDelta, View: 1 << 40, Total: 2, Bytes: []byte{255, 255}},
		"a state":                    {Kind: protocol.KindStateSync, Position: 1, Total: 1, Bytes: []byte{0}},
		"a request for a state":      {Kind: protocol.KindStateRequest, Tick: 1},
	} {
		if a.c.Stage() != player.StageLive {
			t.Fatalf("before %s: %v", name, a.c.Stage())
		}
		if err := a.c.Receive(x.now, testgame.Message(&bad)); !errors.Is(err, record.ErrMalformed) && !errors.Is(err, record.ErrOutOfPlace) {
			t.Errorf("%s: got %v", name, err)
		}
		x.pass(10 * lockstep.Second) // it comes back
	}
	if err := a.c.Receive(x.now, testgame.Message(&plan)); err != nil {
		t.Errorf("a second view_sync: %v", err)
	}
	if err := a.c.Receive(x.now, testgame.Message(&protocol.Message{Kind: protocol.KindViewDelta, View: 1, Base: 1, Tick: 1})); err == nil {
		t.Error("nothing new, before the first view, was taken")
	}
}

// viewSync returns the message that begins the views of the match.
func (x *theatre) viewSync() (m protocol.Message) {
	id, _ := x.host.Connect(x.now, "there")
	auth := protocol.NewViewerAuth(x.game)
	auth.Token = "watch"
	x.host.Receive(x.now, id, testgame.Message(&protocol.Message{Kind: protocol.KindAuth, Auth: auth}))
	x.work()
	var r protocol.Reader
	for b := x.host.Send(id, nil, 1<<16); len(b) > 0; {
		if protocol.IsRecord(b) {
			dec := record.DecoderAt(0)
			_, rest, err := dec.Decode(b)
			if err != nil {
				x.t.Fatal(err)
			}
			b = rest
			continue
		}
		rest, err := r.Read(&m, b)
		if err != nil {
			x.t.Fatal(err)
		}
		if b = rest; m.Kind == protocol.KindViewSync {
			m.Bytes = append([]byte(nil), m.Bytes...)
			return m
		}
	}
	x.t.Fatal(fmt.Errorf("no view_sync"))
	return m
}
