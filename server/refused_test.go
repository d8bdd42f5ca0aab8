//go:build !js

package server_test

import (
	"errors"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server"
)

// go test ./server -run RefusedTokens -v -args -exhaustive
var exhaustive = flag.Bool("exhaustive", false, "show a million tokens, not a fiftieth of them")

// Scenarios 21 and 22: no token that is expired, of another match, of a former key, changed in one character or
// guessed is accepted.
func TestRefusedTokens(t *testing.T) {
	n := 20_000
	if *exhaustive {
		n = 1_000_000
	} else if testenv.Small(t) {
		n = 2_000
	}
	signed, err := server.NewJWT(secret, server.JWTOptions{Algorithm: "HS256"})
	if err != nil {
		t.Fatal(err)
	}
	shared, err := server.ReadTokens(strings.NewReader(tokenList + "player 1 eve other eve-eve-eve-eve-eve\n"))
	if err != nil {
		t.Fatal(err)
	}
	all := server.AnyOf(shared, signed)
	token := func(key []byte, match string, lasts time.Duration) string {
		c := &server.Claims{Role: "player", Match: match}
		c.Subject, c.ExpiresAt = "ada", jwt.NewNumericDate(time.Now().Add(lasts))
		return sign(t, jwt.SigningMethodHS256, key, c)
	}
	good := token(secret, "duel", time.Hour)
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	d := rand.New(rand.NewPCG(1, 2))
	changed := func(s string) string {
		for {
			b := []byte(s)
			at := d.IntN(len(b))
			if b[at] = letters[d.IntN(len(letters))]; string(b) != s {
				return string(b)
			}
		}
	}
	expired, other, before := token(secret, "duel", -time.Minute), token(secret, "other", time.Hour), token([]byte("the secret that was used last month"), "duel", time.Hour)
	kinds := []func() string{
		func() string { return expired },
		func() string { return other },
		func() string { return before },
		func() string { return changed(good) },
		func() string { return changed(ada) },
		func() string { // in bits of its last letter that no byte has
			last := len(good) - 1
			return good[:last] + string(letters[strings.IndexByte(letters, good[last])^1])
		},
		func() string { return "eve-eve-eve-eve-eve" }, // of another match
		func() string {
			b := make([]byte, len(ada))
			for i := range b {
				b[i] = letters[d.IntN(len(letters))]
			}
			return string(b)
		},
	}
	accepted := 0
	for i := range n {
		shown := kinds[i%len(kinds)]()
		if g, err := all.Authorize(shown, "duel"); err == nil || !errors.Is(err, server.ErrRefused) || g != (host.Grant{}) {
			accepted++
			t.Errorf("%q was accepted: %+v, %v", shown, g, err)
		}
	}
	t.Logf("%d of %d accepted, of %d kinds", accepted, n, len(kinds))
	for _, shown := range []string{good, ada} { // control
		if _, err := all.Authorize(shown, "duel"); err != nil {
			t.Errorf("%q is not accepted either: %v", shown, err)
		}
	}
}
