package server

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// ErrRefused is wrapped by the errors of an [Authorizer] for a token that it does not accept. The client learns only that
// its token was refused. The text is for the operator's log, and must not have the token.
var ErrRefused = errors.New("server: refused")

// errNoToken says why a client without a token was refused.
var errNoToken = fmt.Errorf("%w: no token", ErrRefused)

// refusalText returns the reason of a refusal for the log. No Authorizer's error has the token.
func refusalText(err error) string {
	return wsmatch.Clip(strings.TrimPrefix(err.Error(), ErrRefused.Error()+": "))
}

// An Authorizer returns the grant of a token in a match. It must be safe for concurrent use.
type Authorizer interface {
	Authorize(token, match string) (host.Grant, error)
}

// AnyOf returns an Authorizer that asks the given ones in turn until one of them knows the token.
func AnyOf(authorizers ...Authorizer) Authorizer { return anyOf(authorizers) }

type anyOf []Authorizer

func (a anyOf) Authorize(token, match string) (host.Grant, error) {
	var reasons []string
	for _, each := range a {
		g, err := each.Authorize(token, match)
		if err == nil || !errors.Is(err, ErrRefused) {
			return g, err
		}
		reasons = append(reasons, refusalText(err))
	}
	return host.Grant{}, fmt.Errorf("%w: %s", ErrRefused, strings.Join(reasons, "; "))
}

// tokenSubject returns the subject of a token that names none.
func tokenSubject(sum [sha256.Size]byte) string { return "token " + hex.EncodeToString(sum[:8]) }

// parseViewer reads whose views a spectator gets.
func parseViewer(text string) (lockstep.Viewer, error) {
	v, err := lockstep.ParseViewer(text)
	if err == nil && v.As == lockstep.AsSpectator {
		err = errors.New(`got the viewer "spectator", which every spectator is`)
	}
	return v, err
}

// roleNames are the names of protocol.Role.
var roleNames = [protocol.Admin + 1]string{"spectator", "player", "admin"}

// parseRole reads the name of a role.
func parseRole(name string) (protocol.Role, bool) {
	i := slices.Index(roleNames[:], name)
	return protocol.Role(max(i, 0)), i >= 0
}

// minToken is the shortest token, in bytes. Shorter ones could be guessed.
const minToken = 16

// ErrTokens is wrapped by the errors of [ReadTokens].
var ErrTokens = errors.New("server: bad list of tokens")

// Tokens is an [Authorizer] for pre-shared tokens. It keeps and compares their SHA-256 hashes, so the time of a
// comparison reveals nothing about a token.
type Tokens struct{ list atomic.Pointer[tokenList] }

// A tokenList does not change after it was read.
type tokenList struct {
	grants  map[[sha256.Size]byte]matchGrant
	players int
}

type matchGrant struct {
	host.Grant
	match string // "" for every match
}

// ReadTokens reads a list of tokens, one on each line:
//
//	# role     seat  name   match  token
//	player     0     ada    -      c3ab8ff13720e8ad9047dd39466b3c89
//	player     -     bob    duel   5a2ad2b5e6c0d1a79e3cdcb7a5b8f6e4
//	spectator  -     press  -      0f4d0db3668dd58cabb9eb409657eaa8
//	spectator  team:1  ann  -      60c1d5ea1e5f4d0f8a5f0f1b5c2f3e77
//
// A dash means any seat or every match. Roles are player, spectator and admin. Instead of a seat, a spectator's token can name
// a player, a team or a role, as [lockstep.ParseViewer] reads it: its holder gets the views of that one, and sees nothing else. A token has at least 16 bytes and no spaces.
func ReadTokens(r io.Reader) (*Tokens, error) {
	t := &Tokens{}
	t.list.Store(&tokenList{})
	if _, err := t.Reload(r); err != nil {
		return nil, err
	}
	return t, nil
}

// Reload replaces the list by a new one. It returns the subjects of the tokens that are no longer in the list or have
// another grant, for [Server.Expel]. The subject of a token is the same in every list. After an error the old list
// remains in effect.
func (t *Tokens) Reload(r io.Reader) (gone []string, err error) {
	list, err := readTokens(r)
	if err != nil {
		return nil, err
	}
	before := t.list.Swap(list)
	for key, g := range before.grants {
		if list.grants[key] != g {
			gone = append(gone, g.Subject)
		}
	}
	slices.Sort(gone)
	return gone, nil
}

