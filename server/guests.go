package server

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// guestPrefix begins the tokens of guests.
const guestPrefix = "guest:"

// maxGuestName is the size limit of a guest's name, in bytes.
const maxGuestName = 64

// Guests is an [Authorizer] for a server that is open to everybody: a guest gets a free seat. Guests make up their own
// tokens, of the form
//
//	guest:NAME:SECRET
//
// where NAME is escaped as in URLs and SECRET has at least 16 bytes. The same secret returns a guest to the same seat, also
// under another name.
type Guests struct{}

// Authorize implements [Authorizer].
func (Guests) Authorize(token, _ string) (host.Grant, error) {
	rest, ok := strings.CutPrefix(token, guestPrefix)
	escaped, secret, found := strings.Cut(rest, ":")
	if !ok || !found || len(secret) < minToken || len(token) > 1024 {
		return host.Grant{}, fmt.Errorf("%w: it has not the form of a guest's", ErrRefused)
	}
	name, err := url.PathUnescape(escaped)
	if err != nil || name == "" || len(name) > maxGuestName || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, unicode.IsControl) {
		return host.Grant{}, fmt.Errorf("%w: it has a bad name of a guest", ErrRefused)
	}
	sum := sha256.Sum256([]byte(guestPrefix + secret))
	return host.Grant{Role: protocol.Seated, Seat: host.AnySeat, Subject: guestPrefix + hex.EncodeToString(sum[:16]), Name: name, Guest: true}, nil
}
