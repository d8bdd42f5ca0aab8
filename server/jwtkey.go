package server

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"
)

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
	if form := keyForm(secret); form != "" {
		return nil, fmt.Errorf("got a file that looks like %s, want a secret: others know a public key, and could sign with it", form)
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

// keyMarks are texts in lower case that occur in files with keys, and hardly in a secret.
var keyMarks = []struct{ mark, form string }{
	{"ssh-ed25519", "an OpenSSH key"},
	{"ssh-rsa", "an OpenSSH key"},
	{"ssh-dss", "an OpenSSH key"},
	{"ecdsa-sha2-", "an OpenSSH key"},
	{"begin ssh2", "an SSH key"},
	{"public key", "a public key"},
	{"private key", "a private key"},
	{"certificate", "a certificate"},
	{"begin pgp", "a PGP key"},
	{"-----begin", "a PEM block"},
	{"-----end", "a PEM block"},
	{`"kty"`, "a JSON Web Key"},
	{`"keys"`, "a JSON Web Key Set"},
	{"keyvalue>", "a key in XML"},
}

// keyOIDs are the object identifiers of keys, in DER.
var keyOIDs = []string{
	"\x06\x03\x2b\x65\x6e", "\x06\x03\x2b\x65\x70", // X25519, Ed25519
	"\x06\x03\x2b\x65\x6f", "\x06\x03\x2b\x65\x71", // X448, Ed448
	"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01",                                                 // ECDSA
	"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01", "\x06\x07\x2a\x86\x48\xce\x38\x04\x01", // RSA, DSA
}

// keyForm returns the form of the key that a file seems to hold, or "". It also decodes base64 and hexadecimal.
func keyForm(b []byte) string {
	if form := plainKeyForm(b); form != "" {
		return form
	}
	for _, word := range bytes.FieldsFunc(b, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' }) {
		for _, d := range decodings(string(word)) {
			if form := plainKeyForm(d); form != "" {
				return form
			}
		}
	}
	return ""
}

// decodings returns the bytes that a word may encode.
func decodings(word string) (all [][]byte) {
	if b, err := hex.DecodeString(word); err == nil {
		all = append(all, b)
	}
	word = strings.TrimRight(word, "=")
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := e.DecodeString(word); err == nil {
			all = append(all, b)
		}
	}
	return all
}

func plainKeyForm(b []byte) string {
	text := strings.ToLower(strings.ReplaceAll(string(b), "\x00", "")) // UTF-16 has a zero with each letter
	for _, m := range keyMarks {
		if strings.Contains(text, m.mark) {
			return m.form
		}
	}
	for _, oid := range keyOIDs {
		if bytes.Contains(b, []byte(oid)) {
			return "a key in DER"
		}
	}
	if isSequence(bytes.TrimRight(b, "\r\n")) || isSequence(b) {
		return "DER"
	}
	return ""
}

// isSequence reports whether b is exactly one SEQUENCE in DER. RSA keys begin without an object identifier.
func isSequence(b []byte) bool {
	var v asn1.RawValue
	rest, err := asn1.Unmarshal(b, &v)
	return err == nil && len(rest) == 0 && v.Tag == asn1.TagSequence && v.IsCompound
}
