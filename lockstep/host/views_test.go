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

// An account is a view of the bank: the viewer's own coins, and which players are present.
type account struct {
	Mine  int64
	There []bool
	Large []uint32 // fills views, where a test needs large ones
}

// showing are the rules of the bank with views. Pairs of players share a view.
func showing(see func(*testgame.Bank, *testgame.BankConfig, lockstep.Viewer, *account) error) lockstep.Rules[testgame.Bank, testgame.BankConfig] {
	rules := testgame.BankRules()
	rules.Validate, rules.View = nil, lockstep.View(see, nil)
	return rules
}

func seeAccount(w *testgame.Bank, _ *testgame.BankConfig, viewer lockstep.Viewer, v *account) error {
	v.There, v.Large = v.There[:0], v.Large[:0]
	for i := range w.Piles {
		v.There = append(v.There, w.Piles[i].Active)
	}
	switch {
	case viewer.As == lockstep.AsPlayer:
		v.Mine = w.Piles[viewer.Number].Coins
	case viewer.As != lockstep.AsSpectator:
		return errors.New("players and spectators look")
	}
	return nil
}

// sees fails unless a viewer's view is that of a player, or of a spectator, in the referee's state.
func (g *guest) sees(viewer lockstep.Viewer) {
	t := g.party.t
	t.Helper()
	for range 10 { // views are made between ticks
		if g.view.tick < g.party.h.Now() {
			g.party.pass(5 * lockstep.Millisecond)
		}
	}
	want, err := g.party.h.Referee().Simulation().AppendView(nil, viewer)
	if err != nil {
		t.Fatal(err)
	}
	if g.view.receiver == nil {
		t.Fatalf("%s: no view", g.name)
	}
	if d, err := g.party.game.ViewSchema().Diff(g.view.receiver.AppendView(nil), want, 3); err != nil || d.Total > 0 {
		t.Errorf("%s: got another view: %v, %v", g.name, d, err)
	}
	if behind := g.party.h.Now() - g.view.tick; behind >= lockstep.Tick(g.welcome.AckEvery) {
		t.Errorf("%s: the view is of tick %d, the match at %d", g.name, g.view.tick, g.party.h.Now())
	}
}

func everyTick(o *host.Options) { o.Views.Every = 1 }

// A viewer sees what the rules show, gives commands and reads notes. It gets no frame and no state.
func TestViews(t *testing.T) {
	p := newPartyOf(t, showing(seeAccount), nil, everyTick)
	a, b, watcher := p.viewer("a", "p0"), p.join("b", "p1"), p.viewer("w", "watch")
	p.pass(lockstep.Second)
	for range 20 {
		a.command(t, 7)
		b.command(t, 5)
		p.pass(100 * lockstep.Millisecond)
	}
	b.send(&protocol.Message{Kind: protocol.KindChat, Text: "hello"})
	p.pass(lockstep.Second)
	a.sees(lockstep.Viewer{As: lockstep.AsPlayer})
	watcher.sees(lockstep.Viewer{})
	p.agree()
	if len(a.receipts) != 20 || a.view.begun != 1 || a.view.viewer != "player:0" || watcher.view.viewer != "spectator" {
		t.Errorf("got %d receipts, %d beginnings, viewers %s and %s", len(a.receipts), a.view.begun, a.view.viewer, watcher.view.viewer)
	}
	for _, want := range []string{"0 name: p0", "1 presence: here", "1 chat: hello"} {
		if !slices.Contains(watcher.view.notes, want) && !slices.ContainsFunc(watcher.view.notes, func(n string) bool { return strings.HasPrefix(n, want) }) {
			t.Errorf("the viewer was not told %q: %q", want, watcher.view.notes)
		}
	}
	b.cut()
	p.pass(lockstep.Second)
	if last := watcher.view.notes[len(watcher.view.notes)-1]; last != "1 presence: away" {
		t.Errorf("got %q last", last)
	}
	views := a.view.views
	if err := p.h.Admin().End(p.now, "enough"); err != nil {
		t.Fatal(err)
	}
	p.pass(lockstep.Second)
	if !watcher.view.ended || !a.view.ended || watcher.code != protocol.CloseEnded {
		t.Errorf("ended %t and %t, closed with %v", watcher.view.ended, a.view.ended, watcher.code)
	}
	if s := p.h.Stats(); views < 5 || s.Views < uint64(views) || s.ViewBytes == 0 {
		t.Errorf("got %d views, %d of all viewers, %d bytes", views, s.Views, s.ViewBytes)
	}
}

