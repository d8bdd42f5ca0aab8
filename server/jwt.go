package server

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// JWT is an [Authorizer] for signed tokens (RFC 7519) that another service issues.
type JWT struct {
	keys    atomic.Pointer[keySet]
	options JWTOptions
}

// JWTOptions say which signed tokens a server accepts.
type JWTOptions struct {
	// Algorithm of the signatures: HS256 (a shared secret) or EdDSA (an Ed25519 key pair). Empty is EdDSA. It is never
	// HS256, because a file with a public key would then be a secret that everybody knows. The keys of a JWK Set have
	// their own algorithms, and need an empty one here.
	Algorithm string

	Audience string // must be in aud; empty refuses every token with an aud
	Issuer   string // must be iss; empty accepts any
}

// NewJWT returns an Authorizer that checks signatures with the key in a file's content. For HS256 the file holds a
// secret of at least 32 bytes, without the newline at the end of a line of text. For EdDSA it holds one PEM block with
// an Ed25519 public key. Instead it can hold a JWK Set (RFC 7517) of public keys, Ed25519, EC or RSA: a token then names
// its key in kid. Other forms of keys are an error.
func NewJWT(file []byte, o JWTOptions) (*JWT, error) {
	j := &JWT{options: o}
	if err := j.Reload(file); err != nil {
		return nil, err
	}
	return j, nil
}

// Reload replaces the keys by those in a file's content, in one of the forms of [NewJWT]. Clients stay connected. After
// an error the old keys remain in effect.
func (j *JWT) Reload(file []byte) error {
	keys, err := readKeySet(file, j.options.Algorithm)
	if err != nil {
		return fmt.Errorf("server: JWT key: %w", err)
	}
	j.keys.Store(&keys)
	return nil
}

// Claims are the claims of a token. The registered ones must include exp and sub. All tokens of a subject are of the
// same player. A token with a jti can be revoked alone, see [Revocation].
type Claims struct {
	jwt.RegisteredClaims
	Role  string `json:"role"`            // player, spectator or admin
	Match string `json:"match,omitempty"` // empty for every match
	Seat  *uint8 `json:"seat,omitempty"`  // nil for any seat
	Name  string `json:"name,omitempty"`  // of the player, to show; empty for the subject
	View  string `json:"view,omitempty"`  // player:N, team:N or role:NAME, whose views a spectator gets; empty for one that may see everything
}

// errClaims is wrapped by the errors of tokens that are signed, but have wrong claims.
var errClaims = errors.New("claims")

// Validate checks the claims that the library does not check.
func (c *Claims) Validate() error {
	_, known := parseRole(c.Role)
	switch {
	case !known:
		return fmt.Errorf("%w: role %q", errClaims, c.Role)
	case c.Subject == "":
		return fmt.Errorf("%w: no subject", errClaims)
	case c.Seat != nil && *c.Seat >= lockstep.MaxPlayers:
		return fmt.Errorf("%w: seat %d", errClaims, *c.Seat)
	}
	_, err := c.viewer()
	return err
}

// viewer returns whose views a spectator gets.
func (c *Claims) viewer() (v lockstep.Viewer, err error) {
	if c.View == "" {
		return v, nil
	}
	if c.Role != "spectator" {
		return v, fmt.Errorf("%w: view %q of a %s", errClaims, c.View, c.Role)
	}
	if v, err = parseViewer(c.View); err != nil {
		return v, fmt.Errorf("%w: view: %w", errClaims, err)
	}
	return v, nil
}

// keyFor returns the key for a token, if it understands the token's header.
func (s keySet) keyFor(t *jwt.Token) (any, error) {
	// RFC 7515, 4.1.11: a verifier must refuse a token with an unknown critical extension. We know none.
	if _, critical := t.Header["crit"]; critical {
		return nil, fmt.Errorf("%w: crit", errClaims)
	}
	return s.of(t)
}

// refusal returns why a token is refused in a match, or "". err is the library's; its text is not used where it could
// have parts of a token whose signature is not checked.
func (j *JWT) refusal(c *Claims, match string, err error) string {
	for _, x := range []struct {
		err error
		why string
	}{
		{jwt.ErrTokenMalformed, "malformed"}, {errKeyID, "unknown key"}, {jwt.ErrTokenSignatureInvalid, "wrong signature or algorithm"},
		{jwt.ErrTokenUnverifiable, "unsupported header"}, {jwt.ErrTokenExpired, "expired"}, {jwt.ErrTokenNotValidYet, "not valid yet"},
		{jwt.ErrTokenUsedBeforeIssued, "not valid yet"},
	} {
		if err != nil && errors.Is(err, x.err) {
			return x.why
		}
	}
	switch own := j.options.Audience; {
	case err != nil:
		return "invalid claims"
	case own == "" && len(c.Audience) > 0, own != "" && !slices.Contains(c.Audience, own):
		return "wrong audience"
	case j.options.Issuer != "" && c.Issuer != j.options.Issuer:
		return "wrong issuer"
	case c.Match != "" && c.Match != match:
		return fmt.Sprintf("for match %q, got %q", c.Match, match)
	}
	return ""
}

