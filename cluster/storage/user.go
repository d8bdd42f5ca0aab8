package storage

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nats-io/nkeys"
)

// A User is who may connect to a storage node, and as what. The node knows only the public key.
type User struct {
	Role Role
	Key  string // public nkey: U and 55 letters and digits
}

// ErrUsers is wrapped by the errors of [ReadUsers].
var ErrUsers = errors.New("storage: malformed list of users")

// maxUsers is the largest number of users of a list, and maxUserLine that of bytes of a line.
const (
	maxUsers    = 10_000
	maxUserLine = 1024
)

// NewUser draws a key for a user of a role. The seed is the secret with which the user connects, see [DialOptions].
func NewUser(r Role) (u User, seed []byte, err error) {
	if !slices.Contains(Roles, r) {
		return User{}, nil, fmt.Errorf("storage: got the role %q, want one of %q", r, Roles)
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return User{}, nil, fmt.Errorf("storage: %w", err)
	}
	if u.Key, err = pair.PublicKey(); err != nil {
		return User{}, nil, fmt.Errorf("storage: %w", err)
	}
	u.Role = r
	seed, err = pair.Seed()
	return u, seed, err
}

// String returns the user as a line of a list.
func (u User) String() string { return string(u.Role) + " " + u.Key }

// ReadUsers reads a list of users: a role and a public key on each line. Empty lines, and those that begin with #, count
// for nothing. No key may be there twice.
func ReadUsers(r io.Reader) (users []User, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxUserLine)
	seen := make(map[string]bool)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		switch {
		case len(fields) != 2:
			return nil, fmt.Errorf("%w: line %d: got %d words, want a role and a public key", ErrUsers, n, len(fields))
		case !slices.Contains(Roles, Role(fields[0])):
			return nil, fmt.Errorf("%w: line %d: got the role %q, want one of %q", ErrUsers, n, fields[0], Roles)
		case strings.HasPrefix(fields[1], "S"):
			return nil, fmt.Errorf("%w: line %d: got a seed, which is secret; want a public key", ErrUsers, n)
		case !nkeys.IsValidPublicUserKey(fields[1]):
			return nil, fmt.Errorf("%w: line %d: got %q, want the public nkey of a user", ErrUsers, n, fields[1])
		case seen[fields[1]]:
			return nil, fmt.Errorf("%w: line %d: a key that another line has", ErrUsers, n)
		case len(users) == maxUsers:
			return nil, fmt.Errorf("%w: more than %d users", ErrUsers, maxUsers)
		}
		seen[fields[1]] = true
		users = append(users, User{Role(fields[0]), fields[1]})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsers, err)
	}
	if len(users) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrUsers)
	}
	return users, nil
}
