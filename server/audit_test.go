//go:build !js

package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// lines returns the lines of the server's log that have all of the words.
func (s *stage) lines(words ...string) (found []string) {
	for line := range strings.Lines(s.log.String()) {
		all := true
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// Each call of an admin has one line, also a refused one, with who called from where.
func TestAudit(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{NewMatch: newMatch}}, func(t *testing.T, s *stage) {
		<-s.join(t, ada, wander).Ready()
		from := s.from(t, "192.0.2.7")
		for _, x := range []struct {
			method, path, token, body string
			level                     string
			want                      []string
		}{
			{"POST", "/matches/duel/pause?seat=0", ops, "", "INFO", []string{"status=200", "name=ops", `identity="token `, "seat=0"}},
			{"POST", "/matches/duel/pause?seat=0", ops, "", "INFO", []string{"status=409", "name=ops", `why="lockstep: the match is paused"`}},
			{"POST", "/matches/none/kick?seat=1", ops, "", "INFO", []string{"status=404", `why="no such match"`}},
			{"POST", "/matches", ops, `{"Name":"two"}`, "INFO", []string{"status=201", "match=two"}},
			{"POST", "/matches/two/ban?subject=eve&for=1m&reason=rude", ops, "", "INFO", []string{"status=200", "subject=eve", "for=1m", "reason=rude"}},
			{"GET", "/matches/two/bans", ops, "", "INFO", []string{"status=200"}},
			{"DELETE", "/matches/two", ops, "", "INFO", []string{"status=200"}},
			{"DELETE", "/matches/duel", ada, "", "WARN", []string{"status=403", "name=ada", `why="role not permitted"`}},
			{"DELETE", "/matches/duel", "wrong-wrong-wrong-wrong", "", "WARN", []string{"status=403", `why="not in the list of tokens"`}},
			{"GET", "/revocations", "", "", "WARN", []string{"status=403", `why="no token"`}},
		} {
			s.log.forget()
			from.ask(t, x.method, x.path, x.token, x.body)
			path, _, _ := strings.Cut(x.path, "?")
			words := append(x.want, "level="+x.level, fmt.Sprintf("action=%q", x.method+" "+path), "address=192.0.2.7")
			if all := s.lines("msg=admin"); len(all) != 1 || len(s.lines(words...)) != 1 {
				t.Errorf("%s %s: got %q, want one line with %q", x.method, x.path, all, words)
			}
		}
	})
}

// A flood of refused calls writes a bounded number of lines, and the next one says how many were left out.
func TestAuditOfAFlood(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		calls, lines := 0, 0
		for address := range 10 {
			there := s.from(t, fmt.Sprintf("192.0.2.%d", address+1))
			for range 60 {
				there.ask(t, "DELETE", "/matches/duel", "", "")
				calls++
			}
		}
		if lines = len(s.lines("msg=admin")); lines != 200 {
			t.Errorf("got %d lines of %d calls in no time, want 200", lines, calls)
		}
		time.Sleep(time.Second)
		s.from(t, "192.0.2.99").ask(t, "DELETE", "/matches/duel", "", "")
		if all := s.lines("msg=admin", fmt.Sprintf("omitted=%d", calls-200)); len(all) != 1 {
			t.Errorf("got %q", all)
		}
	})
}

