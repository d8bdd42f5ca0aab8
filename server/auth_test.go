//go:build !js

package server_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

func TestReadTokens(t *testing.T) {
	const secret = "c3ab8ff13720e8ad9047"
	for _, x := range []struct{ name, list, err string }{
		{"no words", "player 0 ada " + secret, "line 1: got 4 words"},
		{"another role", "king 0 ada - " + secret, `got role "king"`},
		{"seat out of range", "player 250 ada - " + secret, `got seat "250"`},
		{"negative seat", "player -1 ada - " + secret, `got seat "-1"`},
		{"short token", "# one\n\nplayer 0 ada - short-secret", "line 3: got a token of 12 bytes"},
		{"seat of a spectator", "spectator 3 ada - " + secret, `of a spectator: got the viewer "3"`},
		{"a spectator's view", "spectator spectator ada - " + secret, "which every spectator is"},
		{"view of a player", "player team:1 ada - " + secret, `got seat "team:1"`},
		{"twice", "player 0 ada - " + secret + "\nplayer 1 bob - " + secret, "line 2: the token is also on an earlier line"},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, err := server.ReadTokens(strings.NewReader(x.list))
			if !errors.Is(err, server.ErrTokens) || !strings.Contains(err.Error(), x.err) {
				t.Errorf("got %v, want %q", err, x.err)
			}
			if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "short-secret")) {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
}

func TestTokens(t *testing.T) {
	tokens, err := server.ReadTokens(strings.NewReader(`
		player - eve duel eve-eve-eve-eve-eve # a comment
		spectator team:1 coach - coach-coach-coach
		admin 1 ops - ops-ops-ops-ops-ops-ops`))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		token, match string
		role         protocol.Role
		seat         lockstep.Player
		err          error
	}{
		{"eve-eve-eve-eve-eve", "duel", protocol.Seated, host.AnySeat, nil},
		{"eve-eve-eve-eve-eve", "other", 0, 0, server.ErrRefused},
		{"eve-eve-eve-eve-ev", "duel", 0, 0, server.ErrRefused},
		{"eve-eve-eve-eve-eve ", "duel", 0, 0, server.ErrRefused},
		{"", "duel", 0, 0, server.ErrRefused},
		{"ops-ops-ops-ops-ops-ops", "other", protocol.Admin, 1, nil},
	} {
		g, err := tokens.Authorize(x.token, x.match)
		again, _ := tokens.Authorize(x.token, x.match)
		if !errors.Is(err, x.err) || g.Role != x.role || g.Seat != x.seat || g != again {
			t.Errorf("%q in %q: got %+v, %v", x.token, x.match, g, err)
		}
	}
	if g, err := tokens.Authorize("coach-coach-coach", "duel"); err != nil || g.Viewer.String() != "team:1" || g.Role != protocol.Spectator {
		t.Errorf("a coach: got %+v, %v", g, err)
	}
	if tokens.Players() != 2 {
		t.Errorf("got %d players", tokens.Players())
	}
}

