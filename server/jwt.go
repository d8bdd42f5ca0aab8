package server

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

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

// audienceOK reports whether this server is in a token's audience. Without JWTOptions.Audience, aud must be empty.
func (j *JWT) audienceOK(c *Claims) bool {
	if j.options.Audience == "" {
		return len(c.Audience) == 0
	}
	return slices.Contains(c.Audience, j.options.Audience)
}

// refusal returns why a token is refused in a match, or "". err is the library's; its text is not used where it could
// have parts of a token whose signature is not checked.
func (j *JWT) refusal(c *Claims, match string, err error) string {
	switch {
	case errors.Is(err, jwt.ErrTokenMalformed):
		return "it is malformed"
	case errors.Is(err, errKeyID):
		return "its key is unknown"
	case errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return "its signature or its algorithm is wrong"
	case errors.Is(err, jwt.ErrTokenUnverifiable):
		return "its header is not understood"
	case errors.Is(err, jwt.ErrTokenExpired):
		return "it has expired"
	case errors.Is(err, jwt.ErrTokenNotValidYet) || errors.Is(err, jwt.ErrTokenUsedBeforeIssued):
		return "it is not valid yet"
	case err != nil:
		return "its claims are wrong"
	case !j.audienceOK(c):
		return "its audience is another"
	case j.options.Issuer != "" && c.Issuer != j.options.Issuer:
		return "its issuer is another"
	case c.Match != "" && c.Match != match:
		return fmt.Sprintf("it is for match %q, and was shown to %q", c.Match, match)
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
