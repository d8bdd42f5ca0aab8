package server

import (
	"errors"
	"fmt"
	"slices"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// JWT authorizes by signed tokens (RFC 7519), which some other service issues.
type JWT struct {
	key     any
	options JWTOptions
}

// JWTOptions say which signed tokens are for this server.
type JWTOptions struct {
	// Algorithm is that of the signatures, HS256 (a shared secret) or EdDSA (an
	// Ed25519 key pair). Empty means EdDSA: a secret is never assumed, since a file
	// with a public key would be one that everybody knows.
	Algorithm string

	Audience string // must be in aud; empty refuses every token that has an aud
	Issuer   string // must be iss; empty takes any
}

// NewJWT returns an Authorizer that checks signatures with the key in a file,
// whose content it is given. For HS256 that is a secret of at least 32 bytes; the
// newline at the end of a line of text is no part of it. For EdDSA it is one PEM
// block with an Ed25519 public key. Keys in other forms are refused.
func NewJWT(file []byte, o JWTOptions) (*JWT, error) {
	key, method, err := jwtKey(file, o.Algorithm)
	if err != nil {
		return nil, fmt.Errorf("server: JWT key: %w", err)
	}
	o.Algorithm = method
	return &JWT{key, o}, nil
}

// Claims are what a token says. Its registered claims must include exp and sub:
// who shows a token of the same subject is the same player. A token with a jti can be
// revoked alone, see [Revocation].
type Claims struct {
	jwt.RegisteredClaims
	Role  string `json:"role"`            // player, spectator or admin
	Match string `json:"match,omitempty"` // the match it is for; empty for every match
	Seat  *uint8 `json:"seat,omitempty"`  // empty for any seat
	Name  string `json:"name,omitempty"`  // how people call the player; the subject if empty
}

// errClaims means a token that is signed, but not for this.
var errClaims = errors.New("claims")

// Validate checks what the library does not.
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
	return nil
}

// verified returns the key of a token with a header that we understand.
func (j *JWT) verified(t *jwt.Token) (any, error) {
	// RFC 7515, 4.1.11: a verifier must refuse a token with a critical extension
	// that it does not know. We know none.
	if _, critical := t.Header["crit"]; critical {
		return nil, fmt.Errorf("%w: crit", errClaims)
	}
	return j.key, nil
}

// forUs reports whether a token names us as its audience, or nobody.
func (j *JWT) forUs(c *Claims) bool {
	if j.options.Audience == "" {
		return len(c.Audience) == 0
	}
	return slices.Contains(c.Audience, j.options.Audience)
}

// Authorize returns the grant of a token in a match.
func (j *JWT) Authorize(token, match string) (host.Grant, error) {
	var c Claims
	_, err := jwt.ParseWithClaims(token, &c, j.verified,
		jwt.WithValidMethods([]string{j.options.Algorithm}), jwt.WithExpirationRequired(), jwt.WithStrictDecoding())
	if err != nil || !j.forUs(&c) || j.options.Issuer != "" && c.Issuer != j.options.Issuer || c.Match != "" && c.Match != match {
		return host.Grant{}, ErrRefused
	}
	role, _ := parseRole(c.Role)
	g := host.Grant{Role: role, Seat: host.AnySeat, Subject: "jwt " + c.Subject, Name: c.Name, ID: c.ID}
	if g.Name == "" {
		g.Name = c.Subject
	}
	if c.Seat != nil {
		g.Seat = lockstep.Player(*c.Seat)
	}
	return g, nil
}
