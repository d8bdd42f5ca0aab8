package host_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// lineage is a parent for tests that do not look at it.
var lineage = record.Lineage{Content: strings.Repeat("c0", 32), Match: strings.Repeat("1d", 16), Name: "duel", Tick: 40}

// A lampMatch is a host with a log.
type lampMatch struct {
	*host.Host
	log testgame.Records
}

// drain takes what the host has made, and returns its events.
func (m *lampMatch) drain() (events []string) {
	for r := m.Ready(); !r.Empty(); r = m.Ready() {
		if err := r.AppendTo(&m.log); err != nil {
			panic(err)
		}
		m.Persisted(0, r.Position)
		for _, e := range r.Events {
			events = append(events, e.String())
		}
		for _, id := range r.Peers {
			m.Send(id, nil, protocol.MaxServerMessage)
		}
	}
	return events
}

// until plays up to a tick.
func (m *lampMatch) until(t lockstep.Tick) {
	for m.drain(); m.Now() < t; m.drain() {
		m.Advance(m.Ready().Next)
	}
}

// lampGrants are the tokens of the tests: the name, and the seat if there is one.
func lampGrants(token string) (host.Grant, error) {
	name, seat, ok := strings.Cut(token, " ")
	g := host.Grant{Role: protocol.Seated, Seat: host.AnySeat, Name: name, Subject: "subject of " + name}
	if ok {
		g.Seat = lockstep.Player(seat[0] - '0')
	}
	return g, nil
}

func lampOptions() host.Options {
	return host.Options{Authorize: lampGrants, Random: func(b []byte) { b[0]++ }}
}

// newLamps begins a match of four seats at tick 0.
func newLamps(id byte) (*lockstep.Game, *lockstep.Header, *lampMatch) {
	game := lockstep.MustGame(testgame.LampRules)
	settings := lockstep.DefaultSettings(4)
	settings.CheckEvery = 10
	header, err := game.NewHeader(lockstep.MatchID{id}, settings, &testgame.Nobody{})
	if err != nil {
		panic(err)
	}
	h, err := host.New(game, header, lampOptions())
	if err != nil {
		panic(err)
	}
	return game, header, &lampMatch{Host: h}
}

func recoverLamps(game *lockstep.Game, log testgame.Records) *host.Recovery {
	r := host.NewRecovery(game)
	for _, b := range log {
		if err := r.Append(b); err != nil {
			panic(err)
		}
	}
	return r
}

// commands returns the commands of System in a log after a tick, as text.
func commands(log testgame.Records, after lockstep.Tick) (all []string) {
	var dec record.Decoder
	for _, b := range log {
		rec, _, err := dec.Decode(b)
		if err != nil {
			panic(err)
		}
		for i := range rec.Frame.Commands {
			if c := &rec.Frame.Commands[i]; c.Player == lockstep.System && c.Tick > after {
				v, err := record.SystemValue(c)
				if err != nil {
					panic(err)
				}
				all = append(all, fmt.Sprintf("%d %T%v", c.Tick, v, v))
			}
		}
	}
	return all
}

// A match begins in the state that another one has after 40 ticks. Its log has that state as its first keyframe, says
// where it comes from, and tells the simulation that the players are not there.
func ExampleOrigin() {
	game, header, first := newLamps(1)
	joinLamps(first.Host, "ann 1")
	first.until(40)

	again := *header
	again.Match = lockstep.MatchID{2}
	var origin host.Origin
	origin.Lineage = record.Lineage{Content: strings.Repeat("c0", 32), Match: header.Match.String(), Name: "duel", Tick: 40}
	h, err := recoverLamps(game, first.log).Begin(0, &again, origin, lampOptions())
	if err != nil {
		panic(err)
	}
	second := &lampMatch{Host: h}
	joinLamps(h, "bob")
	fmt.Println(strings.Join(second.drain(), "\n"))
	second.until(42)
	var dec record.Decoder
	for _, b := range second.log[:3] {
		rec, _, _ := dec.Decode(b)
		fmt.Printf("record %d of tick %d: %q\n", rec.Kind, rec.Tick, rec.Event)
	}
	fmt.Println(commands(second.log, 0))
	// Output:
	// tick 41: player 1 joined: bob
	// tick 41: player 1 synced: joined
	// record 1 of tick 0: ""
	// record 2 of tick 40: ""
	// record 67 of tick 40: "lineage"
	// [41 *record.Lost&{1} 42 *record.Joined&{1}]
}

