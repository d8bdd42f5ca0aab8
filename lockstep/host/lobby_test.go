package host_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A match with two seats begins when two players are there, or when an admin says so.
func ExampleAdmin_Start() {
	h := testgame.NewLampHost(host.Options{Start: host.StartPolicy{Players: 2, Ready: true, Countdown: 3 * lockstep.Second}})
	joinLamps(h, "ann")
	h.Advance(lockstep.Second)
	var w host.Wait = h.Status().Wait
	fmt.Println(h.Status().InLobby, h.Now(), w.Reason)
	fmt.Println(h.Admin().Start(lockstep.Second), h.Admin().Start(lockstep.Second))
	h.Advance(2 * lockstep.Second)
	fmt.Println(h.Status().InLobby, h.Now())
	// Output:
	// true 0 more players are awaited
	// <nil> lockstep: host: the match has begun
	// false 3
}

// recordsOf makes a party keep its log.
func recordsOf(p *party) *testgame.Records {
	log := new(testgame.Records)
	for _, b := range p.early {
		log.Append(b)
	}
	p.record = func(b []byte) { log.Append(b) }
	return log
}

// recovered returns a host that continues the match of a party, and the notes of presence in its log.
func recovered(t *testing.T, p *party, log *testgame.Records, change func(*host.Options)) (*host.Host, []string) {
	t.Helper()
	r := host.NewRecovery(p.game)
	for _, b := range *log {
		if err := r.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	o := host.Options{Authorize: p.authorize, Random: func(b []byte) { b[0] = 9 }}
	change(&o)
	h, err := r.Host(p.now, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Ready().AppendTo(log); err != nil {
		t.Fatal(err)
	}
	var notes []string
	var dec record.Decoder
	for _, b := range *log {
		rec, _, err := dec.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Event == record.EventPresence {
			notes = append(notes, rec.Text)
		}
	}
	return h, notes
}

// A match that a crash stops in its lobby continues there. Who does not come back is in no seat.
func TestLobbyRecovers(t *testing.T) {
	lobby := func(o *host.Options) { o.Start = host.StartPolicy{Players: 2} }
	p := newParty(t, nil, lobby)
	log := recordsOf(p)
	p.join("a", "p0")
	p.pass(lockstep.Second)
	if !p.h.Status().InLobby || p.h.Now() != 0 {
		t.Fatalf("in the lobby %t at tick %d, want a lobby at tick 0", p.h.Status().InLobby, p.h.Now())
	}
	copied := slices.Clone(*log)
	h, notes := recovered(t, p, &copied, lobby)
	if !h.Status().InLobby {
		t.Error("the match has left its lobby by a crash")
	}
	if want := []string{"here", "vacant"}; !slices.Equal(notes, want) {
		t.Errorf("got presences %q in the log, want %q", notes, want)
	}
	p.join("b", "p1")
	p.pass(lockstep.Second)
	if p.h.Status().InLobby {
		t.Fatal("the match is in its lobby with two players")
	}
	if h, _ := recovered(t, p, log, lobby); h.Status().InLobby || !errors.Is(h.Admin().Start(0), host.ErrBegun) {
		t.Error("a match that had begun is in its lobby after a crash")
	}
}

// A keyframe that an admin asks for is in the log once for a tick, and a recovery reads it.
func TestKeyframe(t *testing.T) {
	p := newParty(t, nil, nil)
	log := recordsOf(p)
	p.join("a", "p0")
	p.pass(lockstep.Second)
	for range 2 {
		if err := p.h.Admin().Keyframe(p.now); err != nil {
			t.Fatal(err)
		}
		p.pass(0)
	}
	keyframes := 0
	for _, b := range *log {
		if record.KindOf(b) == record.KindKeyframe {
			keyframes++
		}
	}
	if keyframes != 2 { // with the first one
		t.Errorf("got %d keyframes, want 2", keyframes)
	}
	if h, _ := recovered(t, p, log, func(*host.Options) {}); h.Now() != p.h.Now() {
		t.Errorf("recovered at tick %d, want %d", h.Now(), p.h.Now())
	}
	relay := newParty(t, nil, func(o *host.Options) { o.Relay = true })
	if err := relay.h.Admin().Keyframe(0); err == nil {
		t.Error("relay mode has made a keyframe without a state")
	}
}
