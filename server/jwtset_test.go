package server_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-49bee653/samestep/server"
)

// A named key is a private key with its ID and method.
type namedKey struct {
	id     string
	method jwt.SigningMethod
	key    crypto.Signer
}

// jwks returns the JWK Set of the public keys.
func jwks(t *testing.T, keys ...namedKey) []byte {
	t.Helper()
	var set jwkset.JWKSMarshal
	for _, k := range keys {
		jwk, err := jwkset.NewJWKFromKey(k.key.Public(), jwkset.JWKOptions{Metadata: jwkset.JWKMetadataOptions{KID: k.id}})
		if err != nil {
			t.Fatal(err)
		}
		m := jwk.Marshal()
		m.ALG = "" // the key says it
		set.Keys = append(set.Keys, m)
	}
	b, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// token returns a token that is signed by the key and names another.
func (k namedKey) token(t *testing.T, id string) string {
	t.Helper()
	c := &server.Claims{Role: "player"}
	c.Subject, c.ExpiresAt = "ada", jwt.NewNumericDate(time.Now().Add(time.Hour))
	token := jwt.NewWithClaims(k.method, c)
	if id != "" {
		token.Header["kid"] = id
	}
	text, err := token.SignedString(k.key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func testKeys(t *testing.T) (ed, ec, rs namedKey) {
	t.Helper()
	_, edKey, err1 := ed25519.GenerateKey(rand.Reader)
	ecKey, err2 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	rsKey, err3 := rsa.GenerateKey(rand.Reader, 2048)
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return namedKey{"ed", jwt.SigningMethodEdDSA, edKey}, namedKey{"ec", jwt.SigningMethodES256, ecKey}, namedKey{"rs", jwt.SigningMethodRS256, rsKey}
}

// A token names the key of a set that has signed it. Sets are replaced while the server runs.
func TestJWTSet(t *testing.T) {
	ed, ec, rs := testKeys(t)
	j, err := server.NewJWT(jwks(t, ed, ec, rs), server.JWTOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(name, token, want string) {
		t.Helper()
		switch _, err := j.Authorize(token, "duel"); {
		case want == "" && err != nil:
			t.Errorf("%s: got %v", name, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	for _, k := range []namedKey{ed, ec, rs} {
		check(k.id, k.token(t, k.id), "")
	}
	check("of no key", ed.token(t, ""), "unknown key")
	check("of an unknown key", ed.token(t, "other"), "unknown key")
	check("of another key", ed.token(t, "ec"), "wrong signature or algorithm")
	forged := namedKey{"ed", jwt.SigningMethodEdDSA, ed25519.NewKeyFromSeed(make([]byte, 32))}
	check("forged", forged.token(t, "ed"), "wrong signature or algorithm")

	if err := j.Reload(jwks(t, ec)); err != nil {
		t.Fatal(err)
	}
	check("of a key that is gone", ed.token(t, "ed"), "wrong signature or algorithm")
	check("of the key that stays", ec.token(t, "ec"), "")
	check("without a name, of the only key", ec.token(t, ""), "")
	if err := j.Reload([]byte("nonsense")); err == nil {
		t.Error("nonsense is a set")
	}
	check("after nonsense", ec.token(t, "ec"), "")
}

// Sets with keys that cannot or must not verify anything are refused.
func TestJWTSetRefused(t *testing.T) {
	ed, ec, _ := testKeys(t)
	two := string(jwks(t, ed, ec))
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ name, set, want string }{
		{"empty", `{"keys":[]}`, "got a set of 0 keys"},
		{"for encryption", strings.ReplaceAll(string(jwks(t, ed)), `"kid"`, `"use":"enc","kid"`), "got a set of 0 keys"},
		{"without names", strings.ReplaceAll(strings.ReplaceAll(two, `"kid":"ed"`, `"kid":""`), `"kid":"ec"`, `"kid":"x"`), "all have a kid"},
		{"one name twice", strings.ReplaceAll(two, `"kid":"ed"`, `"kid":"ec"`), "twice"},
		{"a secret", `{"keys":[{"kty":"oct","k":"` + strings.Repeat("A", 43) + `"}]}`, "want public ones"},
		{"a private key", strings.ReplaceAll(string(jwks(t, ed)), `"kid"`, `"d":"`+strings.Repeat("A", 43)+`","kid"`), "want public ones"},
		{"another algorithm", strings.ReplaceAll(string(jwks(t, ed)), `"kid"`, `"alg":"RS256","kid"`), "got alg"},
		{"no algorithm", strings.ReplaceAll(string(jwks(t, ed)), `"kid"`, `"alg":"none","kid"`), "JWT key"},
		{"a short RSA key", string(jwks(t, namedKey{"rs", jwt.SigningMethodRS256, weak})), "1024 bits"},
	} {
		if _, err := server.NewJWT([]byte(x.set), server.JWTOptions{}); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want %q", x.name, err, x.want)
		}
	}
	if _, err := server.NewJWT([]byte(two), server.JWTOptions{Algorithm: "EdDSA"}); err == nil {
		t.Error("a set with an algorithm of its own is accepted with another")
	}
}
