package player_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A room is a host and its clients in one virtual time, without delays.
type room struct {
	t       *testing.T
	h       *host.Host
	now     lockstep.Time
	log     [][]byte
	events  []host.Event
	clients []*roomClient
	emitted []string
}

type roomClient struct {
	*player.Client
	peer   host.PeerID // 0: not connected
	events []any
}

// raceOptions give each token the seat of its first byte, and watchers no seat.
func (r *room) raceOptions() host.Options {
	return host.Options{
		Random: func(b []byte) { b[0] = 1 },
		Authorize: func(token string) (host.Grant, error) {
			if token == "w" {
				return host.Grant{Role: protocol.Spectator}, nil
			}
			return host.Grant{Role: protocol.Seated, Seat: lockstep.Player(token[0] - '0'), Subject: token}, nil
		},
		Observer: func(t lockstep.Tick, event any) { r.emitted = append(r.emitted, fmt.Sprint(t, event)) },
	}
}

func newRoom(t *testing.T, change func(*host.Options, *lockstep.Header)) (*room, *lockstep.Game) {
	g, header := testgame.NewRace(t)
	r := &room{t: t}
	o := r.raceOptions()
	if change != nil {
		change(&o, header)
	}
	var err error
	if r.h, err = host.New(g, header, o); err != nil {
		t.Fatal(err)
	}
	return r, g
}

func (r *room) join(g *lockstep.Game, token string) *roomClient {
	c := &roomClient{Client: player.New(g, player.Options{Token: token, Seed: 1, Predict: 8})}
	r.clients = append(r.clients, c)
	return c
}

// pass lets a time pass, in steps of 10 ms.
func (r *room) pass(d lockstep.Time) {
	r.t.Helper()
	for end := r.now + d; r.now < end; r.now += 10 * lockstep.Millisecond {
		r.h.Advance(r.now)
		for range 4 {
			r.serve()
			for _, c := range r.clients {
				r.run(c)
			}
		}
	}
}

func (r *room) serve() {
	for out := r.h.Ready(); !out.Empty(); out = r.h.Ready() {
		for _, b := range out.Records {
			r.log = append(r.log, slices.Clone(b))
		}
		r.h.Persisted(r.now, out.Position)
		r.events = append(r.events, out.Events...)
		for _, id := range slices.Clone(out.Peers) {
			i := slices.IndexFunc(r.clients, func(c *roomClient) bool { return c.peer == id })
			for b := r.h.Send(id, nil, protocol.MaxServerMessage); len(b) > 0; b = r.h.Send(id, nil, protocol.MaxServerMessage) {
				if i >= 0 {
					if err := r.clients[i].Receive(r.now, b); err != nil {
						r.t.Fatal(err)
					}
				}
			}
			if _, _, closed := r.h.Closed(id); closed && i >= 0 { // a connection that was lost unnoticed takes long to close
				r.h.Disconnect(r.now, id)
				r.clients[i].peer = 0
				r.clients[i].Disconnected(r.now, errors.New("closed"))
			}
		}
	}
}

func (r *room) run(c *roomClient) {
	c.Advance(r.now)
	if c.Stage() == player.StageDialing {
		if id, ok := r.h.Connect(r.now, ""); ok {
			c.peer = id
			c.Connected(r.now)
		} else {
			c.Disconnected(r.now, errors.New("no room"))
		}
	}
	for b := c.Send(nil); len(b) > 0; b = c.Send(nil) {
		r.h.Receive(r.now, c.peer, b)
	}
	if c.Stage() == player.StageClosing {
		r.h.Disconnect(r.now, c.peer)
		c.peer = 0
		c.Disconnected(r.now, nil)
	}
	for e := c.Ready().Events; len(e) > 0; e = c.Ready().Events {
		c.events = append(c.events, e...)
	}
}

// ended returns the event of the match's end, or the zero value.
func (c *roomClient) ended() player.Ended {
	for _, e := range c.events {
		if end, ok := e.(player.Ended); ok {
			return end
		}
	}
	return player.Ended{}
}

func (c *roomClient) desyncs() (n int) {
	for _, e := range c.events {
		if _, ok := e.(player.Desynced); ok {
			n++
		}
	}
	return n
}

// wins reports whether a client got the victory of player 1.
func (c *roomClient) wins() bool {
	v, ok := c.ended().Result.(*testgame.Victory)
	return ok && c.ended().ByRules && v.Winner == 1 && c.Err() == nil && c.desyncs() == 0
}