func readTokens(r io.Reader) (*tokenList, error) {
	t := &tokenList{grants: make(map[[sha256.Size]byte]matchGrant)}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := t.add(strings.Fields(line)); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrTokens, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTokens, err)
	}
	return t, nil
}

// add adds one line. Its errors do not show the token.
func (t *tokenList) add(words []string) error {
	if len(words) != 5 {
		return fmt.Errorf("got %d words, want role, seat, name, match and token", len(words))
	}
	role, ok := parseRole(words[0])
	if !ok {
		return fmt.Errorf("got role %q, want player, spectator or admin", words[0])
	}
	g := matchGrant{Grant: host.Grant{Role: role, Seat: host.AnySeat, Name: words[2]}}
	switch {
	case words[1] == "-":
	case role == protocol.Spectator:
		var err error
		if g.Viewer, err = parseViewer(words[1]); err != nil {
			return fmt.Errorf("of a spectator: %w, or -", err)
		}
	default:
		seat, err := strconv.ParseUint(words[1], 10, 8)
		if err != nil || seat >= lockstep.MaxPlayers {
			return fmt.Errorf("got seat %q, want - or 0 to %d", words[1], lockstep.MaxPlayers-1)
		}
		g.Seat = lockstep.Player(seat)
	}
	if words[3] != "-" {
		g.match = words[3]
	}
	if len(words[4]) < minToken {
		return fmt.Errorf("got a token of %d bytes, want at least %d", len(words[4]), minToken)
	}
	key := sha256.Sum256([]byte(words[4]))
	if _, known := t.grants[key]; known {
		return errors.New("the token is also on an earlier line")
	}
	g.Subject = tokenSubject(key)
	t.grants[key] = g
	if role != protocol.Spectator {
		t.players++
	}
	return nil
}

// Players returns the number of tokens that grant a seat.
func (t *Tokens) Players() int { return t.list.Load().players }

// HasPlayer reports whether a token in the list grants a seat of a match to somebody with this name or subject.
func (t *Tokens) HasPlayer(who, match string) bool {
	for _, g := range t.list.Load().grants {
		if g.Role != protocol.Spectator && (g.Name == who || g.Subject == who) && (g.match == "" || g.match == match) {
			return true
		}
	}
	return false
}

// Authorize returns the grant of a token in a match.
func (t *Tokens) Authorize(token, match string) (host.Grant, error) {
	g, ok := t.list.Load().grants[sha256.Sum256([]byte(token))]
	switch {
	case !ok:
		return host.Grant{}, fmt.Errorf("%w: not in the list of tokens", ErrRefused)
	case g.match != "" && g.match != match:
		return host.Grant{}, fmt.Errorf("%w: listed for match %q, got %q", ErrRefused, g.match, match)
	}
	return g.Grant, nil
}

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

// NewGuestToken returns a token with a new secret for a [Guests] server.
func NewGuestToken(name string) string {
	return guestPrefix + url.PathEscape(name) + ":" + rand.Text()
}

// admitsGuests reports whether [Guests] is one of the authorizers.
func admitsGuests(a Authorizer) bool {
	all, several := a.(anyOf)
	_, guests := a.(Guests)
	return guests || several && slices.ContainsFunc(all, admitsGuests)
}

// Authorize implements [Authorizer].
func (Guests) Authorize(token, _ string) (host.Grant, error) {
	rest, ok := strings.CutPrefix(token, guestPrefix)
	escaped, secret, found := strings.Cut(rest, ":")
	if !ok || !found || len(secret) < minToken || len(token) > 1024 {
		return host.Grant{}, fmt.Errorf("%w: not a valid guest token", ErrRefused)
	}
	name, err := url.PathUnescape(escaped)
	if err != nil || name == "" || len(name) > maxGuestName || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, unicode.IsControl) {
		return host.Grant{}, fmt.Errorf("%w: bad name in a guest token", ErrRefused)
	}
	sum := sha256.Sum256([]byte(guestPrefix + secret))
	return host.Grant{Role: protocol.Seated, Seat: host.AnySeat, Subject: guestPrefix + hex.EncodeToString(sum[:16]), Name: name, Guest: true}, nil
}
