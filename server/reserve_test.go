//go:build !js

package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// flood opens connections from an address, many a second, until the test is over. A request is sent on each, or nothing if it is "".
func (s *stage) flood(t *testing.T, address, request string, perSecond int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			c, err := s.pipes.dialFrom(address + ":1")
			if err != nil {
				return
			}
			if request != "" {
				go fmt.Fprint(c, request)
			}
			context.AfterFunc(t.Context(), func() { c.Close() })
			time.Sleep(time.Second / time.Duration(perSecond))
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	time.Sleep(3 * time.Second) // the budget of the address is spent
}

// showing opens a WebSocket that shows a token or a session with the request, authenticates with them, and reports whether it is welcomed.
func (s *stage) showing(t *testing.T, token string, session protocol.SessionToken) (*raw, error) {
	t.Helper()
	r := s.newRaw(t)
	ws, answer, err := websocket.Dial(t.Context(), s.url(), &websocket.DialOptions{
		HTTPClient: s.client, Subprotocols: append([]string{server.Subprotocol}, protocol.Shown(token, session)...),
	})
	if err != nil {
		if answer != nil {
			return nil, fmt.Errorf("%w: %s", errRefused, answer.Status)
		}
		return nil, err
	}
	ws.SetReadLimit(protocol.MaxServerMessage)
	t.Cleanup(func() { ws.CloseNow() })
	r.ws = ws
	a := protocol.NewAuth(s.game)
	a.Token, a.Session = token, session
	r.say(&protocol.Message{Kind: protocol.KindAuth, Auth: a})
	if !r.read(func() bool { return r.welcome != nil }) {
		return nil, fmt.Errorf("not welcomed: %w", r.err)
	}
	return r, nil
}

// The address of a flood keeps a part of its budget for those who show a valid token or session there.
func TestNewcomersAtFloodedAddress(t *testing.T) {
	t.Parallel()
	const home = "203.0.113.7"
	for name, request := range map[string]string{
		"empty connections": "",
		"requests":          "GET /matches HTTP/1.1\r\nHost: server\r\n\r\n",
		"wrong tokens":      "GET /revocations HTTP/1.1\r\nHost: server\r\nAuthorization: Bearer wrong-wrong-wrong-wrong\r\n\r\n",
		"half requests":     "GET /matches HTTP/1.1\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, tokens := players(16)
			o := setup{tokens: list + tokenList[strings.Index(tokenList, "spectator"):], settings: func(s *lockstep.Settings) { s.Players = 16 }, host: returning}
			inBubble(t, o, func(t *testing.T, s *stage) {
				there := s.from(t, home)
				early, err := there.showing(t, tokens[0], protocol.SessionToken{})
				if err != nil {
					t.Fatal(err)
				}
				s.flood(t, home, request, 300)
				welcomed := 0
				for i, token := range tokens[1:7] {
					began := time.Now()
					if _, err := there.showing(t, token, protocol.SessionToken{}); err != nil {
						t.Errorf("newcomer %d: %v", i, err)
						continue
					}
					if took := time.Since(began); took > time.Second {
						t.Errorf("newcomer %d was welcomed after %v", i, took)
					}
					welcomed++
				}
				t.Logf("%d of 6 newcomers with valid tokens were welcomed", welcomed)
				early.ws.CloseNow()
				if _, err := there.showing(t, "", early.welcome.Session); err != nil {
					t.Errorf("a returning player: %v", err)
				}
				if status, _ := there.ask(t, "GET", "/matches", ops, ""); status != http.StatusOK {
					t.Errorf("an admin: got %d", status)
				}
				for i := range 10 {
					if _, err := there.showing(t, fmt.Sprintf("wrong-wrong-wrong-wrong-%d", i), protocol.SessionToken{1}); err == nil {
						t.Error("a wrong token was welcomed")
					}
				}
			})
		})
	}
}

// The part of the budget that is kept for the holders of tokens is bounded, for each of them and for all of an address. Without a token
// nobody gets anything of it.
func TestReserveOfAnAddress(t *testing.T) {
	t.Parallel()
	const home = "203.0.113.7"
	heard := func(t *testing.T, s *stage, token string, tries int) (n int) {
		for range tries {
			c, err := s.pipes.dialFrom(home + ":1")
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(c, "GET /matches HTTP/1.1\r\nHost: server\r\nAuthorization: Bearer %s\r\n\r\n", token)
			if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil && answer.StatusCode == http.StatusOK {
				n++
			}
			c.Close()
		}
		return n
	}
	tokens, err := server.ReadTokens(strings.NewReader(tokenList))
	if err != nil {
		t.Fatal(err)
	}
	open := server.Options{Limits: server.Limits{MaxReads: 1000}, Authorizer: server.AnyOf(tokens, server.Guests{})}
	inBubble(t, setup{options: open}, func(t *testing.T, s *stage) {
		heard(t, s, "wrong-wrong-wrong-wrong", 256) // spends what is for everybody
		if n := heard(t, s, "", 10) + heard(t, s, "wrong-wrong-wrong-wrong", 10) + heard(t, s, "guest:eve:secret-secret-secret", 10); n != 0 {
			t.Errorf("%d of 30 connections without a valid token were heard", n)
		}
		if n := heard(t, s, ada, 100); n != 16 {
			t.Errorf("%d of 100 connections with a token were heard, want 16", n)
		}
		if n := heard(t, s, bob, 10); n != 10 {
			t.Errorf("%d of 10 connections with another token were heard", n)
		}
	})
}