// Players, spectators and those who come or come back soon after it get the end of the rules with its result. Later
// nobody is let in.
func TestRulesEndLive(t *testing.T) {
	for _, delay := range []lockstep.Tick{0, 40} {
		r, g := newRoom(t, func(o *host.Options, _ *lockstep.Header) { o.SpectatorDelay = delay })
		a, b, w := r.join(g, "0"), r.join(g, "1"), r.join(g, "w")
		r.pass(3 * lockstep.Second)
		if _, err := b.Submit(&testgame.Run{Steps: 10}); err != nil {
			t.Fatal(err)
		}
		a.peer, r.clients = 0, slices.DeleteFunc(r.clients, func(c *roomClient) bool { return c == a }) // its connection is lost unnoticed
		r.pass(7 * lockstep.Second)                                                                     // the keyframe of the first joiners is too old
		last := r.h.Now()
		if !r.h.Status().Lingers {
			t.Errorf("delay %d: the host does not linger for a player who is away", delay)
		}
		back, late := r.join(g, "0"), r.join(g, "w")
		r.pass(5 * lockstep.Second)
		for name, c := range map[string]*roomClient{"player": b, "spectator": w, "back": back, "late spectator": late} {
			if !c.wins() || c.Tick() != last || c.Stage() != player.StageDone {
				t.Errorf("delay %d, %s: got %+v at tick %d, stage %v, %v; want the victory at tick %d", delay, name, c.ended(), c.Tick(), c.Stage(), c.Err(), last)
			}
		}
		if r.h.Status().Lingers {
			t.Errorf("delay %d: the host lingers, though all players have seen the end", delay)
		}
		later := r.join(g, "0")
		r.pass(lockstep.Second)
		if r.h.Status().Lingers || later.ended().ByRules || later.Header() != nil {
			t.Errorf("delay %d: after the linger a client got %+v", delay, later.ended())
		}
		i := slices.IndexFunc(r.events, func(e host.Event) bool { return e.Kind == host.MatchOver })
		if i < 0 || !r.events[i].ByRules || r.events[i].Result != `{"Winner":1,"Steps":[0,10]}` || r.events[i].Tick != last {
			t.Errorf("delay %d: got events %v", delay, r.events)
		}
		if want := []string{fmt.Sprint(last, testgame.Run{Steps: 10})}; !slices.Equal(r.emitted, want) {
			t.Errorf("delay %d: the observer got %v, want %v", delay, r.emitted, want)
		}
	}
}

// A server that crashes after the last tick ends the match when it is resumed, and the players get the result. The log
// has one end record, nothing after it, and if the crash was after it nothing new. The observer gets no event of a tick
// that the log has.
func TestRulesEndAfterCrash(t *testing.T) {
	for _, delay := range []lockstep.Tick{0, 40} {
		testRulesEndAfterCrash(t, delay)
	}
}

func testRulesEndAfterCrash(t *testing.T, delay lockstep.Tick) {
	r, g := newRoom(t, nil)
	r.join(g, "0")
	b := r.join(g, "1")
	r.pass(3 * lockstep.Second)
	if _, err := b.Submit(&testgame.Run{Steps: 10}); err != nil {
		t.Fatal(err)
	}
	r.pass(lockstep.Second)
	frame := slices.IndexFunc(r.log[5:], func(b []byte) bool { return record.KindOf(b) == record.KindFrame && len(b) > 4 && b[4] == 0xc4 }) + 5
	for cut := len(r.log) - 2; cut <= len(r.log); cut++ {
		recovery := host.NewRecovery(g)
		for _, b := range r.log[:cut] {
			if err := recovery.Append(b); err != nil {
				t.Fatal(frame, err)
			}
		}
		second := &room{t: t, now: r.now, log: slices.Clone(r.log[:cut])}
		var err error
		o := second.raceOptions()
		o.SpectatorDelay = delay
		if second.h, err = recovery.Host(r.now, o); err != nil {
			t.Fatal(err)
		}
		b, w := second.join(g, "1"), second.join(g, "w")
		second.pass(3 * lockstep.Second)
		for _, c := range []*roomClient{b, w} {
			if !c.wins() {
				t.Errorf("cut %d, delay %d: got %+v, %v", cut, delay, c.ended(), c.Err())
			}
		}
		end := slices.IndexFunc(second.log, func(b []byte) bool { return record.KindOf(b) == record.KindEnd })
		if n := len(second.log); end != n-1 || cut == len(r.log) && n != cut {
			t.Errorf("cut %d, delay %d: the end record is %d of %d", cut, delay, end, n)
		}
		if len(second.emitted) > 0 {
			t.Errorf("cut %d: the observer got %v", cut, second.emitted)
		}
	}
}

