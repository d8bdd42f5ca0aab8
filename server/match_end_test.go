//go:build !js

package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/server"
)

// The log of the server and the status say why a match has ended. The status has its players as they were at the end.
func TestReasonOfTheEnd(t *testing.T) {
	t.Parallel()
	for why, state := range map[string]string{"ended by an admin": "playing", "nobody was connected for 20s": "away"} {
		t.Run(why, func(t *testing.T) {
			inBubble(t, setup{options: server.Options{Limits: server.Limits{IdleMatch: 20 * time.Second}}}, func(t *testing.T, s *stage) {
				a := s.join(t, ada, wander)
				<-a.Ready()
				time.Sleep(time.Second)
				if state == "playing" {
					s.ask(t, "DELETE", "/matches/duel", ops, "")
				} else {
					a.Close()
				}
				<-s.match.Done()
				v := s.match.Status()
				if all := s.lines("subject=match", "event=over", "text=\""+why+"\""); len(all) != 1 || v.Ended != why {
					t.Errorf("got %q, and a view that says %q", all, v.Ended)
				}
				if v.State != "ended" || len(v.Players) != 1 || v.Players[0].State != state {
					t.Errorf("got %q with %+v", v.State, v.Players)
				}
			})
		})
	}
}

// A match that its rules have ended is over, and its replay listed, when all players were sent the end. It waits longer for
// a player who is away.
func TestReplayOfTheEndIsListed(t *testing.T) {
	t.Parallel()
	for _, away := range []bool{false, true} {
		t.Run(fmt.Sprint("a player is away: ", away), func(t *testing.T) {
			inBubble(t, setup{rules: endingAt(60), options: server.Options{Replays: true}, host: host.Options{EndLinger: 20 * lockstep.Second}}, func(t *testing.T, s *stage) {
				a, b := s.join(t, ada, wander), s.join(t, bob, wander)
				<-a.Ready()
				<-b.Ready()
				if away {
					b.Close()
				}
				eventually(t, "the rules end the match", func() bool { return has[player.Ended](a) })
				ended := time.Now()
				<-s.match.Done()
				if took := time.Since(ended); took > 6*time.Second != away {
					t.Errorf("the match is over %v after its end", took)
				}
				if _, all := s.ask(t, "GET", "/replays", "", ""); !strings.Contains(all, "duel") {
					t.Errorf("the replays are %s", all)
				}
			})
		})
	}
}

// A match ends when all its players have left for good, though a spectator stays; not when one of them may come back.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{host: host.Options{Abandoned: 10 * lockstep.Second}}, func(t *testing.T, s *stage) {
		spectator := s.join(t, press, nil)
		<-spectator.Ready()
		time.Sleep(time.Minute) // nobody has come
		a, b := s.join(t, ada, wander), s.join(t, bob, wander)
		<-a.Ready()
		<-b.Ready()
		b.Close()
		a.Do(func(c *player.Client) { c.Leave("") })
		time.Sleep(time.Minute)
		b = s.join(t, bob, wander)
		<-b.Ready()
		b.Do(func(c *player.Client) { c.Leave("") })
		left := time.Now()
		<-s.match.Done()
		if v := s.match.Status(); v.Ended != "all players have left" || time.Since(left) > 12*time.Second {
			t.Errorf("after %v: %q", time.Since(left), v.Ended)
		}
	})
}
