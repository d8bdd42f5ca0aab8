//go:build !js

package server_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/server"
)

// An attackRun is two honest players with good links, and an attacker that shares Bob's address.
type attackRun struct {
	*stage
	t        *testing.T
	honest   []*testClient
	from     []*stage
	attacker *attacker
	idle     int // goroutines before the attack

	findings []string

	mu   sync.Mutex
	tick lockstep.Tick
	hash uint64
}

// attackSetup is the setup of an attacked server.
func attackSetup(t *testing.T) setup {
	list := tokenList + "player 2 eve - " + eve + "\nplayer 3 mallory - " + mallory + "\nplayer 4 carol - " + carol + "\n"
	tokens, err := server.ReadTokens(strings.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	return setup{
		options:  server.Options{Authorizer: server.AnyOf(tokens, server.Guests{}), NewMatch: newGuestMatch, Limits: server.Limits{GuestMatches: 4}, Replays: true},
		host:     host.Options{SpectatorChat: true},
		settings: func(s *lockstep.Settings) { s.Players = 6 },
		config:   minimal.Config{Size: 50, Coins: 5}, // a small state, because this does not test the game
		newFile:  inNowhere,
	}
}

// nowhere is a file that keeps nothing, so the match does not wait for a disk.
type nowhere struct{}

func inNowhere(string) (server.File, error) { return nowhere{}, nil }

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) Sync() error                 { return nil }
func (nowhere) Close() error                { return nil }

// attackMatch lets the honest players join, runs the attacker, and checks the players. It returns counts of the
// attacker's actions, and broken promises.
func attackMatch(t *testing.T, x setup, p []byte) (did map[string]int, findings []string) {
	synctest.Test(t, func(t *testing.T) {
		x.pipes, x.options.KeepOpen = true, true
		k := &attackRun{stage: newStage(t, x), t: t}
		for i, address := range []string{"203.0.113.1", "198.51.100.1"} {
			k.from = append(k.from, k.stage.from(t, address))
			k.honest = append(k.honest, k.from[i].joinWith(t, client.Options{Options: player.Options{Token: []string{ada, bob}[i]}, Sample: k.sample}))
			<-k.honest[i].Ready()
		}
		time.Sleep(2 * time.Second)
		for _, g := range k.honest {
			g.gap()
			g.forget()
		}
		synctest.Wait()
		k.idle = bubbled(t)
		began := k.stats(t).Tick
		clock := time.Now()
		k.attacker = &attacker{t: t, s: k.stage, known: k.known, did: map[string]int{}}
		k.attacker.run(program(p))
		time.Sleep(time.Second)
		k.unharmed(began, time.Since(clock))
		k.welcomed()
		k.attacker.leave()
		k.left()
		did, findings = k.attacker.did, k.findings
	})
	return did, findings
}

// sample plays for an honest player, and shows the attacker the player's checksums.
func (k *attackRun) sample(c *player.Client) {
	wander(c)
	if sim := c.Simulation(); sim.Tick()%10 == 0 {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.tick, k.hash = sim.Tick(), sim.Hash()
	}
}

func (k *attackRun) known() (lockstep.Tick, uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tick, k.hash
}

// wrong records a broken promise.
func (k *attackRun) wrong(format string, args ...any) {
	k.findings = append(k.findings, fmt.Sprintf(format, args...))
}

// unharmed checks the promises to honest players: they were neither disconnected nor refused nor late and have all
// checksums, and the match continued.
func (k *attackRun) unharmed(began lockstep.Tick, took time.Duration) {
	stats := k.stats(k.t)
	if ticks, want := stats.Tick-began, lockstep.Tick(took/(50*time.Millisecond)); ticks+1 < want || stats.Skipped > 0 {
		k.wrong("the match has run %d ticks in %v, and skipped %d; want %d and none", ticks, took, stats.Skipped, want)
	}
	for i, g := range k.honest {
		for _, bad := range []bool{
			has[player.ConnectionLost](g), has[player.LostForGood](g), has[player.ServerClosing](g), has[player.ServerError](g),
			has[player.Held](g), has[player.Desynced](g), has[player.SyncProgress](g), has[player.Ended](g),
		} {
			if bad {
				k.wrong("player %d was told %+v", i, g.events)
				break
			}
		}
		for _, r := range told[lockstep.Receipt](g) {
			if r.Reason != lockstep.Accepted {
				k.wrong("player %d: a command was refused: %+v", i, r)
			}
		}
		if late := g.gap(); late > tick {
			k.wrong("player %d waited %v for a tick", i, late)
		}
		if st := g.status(); st.Tick+2 < stats.Tick || st.Agreed+2 < int(st.Tick/10) || st.Differing > 0 {
			k.wrong("player %d is at tick %d of %d, with %d checksums, and %d that differ", i, st.Tick, stats.Tick, st.Agreed, st.Differing)
		}
	}
}