// Whatever the match was doing, the new one goes on with the sequences, and is neither paused nor faster. It can be
// recovered from its first tick on, and its seats are still free then.
func TestBeginGoesOn(t *testing.T) {
	game, header, first := newLamps(1)
	joinLamps(first.Host, "ann 0")
	lost := joinLamps(first.Host, "cid 2")
	first.until(10)
	press := func(h *host.Host, id host.PeerID, seq lockstep.Sequence) {
		kind, payload, err := game.NewPayloads().Encode(&testgame.Press{Lamp: 1})
		if err != nil {
			t.Fatal(err)
		}
		var w protocol.Writer
		h.Receive(0, id, w.Append(nil, &protocol.Message{Kind: protocol.KindCommand, Sequence: seq, Command: kind, Bytes: payload}))
	}
	press(first.Host, lost, 1)
	first.until(20)
	first.Disconnect(0, lost)
	if err := errors.Join(first.Admin().SetSpeed(0, 200), first.Admin().SetInputDelay(0, 5)); err != nil {
		t.Fatal(err)
	}
	first.until(30)
	if err := first.Admin().Pause(0, 0); err != nil {
		t.Fatal(err)
	}
	first.until(31)
	if !first.Status().Paused {
		t.Fatal("the first match is not paused")
	}
	state := first.Referee().Simulation().AppendState(nil)

	again := *header
	again.Match = lockstep.MatchID{2}
	r := recoverLamps(game, first.log)
	for range 2 { // any number of matches begin there
		o := lampOptions()
		h, err := r.Begin(0, &again, host.Origin{Lineage: lineage}, o)
		if err != nil {
			t.Fatal(err)
		}
		second := &lampMatch{Host: h}
		second.drain()
		want := "[32 *record.Resumed&{255} 32 *record.InputDelaySet&{1} 32 *record.Lost&{0} 32 *record.Lost&{2} 32 *record.SpeedSet&{100}]"
		got := fmt.Sprint(commands(second.log, 0))
		for _, c := range strings.Split(strings.Trim(want, "[]"), " 32 ") {
			if !strings.Contains(got, strings.TrimPrefix(c, "32 ")) {
				t.Errorf("got %s, want %s in it", got, c)
			}
		}
		var dec record.Decoder
		for _, b := range second.log[:2] {
			rec, _, err := dec.Decode(b)
			if err != nil || rec.Kind == record.KindKeyframe && (string(rec.Keyframe.State) != string(state) || rec.Tick != 31) {
				t.Errorf("the first keyframe is not the state: %v", err)
			}
		}
		// A crash right after its beginning, too.
		if h, err = recoverLamps(game, second.log).Host(0, o); err != nil {
			t.Fatal(err)
		}
		third := &lampMatch{Host: h, log: second.log}
		dan := joinLamps(h, "dan")
		eve := joinLamps(h, "eve 2")
		third.until(40)
		if p := h.Info().Peers(); len(p) != 2 || p[0].Seat != 0 || p[1].Seat != 2 {
			t.Errorf("got %+v, want dan in seat 0 and eve in seat 2", p)
		}
		press(h, eve, 1) // cid's
		press(h, eve, 2)
		press(h, dan, 1)
		third.until(50)
		if got := lockstep.World[testgame.Lamps](h.Referee().Simulation()).Presses; got != 3 {
			t.Errorf("got %d presses, want the first of cid and two new ones", got)
		}
		if w := lockstep.World[testgame.Lamps](h.Referee().Simulation()); h.Status().Paused || w.Seats != 4 {
			t.Errorf("paused: %v, joins: %d, want two in each match", h.Status().Paused, w.Seats)
		}
		f := game.NewFollower(lockstep.FollowerOptions{})
		for _, b := range third.log {
			if err := f.Append(b); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// In a lobby, too, the first tick says what has become of the players, and a later one that they have come. A crash forgets none
// of it: not in the lobby, and not after it.
func TestBeginInLobby(t *testing.T) {
	game, header, first := newLamps(1)
	joinLamps(first.Host, "ann 0")
	joinLamps(first.Host, "bob 1")
	first.until(40)
	again := *header
	again.Match = lockstep.MatchID{2}
	o := lampOptions()
	o.Start = host.StartPolicy{Players: 2}
	begin := func(log testgame.Records) *lampMatch {
		h, err := recoverLamps(game, log).Begin(0, &again, host.Origin{Lineage: lineage}, o)
		if err != nil {
			t.Fatal(err)
		}
		return &lampMatch{Host: h}
	}
	resume := func(m *lampMatch, players int) *lampMatch {
		m.drain()
		h, err := recoverLamps(game, m.log).Host(0, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Info().Awaited(); len(got) != players {
			t.Errorf("after a crash at tick %d players %v are awaited, want %d", m.Now(), got, players)
		}
		return &lampMatch{Host: h, log: m.log}
	}
	second := resume(begin(first.log), 2)
	claimed := func(m *lampMatch, name string, seat lockstep.Player) { // as a server remembers it
		m.drain()
		m.log.Append(record.Event(seat, record.EventClaim, host.Claim(again.Match, "subject of "+name)))
	}
	joinLamps(second.Host, "cid")
	for range 4 {
		second.Advance(lockstep.Second)
	}
	claimed(second, "cid", 0)
	if got := fmt.Sprint(commands(second.log, 0)); got != "[41 *record.Lost&{0} 41 *record.Lost&{1}]" || !second.Status().InLobby || second.Now() != 41 {
		t.Errorf("got %s, in the lobby %t at tick %d", got, second.Status().InLobby, second.Now())
	}
	third := resume(second, 2)
	joinLamps(third.Host, "dan")
	joinLamps(third.Host, "cid")
	claimed(third, "dan", 1)
	third.until(45)
	want := map[string]lockstep.Player{"cid": 0, "dan": 1}
	for _, p := range third.Info().Peers() {
		if p.Seat != want[p.Name] {
			t.Errorf("%s has seat %d, want %d", p.Name, p.Seat, want[p.Name])
		}
	}
	if got := fmt.Sprint(commands(third.log, 41)); got != "[42 *record.Joined&{0} 42 *record.Joined&{1}]" {
		t.Errorf("after the lobby got %s", got)
	}
	if fourth := resume(third, 2); fourth.Status().InLobby {
		t.Error("the match is in its lobby again")
	}
}

// A crash right after the beginning forgets neither who must come, nor who came while the match stood.
func TestBeginAwaits(t *testing.T) {
	game, header, first := newLamps(1)
	joinLamps(first.Host, "ann 0")
	joinLamps(first.Host, "bob 1")
	first.until(40)
	again := *header
	again.Match = lockstep.MatchID{2}
	h, err := recoverLamps(game, first.log).Begin(0, &again, host.Origin{Lineage: lineage}, lampOptions())
	if err != nil {
		t.Fatal(err)
	}
	second := &lampMatch{Host: h}
	h.Admin().Hold(0, host.Wait{Reason: "a test"})
	h.Advance(0)
	joinLamps(h, "cid")
	h.Advance(lockstep.Second)
	second.drain()
	second.log.Append(record.Event(0, record.EventClaim, host.Claim(again.Match, "subject of cid")))
	if h, err = recoverLamps(game, second.log).Host(0, lampOptions()); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(h.Info().Awaited()); got != "[0 1]" {
		t.Errorf("players %s are awaited, want both", got)
	}
	joinLamps(h, "dan")
	joinLamps(h, "cid")
	for _, p := range h.Info().Peers() {
		if want := map[string]lockstep.Player{"cid": 0, "dan": 1}; p.Seat != want[p.Name] {
			t.Errorf("%s has seat %d, want %d", p.Name, p.Seat, want[p.Name])
		}
	}
}

// Seats go to the players for whom they are reserved, whatever their tokens say; also after a crash.
func TestBeginReserves(t *testing.T) {
	game, header, first := newLamps(1)
	for i := range 3 {
		joinLamps(first.Host, fmt.Sprintf("old %d", i))
	}
	first.until(40)
	again := *header
	again.Match = lockstep.MatchID{2}
	r := recoverLamps(game, first.log)
	h, err := r.Begin(0, &again, host.Origin{Lineage: lineage, Players: []string{"", "ann", "subject of bob"}}, lampOptions())
	if err != nil {
		t.Fatal(err)
	}
	second := &lampMatch{Host: h}
	second.until(50)
	for _, crashed := range []bool{false, true} {
		if crashed {
			if h, err = recoverLamps(game, second.log).Host(0, lampOptions()); err != nil {
				t.Fatal(err)
			}
			second = &lampMatch{Host: h, log: second.log}
		}
		for _, token := range []string{"eve 1", "ann 0", "bob", "cid", "dan", "fay"} {
			joinLamps(h, token)
		}
		got := fmt.Sprint(second.drain())
		for _, want := range []string{"player 1 joined: ann", "player 2 joined: bob", "player 0 joined: cid", "player 3 joined: dan", "no seat is free"} {
			if crashed { // their seats know them
				want = strings.ReplaceAll(want, "joined", "resumed")
			}
			if !strings.Contains(got, want) && !crashed {
				t.Errorf("crashed: %v: got %s, want %s", crashed, got, want)
			}
		}
		if strings.Contains(got, "eve") || strings.Contains(got, "fay") {
			t.Errorf("crashed: %v: got %s, want neither eve nor fay", crashed, got)
		}
		second.until(second.Now() + 5)
		for _, p := range h.Info().Peers() {
			if want := map[string]lockstep.Player{"ann": 1, "bob": 2}; p.Name == "ann" && p.Seat != want["ann"] || p.Name == "bob" && p.Seat != want["bob"] {
				t.Errorf("crashed: %v: %s has seat %d", crashed, p.Name, p.Seat)
			}
		}
	}
	for _, row := range []struct {
		players []string
		bots    int
		want    string
	}{
		{[]string{"ann", "ann"}, 0, "got seats 0 and 1"},
		{make([]string, 5), 0, "got 5, want at most 4"},
		{[]string{"ann"}, 1, "a bot has seat 0"},
	} {
		o := lampOptions()
		for range row.bots {
			o.Bots = append(o.Bots, func(*lockstep.Simulation) []any { return nil })
		}
		if _, err := r.Begin(0, &again, host.Origin{Lineage: lineage, Players: row.players}, o); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%q: got %v, want %q", row.players, err, row.want)
		}
	}
}

// A bot can take a seat of the other match, and plays from the first tick on.
func TestBeginWithBots(t *testing.T) {
	game, header, first := newLamps(1)
	joinLamps(first.Host, "ann 0")
	joinLamps(first.Host, "bob 1")
	first.until(40)
	again := *header
	again.Match = lockstep.MatchID{2}
	o := lampOptions()
	o.Bots = []lockstep.Bot{1: func(*lockstep.Simulation) []any { return []any{&testgame.Press{Lamp: 2}} }}
	h, err := recoverLamps(game, first.log).Begin(0, &again, host.Origin{Lineage: lineage}, o)
	if err != nil {
		t.Fatal(err)
	}
	second := &lampMatch{Host: h}
	joinLamps(h, "cid")
	second.until(50)
	if w := lockstep.World[testgame.Lamps](h.Referee().Simulation()); w.Presses < 5 {
		t.Errorf("the bot has pressed %d times", w.Presses)
	}
	if got := fmt.Sprint(commands(second.log, 0)); !strings.Contains(got, "41 *record.Joined&{1}") || !strings.Contains(got, "41 *record.Lost&{0}") {
		t.Errorf("got %s", got)
	}
	if p := h.Info().Peers(); len(p) != 1 || p[0].Seat != 0 {
		t.Errorf("got %+v, want cid in seat 0", p)
	}
}

// In relay mode, and with delayed spectators, a match begins like any other.
func TestBeginPolicies(t *testing.T) {
	game, header, first := newLamps(1)
	joinLamps(first.Host, "ann 0")
	first.until(40)
	again := *header
	again.Match = lockstep.MatchID{2}
	for name, change := range map[string]func(*host.Options){
		"relay": func(o *host.Options) { o.Relay = true },
		"delay": func(o *host.Options) { o.SpectatorDelay, o.AnonymousSpectators = 20, true },
	} {
		o := lampOptions()
		change(&o)
		h, err := recoverLamps(game, first.log).Begin(0, &again, host.Origin{Lineage: lineage}, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		second := &lampMatch{Host: h}
		joinLamps(h, "bob")
		second.until(80)
		f := game.NewFollower(lockstep.FollowerOptions{})
		for _, b := range second.log {
			if err := f.Append(b); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if f.Tick() != 80 {
			t.Errorf("%s: the log ends at tick %d", name, f.Tick())
		}
	}
}

// A match does not begin in the state of another configuration, or after the end of the rules.
func TestBeginRefuses(t *testing.T) {
	game, header, first := newLamps(1)
	first.until(40)
	r := recoverLamps(game, first.log)
	for _, row := range []struct {
		change func(*lockstep.Header)
		want   string
	}{
		{func(h *lockstep.Header) { h.Settings.Players = 2 }, "setting players: got 2, want 4"},
		{func(h *lockstep.Header) { h.Settings.Seed = 7 }, "setting seed: got 7, want 0"},
		{func(h *lockstep.Header) { h.Settings.TickMicros = lockstep.TickPeriod(30) }, "setting tick micros: got 33333, want 50000"},
		{func(h *lockstep.Header) { h.Build = "2" }, "build: got 2, want 1"},
	} {
		h := *header
		row.change(&h)
		if _, err := r.Begin(0, &h, host.Origin{Lineage: lineage}, lampOptions()); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("got %v, want %s", err, row.want)
		}
	}
	if err := first.Admin().End(0, "done"); err != nil {
		t.Fatal(err)
	}
	first.drain()
	if _, err := recoverLamps(game, first.log).Begin(0, header, host.Origin{Lineage: lineage}, lampOptions()); !errors.Is(err, coordinator.ErrEnded) {
		t.Errorf("after the end: got %v", err)
	}
	if _, err := host.NewRecovery(game).Begin(0, header, host.Origin{Lineage: lineage}, lampOptions()); !errors.Is(err, record.ErrOutOfPlace) {
		t.Errorf("without a state: got %v", err)
	}
}

// The rules can end a match in its first tick. No match begins after the tick in which they have ended another one.
func TestBeginAtTheEnd(t *testing.T) {
	rules := testgame.LampRules
	rules.Result = lockstep.Result[struct{}]()
	step := rules.Step
	rules.Step = func(w *testgame.Lamps, c *testgame.Nobody, turn *lockstep.Turn) {
		if step(w, c, turn); turn.Tick == 25 {
			turn.End(nil)
		}
	}
	game := lockstep.MustGame(rules)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.New(game, header, lampOptions())
	if err != nil {
		t.Fatal(err)
	}
	first := &lampMatch{Host: h}
	for range 40 {
		first.drain()
		h.Advance(h.Ready().Next)
	}
	first.drain()
	again := *header
	again.Match = lockstep.MatchID{2}
	for cut := 1; cut < 4; cut++ { // without the end record; without the checksum or the tick, too
		r := recoverLamps(game, first.log[:len(first.log)-cut])
		h, err := r.Begin(0, &again, host.Origin{Lineage: lineage}, lampOptions())
		switch {
		case r.Tick() == 25 && !errors.Is(err, coordinator.ErrEnded):
			t.Errorf("after tick 25: got %v", err)
		case r.Tick() == 24:
			if _, byRules := h.Result(); err != nil || !byRules || h.Now() != 25 {
				t.Errorf("after tick 24: %v", err)
			}
			return
		}
	}
	t.Error("no match began in the tick before")
}