// A client far away, whose token is under way when others at its address open one silent WebSocket after the other, is not pushed out,
// because it has shown the token with its request.
func TestSlowNewcomerAmongSilent(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		there := s.from(t, "203.0.113.7")
		silent := func(n int) {
			for range n {
				s.open(t, "203.0.113.7:1")
			}
			synctest.Wait() // the server counts a connection after it has answered it
		}
		for _, shows := range []bool{true, false} {
			silent(8)
			r := s.newRaw(t)
			offered := []string{server.Subprotocol}
			if shows {
				offered = append(offered, protocol.Shown(ada, protocol.SessionToken{})...)
			}
			ws, _, err := websocket.Dial(t.Context(), s.url(), &websocket.DialOptions{HTTPClient: there.client, Subprotocols: offered})
			if err != nil {
				t.Fatal(err)
			}
			defer ws.CloseNow()
			r.ws = ws
			synctest.Wait()
			silent(20)
			time.Sleep(300 * time.Millisecond)
			a := protocol.NewAuth(s.game)
			a.Token = ada
			r.say(&protocol.Message{Kind: protocol.KindAuth, Auth: a})
			if got := r.read(func() bool { return r.welcome != nil }); got != shows {
				t.Errorf("shows its token %t: welcomed %t", shows, got)
			}
		}
	})
}

// The clients of a proxy have the same part of their budgets.
func TestReserveBehindProxy(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}}}, func(t *testing.T, s *stage) {
		there := s.from(t, "192.0.2.1")
		ask := func(client, token string) int {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), "GET", "http://server/healthz", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Forwarded-For", client)
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			answer, err := there.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			return answer.StatusCode
		}
		for range 300 {
			ask("198.51.100.1", "")
		}
		if got := ask("198.51.100.1", ""); got != http.StatusTooManyRequests {
			t.Errorf("without a token: got %d, want 429", got)
		}
		if got := ask("198.51.100.1", ada); got != http.StatusOK {
			t.Errorf("with a token: got %d, want 200", got)
		}
	})
}

// A request is taken from the reserve once, and those WebSockets are bounded. An admin sees what the holder of a token has spent of it.
func TestReserveIsTakenOnce(t *testing.T) {
	t.Parallel()
	const home = "203.0.113.7"
	inBubble(t, setup{options: server.Options{Limits: server.Limits{MaxUnauthenticated: 1}, Descriptors: 160}}, func(t *testing.T, s *stage) {
		there := s.from(t, home)
		player := there.raw(t, bob, protocol.SessionToken{}, 0).live()
		for range 300 {
			c, err := s.pipes.dialFrom(home + ":1") // spends the budget
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
		}
		showing := func(token string) bool {
			ws, _, err := websocket.Dial(t.Context(), s.url(), &websocket.DialOptions{
				HTTPClient: there.client, Subprotocols: append([]string{server.Subprotocol}, protocol.Shown(token, protocol.SessionToken{})...),
			})
			if err == nil {
				t.Cleanup(func() { ws.CloseNow() })
			}
			return err == nil
		}
		n := 0
		for range 30 {
			if showing(ada) {
				n++
			}
		}
		if n != 16 {
			t.Errorf("%d of 30 silent WebSockets with one token were accepted, want 16", n)
		}
		time.Sleep(100 * time.Millisecond)
		if got, most := s.stats(t).Peers[host.Connecting], 11; got > most { // a sixteenth of the descriptors, and one silent one
			t.Errorf("%d are connecting, want at most %d", got, most)
		}
		for range 5 {
			showing(bob)
		}
		var all []struct {
			Name  string
			Spent map[string]int `json:"address_spent"`
		}
		status, body := s.ask(t, "GET", "/matches/duel/connections", ops, "")
		if err := json.Unmarshal([]byte(body), &all); err != nil || status != http.StatusOK {
			t.Fatalf("got %d, %s, %v", status, body, err)
		}
		for _, c := range all {
			if n := c.Spent["kept_each"]; c.Name == "bob" && (n == 0 || n > 32) { // some of the five may find room elsewhere
				t.Errorf("bob has spent %d %% of his part, want more than 0 and at most 32", n)
			}
		}
		player.ws.CloseNow()
	})
}