// A viewer that comes back gets the whole view anew, and the answers to its commands.
func TestViewerComesBack(t *testing.T) {
	p := newPartyOf(t, showing(seeAccount), nil, everyTick)
	a := p.viewer("a", "p0")
	p.pass(lockstep.Second)
	a.command(t, 7)
	p.pass(lockstep.Second)
	a.cut()
	p.pass(lockstep.Second)
	a.auth.Session = a.welcome.Session
	a.connect()
	a.submit(t, a.sequence, 7) // the answer is known
	p.pass(lockstep.Second)
	if a.welcome.Resumed || a.view.begun != 2 || len(a.receipts) != 1 {
		t.Errorf("resumed %t, %d beginnings, receipts %v", a.welcome.Resumed, a.view.begun, a.receipts)
	}
	a.sees(lockstep.Viewer{As: lockstep.AsPlayer})
}

// No view is sent before its tick is in the log: a crash could take the tick back.
func TestViewsAreDurable(t *testing.T) {
	p := newPartyOf(t, showing(seeAccount), nil, everyTick)
	a := p.viewer("a", "p0")
	p.pass(lockstep.Second)
	p.lazy = true // from here on, nothing is durable
	seen, views := a.view.tick, a.view.views
	p.pass(lockstep.Second)
	late := p.viewer("late", "watch")
	p.pass(lockstep.Second)
	if a.view.tick > seen+1 || a.view.views > views+1 || late.view.receiver != nil {
		t.Errorf("got the views up to tick %d, with the log at %d; a late viewer sees: %t", a.view.tick, seen, late.view.receiver != nil)
	}
	p.lazy = false
	p.h.Persisted(p.now, p.wrote)
	p.pass(lockstep.Second)
	a.sees(lockstep.Viewer{As: lockstep.AsPlayer})
	late.sees(lockstep.Viewer{})
}

// A quiet match costs a message in each AckEvery, and a viewer is not behind.
func TestQuietViews(t *testing.T) {
	quiet := func(_ *testgame.Bank, _ *testgame.BankConfig, _ lockstep.Viewer, v *account) error {
		v.Mine = 5
		return nil
	}
	p := newPartyOf(t, showing(quiet), nil, everyTick)
	w := p.viewer("w", "watch")
	p.pass(lockstep.Second)
	bytes := w.bytes
	p.pass(60 * lockstep.Second)
	if w.view.views != 1 || w.code != 0 || p.h.Stats().Syncs > 1 {
		t.Errorf("%d views, closed with %v, %d syncs", w.view.views, w.code, p.h.Stats().Syncs)
	}
	if n := (w.bytes - bytes) / 60; n > 60 {
		t.Errorf("got %d bytes a second", n)
	}
}

// A viewer that sends no acks is sent a few views and no more. A viewer that is too far behind gets the whole view anew, and
// one that does not read loses its connection. Nobody else is late.
func TestSlowViewers(t *testing.T) {
	large := func(w *testgame.Bank, c *testgame.BankConfig, viewer lockstep.Viewer, v *account) error {
		err := seeAccount(w, c, viewer, v)
		for i := range uint32(5_000) {
			v.Large = append(v.Large, uint32(w.Tick)*i)
		}
		return err
	}
	p := newPartyOf(t, showing(large), nil, everyTick)
	good, unacked, blocked := p.viewer("good", "watch"), p.viewer("unacked", "watch"), p.viewer("blocked", "watch")
	unacked.view.unacked = true
	blocked.blocked = true
	p.pass(3 * lockstep.Second)
	if n := unacked.view.views; n < 2 || n > 9 {
		t.Errorf("without acks: got %d views", n)
	}
	if good.view.views < 50 || good.view.largest < 10_000 {
		t.Errorf("got %d views of at most %d bytes", good.view.views, good.view.largest)
	}
	good.sees(lockstep.Viewer{})
	p.pass(30 * lockstep.Second)
	if unacked.code != protocol.CloseSlow && unacked.code != protocol.CloseTimeout {
		t.Errorf("without acks: closed with %v", unacked.code)
	}
	if blocked.code != 0 {
		t.Errorf("a socket that is not read was read: %v", blocked.code)
	}
	if _, _, closed := p.h.Closed(blocked.id); !closed {
		t.Error("a viewer that reads nothing still has its connection")
	}
	good.sees(lockstep.Viewer{})
}