// A match begins with fewer tokens than seats, also with an admin's alone, since the list can grow. The log says so.
func TestFewerTokensThanPlayers(t *testing.T) {
	tokens, err := server.ReadTokens(strings.NewReader("admin - ops - ops-ops-ops-ops-ops-ops\n"))
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s, err := server.New(server.Options{Authorizer: tokens, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	spec := server.MatchSpec{Name: "crowd", Game: lockstep.MustGame(minimal.Rules()), Settings: lockstep.DefaultSettings(4), Config: &minimal.Config{Size: 9}}
	if _, err = s.Create(spec); err != nil {
		t.Error(err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if want := `msg="fewer tokens than seats" match=crowd id=[0-9a-f]{32} tokens=1 seats=4`; !regexp.MustCompile(want).MatchString(log.String()) {
		t.Errorf("got the log\n%s\nwant %s", &log, want)
	}
}

var secret = []byte("a secret of at least 32 bytes, drawn at random")

func sign(t *testing.T, method jwt.SigningMethod, key any, c jwt.Claims) string {
	t.Helper()
	token, err := jwt.NewWithClaims(method, c).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func seat(n uint8) *uint8 { return &n }

func TestJWT(t *testing.T) {
	j, err := server.NewJWT(secret, server.JWTOptions{Algorithm: "HS256"})
	if err != nil {
		t.Fatal(err)
	}
	hs := jwt.SigningMethodHS256
	claims := func(change func(*server.Claims)) *server.Claims {
		c := &server.Claims{Role: "player", Match: "duel", Seat: seat(1)}
		c.Subject, c.ExpiresAt = "ada", jwt.NewNumericDate(time.Now().Add(time.Hour))
		change(c)
		return c
	}
	good := sign(t, hs, secret, claims(func(*server.Claims) {}))
	if g, err := j.Authorize(good, "duel"); err != nil || g.Seat != 1 || g.Role != protocol.Seated || g.Name != "ada" {
		t.Fatalf("got %+v, %v", g, err)
	}
	coach := sign(t, hs, secret, claims(func(c *server.Claims) { c.Role, c.View = "spectator", "role:coach" }))
	if g, err := j.Authorize(coach, "duel"); err != nil || g.Viewer.String() != "role:coach" {
		t.Errorf("a coach: got %+v, %v", g, err)
	}
	parts := strings.Split(good, ".")
	admin := strings.Split(sign(t, hs, []byte("another secret of at least 32 bytes"), claims(func(c *server.Claims) { c.Role = "admin" })), ".")
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ name, token string }{
		{"wrong key", sign(t, hs, []byte("another secret of at least 32 bytes"), claims(func(*server.Claims) {}))},
		{"wrong algorithm", sign(t, jwt.SigningMethodHS512, secret, claims(func(*server.Claims) {}))},
		{"no algorithm", sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims(func(*server.Claims) {}))},
		{"no signature", parts[0] + "." + parts[1] + "."},
		{"role changed by hand", parts[0] + "." + admin[1] + "." + parts[2]},
		{"expired", sign(t, hs, secret, claims(func(c *server.Claims) { c.ExpiresAt = jwt.NewNumericDate(time.Now().Add(-time.Second)) }))},
		{"without an expiry", sign(t, hs, secret, claims(func(c *server.Claims) { c.ExpiresAt = nil }))},
		{"not valid yet", sign(t, hs, secret, claims(func(c *server.Claims) { c.NotBefore = jwt.NewNumericDate(time.Now().Add(time.Hour)) }))},
		{"views of a player", sign(t, hs, secret, claims(func(c *server.Claims) { c.View = "team:1" }))},
		{"views of nobody", sign(t, hs, secret, claims(func(c *server.Claims) { c.Role, c.View = "spectator", "team" }))},
		{"for another match", sign(t, hs, secret, claims(func(c *server.Claims) { c.Match = "other" }))},
		{"without a subject", sign(t, hs, secret, claims(func(c *server.Claims) { c.Subject = "" }))},
		{"unknown role", sign(t, hs, secret, claims(func(c *server.Claims) { c.Role = "root" }))},
		{"no role", sign(t, hs, secret, claims(func(c *server.Claims) { c.Role = "" }))},
		{"seat out of range", sign(t, hs, secret, claims(func(c *server.Claims) { c.Seat = seat(lockstep.MaxPlayers) }))},
		{"a seat of 300", sign(t, hs, secret, jwt.MapClaims{"sub": "ada", "role": "player", "seat": 300, "exp": time.Now().Add(time.Hour).Unix()})},
		{"empty", ""},
		{"long", strings.Repeat("A", 1<<20)},
	} {
		t.Run(x.name, func(t *testing.T) {
			g, err := j.Authorize(x.token, "duel")
			if !errors.Is(err, server.ErrRefused) || g != (host.Grant{}) {
				t.Errorf("got %+v, %v", g, err)
			}
			if err != nil && len(x.token) > 0 && strings.Contains(err.Error(), x.token) {
				t.Errorf("the error shows the token")
			}
		})
	}
	// A public key is not a secret: signed with its text as an HMAC key, a token
	// must not pass where the key is public.
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	ed, err := server.NewJWT(text, server.JWTOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ed.Authorize(sign(t, hs, text, claims(func(*server.Claims) {})), "duel"); !errors.Is(err, server.ErrRefused) {
		t.Errorf("the public key as a secret: got %v", err)
	}
}

// No answer and no line of the log contains a token.
func TestTokensAreNotTold(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		for _, token := range []string{ada, "wrong-wrong-wrong-wrong"} {
			r := s.raw(t, token, protocol.SessionToken{}, 0)
			r.read(func() bool { return r.welcome != nil || r.closing != nil })
			if r.closing != nil && strings.Contains(r.closing.Text, token) {
				t.Errorf("told: %q", r.closing.Text)
			}
			if strings.Contains(s.log.String(), token) {
				t.Errorf("the log contains %q", token)
			}
		}
		if !strings.Contains(s.log.String(), "refused") {
			t.Error("the log does not contain the refusal")
		}
	})
}

// Scenario 63: an identity that differs in one field is refused with its name, before any other check.
func TestIdentityIsCompared(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		for field, change := range map[string]func(*protocol.Auth){
			"protocol":       func(a *protocol.Auth) { a.Protocol++ },
			"engine":         func(a *protocol.Auth) { a.Engine += "x" },
			"game":           func(a *protocol.Auth) { a.Game = "chess" },
			"build":          func(a *protocol.Auth) { a.Build = "2" },
			"state schema":   func(a *protocol.Auth) { a.StateSchema++ },
			"command schema": func(a *protocol.Auth) { a.CommandSchema++ },

			"self-test of layout": func(a *protocol.Auth) { a.SelfTest.Layout++ },
			"self-test of game":   func(a *protocol.Auth) { a.SelfTest.Game++ },
		} {
			r, err := s.connect(t)
			if err != nil {
				t.Fatal(err)
			}
			a := protocol.NewAuth(s.game)
			a.Token = ada
			change(a)
			r.say(&protocol.Message{Kind: protocol.KindAuth, Auth: a})
			if code := r.end(); code != protocol.CloseRefused || r.errors[protocol.ErrorIdentity] != 1 || r.field != field {
				t.Errorf("%s: closed with %v, errors %v of %q", field, code, r.errors, r.field)
			}
		}
	})
}