// welcomed checks that new and returning players are welcomed at once while the attacker is still connected, and
// that an admin gets an answer.
func (k *attackRun) welcomed() {
	for i, g := range k.honest {
		began := time.Now()
		if err := g.Cut(); err != nil {
			k.wrong("player %d: %v", i, err)
		}
		for !has[player.StreamResumed](g) && time.Since(began) < 20*time.Second {
			time.Sleep(50 * time.Millisecond)
		}
		if wait := time.Since(began); wait > time.Second {
			k.wrong("player %d returned, and was welcomed after %v: %+v", i, wait, g.events)
		}
	}
	began, came := time.Now(), k.from[1].join(k.t, carol, nil)
	defer came.Close()
	for !has[player.Welcomed](came) && time.Since(began) <= time.Second {
		time.Sleep(50 * time.Millisecond)
	}
	if !has[player.Welcomed](came) {
		k.wrong("a new player was not welcomed in a second: %+v", came.events)
	}
	if status, _ := k.from[1].ask(k.t, "POST", "/matches/duel/speed?percent=100", ops, ""); status != 200 {
		k.wrong("an admin from the attacker's address got %d, want 200", status)
	}
}

// left checks that the attacker has left nothing but matches.
func (k *attackRun) left() {
	for _, m := range k.server.Matches() {
		if m != k.match {
			if err := m.End(k.t.Context(), "enough"); err != nil {
				k.wrong("the end of a match: %v", err)
			}
			<-m.Done()
		}
	}
	synctest.Wait()
	for _, there := range k.from {
		there.client.CloseIdleConnections()
	}
	time.Sleep(5 * time.Second)
	synctest.Wait()
	if peers := k.stats(k.t).Peers; peers != [5]int{host.Live: 2} {
		k.wrong("the match has the peers %v, want 2 that are live", peers)
	}
	if n := k.server.Members(); n != 2 {
		k.wrong("the server counts %d connections that were welcomed, want 2", n)
	}
	if n := bubbled(k.t); n != k.idle {
		k.wrong("got %d goroutines, and %d before", n, k.idle)
	}
}

// FuzzAttack lets an attacker do anything over many connections, as many subjects and from several addresses, while
// two honest players play. It must not affect them.
func FuzzAttack(f *testing.F) {
	if flag.Lookup("test.fuzz").Value.String() != "" { // else TestAttacks runs them
		for _, x := range attacks {
			f.Add(x.program)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, findings := attackMatch(t, attackSetup(t), b); findings != nil {
			t.Error(strings.Join(findings, "\n"))
		}
	})
}

// An attackSeed is an attack as a program.
type attackSeed struct {
	name    string
	program []byte
	seen    string // the event that shows the attack
	times   int    // at least
}