// A viewer whose view is another player's from some tick on begins anew.
func TestViewerChangesSides(t *testing.T) {
	rules := showing(seeAccount)
	rules.ViewOf = func(w *testgame.Bank, p lockstep.Player) lockstep.Viewer {
		if w.Piles[0].Coins > 1000 {
			return lockstep.Viewer{As: lockstep.AsPlayer, Number: 1}
		}
		return lockstep.Viewer{As: lockstep.AsPlayer, Number: uint8(p)}
	}
	p := newPartyOf(t, rules, nil, everyTick)
	a, b := p.viewer("a", "p0"), p.viewer("b", "p1")
	p.pass(lockstep.Second)
	a.sees(lockstep.Viewer{As: lockstep.AsPlayer})
	a.command(t, 2000)
	p.pass(lockstep.Second)
	a.sees(lockstep.Viewer{As: lockstep.AsPlayer, Number: 1})
	b.sees(lockstep.Viewer{As: lockstep.AsPlayer, Number: 1})
	if a.view.viewer != "player:1" || a.view.begun != 2 || b.view.begun != 1 || a.code != 0 {
		t.Errorf("got the view of %s, %d and %d beginnings, closed with %v", a.view.viewer, a.view.begun, b.view.begun, a.code)
	}
}

// While players get frames, views are made between two ticks: a frame does not wait for many viewers.
func TestViewsBetweenTicks(t *testing.T) {
	for name, players := range map[string]bool{"frames": true, "views only": false} {
		p := newPartyOf(t, showing(seeAccount), nil, everyTick)
		if players {
			p.join("b", "p1")
		}
		a := p.viewer("a", "p0")
		p.pass(lockstep.Second)
		tick, at, seen := p.h.Now(), lockstep.Time(0), 0
		for end := p.now + 2*lockstep.Second; p.now < end; p.pass(lockstep.Millisecond) {
			if p.h.Now() > tick {
				tick, at = p.h.Now(), p.now
			}
			if at == 0 || a.view.tick < tick {
				continue
			}
			if late := (p.now - at).Milliseconds(); players && (late < 20 || late > 30) || !players && late > 5 {
				t.Errorf("%s: the view came %d ms after its tick", name, late)
			}
			at, seen = 0, seen+1
		}
		if seen < 10 {
			t.Errorf("%s: %d views in two seconds", name, seen)
		}
	}
}

// A spectator whose token names a viewer gets the views of that one, and no records.
func TestCoach(t *testing.T) {
	coach := lockstep.Viewer{As: lockstep.AsPlayer, Number: 1}
	nobody := lockstep.Viewer{As: lockstep.AsRole, Role: "nobody"}
	p := newPartyOf(t, showing(seeAccount), nil, func(o *host.Options) {
		everyTick(o)
		authorize := o.Authorize
		o.Authorize = func(token string) (host.Grant, error) {
			g, err := authorize(token)
			switch token {
			case "watch":
				g.Viewer = coach
			case "watch2":
				g = host.Grant{Role: protocol.Spectator, Viewer: nobody}
				err = nil
			}
			return g, err
		}
	})
	b, full, c, n := p.join("b", "p1"), p.join("full", "watch"), p.viewer("c", "watch"), p.viewer("n", "watch2")
	p.pass(lockstep.Second)
	for range 20 {
		b.command(t, 7)
		p.pass(100 * lockstep.Millisecond)
	}
	p.pass(lockstep.Second)
	c.sees(coach)
	if c.view.viewer != "player:1" || c.code != 0 {
		t.Errorf("the coach got the views of %s, closed with %v", c.view.viewer, c.code)
	}
	for name, g := range map[string]*guest{"one that wants records": full, "one for whom the rules make no view": n} {
		if g.errors[protocol.ErrorRole] != 1 || g.code != protocol.CloseRefused || g.bytes > 1000 {
			t.Errorf("%s: errors %v, closed with %v, %d bytes", name, g.errors, g.code, g.bytes)
		}
	}
}

