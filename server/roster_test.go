//go:build !js

package server_test

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
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

// After a resume those who come back hear once that everybody is away, and once that each is back.
func TestRosterAfterResume(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		polite, held := i%2 == 0, time.Duration(i/2)*10*time.Second
		virtually(t, func(t *testing.T) {
			first := newStage(t, setup{pipes: true, options: server.Options{KeepOpen: true}})
			var now atomic.Pointer[memoryListener] // of the server that runs
			now.Store(first.pipes)
			transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return now.Load().dial() }}
			t.Cleanup(transport.CloseIdleConnections)
			anywhere := *first
			anywhere.client = &http.Client{Transport: transport}
			a, b := anywhere.join(t, ada, wander), anywhere.join(t, bob, wander)
			<-a.Ready()
			<-b.Ready()
			time.Sleep(3 * time.Second)
			heard := func(c *testClient) []player.SeatChanged { return told[player.SeatChanged](c) }
			before := [2]int{len(heard(a)), len(heard(b))}
			if polite {
				if err := first.server.Shutdown(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			second := newStage(t, setup{pipes: true, interrupted: first.crash(t), options: server.Options{KeepOpen: true, AwaitPlayers: held}})
			now.Store(second.pipes)
			first.stop()
			time.Sleep(20 * time.Second)
			for i, c := range []*testClient{a, b} {
				got := map[string]int{}
				for _, e := range heard(c)[before[i]:] {
					got[fmt.Sprintf("%s %s", e.Seat.Name, e.Seat.Presence)]++
				}
				want := map[string]int{"ada away": 1, "ada here": 1, "bob away": 1, "bob here": 1}
				if !maps.Equal(got, want) {
					t.Errorf("held for %v, polite %t: player %d hears %v, want each change once", held, polite, i, got)
				}
			}
		})
	}
}
