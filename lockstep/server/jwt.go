package server

import (
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-49bee653/samestep/lockstep"
)

// JWT authorizes by signed tokens (RFC 7519), which some other service issues.
type JWT struct {
	key    any
	method string
}

// NewJWT returns an Authorizer that checks signatures with a key: the PEM form
// of an Ed25519 public key (EdDSA), or else a secret of at least 32 bytes
// (HS256).
func NewJWT(key []byte) (*JWT, error) {
	if block, _ := pem.Decode(key); block != nil {
		public, err := jwt.ParseEdPublicKeyFromPEM(key)
		if err != nil {
			return nil, fmt.Errorf("server: JWT key: %w", err)
		}
		ed, ok := public.(ed25519.PublicKey)
		if !ok {
			return nil, fmt.Errorf("server: JWT key: got a %T, want an Ed25519 public key", public)
		}
		return &JWT{ed, jwt.SigningMethodEdDSA.Alg()}, nil
	}
	if len(key) < 32 {
		return nil, fmt.Errorf("server: JWT key: got a secret of %d bytes, want at least 32", len(key))
	}
	return &JWT{key, jwt.SigningMethodHS256.Alg()}, nil
}

// Claims are what a token says. Its registered claims must include exp and sub:
// who shows a token of the same subject is the same player.
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

// Authorize returns the grant of a token in a match.
func (j *JWT) Authorize(token, match string) (lockstep.Grant, error) {
	var c Claims
	_, err := jwt.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return j.key, nil },
		jwt.WithValidMethods([]string{j.method}), jwt.WithExpirationRequired(), jwt.WithStrictDecoding())
	if err != nil || c.Match != "" && c.Match != match {
		return lockstep.Grant{}, ErrRefused
	}
	role, _ := parseRole(c.Role)
	g := lockstep.Grant{Role: role, Seat: lockstep.AnySeat, Subject: "jwt " + c.Subject, Name: c.Name}
	if g.Name == "" {
		g.Name = c.Subject
	}
	if c.Seat != nil {
		g.Seat = lockstep.Player(*c.Seat)
	}
	return g, nil
}
