//go:build !js

package tool

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/server"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// A guest starts a match with a bot and joins it. Too expensive matches are refused.
func TestServeGuests(t *testing.T) {
	testenv.Long(t) // the tests of guests of package server have no processes
	t.Parallel()
	s := tooltest.Serve(t, "--dir", t.TempDir(), "--guests", "2", "--players", "2", "--bots", "1", "--config", `{"Units":40}`)
	const guest = "guest:eve:0123456789abcdef"
	post := func(body string) int {
		t.Helper()
		r, err := http.NewRequest("POST", s.URL+"/matches", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+guest)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	for _, x := range []struct {
		body   string
		status int
	}{
		{`{"name":"large","players":2,"units":3001}`, 400},
		{`{"name":"quick","players":2,"units":40,"tick_rate":31}`, 400},
		{`{"name":"bots","players":2,"units":40,"bots":3}`, 400},
		{`{"name":"duel","players":2,"units":40,"bots":1}`, 201},
	} {
		if got := post(x.body); got != x.status {
			t.Errorf("%s: got %d, want %d", x.body, got, x.status)
		}
	}
	for _, match := range []string{"duel", "match-1"} {
		waitForPlayers(t, s.URL+"/matches/"+match, 1) // the bot
		session := client.Dial(t.Context(), strings.Replace(s.URL, "http", "ws", 1)+"/matches/"+match+"/play", games[0].Game, client.Options{
			Options: player.Options{Token: guest},
		})
		select {
		case <-session.Ready():
		case <-session.Done():
			t.Errorf("%s: not joined: %v", match, session.Wait())
		}
		waitForPlayers(t, s.URL+"/matches/"+match, 2)
	}
}

// Without a token join plays as a guest where that is possible, and watches otherwise, or if it is told to.
func TestJoinAsGuest(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		serve, join []string
		seat        int
	}{
		{[]string{"--guests", "1"}, nil, 0},
		{[]string{"--guests", "1"}, []string{"--spectate"}, -1},
		{[]string{"--set", "anonymous-spectators=true"}, nil, -1},
	} {
		s := tooltest.Serve(t, append([]string{"--dir", "", "--players", "2", "--config", `{"Units":40}`}, row.serve...)...)
		out, _ := tooltest.Requires(t, console.ExitOK, append([]string{"join", s.URL + "/matches/match-1", "--json", "--time", "300ms"}, row.join...)...)
		var sum tooltest.Summary
		if err := json.Unmarshal([]byte(out), &sum); err != nil || sum.Seat != row.seat {
			t.Errorf("%v %v: got seat %d, %v, want %d: %s", row.serve, row.join, sum.Seat, err, row.seat, out)
		}
		s.Stop()
	}
}

// waitForPlayers waits until N players are connected to a match.
func waitForPlayers(t *testing.T, page string, players int) {
	t.Helper()
	for range 3000 {
		answer, err := http.Get(page)
		if err != nil {
			t.Fatal(err)
		}
		var v server.Status
		err = json.NewDecoder(answer.Body).Decode(&v)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if v.Stats.Players >= players {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s: too few players joined", page)
}

// Row 7 of the review, scaled down: a guest requests one match with bots after another. Two begin, and their bots take
// no places of outside connections.
func TestServeGuestLoad(t *testing.T) {
	t.Parallel()
	s := tooltest.Serve(t, "--dir", "", "--guests", "8", "--matches", "1", "--players", "4", "--config", `{"Units":40}`, "--set", "max-per-address=1")
	statuses := map[int]int{}
	for n := range 8 {
		r, err := http.NewRequest("POST", s.URL+"/matches", strings.NewReader(fmt.Sprintf(`{"name":"m%d","players":4,"units":40,"bots":3}`, n)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer guest:eve:0123456789abcdef")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		statuses[answer.StatusCode]++
	}
	if statuses[201] != 2 || statuses[429] != 6 {
		t.Errorf("got %v, want 201 twice and 429 six times", statuses)
	}
	waitForPlayers(t, s.URL+"/matches/m0", 3) // the bots of one match, of which one alone had room
	session := client.Dial(t.Context(), strings.Replace(s.URL, "http", "ws", 1)+"/matches/m0/play", games[0].Game, client.Options{
		Options:     player.Options{Token: "guest:ada:0123456789abcdef"},
		NoDatagrams: true, // their address would be asked for on a second connection
	})
	select {
	case <-session.Ready():
	case <-session.Done():
		t.Errorf("not joined: %v", session.Wait())
	case <-time.After(time.Minute):
		t.Error("not joined after a minute")
	}
	waitForPlayers(t, s.URL+"/matches/m0", 4)
}
