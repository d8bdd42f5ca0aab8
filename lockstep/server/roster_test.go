//go:build !js

package server_test

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A late joiner knows who is there and what was said. Everybody hears who is lost and comes back, and why somebody is gone.
func TestRoster(t *testing.T) {
	options := host.Options{KeyframeInterval: 1, Grace: 3600 * lockstep.Second}
	inBubble(t, setup{host: options}, func(t *testing.T, s *stage) {
		a := s.join(t, ada, wander)
		<-a.Ready()
		a.Do(func(c *player.Client) { c.Chat("is anybody here?") })
		time.Sleep(3 * time.Second)
		b := s.join(t, bob, wander)
		<-b.Ready()
		time.Sleep(3 * time.Second)
		seats := func(c *testClient) (all []player.Seat) {
			c.Do(func(c *player.Client) { all = c.Seats() })
			return all
		}
		want := []player.Seat{{Player: 0, Name: "ada", Presence: player.Here}, {Player: 1, Name: "bob", Presence: player.Here}}
		for _, c := range []*testClient{a, b} {
			if got := seats(c); !slices.Equal(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			line := player.Note{Player: 0, Topic: record.TopicChat, Text: "is anybody here?"}
			if got := told[player.Note](c); !slices.Contains(got, line) || slices.Index(got, line) != lastIndex(got, line) {
				t.Errorf("got %+v, want the line of chat once", got)
			}
		}
		b.Do(func(c *player.Client) { c.Leave("tired") })
		time.Sleep(time.Second)
		b = s.join(t, bob, wander)
		<-b.Ready()
		time.Sleep(time.Second)
		s.ask(t, "POST", "/matches/duel/kick?seat=1", ops, "")
		time.Sleep(time.Second)
		for _, why := range []string{"left: tired", "kicked by an admin"} {
			gone := player.SeatChanged{Seat: player.Seat{Player: 1, Name: "bob"}, Before: want[1], Reason: why}
			if got := told[player.SeatChanged](a); !slices.Contains(got, gone) {
				t.Errorf("got %+v, want %+v", got, gone)
			}
		}
		if got := seats(a); !slices.Equal(got, want[:1]) {
			t.Errorf("got %+v, want %+v", got, want[:1])
		}
	})
}

func lastIndex[T comparable](all []T, x T) int {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i] == x {
			return i
		}
	}
	return -1
}
