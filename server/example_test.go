//go:build !js

package server_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// A server with one match, and a player who joins it over the network.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var tokens *server.Tokens
	tokens, err := server.ReadTokens(strings.NewReader("player 0 ada duel c3ab8ff13720e8ad9047"))
	if err != nil {
		panic(err)
	}
	var s *server.Server
	s, err = server.New(server.Options{Authorizer: tokens, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	game := lockstep.MustGame(minimal.Rules())
	settings := lockstep.DefaultSettings(1)
	settings.TickMicros = lockstep.TickPeriod(200)
	var match *server.Match
	match, err = s.Create(server.MatchSpec{Name: "duel", Game: game, Settings: settings, Config: &minimal.Config{Size: 20, Coins: 50}})
	if err != nil {
		panic(err)
	}
	web := httptest.NewServer(s)
	defer web.Close()

	url := "ws" + strings.TrimPrefix(web.URL, "http") + "/matches/duel/play"
	session := client.Dial(ctx, url, game, client.Options{
		Options: player.Options{Token: "c3ab8ff13720e8ad9047"},
		Sample: func(c *player.Client) {
			if c.Simulation().Tick() > 50 {
				c.Leave("")
			}
		},
	})
	fmt.Println("the session ended with", session.Wait())
	var status server.Status = match.Status()
	fmt.Println(status.Name, status.Game, status.Settings.Players)
	var waiting *server.WaitStatus = status.Waiting // nil: it does not wait for anybody
	fmt.Println("it stands still:", waiting != nil)
	var players []server.PlayerStatus = status.Players
	fmt.Println(len(players), "players are left")
	fmt.Println("shutdown", s.Shutdown(ctx))
	// Output:
	// the session ended with <nil>
	// duel minimal 1
	// it stands still: false
	// 0 players are left
	// shutdown <nil>
}

// A player who serves a match to friends plays in it without a network.
func ExampleServer_Dial() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	tokens, err := server.ReadTokens(strings.NewReader("player 0 ada duel c3ab8ff13720e8ad9047\nplayer 1 bob duel 5e884898da28047151d0"))
	if err != nil {
		panic(err)
	}
	s, err := server.New(server.Options{Authorizer: tokens, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	game := lockstep.MustGame(minimal.Rules())
	settings := lockstep.DefaultSettings(2)
	_, err = s.Create(server.MatchSpec{Name: "duel", Game: game, Settings: settings, Config: &minimal.Config{Size: 20, Coins: 50}})
	if err != nil {
		panic(err)
	}
	session := client.Dial(ctx, "ws://localhost/matches/duel/play", game, client.Options{
		Options: player.Options{Token: "c3ab8ff13720e8ad9047"},
		HTTP: &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return s.Dial(ctx) },
		}},
		Sample: func(c *player.Client) {
			if c.Simulation().Tick() > 5 {
				c.Leave("dinner is ready")
			}
		},
	})
	fmt.Println("the session ended with", session.Wait())
	fmt.Println("shutdown", s.Shutdown(ctx))
	// Output:
	// the session ended with <nil>
	// shutdown <nil>
}

// A server resumes the matches whose logs are open. While it does, it tells their clients when to come back.
func ExampleServer_Recover() {
	s, err := server.New(server.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	var logs []server.Interrupted = []server.Interrupted{{
		Path: "matches/live/duel-00000000.ssr", Spec: server.MatchSpec{Game: lockstep.MustGame(minimal.Rules())},
	}}
	s.Recover(logs, func(one server.Interrupted, m *server.Match, err error) {
		fmt.Println(one.Path, errors.Is(err, fs.ErrNotExist))
	})
	fmt.Println("shutdown", s.Shutdown(context.Background()))
	// Output:
	// matches/live/duel-00000000.ssr true
	// shutdown <nil>
}

func ExampleJWT() {
	secret := []byte("a secret of at least 32 bytes, drawn at random")
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, &server.Claims{
		RegisteredClaims: jwt.RegisteredClaims{Subject: "ada", ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Hour))},
		Role:             "player",
		Match:            "duel",
	}).SignedString(secret)
	if err != nil {
		panic(err)
	}
	var signed *server.JWT
	signed, err = server.NewJWT(secret, server.JWTOptions{Algorithm: "HS256"})
	if err != nil {
		panic(err)
	}
	var anyone server.Authorizer = server.AnyOf(signed)
	g, err := anyone.Authorize(token, "duel")
	fmt.Println(g.Name, g.Role == protocol.Seated, err)
	_, err = anyone.Authorize(token, "another match")
	fmt.Println(errors.Is(err, server.ErrRefused))
	// Output:
	// ada true <nil>
	// true
}

