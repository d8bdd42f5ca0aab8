//go:build !js

package server_test

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server"
)

// A keyFile is the content of a file that an operator may name by mistake.
type keyFile struct {
	name    string
	content []byte
}

// keyFiles returns public keys, and files that contain them, in the forms of common tools, whole and damaged.
func keyFiles(t *testing.T) []keyFile {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	elliptical, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	agreement, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "issuer"}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	der := func(b []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	text := func(kind string, b []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}) }
	var blob []byte
	for _, field := range [][]byte{[]byte("ssh-ed25519"), public} {
		blob = append(binary.BigEndian.AppendUint32(blob, uint32(len(field))), field...)
	}
	openSSH := []byte("ssh-ed25519 " + base64.StdEncoding.EncodeToString(blob) + " ops@example\n")
	jwk := `{"kty":"OKP","crv":"Ed25519","x":"` + base64.RawURLEncoding.EncodeToString(public) + `"}`
	spki := der(x509.MarshalPKIXPublicKey(public))
	whole := text("PUBLIC KEY", spki)
	lines := strings.Split(string(whole), "\n")
	modulus := make([]byte, 256)
	rand.Read(modulus)
	pkcs1 := x509.MarshalPKCS1PublicKey(&rsa.PublicKey{N: new(big.Int).SetBytes(modulus), E: 65537})
	return []keyFile{
		{"OpenSSH", openSSH},
		{"OpenSSH, its blob alone", []byte(strings.Fields(string(openSSH))[1])},
		{"OpenSSH, after its type was lost", []byte(strings.Join(strings.Fields(string(openSSH))[1:], " "))},
		{"authorized_keys with options", append([]byte("no-pty "), openSSH...)},
		{"SSH2", []byte("---- BEGIN SSH2 PUBLIC KEY ----\n" + base64.StdEncoding.EncodeToString(blob) + "\n---- END SSH2 PUBLIC KEY ----\n")},
		{"JWK", []byte(jwk)},
		{"JWKS", []byte("\ufeff \n{\"keys\": [" + jwk + "]}\n")},
		{"list of JWKs", []byte("[" + jwk + "]")},
		{"JWK, cut at its start", []byte(jwk[1:])},
		{"DER", spki},
		{"DER with a newline", append(slices.Clone(spki), '\n')},
		{"DER, cut short", spki[:40]},
		{"RSA in DER", pkcs1}, // without an object identifier
		{"RSA in DER with a newline", append(slices.Clone(pkcs1), '\n')},
		{"DER in base64", []byte(base64.StdEncoding.EncodeToString(spki))},
		{"DER in base64, without padding", []byte(base64.RawURLEncoding.EncodeToString(spki) + "\n")},
		{"DER in hexadecimal", []byte(hex.EncodeToString(spki))},
		{"PEM without its first line", []byte(strings.Join(lines[1:], "\n"))},
		{"PEM without its last line", []byte(lines[0] + "\n" + lines[1] + "\n")},
		{"PEM without either", []byte(lines[1] + "\n")},
		{"PEM with a dash too few", whole[1:]},
		{"PEM with dashes that a program replaced", []byte(strings.ReplaceAll(string(whole), "-----", "–––––"))},
		{"PEM in one line", []byte(strings.ReplaceAll(string(whole), "\n", " "))},
		{"PEM with newlines as \\n", []byte(strings.ReplaceAll(string(whole), "\n", `\n`))},
		{"PEM with a letter changed", []byte(strings.Replace(string(whole), "MCow", "MC!w", 1))},
		{"PEM in UTF-16", utf16Text(string(whole))},
		{"PEM in base64", []byte(base64.StdEncoding.EncodeToString(whole))},
		{"two PEM keys", slices.Concat(whole, whole)},
		{"text before PEM", append([]byte("our key:\n"), whole...)},
		{"PEM with another type", text("ED25519 PUBLIC KEY", spki)},
		{"PEM of nothing", text("PUBLIC KEY", []byte("nothing"))},
		{"PEM of a certificate", text("CERTIFICATE", certificate)},
		{"certificate in DER", certificate},
		{"PEM of a private key", text("PRIVATE KEY", der(x509.MarshalPKCS8PrivateKey(private)))},
		{"PEM of ECDSA", text("PUBLIC KEY", der(x509.MarshalPKIXPublicKey(&elliptical.PublicKey)))},
		{"PEM of X25519", text("PUBLIC KEY", der(x509.MarshalPKIXPublicKey(agreement.PublicKey())))},
		{"PGP", []byte("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDMEZQ\n-----END PGP PUBLIC KEY BLOCK-----\n")},
		{"minisign", []byte("untrusted comment: minisign public key 1234\nRWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\n")},
		{"XML", []byte("<RSAKeyValue><Modulus>" + strings.Repeat("A", 64) + "</Modulus></RSAKeyValue>")},
	}
}

// utf16Text returns a text as some editors write it: little-endian with a byte order mark.
func utf16Text(s string) []byte {
	b := []byte{0xff, 0xfe}
	for _, r := range s {
		b = append(b, byte(r), 0)
	}
	return b
}

