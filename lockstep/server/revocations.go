package server

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/host"
)

// maxRevoked is the number of revocations that a server keeps.
const maxRevoked = 1024

// maxRevokedName is the size limit of a revocation's subject and token ID, in bytes.
const maxRevokedName = 512

// ErrRevocation is wrapped by the errors of [Server.Revoke] for a revocation that the server cannot keep.
var ErrRevocation = errors.New("server: cannot revoke")

// A Revocation invalidates tokens before they expire: all tokens of a subject, or one token.
type Revocation struct {
	Subject string    // as in host.Grant
	ID      string    // of a token, as in host.Grant: a JWT's jti
	Until   time.Time // when the tokens have expired; zero for as long as the server runs
	Reason  string    // for the clients that it disconnects
}

func (r *Revocation) matches(g *host.Grant) bool {
	return r.Subject != "" && r.Subject == g.Subject || r.ID != "" && r.ID == g.ID
}

func (r *Revocation) active(now time.Time) bool { return r.Until.IsZero() || now.Before(r.Until) }

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

// add adds a revocation, in place of one of the same subject and token.
func (r *revocations) add(x Revocation, now time.Time) error {
	switch {
	case x.Subject == "" && x.ID == "":
		return fmt.Errorf("%w: want a subject or a token's ID", ErrRevocation)
	case len(x.Subject) > maxRevokedName || len(x.ID) > maxRevokedName:
		return fmt.Errorf("%w: got %d bytes of subject and %d of a token's ID, want at most %d", ErrRevocation, len(x.Subject), len(x.ID), maxRevokedName)
	case !x.active(now):
		return fmt.Errorf("%w: got a time in the past", ErrRevocation)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := r.find(x.Subject, x.ID); i >= 0 {
		r.all[i] = x
		return nil
	}
	if len(r.all) >= maxRevoked {
		r.all = slices.DeleteFunc(r.all, func(x Revocation) bool { return !x.active(now) })
	}
	if len(r.all) >= maxRevoked {
		return fmt.Errorf("%w: there are %d others", ErrRevocation, len(r.all))
	}
	r.all = append(r.all, x)
	return nil
}

func (r *revocations) find(subject, id string) int {
	return slices.IndexFunc(r.all, func(x Revocation) bool { return x.Subject == subject && x.ID == id })
}

// remove removes a revocation, and reports false if it was not active.
func (r *revocations) remove(subject, id string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.find(subject, id)
	if i < 0 {
		return false
	}
	active := r.all[i].active(now)
	r.all = slices.Delete(r.all, i, i+1)
	return active
}
