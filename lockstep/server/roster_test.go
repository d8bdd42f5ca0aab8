//go:build !js

package server_test

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/server"
	"github.com/seed-49bee653/samestep/replay"
)

// A late joiner knows who is there and what was said. Everybody hears who is lost and comes back, and why somebody is gone.
func TestRoster(t *testing.T) {
	t.Parallel()
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

// A guest who comes back under another name has its seat, and everybody hears the name.
func TestRenamingKeepsTheSeat(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{Authorizer: server.Guests{}}}, func(t *testing.T, s *stage) {
		const secret = "0123456789abcdef"
		other := s.join(t, "guest:zoe:zoe-zoe-zoe-zoe-zoe", wander)
		<-other.Ready()
		first := s.join(t, "guest:ada:"+secret, wander)
		<-first.Ready()
		time.Sleep(time.Second)
		seat := first.status().Seat
		again := s.join(t, "guest:eve:"+secret, wander)
		time.Sleep(2 * time.Second)
		if got := told[player.ServerClosing](first); len(got) != 1 || got[0].Code != protocol.CloseReplaced {
			t.Errorf("the connection under the old name: got %+v, want that it is replaced", got)
		}
		if got := again.status().Seat; got != seat {
			t.Errorf("got seat %d, want %d", got, seat)
		}
		want := player.Seat{Player: seat, Name: "eve", Presence: player.Here}
		before := want
		before.Name = "ada"
		if got := told[player.SeatChanged](other); !slices.Contains(got, player.SeatChanged{Seat: want, Before: before}) {
			t.Errorf("got %+v, want the new name of seat %d", got, seat)
		}
	})
}

// Players who join in the same tick know each other's names, whether the state that they are sent is new or not.
func TestJoinInOneTick(t *testing.T) {
	t.Parallel()
	for _, every := range []lockstep.Time{1, 5 * lockstep.Second} { // between two keyframes for joiners
		inBubble(t, setup{host: host.Options{KeyframeInterval: every}}, func(t *testing.T, s *stage) {
			all := []*testClient{s.join(t, ada, nil), s.join(t, bob, nil)}
			want := []player.Seat{{Player: 0, Name: "ada", Presence: player.Here}, {Player: 1, Name: "bob", Presence: player.Here}}
			time.Sleep(2 * time.Second)
			for i, c := range all {
				var got []player.Seat
				c.Do(func(c *player.Client) { got = c.Seats() })
				if !slices.Equal(got, want) {
					t.Errorf("client %d: got %+v, want %+v", i, got, want)
				}
			}
			if err := s.match.End(t.Context(), "done"); err != nil {
				t.Fatal(err)
			}
			<-s.match.Done()
			if got := s.joins(t); len(got) != 2 || got[0] != got[1] {
				t.Errorf("got joins in ticks %v, want two in one", got)
			}
		})
	}
}

// joins returns the ticks in which players joined, from the replay.
func (s *stage) joins(t *testing.T) (ticks []lockstep.Tick) {
	t.Helper()
	f, err := replay.OpenNoFollow(s.match.ReplayPath())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		t.Fatal(err)
	}
	err = replay.Play(r, nil, func(r *record.Record) error {
		for i := range r.Frame.Commands {
			c := &r.Frame.Commands[i]
			if c.Player != lockstep.System {
				continue
			}
			v, err := record.SystemValue(c)
			if err != nil {
				return err
			}
			if _, ok := v.(*lockstep.Joined); ok {
				ticks = append(ticks, r.Frame.Tick)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ticks
}

func lastIndex[T comparable](all []T, x T) int {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i] == x {
			return i
		}
	}
	return -1
}
