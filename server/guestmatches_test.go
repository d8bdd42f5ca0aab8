//go:build !js

package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// guestMatch is the body of a request for a match; newGuestMatch reads it.
func guestMatch(name string, bots, coins int) string {
	return fmt.Sprintf(`{"Name":%q,"Bots":%d,"Coins":%d}`, name, bots, coins)
}

func newGuestMatch(body io.Reader) (server.MatchSpec, error) {
	var ask struct {
		Name        string
		Bots, Coins uint16
	}
	if err := json.NewDecoder(body).Decode(&ask); err != nil {
		return server.MatchSpec{}, err
	}
	spec := server.MatchSpec{
		Name: ask.Name, Game: lockstep.MustGame(minimal.Rules()), Settings: lockstep.DefaultSettings(9),
		Config: &minimal.Config{Size: 9, Coins: ask.Coins},
	}
	for range ask.Bots {
		spec.Bots = append(spec.Bots, func(*lockstep.Simulation) []any { return nil })
	}
	return spec, nil
}

const someGuest = "guest:eve:0123456789abcdef"

// postFrom asks for a match from an address.
func (s *stage) postFrom(address, token string, body io.Reader) (status int, text string) {
	r := httptest.NewRequest("POST", "http://localhost/matches", body)
	r.RemoteAddr = address + ":1234"
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// Attack 7 of the review: all matches of guests together are limited: matches of an address and of all, bots, and
// bytes of state. A refused match leaves nothing, and a finished one gives
// back its place.
func TestGuestBudgets(t *testing.T) {
	s := newStage(t, setup{options: server.Options{
		Authorizer: server.AnyOf(opsOnly(t), server.Guests{}), NewMatch: newGuestMatch,
		Limits: server.Limits{GuestMatches: 4, GuestBots: 5, GuestStateBytes: 100_000}, // of 6,250 coins
	}})
	post := func(from, body string) (int, string) { return s.postFrom(from, someGuest, strings.NewReader(body)) }
	for _, x := range []struct {
		from, body string
		status     int
		want       string
	}{
		{"192.0.2.1", guestMatch("a", 3, 0), 201, ""},
		{"192.0.2.1", guestMatch("b", 3, 0), 503, "got 6 bots in their matches, want at most 5"},
		{"192.0.2.1", guestMatch("b", 0, 0), 201, ""},
		{"192.0.2.1", guestMatch("c", 0, 0), 429, "got 3 matches of your address, want at most 2"},
		{"192.0.2.2", guestMatch("b", 0, 0), 409, "a match of that name exists"},
		{"192.0.2.2", guestMatch("c", 0, 7000), 503, "bytes of state in their matches, want at most 100000"},
		{"192.0.2.2", guestMatch("c", 0, 4000), 201, ""},
		{"192.0.2.2", guestMatch("d", 0, 4000), 503, "bytes of state in their matches, want at most 100000"},
		{"192.0.2.2", guestMatch("d", 2, 0), 201, ""},
		{"192.0.2.3", guestMatch("e", 0, 0), 503, "got 5 of their matches, want at most 4"},
	} {
		if status, text := post(x.from, x.body); status != x.status || !strings.Contains(text, x.want) {
			t.Errorf("%s from %s: got %d %q, want %d %q", x.body, x.from, status, text, x.status, x.want)
		}
	}
	// The operator's own matches take nothing of it.
	if status, text := s.postFrom("192.0.2.1", ops, strings.NewReader(guestMatch("own", 9, 7000))); status != 201 {
		t.Errorf("an admin's match: got %d %q, want 201", status, text)
	}
	_, text := get(s.server, "/metrics")
	for _, want := range []string{
		`samestep_guests{of="matches"} 4`, `samestep_guests{of="bots"} 5`, `samestep_guests_limit{of="matches"} 4`, `samestep_guests_limit{of="bots"} 5`,
		`samestep_guests_limit{of="state_bytes"} 100000`, `samestep_turned_away_total{reason="guests"} 5`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	if files := s.files(t, "*.ssr"); len(files) != 6 { // with duel and own
		t.Errorf("got the files %v, want 6", files)
	}
	for _, m := range s.server.Matches() {
		if m.Name() == "c" {
			if err := m.End(t.Context(), "enough"); err != nil {
				t.Fatal(err)
			}
			<-m.Done()
		}
	}
	if status, text := post("192.0.2.2", guestMatch("c", 0, 6000)); status != 201 {
		t.Errorf("after a match has ended: got %d %q, want 201", status, text)
	}
}

// opsOnly knows only the admin.
func opsOnly(t *testing.T) server.Authorizer {
	t.Helper()
	a, err := server.ReadTokens(strings.NewReader("admin - ops - " + ops))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A guest with a slow or wrong request occupies no place.
func TestSlowGuestHoldsNoPlace(t *testing.T) {
	s := newStage(t, setup{options: server.Options{Authorizer: server.Guests{}, NewMatch: newGuestMatch, Limits: server.Limits{GuestMatches: 1}}})
	read, write := io.Pipe()
	slow := make(chan int)
	go func() {
		status, _ := s.postFrom("192.0.2.1", someGuest, read)
		slow <- status
	}()
	if _, err := write.Write([]byte(`{"Name":`)); err != nil { // the request is being read
		t.Fatal(err)
	}
	for range 3 {
		if status, _ := s.postFrom("192.0.2.2", someGuest, strings.NewReader("no JSON")); status != 400 {
			t.Errorf("a wrong request: got %d, want 400", status)
		}
	}
	if status, text := s.postFrom("192.0.2.2", someGuest, strings.NewReader(guestMatch("quick", 0, 0))); status != 201 {
		t.Errorf("while another request is slow: got %d %q, want 201", status, text)
	}
	if _, err := write.Write([]byte(`"slow"}`)); err != nil {
		t.Fatal(err)
	}
	write.Close() // the end of the request
	if status := <-slow; status != 503 {
		t.Errorf("the slow request: got %d, want 503", status)
	}
}

// A guest cannot make a server create large states without limit. Other addresses, and the same one a minute later,
// can start matches.
func TestGuestTries(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{Authorizer: server.Guests{}, NewMatch: newGuestMatch, Limits: server.Limits{GuestMatches: 4, GuestStateBytes: 1000}}}, func(t *testing.T, s *stage) {
		post := func(from, body string) int {
			status, _ := s.postFrom(from, someGuest, strings.NewReader(body))
			return status
		}
		statuses := map[int]int{}
		for range 100 {
			statuses[post("192.0.2.1", guestMatch("large", 0, 1000))]++
		}
		if statuses[503] != 20 || statuses[429] != 80 {
			t.Errorf("got %v, want 503 20 times and 429 80 times", statuses)
		}
		if got := post("192.0.2.2", guestMatch("a", 0, 0)); got != 201 {
			t.Errorf("another address: got %d, want 201", got)
		}
		time.Sleep(time.Minute)
		if got := post("192.0.2.1", guestMatch("b", 0, 0)); got != 201 {
			t.Errorf("a minute later: got %d, want 201", got)
		}
	})
}

// A guest's match whose state grows continues, and no other one starts.
func TestGuestStateGrows(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		rules := minimal.Rules()
		rules.Step = func(w *minimal.World, _ *minimal.Config, _ *lockstep.Turn) { w.Coins = append(w.Coins, w.Dots[0].At) }
		s := newStage(t, setup{pipes: true, options: server.Options{
			Authorizer: server.Guests{}, Limits: server.Limits{GuestMatches: 2, GuestStateBytes: 1000}, // of 60 coins
			NewMatch: func(body io.Reader) (server.MatchSpec, error) {
				spec, err := newGuestMatch(body)
				spec.Game, spec.Settings.TickMicros, spec.Settings.KeyframeEvery = lockstep.MustGame(rules), lockstep.TickPeriod(200), 10
				return spec, err
			},
		}})
		if status, text := s.postFrom("192.0.2.1", someGuest, strings.NewReader(guestMatch("grows", 0, 0))); status != 201 {
			t.Fatalf("got %d %q, want 201", status, text)
		}
		eventually(t, "the state is large", func() bool { return s.server.Matches()[1].Status().Stats.StateBytes > 1000 })
		if status, text := s.postFrom("192.0.2.1", someGuest, strings.NewReader(guestMatch("next", 0, 0))); status != 503 || !strings.Contains(text, "bytes of state") {
			t.Errorf("got %d %q, want 503", status, text)
		}
		if v := s.server.Matches()[1].Status(); v.Ended != "" {
			t.Errorf("the match has ended: %s", v.Ended)
		}
	})
}