// The server reads a list again, and ends the connections and sessions of removed tokens.
func ExampleTokens_Reload() {
	tokens, err := server.ReadTokens(strings.NewReader("player - ada - c3ab8ff13720e8ad9047"))
	if err != nil {
		panic(err)
	}
	s, err := server.New(server.Options{Authorizer: tokens})
	if err != nil {
		panic(err)
	}
	gone, err := tokens.Reload(strings.NewReader("player - bob - 5a2ad2b5e6c0d1a79e3c"))
	fmt.Println(len(gone), err)
	ended, err := s.Expel(context.Background(), func(g *host.Grant) bool { return slices.Contains(gone, g.Subject) }, "the token is not valid any more")
	fmt.Println(ended, err)
	// Output:
	// 1 <nil>
	// {0 0} <nil>
}

// All tokens of a subject are invalid for an hour, after which they have expired.
func ExampleServer_Revoke() {
	s, err := server.New(server.Options{})
	if err != nil {
		panic(err)
	}
	var r = server.Revocation{Subject: "jwt ada", Until: time.Now().Add(time.Hour), Reason: "her phone was stolen"}
	ended, err := s.Revoke(context.Background(), r)
	fmt.Println(ended.Connections, err, len(s.Revocations()))
	_, err = s.Revoke(context.Background(), server.Revocation{})
	fmt.Println(errors.Is(err, server.ErrRevocation))
	// Output:
	// 0 <nil> 1
	// true
}

// A running server takes fewer matches from now on.
func ExampleServer_SetLimits() {
	s, err := server.New(server.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	s.SetLimits(server.Limits{MaxMatches: 1})
	for _, name := range []string{"one", "two"} {
		_, err = s.Create(server.MatchSpec{Name: name, Game: lockstep.MustGame(minimal.Rules()), Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 20}})
		fmt.Println(err)
	}
	s.Shutdown(context.Background())
	// Output:
	// <nil>
	// server: too many matches: want at most 1
}

// A volatile keeps nothing. A program keeps bans and revocations where several of its servers see them.
type volatile struct{}

func (volatile) Put(key string, _ []byte) error                 { fmt.Println(key[:10], "is put"); return nil }
func (volatile) Delete(string) error                            { return nil }
func (volatile) Get(string) ([]byte, error)                     { return nil, nil }
func (volatile) Watch(func(string, []byte), func(string)) error { return nil }
func (volatile) Sweep(func(string, []byte, time.Time, func(lockstep.MatchID) bool) bool) error {
	return nil
}

// The place where a program keeps the bans and revocations of its servers.
func ExampleDenials() {
	var kept server.Denials = volatile{}
	s, err := server.New(server.Options{Denials: kept, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	_, err = s.Revoke(context.Background(), server.Revocation{Subject: "jwt ada"})
	fmt.Println(err)
	// Output:
	// revocation is put
	// <nil>
}

// What a server kept in its folder, such as for another server with a folder of its own.
func ExampleDenialsIn() {
	value, err := server.DenialsIn("matches").Get("bans-0123456789abcdef0123456789abcdef")
	fmt.Println(value == nil, err)
	// Output:
	// true <nil>
}

// A match whose players get their tokens from the server.
func ExampleMatch_Invitations() {
	s, err := server.New(server.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	match, err := s.Create(server.MatchSpec{
		Name: "duel", Game: lockstep.MustGame(minimal.Rules()), Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 20}, Invite: true,
	})
	if err != nil {
		panic(err)
	}
	var all []server.Invitation = match.Invitations()
	for _, i := range all {
		fmt.Println("seat", i.Seat, "has a token of", len(i.Token), "digits")
	}
	fmt.Println(s.Shutdown(context.Background()))
	// Output:
	// seat 0 has a token of 32 digits
	// seat 1 has a token of 32 digits
	// <nil>
}