// Notes that come while a viewer waits for its first view are sent after view_sync. Before it they would be of the roster, of which a
// client takes as many as there can be.
func TestNotesAfterViewSync(t *testing.T) {
	p := newPartyOf(t, showing(seeAccount), nil, everyTick)
	b := p.join("b", "p1")
	p.pass(lockstep.Second)
	p.lazy = true
	p.pass(200 * lockstep.Millisecond) // a tick is not durable, so no view is made
	w := p.viewer("w", "watch")
	b.send(&protocol.Message{Kind: protocol.KindChat, Text: "hello"})
	p.pass(200 * lockstep.Millisecond)
	p.h.Persisted(p.now, p.wrote-1) // the chat is durable, and the last tick is not
	p.pass(lockstep.Millisecond)
	if w.view.begun != 0 || len(w.view.notes) == 0 || slices.Contains(w.view.notes, "1 chat: hello") {
		t.Errorf("before the first view: %d beginnings, notes %q", w.view.begun, w.view.notes)
	}
	p.lazy = false
	p.h.Persisted(p.now, p.wrote)
	p.pass(200 * lockstep.Millisecond)
	if w.view.begun != 1 || !slices.Contains(w.view.notes, "1 chat: hello") {
		t.Errorf("after it: %d beginnings, notes %q", w.view.begun, w.view.notes)
	}
}

// A match that is sent as views only refuses clients that want records. Other matches have both.
func TestOnlyViews(t *testing.T) {
	p := newPartyOf(t, showing(seeAccount), nil, func(o *host.Options) { everyTick(o); o.Views.Only = true })
	full, a := p.join("full", "p1"), p.viewer("a", "p0")
	p.pass(lockstep.Second)
	if full.errors[protocol.ErrorRole] != 1 || full.code != protocol.CloseRefused || full.bytes > 200 {
		t.Errorf("a client that asks for records: errors %v, closed with %v, %d bytes", full.errors, full.code, full.bytes)
	}
	a.sees(lockstep.Viewer{As: lockstep.AsPlayer})

	for name, o := range map[string]struct {
		rules   lockstep.Rules[testgame.Bank, testgame.BankConfig]
		options func(*host.Options)
		want    string
	}{
		"no views": {testgame.BankRules(), nil, "identity"},
		"relay":    {showing(seeAccount), func(o *host.Options) { o.Relay = true }, "identity"},
		"a delay":  {showing(seeAccount), func(o *host.Options) { o.SpectatorDelay = 20 }, "delayed"},
	} {
		p := newPartyOf(t, o.rules, nil, o.options)
		g := p.guest("w", "watch")
		g.auth.Capabilities, g.view = []string{protocol.Views}, &glance{}
		g.auth.StateSchema = 0
		g.connect()
		p.pass(lockstep.Second)
		if g.code != protocol.CloseRefused || len(g.errors) != 1 {
			t.Errorf("%s: closed with %v, errors %v", name, g.code, g.errors)
		}
	}
	g := lockstep.MustGame(testgame.BankRules())
	h, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.BankConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := host.New(g, h, host.Options{Random: func([]byte) {}, Views: host.ViewPolicy{Only: true}}); err == nil {
		t.Error("a game without views is sent as views only")
	}
}

// What a viewer must not send closes its connection, and a view that panics closes those of its viewers. The match goes on.
func TestBadViewers(t *testing.T) {
	panics := func(w *testgame.Bank, c *testgame.BankConfig, viewer lockstep.Viewer, v *account) error {
		if viewer.As == lockstep.AsPlayer && w.Piles[0].Coins > 1000 {
			panic("no sight")
		}
		return seeAccount(w, c, viewer, v)
	}
	p := newPartyOf(t, showing(panics), nil, everyTick)
	a, w := p.viewer("a", "p0"), p.viewer("w", "watch")
	p.pass(lockstep.Second)
	for i, m := range []protocol.Message{
		{Kind: protocol.KindViewAck, View: 1 << 40, Tick: 1},
		{Kind: protocol.KindViewAck, View: 1, Tick: 1 << 30},
		{Kind: protocol.KindChecksum, Tick: 1},
		{Kind: protocol.KindState, Tick: 1},
		{Kind: protocol.KindAck, Tick: 1},
		{Kind: protocol.KindResimulated, Tick: 1},
		{Kind: protocol.KindPhases, Tick: 1},
	} {
		bad := p.viewer(fmt.Sprint("bad ", i), "watch")
		p.pass(lockstep.Second)
		bad.send(&m)
		p.pass(lockstep.Second)
		if bad.code != protocol.CloseMalformed {
			t.Errorf("%v: closed with %v", m.Kind, bad.code)
		}
	}
	full := p.join("full", "p1")
	p.pass(lockstep.Second)
	full.send(&protocol.Message{Kind: protocol.KindViewAck, View: 1})
	p.pass(lockstep.Second)
	if full.code != protocol.CloseMalformed {
		t.Errorf("an ack of a view by a client without views: closed with %v", full.code)
	}
	a.command(t, 2000)
	p.pass(lockstep.Second)
	if a.errors[protocol.ErrorRole] != 1 || a.code != protocol.CloseRefused {
		t.Errorf("a view that panics: errors %v, closed with %v", a.errors, a.code)
	}
	w.sees(lockstep.Viewer{})
}