// The operator learns why a token was refused, and the client does not. No line has a token.
func TestReasonsOfRefusals(t *testing.T) {
	token := func(key []byte, change func(*server.Claims)) string {
		c := &server.Claims{Role: "player"}
		c.Subject, c.ID, c.ExpiresAt = "ann", "the id", jwt.NewNumericDate(time.Now().Add(time.Hour))
		change(c)
		return sign(t, jwt.SigningMethodHS256, key, c)
	}
	signed, err := server.NewJWT(secret, server.JWTOptions{Algorithm: "HS256"})
	if err != nil {
		t.Fatal(err)
	}
	shared, err := server.ReadTokens(strings.NewReader(tokenList + "player 1 eve other eve-eve-eve-eve-eve\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, setup{options: server.Options{Authorizer: server.AnyOf(shared, signed, server.Guests{})}})
	rows := []struct{ token, want string }{
		{"", "no token"},
		{"wrong-wrong-wrong-wrong", "not in the list of tokens; as a JWT, malformed; not a valid guest token"},
		{"eve-eve-eve-eve-eve", `listed for match \"other\", got \"duel\"`},
		{"guest:%ff:0123456789abcdef", "bad name in a guest token"},
		{token([]byte("another secret of at least 32 bytes"), func(*server.Claims) {}), "wrong signature or algorithm"},
		{token(secret, func(c *server.Claims) { c.ExpiresAt = jwt.NewNumericDate(time.Now().Add(-time.Hour)) }), "expired"},
		{token(secret, func(c *server.Claims) { c.NotBefore = jwt.NewNumericDate(time.Now().Add(time.Hour)) }), "not valid yet"},
		{token(secret, func(c *server.Claims) { c.Role = "king" }), "invalid claims"},
		{token(secret, func(c *server.Claims) { c.Audience = jwt.ClaimStrings{"elsewhere"} }), "wrong audience"},
		{token(secret, func(c *server.Claims) { c.Match = "other" }), `for match \"other\", got \"duel\"`},
	}
	for _, x := range rows {
		s.log.forget()
		s.raw(t, x.token, protocol.SessionToken{}, 0).end()
		if all := s.lines("event=refused", "address=127.0.0.1", "why=", x.want); len(all) != 1 {
			t.Errorf("want %q in\n%s", x.want, s.log)
		}
		if x.token == "" {
			continue
		}
		if status, text := s.ask(t, "DELETE", "/matches/duel", x.token, ""); status != 403 || strings.Contains(text, "JWT") || strings.Contains(text, "list") {
			t.Errorf("the client was told %d %q", status, text)
		}
		if all := s.lines("msg=admin", x.want); len(all) != 1 {
			t.Errorf("want %q in\n%s", x.want, s.log)
		}
		if parts := strings.Split(x.token, "."); strings.Contains(s.log.String(), parts[len(parts)-1]) {
			t.Errorf("the log has the token:\n%s", s.log)
		}
	}
}

// No line has a token, a session or a secret, whatever clients do, in either format. Every line about a connection has
// its address.
func TestNoSecretInTheLog(t *testing.T) {
	t.Parallel()
	log := &logWriter{}
	known := slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	inBubble(t, setup{options: server.Options{NewMatch: newMatch}, log: known}, func(t *testing.T, s *stage) {
		const guess = "guess-guess-guess-guess"
		a := s.raw(t, ada, protocol.SessionToken{}, 0).live()
		a.end()
		s.raw(t, guess, protocol.SessionToken{1, 2, 3}, 0).end()
		<-s.join(t, bob, wander).Ready()
		for _, token := range []string{ops, guess, press} {
			s.ask(t, "POST", "/matches/duel/kick?seat=1", token, "")
			s.ask(t, "POST", "/matches?token="+guess, token, `{"Name":"`+guess+`"`)
			s.ask(t, "GET", "/matches?access_token="+guess, token, "")
			s.ask(t, "POST", "/matches/duel/ban?seat=0&token="+guess, token, "")
		}
		time.Sleep(2 * time.Second)
		text := log.String()
		for _, secret := range []string{ada, bob, ops, press, guess, "AQID", "010203"} {
			if strings.Contains(text, secret) {
				t.Errorf("the log has %q:\n%s", secret, text)
			}
		}
		connections := 0
		for line := range strings.Lines(text) {
			var x map[string]any
			if err := json.Unmarshal([]byte(line), &x); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if x["peer"] != nil && x["peer"] != 0. {
				connections++
				if x["address"] == nil || x["match"] != "duel" {
					t.Errorf("no address or match: %s", line)
				}
			}
		}
		if connections < 5 || !bytes.Contains([]byte(text), []byte(`"identity":"token `)) {
			t.Errorf("got %d lines about connections:\n%s", connections, text)
		}
	})
}