// The owner of a public key must not be able to sign: NewJWT refuses key files as secrets.
func TestJWTKeysAreNoSecrets(t *testing.T) {
	files := keyFiles(t)
	for _, x := range files {
		for _, algorithm := range []string{"", "HS256", "EdDSA", "hs256", "none"} {
			j, err := server.NewJWT(x.content, server.JWTOptions{Algorithm: algorithm})
			if err == nil {
				c := &server.Claims{Role: "admin"}
				c.Subject, c.ExpiresAt = "mallory", jwt.NewNumericDate(time.Now().Add(time.Hour))
				_, forged := j.Authorize(sign(t, jwt.SigningMethodHS256, x.content, c), "duel")
				t.Errorf("%s as %q: accepted; a forged admin is accepted: %v", x.name, algorithm, forged == nil)
				continue
			}
			if !strings.HasPrefix(err.Error(), "server: JWT key: ") || strings.Contains(err.Error(), string(x.content)) {
				t.Errorf("%s as %q: got the error %q", x.name, algorithm, err)
			}
		}
	}
	if len(files) < 30 {
		t.Errorf("only %d files", len(files))
	}
}

// A secret needs the name of its algorithm. An editor's newline at the end of the file is not part of the secret.
func TestJWTSecrets(t *testing.T) {
	c := &server.Claims{Role: "player"}
	c.Subject, c.ExpiresAt = "ada", jwt.NewNumericDate(time.Now().Add(time.Hour))
	random := make([]byte, 32)
	for i := range random {
		random[i] = byte(0x80 + 5*i)
	}
	random[31] = '\n'
	for _, x := range []struct {
		name         string
		file, secret []byte
		ok           bool
	}{
		{"text", secret, secret, true},
		{"text with a newline", append(slices.Clone(secret), '\n'), secret, true},
		{"text with the newline of Windows", append(slices.Clone(secret), "\r\n"...), secret, true},
		{"hexadecimal", []byte(hex.EncodeToString(random) + "\n"), []byte(hex.EncodeToString(random)), true},
		{"base64", []byte(base64.StdEncoding.EncodeToString(random) + "\n"), []byte(base64.StdEncoding.EncodeToString(random)), true},
		{"random bytes, of which the last is a newline", random, random, true},
		{"31 bytes and a newline", []byte(strings.Repeat("x", 31) + "\n"), nil, false},
		{"nothing but newlines", []byte(strings.Repeat("\n", 64)), nil, false},
		{"two lines", []byte(strings.Repeat("a line of text\n", 4)), nil, false},
	} {
		j, err := server.NewJWT(x.file, server.JWTOptions{Algorithm: "HS256"})
		if (err == nil) != x.ok {
			t.Errorf("%s: got %v", x.name, err)
		}
		if err != nil {
			continue
		}
		if _, err := j.Authorize(sign(t, jwt.SigningMethodHS256, x.secret, c), "duel"); err != nil {
			t.Errorf("%s: a token that is signed with the secret: %v", x.name, err)
		}
		if _, err := server.NewJWT(x.file, server.JWTOptions{}); err == nil || !strings.Contains(err.Error(), "HS256") {
			t.Errorf("%s without a name: got %v, want a hint of HS256", x.name, err)
		}
	}
}

// A token for another audience, of another issuer, or with an unknown critical header is refused.
func TestJWTAudienceIssuerCritical(t *testing.T) {
	for _, x := range []struct {
		name     string
		options  server.JWTOptions
		audience any
		issuer   string
		header   map[string]any
		ok       bool
	}{
		{name: "nothing", ok: true},
		{name: "an audience that nobody asked for", audience: "other"},
		{name: "a list of audiences that nobody asked for", audience: []string{"a", "b"}},
		{name: "our audience", options: server.JWTOptions{Audience: "samestep"}, audience: "samestep", ok: true},
		{name: "our audience among others", options: server.JWTOptions{Audience: "samestep"}, audience: []string{"a", "samestep"}, ok: true},
		{name: "another audience", options: server.JWTOptions{Audience: "samestep"}, audience: "Samestep"},
		{name: "no audience", options: server.JWTOptions{Audience: "samestep"}},
		{name: "an empty audience", options: server.JWTOptions{Audience: "samestep"}, audience: ""},
		{name: "any issuer", issuer: "https://a.example", ok: true},
		{name: "our issuer", options: server.JWTOptions{Issuer: "https://a.example"}, issuer: "https://a.example", ok: true},
		{name: "another issuer", options: server.JWTOptions{Issuer: "https://a.example"}, issuer: "https://a.example.evil"},
		{name: "no issuer", options: server.JWTOptions{Issuer: "https://a.example"}},
		{name: "crit", header: map[string]any{"crit": []string{"exp"}}},
		{name: "crit that is empty", header: map[string]any{"crit": []string{}}},
		{name: "crit that is null", header: map[string]any{"crit": nil}},
		{name: "crit with b64", header: map[string]any{"crit": []string{"b64"}, "b64": false}},
		{name: "a header that is not critical", header: map[string]any{"kid": "1", "typ": "JWT"}, ok: true},
	} {
		t.Run(x.name, func(t *testing.T) {
			x.options.Algorithm = "HS256"
			j, err := server.NewJWT(secret, x.options)
			if err != nil {
				t.Fatal(err)
			}
			claims := jwt.MapClaims{"sub": "ada", "exp": time.Now().Add(time.Hour).Unix(), "role": "player"}
			if x.audience != nil {
				claims["aud"] = x.audience
			}
			if x.issuer != "" {
				claims["iss"] = x.issuer
			}
			token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims)
			maps.Copy(token.Header, x.header)
			shown, err := token.SignedString(secret)
			if err != nil {
				t.Fatal(err)
			}
			g, err := j.Authorize(shown, "duel")
			if (err == nil) != x.ok || err != nil && (!errors.Is(err, server.ErrRefused) || g != host.Grant{}) {
				t.Errorf("got %+v, %v, want it accepted: %v", g, err, x.ok)
			}
		})
	}
}