// An Authorizer that fails takes its match with it, and no other.
type failing struct{ server.Authorizer }

func (f failing) Authorize(token, match string) (host.Grant, error) {
	if token == "fail" {
		panic("the database is gone")
	}
	return f.Authorizer.Authorize(token, match)
}

func TestPanicOfTheAuthorizer(t *testing.T) {
	t.Parallel()
	tokens, err := server.ReadTokens(strings.NewReader(tokenList))
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, setup{options: server.Options{Authorizer: failing{tokens}}}, func(t *testing.T, s *stage) {
		other, err := s.server.Create(server.MatchSpec{
			Name: "other", Game: s.game, Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 9},
		})
		if err != nil {
			t.Fatal(err)
		}
		b := s.raw(t, bob, protocol.SessionToken{}, 0).live()
		s.raw(t, "fail", protocol.SessionToken{}, 0).end()
		b.end()
		<-s.match.Done()
		if v := s.match.Status(); v.Ended != "the match has failed" {
			t.Errorf("got %q", v.Ended)
		}
		if !strings.Contains(s.log.String(), "the database is gone") {
			t.Error("the log does not contain the reason")
		}
		if err := other.Do(t.Context(), func(*host.Host) {}); err != nil {
			t.Errorf("the other match: %v", err)
		}
	})
}