// Connections that Dial makes use nothing of the limits of outside connections, and have no limit of an address.
func TestOwnConnections(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		s := newStage(t, setup{pipes: true, options: server.Options{Limits: server.Limits{MaxPerAddress: 1}}})
		own := *s
		own.host = "localhost"
		transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return s.server.Dial(ctx) }}
		defer transport.CloseIdleConnections()
		own.client = &http.Client{Transport: transport}
		var bots []*raw
		for range 20 { // more than the unauthenticated connections of an address
			r, err := own.connect(t)
			if err != nil {
				t.Fatal(err)
			}
			bots = append(bots, r)
		}
		for _, r := range bots {
			a := protocol.NewAuth(s.game)
			a.Token = press
			r.say(&protocol.Message{Kind: protocol.KindAuth, Auth: a})
			r.welcomed()
		}
		s.raw(t, ada, protocol.SessionToken{}, 0).welcomed()
		second := s.raw(t, bob, protocol.SessionToken{}, 0)
		if second.end(); second.err == nil || !strings.Contains(second.err.Error(), "too many connections") {
			t.Errorf("a second connection from outside: got %v, want too many connections", second.err)
		}
		own.raw(t, press, protocol.SessionToken{}, 0).welcomed()
		if err := s.server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := s.server.Dial(t.Context()); err != server.ErrShutdown {
			t.Errorf("after the shutdown: got %v, want %v", err, server.ErrShutdown)
		}
	})
}
