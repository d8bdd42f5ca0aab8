//go:build !js

package server_test

import (
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/server"
)

// The log of the server and the view say why a match has ended. The view has its players as they were at the end.
func TestReasonOfTheEnd(t *testing.T) {
	for why, state := range map[string]string{"ended by an admin": "playing", "nobody was connected for 20s": "away"} {
		t.Run(why, func(t *testing.T) {
			inBubble(t, setup{options: server.Options{IdleMatch: 20 * time.Second}}, func(t *testing.T, s *stage) {
				a := s.join(t, ada, wander)
				<-a.Ready()
				time.Sleep(time.Second)
				if state == "playing" {
					s.ask(t, "DELETE", "/matches/duel", ops, "")
				} else {
					a.Close()
				}
				<-s.match.Done()
				v := s.match.View()
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