// attacks are those of the review that use connections, by the rows of its table.
var attacks = []attackSeed{
	{"1: chat over new connections", code(opJoin, 0, 1, 0, opWait, 1, 0, 0, opSay, 0, 3, 225, opSay, 0, 3, 225, opSay, 0, 3, 225, opSay, 0, 3, 225, opSay, 0, 3, 225, opClose, 0, 0, 0, opRepeat, 7, 50, 0), "welcomed as 1", 19},
	{"1: ever new names", code(opJoin, 6, 7, 0, opSay, 0, 7, 0, opWait, 1, 0, 0, opRepeat, 2, 120, 0), "welcomed as 1", 80},
	{"2: silent WebSockets of one address", code(opSilent, 0, 0, 0, opWait, 1, 0, 0, opRepeat, 1, 150, 0), "101", 100},
	{"2: silent WebSockets of many addresses", code(opSilent, 7, 0, 0, opWait, 1, 0, 0, opRepeat, 1, 150, 0), "101", 100},
	{"2: spectators of one address who stay", code(opJoin, 2, 0, 0, opWait, 1, 0, 0, opRepeat, 1, 80, 0), "welcomed as 0", 64},
	{"3: sessions of others", code(opJoin, 7, 1, 0, opWait, 5, 0, 0, opJoin, 8, 2, 0, opWait, 5, 0, 0, opJoin, 3, 2, 2, opWait, 5, 0, 0, opJoin, 3, 3, 14, opJoin, 3, 3, 15, opRepeat, 7, 10, 0), "closing replaced", 10},
	{"5: a guest joins and leaves", code(opJoin, 7, 0, 0, opSay, 0, 7, 0, opWait, 2, 0, 0, opRepeat, 2, 60, 0), "welcomed as 1", 20},
	{"6: idle connections", code(opRequest, 0, 0xc0|5<<3, 0, opRepeat, 0, 150, 0), "cut off", 80},
	{"6: lists", code(opRequest, 0, 0, 0, opRepeat, 0, 120, 0), "429", 50},
	{"7: matches of guests", code(opRequest, 2, 0, 0x17, opRequest, 2, 0, 0x28, opRequest, 2, 1, 0xf9, opRequest, 2, 2, 0xfa, opRequest, 2, 0, 0x17, opRequest, 8, 0, 200, opRepeat, 5, 20, 0), "201", 2},
	{"8: lies about checksums", code(opJoin, 2, 2, 0, opJoin, 0, 1, 0, opWait, 25, 0, 0, opSay, 0, 0, 0, opSay, 1, 0, 1, opSay, 0, 0, 1, opWait, 10, 0, 0, opRepeat, 3, 30, 0), "welcomed as 0", 1},
	{"9: spectators come and go", code(opJoin, 2, 1, 0, opWait, 1, 0, 0, opClose, 0, 0, 0, opRepeat, 2, 130, 0), "welcomed as 0", 100},
	{"10: wrong bearers", code(opRequest, 2, 0, 4, opRequest, 3, 0, 5, opRequest, 4, 0, 4, opRepeat, 2, 30, 0), "429", 30},
	{"10: wrong tokens and sessions", code(opJoin, 4, 0, 15, opWait, 1, 0, 0, opRepeat, 1, 100, 0), "closing refused", 80},
	{"11: pings", code(opSilent, 0, 0, 0, opFrame, 0, fin|ping, 5, opRepeat, 0, 100, 0), "closed 1008", 1},
	{"13: late acks and pongs", code(opJoin, 0, 1, 0, opWait, 20, 0, 0, opStall, 0, 0, 0, opWait, 200, 0, 0, opSay, 0, 9, 0, opSay, 0, 6, 0, opStall, 0, 1, 0, opWait, 200, 0, 0), "welcomed as 1", 1},
	{"broken messages", code(opJoin, 0, 1, 0, opWait, 1, 0, 0, opMutate, 0, 0x44, 9, opMutate, 0, 0x23, 70, opMutate, 0x81, 0x66, 200, opBytes, 0, 5, 0, 0x82, 0xff, 0xff, 1, 2, opRepeat, 5, 30, 0), "closing malformed", 1},
}

// Control: without the limit for an attack, the honest players suffer.
func TestAttacksControl(t *testing.T) {
	for _, x := range []struct {
		attackRun string
		off       func(*setup)
		want      string
	}{
		{"13: late acks and pongs", func(x *setup) { x.host.Slow.Percent = 10 }, "the match has run"},
		{"13: late acks and pongs", func(x *setup) { x.host.Wait.Bound = 60 * lockstep.Second }, "waited"},
	} {
		without := attackSetup(t)
		x.off(&without)
		i := slices.IndexFunc(attacks, func(s attackSeed) bool { return s.name == x.attackRun })
		_, findings := attackMatch(t, without, attacks[i].program)
		if all := strings.Join(findings, "\n"); !strings.Contains(all, x.want) {
			t.Errorf("%s, without its limit: got %q, want %q", x.attackRun, all, x.want)
		}
	}
}

// code joins the bytes of a program.
func code(all ...any) (b []byte) {
	for _, x := range all {
		switch x := x.(type) {
		case opcode:
			b = append(b, byte(x))
		case int:
			b = append(b, byte(x))
		}
	}
	return b
}

// Each seed does what it says without harming any honest player.
func TestAttacks(t *testing.T) {
	for i, x := range attacks {
		if testenv.Small(t) && i%3 != 0 {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			did, findings := attackMatch(t, attackSetup(t), x.program)
			if findings != nil {
				t.Error(strings.Join(findings, "\n"))
			}
			if t.Logf("%v", did); did[x.seen] < x.times {
				t.Errorf("got %v, want %d times %q", did, x.times, x.seen)
			}
		})
	}
}
