package server

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/host"
)

// maxRevoked is the number of revocations that admins can add. Servers that add them at the same time can have more, up to maxRevokedKept.
const (
	maxRevoked     = 1024
	maxRevokedKept = 2 * maxRevoked
)

// revocationKey begins the key of a revocation, see [Denials].
const revocationKey = "revocation-"

// maxRevokedName is the size limit of a revocation's subject and token ID, in bytes.
const maxRevokedName = 512

// ErrRevocation is wrapped by the errors of [Server.Revoke] for a revocation that the server cannot keep.
var ErrRevocation = errors.New("server: cannot revoke")

// A Revocation invalidates tokens before they expire: all tokens of a subject or of a name, or one token. No guest's token has a name that
// it concerns, because guests choose theirs.
type Revocation struct {
	Subject string    `json:"subject,omitempty"` // as in host.Grant
	Name    string    `json:"name,omitempty"`    // as in host.Grant
	ID      string    `json:"token,omitempty"`   // of a token, as in host.Grant: a JWT's jti
	Until   time.Time `json:"until,omitzero"`    // when the tokens have expired; zero for ever
	Reason  string    `json:"reason,omitempty"`  // for the clients that it disconnects
}

func (r *Revocation) matches(g *host.Grant) bool {
	return r.Subject != "" && r.Subject == g.Subject || r.Name != "" && !g.Guest && r.Name == g.Name || r.ID != "" && r.ID == g.ID
}

func (r *Revocation) active(now time.Time) bool { return r.Until.IsZero() || now.Before(r.Until) }

// key returns the key of a revocation.
func (r *Revocation) key() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", r.Subject, r.Name, r.ID))
	return revocationKey + hex.EncodeToString(sum[:16])
}

// revocations are those of a server. Expired ones are removed when the table is full.
type revocations struct {
	mu  sync.Mutex
	all []Revocation
}

func (r *revocations) includes(g *host.Grant, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.all, func(x Revocation) bool { return x.active(now) && x.matches(g) })
}

// active returns those that have not expired.
func (r *revocations) active(now time.Time) []Revocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.all), func(x Revocation) bool { return !x.active(now) })
}

// check returns why a revocation makes no sense.
func (r *Revocation) check() error {
	switch {
	case r.Subject == "" && r.Name == "" && r.ID == "":
		return fmt.Errorf("%w: want a subject, a name or a token's ID", ErrRevocation)
	case max(len(r.Subject), len(r.Name), len(r.ID)) > maxRevokedName:
		return fmt.Errorf("%w: got %d bytes of subject, %d of name and %d of a token's ID, want at most %d", ErrRevocation, len(r.Subject), len(r.Name), len(r.ID), maxRevokedName)
	}
	return nil
}

// parseRevocation returns the revocation that is kept under a key.
func parseRevocation(key string, value []byte) (r Revocation, err error) {
	if err = json.Unmarshal(value, &r); err == nil {
		err = r.check()
	}
	if err == nil && r.key() != key {
		err = fmt.Errorf("%w: its key is another one's", ErrRevocation)
	}
	return r, err
}

// add adds a new revocation, in place of one of the same subject, name and token.
func (r *revocations) add(x Revocation, now time.Time) error {
	if err := x.check(); err != nil {
		return err
	}
	if !x.active(now) {
		return fmt.Errorf("%w: got a time in the past", ErrRevocation)
	}
	return r.put(x, now, maxRevoked)
}

// put adds a revocation to at most so many others.
func (r *revocations) put(x Revocation, now time.Time, most int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := r.find(&x); i >= 0 {
		r.all[i] = x
		return nil
	}
	if len(r.all) >= most {
		r.all = slices.DeleteFunc(r.all, func(x Revocation) bool { return !x.active(now) })
	}
	if len(r.all) >= most {
		return fmt.Errorf("%w: there are %d others", ErrRevocation, len(r.all))
	}
	r.all = append(r.all, x)
	return nil
}

// forget removes a revocation unless another one has replaced it.
func (r *revocations) forget(x *Revocation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := r.find(x); i >= 0 && r.all[i].Until.Equal(x.Until) && r.all[i].Reason == x.Reason {
		r.all = slices.Delete(r.all, i, i+1)
	}
}

func (r *revocations) find(of *Revocation) int {
	return slices.IndexFunc(r.all, func(x Revocation) bool { return x.Subject == of.Subject && x.Name == of.Name && x.ID == of.ID })
}

// remove removes a revocation, and reports false if it was not active.
func (r *revocations) remove(of *Revocation, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.find(of)
	if i < 0 {
		return false
	}
	active := r.all[i].active(now)
	r.all = slices.Delete(r.all, i, i+1)
	return active
}