// Authorize returns the grant of a token in a match.
func (j *JWT) Authorize(token, match string) (host.Grant, error) {
	var c Claims
	keys := *j.keys.Load()
	_, err := jwt.ParseWithClaims(token, &c, keys.keyFor,
		jwt.WithValidMethods(keys.methods()), jwt.WithExpirationRequired(), jwt.WithStrictDecoding())
	if why := j.refusal(&c, match, err); why != "" {
		return host.Grant{}, fmt.Errorf("%w: as a JWT, %s", ErrRefused, why)
	}
	role, _ := parseRole(c.Role)
	viewer, _ := c.viewer() // the claims are valid
	g := host.Grant{Role: role, Seat: host.AnySeat, Subject: "jwt " + c.Subject, Name: c.Name, ID: c.ID, Viewer: viewer}
	if g.Name == "" {
		g.Name = c.Subject
	}
	if c.Seat != nil {
		g.Seat = lockstep.Player(*c.Seat)
	}
	return g, nil
}

// A signingKey verifies the signatures of one algorithm.
type signingKey struct {
	key    any
	method string
}

// A keySet has the keys of a file by their IDs. A key that is alone may have none, and then verifies every token.
type keySet map[string]signingKey

// methods returns the algorithms of the keys.
func (s keySet) methods() (all []string) {
	for _, k := range s {
		all = append(all, k.method)
	}
	return all
}

// of returns the key for the header of a token.
func (s keySet) of(t *jwt.Token) (any, error) {
	id, names := t.Header["kid"].(string)
	k, found := s[id]
	if !found && len(s) == 1 {
		for own, only := range s {
			if own == "" || !names {
				k, found = only, true
			}
		}
	}
	switch {
	case !found:
		return nil, errKeyID
	case k.method != t.Method.Alg():
		return nil, jwt.ErrTokenSignatureInvalid
	}
	return k.key, nil
}

// errKeyID: a token names a key that the server does not have.
var errKeyID = errors.New("server: no such key")

// readKeySet reads the content of a file with keys: a PEM block, a secret, or a JWK Set (RFC 7517).
func readKeySet(file []byte, algorithm string) (keySet, error) {
	var set jwkset.JWKSMarshal
	if algorithm == "" && bytes.HasPrefix(bytes.TrimSpace(file), []byte("{")) && json.Unmarshal(file, &set) == nil && set.Keys != nil {
		return publicKeys(set.Keys)
	}
	key, method, err := jwtKey(file, algorithm)
	if err != nil {
		return nil, err
	}
	return keySet{"": {key, method}}, nil
}

// publicKeys returns the keys of a JWK Set for signatures. It refuses secrets: a set is meant to be public.
func publicKeys(all []jwkset.JWKMarshal) (keySet, error) {
	set := make(keySet)
	for i, m := range all {
		if m.USE != "" && m.USE != jwkset.UseSig {
			continue
		}
		k, err := keyOf(m)
		if err != nil {
			return nil, fmt.Errorf("key %d of the set, kid %.64q: %w", i+1, m.KID, err)
		}
		if _, twice := set[m.KID]; twice {
			return nil, fmt.Errorf("key %d of the set: got kid %.64q twice", i+1, m.KID)
		}
		set[m.KID] = k
	}
	if _, nameless := set[""]; len(set) == 0 || nameless && len(set) > 1 {
		return nil, fmt.Errorf("got a set of %d keys for signatures, want one, or more which all have a kid", len(set))
	}
	return set, nil
}

// minRSA is the least length of an RSA key, in bits.
const minRSA = 2048