// A flood of acks is an offence like any flood.
func TestFloodOfViewAcks(t *testing.T) {
	p := newPartyOf(t, showing(seeAccount), nil, everyTick)
	w := p.viewer("w", "watch")
	p.pass(lockstep.Second)
	for range 2000 {
		w.send(&protocol.Message{Kind: protocol.KindViewAck, View: 1, Tick: 1})
	}
	p.pass(lockstep.Second)
	if w.code != protocol.CloseAbuse {
		t.Errorf("closed with %v", w.code)
	}
}

// A budget is kept, and all is sent in the end.
func TestViewBudget(t *testing.T) {
	large := func(w *testgame.Bank, _ *testgame.BankConfig, _ lockstep.Viewer, v *account) error {
		for i := range uint32(3000) {
			v.Large = append(v.Large, i*i)
		}
		return nil
	}
	p := newPartyOf(t, showing(large), nil, func(o *host.Options) { everyTick(o); o.Views.Budget = 500 })
	w := p.viewer("w", "watch")
	p.pass(20 * lockstep.Second)
	w.sees(lockstep.Viewer{})
	if w.view.largest > 500 {
		t.Errorf("got a view of %d bytes", w.view.largest)
	}
}

// With a budget of one byte each view has one change, and all is sent in the end.
func TestViewBudgetOfOneByte(t *testing.T) {
	few := func(w *testgame.Bank, _ *testgame.BankConfig, _ lockstep.Viewer, v *account) error {
		for i := range uint32(50) {
			v.Large = append(v.Large, 7*i)
		}
		return nil
	}
	p := newPartyOf(t, showing(few), nil, func(o *host.Options) { everyTick(o); o.Views.Budget = 1 })
	w := p.viewer("w", "watch")
	p.pass(20 * lockstep.Second)
	w.sees(lockstep.Viewer{})
	if w.code != 0 {
		t.Errorf("closed with %v", w.code)
	}
}

// A view of 100,000 elements arrives in parts, and the match goes on meanwhile.
func TestViewOfManyElements(t *testing.T) {
	many := func(w *testgame.Bank, _ *testgame.BankConfig, _ lockstep.Viewer, v *account) error {
		for i := range uint32(100_000) {
			v.Large = append(v.Large, i)
		}
		v.Mine = int64(w.Tick)
		return nil
	}
	p := newPartyOf(t, showing(many), nil, nil)
	w, player := p.viewer("w", "watch"), p.join("a", "p0")
	before := p.h.Now()
	p.pass(5 * lockstep.Second)
	w.sees(lockstep.Viewer{})
	p.unharmed(t, player)
	if ticks := p.h.Now() - before; ticks < 99 {
		t.Errorf("got %d ticks in 5 s", ticks)
	}
}

// Acks that come again, and those of older views, have no effect.
func TestOldViewAcks(t *testing.T) {
	p := newPartyOf(t, showing(seeAccount), nil, everyTick)
	w := p.viewer("w", "watch")
	p.pass(2 * lockstep.Second)
	last := protocol.Message{Kind: protocol.KindViewAck, View: 1, Tick: w.view.tick}
	for range 3 {
		w.send(&last)
		w.send(&protocol.Message{Kind: protocol.KindViewAck, View: 1, Tick: 1})
	}
	p.pass(2 * lockstep.Second)
	w.sees(lockstep.Viewer{})
	if w.code != 0 {
		t.Errorf("closed with %v", w.code)
	}
}

// A match of which nobody but the host has the whole state.
func ExampleViewPolicy() {
	game := lockstep.MustGame(showing(seeAccount))
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.BankConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var policy host.ViewPolicy = host.ViewPolicy{Only: true, Budget: 400}
	h, err := host.New(game, header, host.Options{Random: func([]byte) {}, AnonymousSpectators: true, Views: policy})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, _ := h.Connect(0, "")
	var w protocol.Writer
	h.Receive(0, id, w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: protocol.NewAuth(game)}))
	_, reason, closed := h.Closed(id)
	fmt.Println(closed, reason)
	// Output: true this match is sent as views: the client must ask for them
}
