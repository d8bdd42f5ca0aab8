package server

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
)

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