// keyOf returns a key of a JWK Set and its algorithm.
func keyOf(m jwkset.JWKMarshal) (k signingKey, err error) {
	if m.D != "" || m.K != "" {
		return k, errors.New("got a secret or private key, want public ones")
	}
	read, err := jwkset.NewJWKFromMarshal(m, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
	if err != nil {
		return k, err
	}
	var methods []string
	switch key := read.Key().(type) {
	case ed25519.PublicKey:
		methods = []string{"EdDSA"}
	case *ecdsa.PublicKey:
		methods = []string{map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[key.Curve.Params().BitSize]}
	case *rsa.PublicKey:
		methods = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
		if n := key.N.BitLen(); n < minRSA {
			return k, fmt.Errorf("got an RSA key of %d bits, want at least %d", n, minRSA)
		}
	default:
		return k, fmt.Errorf("got a key of type %.16q, want OKP with Ed25519, EC or RSA", m.KTY)
	}
	alg := string(m.ALG)
	if alg == "" {
		alg = methods[0]
	}
	if !slices.Contains(methods, alg) {
		return k, fmt.Errorf("got alg %.16q, want one of %q", alg, methods)
	}
	return signingKey{read.Key(), alg}, nil
}

// minSecret is the shortest secret for HS256, in bytes: as long as the hash.
const minSecret = 32

// jwtKey returns the key in a file, and its signing method.
func jwtKey(file []byte, algorithm string) (key any, method string, err error) {
	hmac, ed := jwt.SigningMethodHS256.Alg(), jwt.SigningMethodEdDSA.Alg()
	switch algorithm {
	case hmac:
		key, err = secretIn(file)
		return key, hmac, err
	case ed:
		key, err = publicKeyIn(file)
		return key, ed, err
	case "":
		if key, err = publicKeyIn(file); err != nil {
			return nil, "", fmt.Errorf("%w; for a secret, name the algorithm %s", err, hmac)
		}
		return key, ed, nil
	}
	return nil, "", fmt.Errorf("got the algorithm %q, want %s or %s", algorithm, hmac, ed)
}

// publicKeyIn returns the Ed25519 key of a file that holds one PEM block and nothing else.
func publicKeyIn(file []byte) (ed25519.PublicKey, error) {
	const want = "want an Ed25519 public key in PEM (BEGIN PUBLIC KEY)"
	text := bytes.TrimSpace(file)
	block, rest := pem.Decode(text)
	switch {
	case block == nil:
		return nil, fmt.Errorf("got no whole PEM block, %s", want)
	case block.Type != "PUBLIC KEY":
		return nil, fmt.Errorf("got a PEM block of the type %.40q, %s", block.Type, want)
	case !bytes.HasPrefix(text, []byte("-----BEGIN")) || len(rest) > 0 || len(block.Headers) > 0:
		return nil, fmt.Errorf("got more than one PEM block, %s and nothing else", want)
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w, %s", err, want)
	}
	key, ok := public.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("got a %T, %s", public, want)
	}
	return key, nil
}

// secretIn returns the secret in a file: a line of text without its newline, or bytes. It refuses a file that looks
// like a key, because a public key is not secret.
func secretIn(file []byte) ([]byte, error) {
	secret := file
	if line := bytes.TrimRight(file, "\r\n"); isLine(line) {
		secret = line
	} else if isLines(file) {
		return nil, errors.New("got several lines of text, want a secret in one line")
	}
	if looksLikeKey(secret) {
		return nil, errors.New("got a file that looks like a key, want a secret: others know a public key, and could sign with it")
	}
	if len(secret) < minSecret {
		return nil, fmt.Errorf("got a secret of %d bytes, want at least %d", len(secret), minSecret)
	}
	return secret, nil
}

// isLine reports whether b is text without control characters.
func isLine(b []byte) bool {
	return utf8.Valid(b) && !bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// isLines reports whether b is text.
func isLines(b []byte) bool {
	return isLine(bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return -1
		}
		return r
	}, b))
}

// keyText matches texts that occur in files with keys, and hardly in a secret.
var keyText = regexp.MustCompile(`(?i)ssh-(ed25519|rsa|dss)|ecdsa-sha2-|begin (ssh2|pgp)|(public|private) key|certificate|-----(begin|end)|"kty"|"keys"|keyvalue>`)

// keyOIDs are the object identifiers of keys, in DER.
var keyOIDs = []string{
	"\x06\x03\x2b\x65\x6e", "\x06\x03\x2b\x65\x70", // X25519, Ed25519
	"\x06\x03\x2b\x65\x6f", "\x06\x03\x2b\x65\x71", // X448, Ed448
	"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01",                                                 // ECDSA
	"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01", "\x06\x07\x2a\x86\x48\xce\x38\x04\x01", // RSA, DSA
}

// looksLikeKey reports whether a file seems to hold a key, also in base64 or hexadecimal.
func looksLikeKey(b []byte) bool {
	all := [][]byte{b}
	for _, word := range bytes.FieldsFunc(b, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' }) {
		for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString} {
			if d, err := decode(strings.TrimRight(string(word), "=")); err == nil {
				all = append(all, d)
			}
		}
	}
	return slices.ContainsFunc(all, func(b []byte) bool {
		return keyText.Match(bytes.ReplaceAll(b, []byte{0}, nil)) || // UTF-16 has a zero with each letter
			slices.ContainsFunc(keyOIDs, func(oid string) bool { return bytes.Contains(b, []byte(oid)) }) ||
			isSequence(bytes.TrimRight(b, "\r\n")) || isSequence(b)
	})
}

// isSequence reports whether b is exactly one SEQUENCE in DER. RSA keys begin without an object identifier.
func isSequence(b []byte) bool {
	var v asn1.RawValue
	rest, err := asn1.Unmarshal(b, &v)
	return err == nil && len(rest) == 0 && v.Tag == asn1.TagSequence && v.IsCompound
}
