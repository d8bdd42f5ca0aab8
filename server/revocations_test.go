//go:build !js

package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/server"
)

// signed returns a JWT of a player.
func signed(t *testing.T, secret []byte, subject, id string) string {
	t.Helper()
	text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, server.Claims{
		RegisteredClaims: jwt.RegisteredClaims{Subject: subject, ID: id, ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Hour))}, Role: "player",
	}).SignedString(secret)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A revoked subject loses its connections, seats and sessions in all matches at once, and is refused. A revoked
// token loses only its own. Others notice nothing.
func TestRevoke(t *testing.T) {
	t.Parallel()
	secret := bytes.Repeat([]byte{7}, 32)
	signer, err := server.NewJWT(secret, server.JWTOptions{Algorithm: "HS256"})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := server.ReadTokens(strings.NewReader(tokenList))
	if err != nil {
		t.Fatal(err)
	}
	x := setup{options: server.Options{Authorizer: server.AnyOf(signer, tokens)}, settings: func(x *lockstep.Settings) { x.Players = 4 }}
	inBubble(t, x, func(t *testing.T, s *stage) {
		_, err := s.server.Create(server.MatchSpec{Name: "two", Game: s.game, Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 9}})
		if err != nil {
			t.Fatal(err)
		}
		post := func(want int, query string) string {
			t.Helper()
			status, body := s.ask(t, "POST", "/revocations?"+query, ops, "")
			if status != want {
				t.Errorf("%s: got %d %s, want %d", query, status, body, want)
			}
			return body
		}
		end := func(g *testClient, want string) {
			t.Helper()
			if err := g.Wait(); !errors.Is(err, player.ErrClosed) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		eve, eve2, kim := signed(t, secret, "eve", "e1"), signed(t, secret, "eve", "e2"), signed(t, secret, "kim", "k1")
		a, e, k := s.join(t, eve, wander), *s, s.join(t, kim, wander)
		elsewhere := client.Dial(t.Context(), strings.Replace(s.url(), "duel", "two", 1), e.game, client.Options{HTTP: s.client, Options: player.Options{Token: eve2}})
		<-a.Ready()
		<-k.Ready()
		<-elsewhere.Ready()

		post(200, "token=e1&reason=lost") // and not e2, by which the same player is elsewhere
		end(a, "revoked: lost")
		end(s.join(t, eve, wander), "refused")
		a = s.join(t, eve2, wander)
		<-a.Ready()

		list := post(200, "subject="+url.QueryEscape("jwt eve")+"&for=1h")
		if !strings.Contains(list, `"subject":"jwt eve","name":"","token":"","seconds":3600`) || !strings.Contains(list, `"token":"e1","seconds":0,"reason":"lost"`) {
			t.Errorf("got %s", list)
		}
		end(a, "revoked")
		if err := elsewhere.Wait(); !errors.Is(err, player.ErrClosed) || !strings.Contains(err.Error(), "revoked") {
			t.Errorf("in the other match: got %v", err)
		}
		for range 3 {
			end(s.join(t, eve2, wander), "refused")
		}
		if status, _ := s.ask(t, "DELETE", "/revocations?subject="+url.QueryEscape("jwt eve"), ops, ""); status != 200 {
			t.Errorf("taken back: got %d, want 200", status)
		}
		if status, _ := s.ask(t, "DELETE", "/revocations?subject=nobody", ops, ""); status != 404 {
			t.Errorf("taken back twice: got %d, want 404", status)
		}
		a = s.join(t, eve2, wander)
		<-a.Ready()
		post(409, "")
		post(400, "token=x&for=soon")
		post(409, "token="+strings.Repeat("x", 2000))
		for _, token := range []string{"", ada, eve2} {
			for _, method := range []string{"GET", "POST", "DELETE"} {
				if status, _ := s.ask(t, method, "/revocations?subject=x", token, ""); status != 403 {
					t.Errorf("%s as a player: got %d, want 403", method, status)
				}
			}
		}
		if k.Err() != nil || a.Err() != nil {
			t.Errorf("the others: %v, %v", k.Err(), a.Err())
		}
		// An admin's token as well, by the program or another admin, never by itself.
		var subject string
		if g, err := tokens.Authorize(ops, "duel"); err == nil {
			subject = g.Subject
		}
		post(409, "subject="+url.QueryEscape(subject))
		if _, err := s.server.Revoke(t.Context(), server.Revocation{Subject: subject}); err != nil {
			t.Error(err)
		}
		if status, _ := s.ask(t, "GET", "/revocations", ops, ""); status != 403 {
			t.Errorf("a revoked admin: got %d, want 403", status)
		}
	})
}