// A log whose end is not that of the rules is not resumed.
func TestRecoveryRefusesAnotherEnd(t *testing.T) {
	r, g := newRoom(t, nil)
	b := r.join(g, "1")
	r.pass(3 * lockstep.Second)
	if _, err := b.Submit(&testgame.Run{Steps: 10}); err != nil {
		t.Fatal(err)
	}
	r.pass(lockstep.Second)
	rules := testgame.RaceRules()
	rules.Step = func(w *testgame.Race, c *testgame.RaceConfig, turn *lockstep.Turn) {
		testgame.RaceRules().Step(w, c, turn)
		endAlso(turn, 0)
	}
	recovery := host.NewRecovery(lockstep.MustGame(rules))
	for _, b := range r.log {
		if err := recovery.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	differs := (*lockstep.DesyncError)(nil)
	if _, err := recovery.Host(r.now, r.raceOptions()); !errors.As(err, &differs) || differs.End == "" {
		t.Errorf("got %v, want a desync at the end", err)
	}
}

// A client whose rules end the match at another tick or with another result has a desync.
func TestEndDiffers(t *testing.T) {
	for name, step := range map[string]func(w *testgame.Race, c *testgame.RaceConfig, turn *lockstep.Turn){
		"no end": func(w *testgame.Race, _ *testgame.RaceConfig, turn *lockstep.Turn) {
			testgame.RaceRules().Step(w, &testgame.RaceConfig{Goal: 99}, turn)
		},
		"without result": func(w *testgame.Race, c *testgame.RaceConfig, turn *lockstep.Turn) {
			testgame.RaceRules().Step(w, c, turn)
			endAlso(turn, 0)
		},
		"too early": func(w *testgame.Race, c *testgame.RaceConfig, turn *lockstep.Turn) {
			testgame.RaceRules().Step(w, c, turn)
			endAlso(turn, 30)
		},
	} {
		rules := testgame.RaceRules()
		rules.Step = step
		r, g := newRoom(t, nil)
		wrong := r.join(lockstep.MustGame(rules), "0")
		b := r.join(g, "1")
		r.pass(3 * lockstep.Second)
		if _, err := b.Submit(&testgame.Run{Steps: 10}); err != nil {
			t.Fatal(err)
		}
		r.pass(2 * lockstep.Second)
		if !b.wins() || wrong.desyncs() != 1 || !wrong.ended().ByRules {
			t.Errorf("%s: got %d desyncs and end %+v, want one and the referee's end", name, wrong.desyncs(), wrong.ended())
		}
	}
}

// endAlso ends the match without a result in a tick with a run (t = 0), or in tick t.
func endAlso(turn *lockstep.Turn, t lockstep.Tick) {
	for i := range turn.Commands {
		if _, ok := turn.Commands[i].Value.(*testgame.Run); ok && t == 0 {
			turn.End(nil)
		}
	}
	if t == turn.Tick {
		turn.End(nil)
	}
}

// A match with a long period runs at it.
func TestPeriod(t *testing.T) {
	rules := testgame.RaceRules()
	rules.Result, rules.Step = lockstep.ResultType{}, func(*testgame.Race, *testgame.RaceConfig, *lockstep.Turn) {}
	g := lockstep.MustGame(rules)
	s := lockstep.DefaultSettings(2)
	s.TickMicros = 600_000
	h, err := g.NewHeader(lockstep.MatchID{}, s, &testgame.RaceConfig{})
	if err != nil {
		t.Fatal(err)
	}
	r := &room{t: t}
	if r.h, err = host.New(g, h, r.raceOptions()); err != nil {
		t.Fatal(err)
	}
	c := r.join(g, "0")
	r.pass(60 * lockstep.Second)
	if got := r.h.Now(); got != 99 && got != 100 {
		t.Errorf("got %d ticks in a minute, want 100", got)
	}
	if c.Err() != nil || c.Tick() < 97 {
		t.Errorf("the client is at tick %d: %v", c.Tick(), c.Err())
	}
}