// A server keeps a limited number of revocations; expired ones make room.
func TestRevocationsAreBounded(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{Denials: &memory{values: map[string][]byte{}}}}, func(t *testing.T, s *stage) {
		ctx := t.Context()
		for i := range server.MaxRevoked {
			if _, err := s.server.Revoke(ctx, server.Revocation{ID: fmt.Sprint(i), Until: time.Now().Add(time.Minute)}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.server.Revoke(ctx, server.Revocation{Subject: "one more"}); !errors.Is(err, server.ErrRevocation) {
			t.Errorf("got %v, want %v", err, server.ErrRevocation)
		}
		if _, err := s.server.Revoke(ctx, server.Revocation{ID: "7"}); err != nil {
			t.Errorf("in the place of another: %v", err)
		}
		time.Sleep(time.Minute)
		if _, err := s.server.Revoke(ctx, server.Revocation{Subject: "one more"}); err != nil {
			t.Errorf("a minute later: %v", err)
		}
		if got := len(s.server.Revocations()); got != 2 {
			t.Errorf("got %d, want 2", got)
		}
	})
}

// Reload returns the subjects of removed and changed tokens. Other tokens stay valid.
func TestReloadTokens(t *testing.T) {
	t.Parallel()
	tokens, err := server.ReadTokens(strings.NewReader(tokenList))
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, setup{options: server.Options{Authorizer: tokens}}, func(t *testing.T, s *stage) {
		a, b := s.join(t, ada, wander), s.join(t, bob, wander)
		<-a.Ready()
		<-b.Ready()
		if gone, err := tokens.Reload(strings.NewReader("player 0 ada")); !errors.Is(err, server.ErrTokens) || gone != nil {
			t.Errorf("a list that is none: got %v, %v", gone, err)
		}
		const carol = "carol-carol-carol-carol"
		gone, err := tokens.Reload(strings.NewReader("player - carol - " + carol + "\n" + strings.Replace(tokenList, ada, ada+"-2", 1)))
		if err != nil || len(gone) != 1 {
			t.Fatalf("got %v, %v, want one that is gone", gone, err)
		}
		ended, err := s.server.Expel(context.Background(), func(g *host.Grant) bool { return g.Subject == gone[0] }, "the token is not valid any more")
		if ended != (host.Ended{Seats: 1, Connections: 1}) || err != nil {
			t.Errorf("got %+v ended, %v, want 1", ended, err)
		}
		if err := a.Wait(); err == nil || !strings.Contains(err.Error(), "not valid any more") {
			t.Errorf("ada: got %v", err)
		}
		if err := s.join(t, ada, wander).Wait(); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("ada's old token: got %v", err)
		}
		<-s.join(t, carol, wander).Ready()
		if b.Err() != nil {
			t.Errorf("bob: %v", b.Err())
		}
		if gone, err := tokens.Reload(strings.NewReader(strings.Replace(tokenList, "player    1", "spectator -", 1))); len(gone) != 3 || err != nil {
			t.Errorf("got %v, %v, want carol, ada's new one and bob, now a spectator", gone, err)
		}
	})
}
