package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/host"
)

// maxRevoked is how many revocations a server keeps.
const maxRevoked = 1024

// maxRevokedName is how long the subject or token of a revocation may be, in bytes.
const maxRevokedName = 512

// ErrRevocation is wrapped by the errors of [Server.Revoke] for a revocation that
// cannot be kept.
var ErrRevocation = errors.New("server: cannot revoke")

// A Revocation makes tokens worthless before they expire: all of a subject, or one.
type Revocation struct {
	Subject string    // as in host.Grant
	ID      string    // of a token, as in host.Grant: a JWT's jti
	Until   time.Time // when the tokens have expired; zero for as long as the server runs
	Reason  string    // which those who are connected are told
}

func (r *Revocation) concerns(g *host.Grant) bool {
	return r.Subject != "" && r.Subject == g.Subject || r.ID != "" && r.ID == g.ID
}

// revocations are those of a server. Those that are over are removed when the table
// is full.
type revocations struct {
	mu  sync.Mutex
	all []Revocation
}

func (r *revocations) of(g *host.Grant, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.all, func(x Revocation) bool { return x.holds(now) && x.concerns(g) })
}

func (r *Revocation) holds(now time.Time) bool { return r.Until.IsZero() || now.Before(r.Until) }

// add keeps a revocation. One of the same subject and token is replaced.
func (r *revocations) add(x Revocation, now time.Time) error {
	switch {
	case x.Subject == "" && x.ID == "":
		return fmt.Errorf("%w: want a subject or a token's ID", ErrRevocation)
	case len(x.Subject) > maxRevokedName || len(x.ID) > maxRevokedName:
		return fmt.Errorf("%w: got %d bytes of subject and %d of a token's ID, want at most %d", ErrRevocation, len(x.Subject), len(x.ID), maxRevokedName)
	case !x.holds(now):
		return fmt.Errorf("%w: got a time that is over", ErrRevocation)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := r.find(x.Subject, x.ID); i >= 0 {
		r.all[i] = x
		return nil
	}
	if len(r.all) >= maxRevoked {
		r.all = slices.DeleteFunc(r.all, func(x Revocation) bool { return !x.holds(now) })
	}
	if len(r.all) >= maxRevoked {
		return fmt.Errorf("%w: %d others hold", ErrRevocation, len(r.all))
	}
	r.all = append(r.all, x)
	return nil
}

func (r *revocations) find(subject, id string) int {
	return slices.IndexFunc(r.all, func(x Revocation) bool { return x.Subject == subject && x.ID == id })
}

// remove forgets a revocation, and reports false if there is none that holds.
func (r *revocations) remove(subject, id string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.find(subject, id)
	if i < 0 {
		return false
	}
	held := r.all[i].holds(now)
	r.all = slices.Delete(r.all, i, i+1)
	return held
}

// Revoke refuses tokens from now on, in all matches and over HTTP, as if they were not
// known, and ends the connections and sessions of whoever has shown them. It returns
// when that is done, or with ctx's error. A server keeps 1,024 revocations, in memory:
// what has to outlast it belongs into the list of tokens, or to the issuer of JWTs.
func (s *Server) Revoke(ctx context.Context, r Revocation) error {
	if err := s.revoked.add(r, time.Now()); err != nil {
		return err
	}
	text := "revoked"
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	ended, err := s.Expel(ctx, r.concerns, text)
	s.log.Warn("revoked", "subject", r.Subject, "token", r.ID, "until", r.Until, "ended", ended)
	return err
}

// Revocations returns those that hold.
func (s *Server) Revocations() []Revocation {
	s.revoked.mu.Lock()
	defer s.revoked.mu.Unlock()
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(s.revoked.all), func(r Revocation) bool { return !r.holds(now) })
}

// Expel is host.Host.Expel in all matches: it ends the connections, seats and
// sessions of those whose grants a function reports, which is called in the matches'
// goroutines. It returns how many there were, and ctx's error if a match did not get
// to it.
func (s *Server) Expel(ctx context.Context, of func(*host.Grant) bool, reason string) (ended int, err error) {
	var done sync.WaitGroup
	var mu sync.Mutex
	for _, m := range s.Matches() {
		done.Go(func() { // a busy match does not delay the rest
			n := 0
			gone := m.Do(ctx, func(h *host.Host) { n = h.Expel(m.now(), of, reason) })
			mu.Lock()
			defer mu.Unlock()
			switch {
			case gone == nil:
				ended += n
			case !errors.Is(gone, ErrMatchOver):
				err = gone
			}
		})
	}
	done.Wait()
	return ended, err
}

// A revocationView is what an admin is told of a revocation.
type revocationView struct {
	Subject string `json:"subject"`
	Token   string `json:"token"`
	Seconds uint32 `json:"seconds"` // that are left; 0: for as long as the server runs
	Reason  string `json:"reason"`
}

func (s *Server) listRevocations(w http.ResponseWriter, _ *http.Request) {
	all := []revocationView{}
	for _, r := range s.Revocations() {
		v := revocationView{Subject: r.Subject, Token: r.ID, Reason: r.Reason}
		if !r.Until.IsZero() {
			v.Seconds = uint32((time.Until(r.Until) + time.Second - 1) / time.Second)
		}
		all = append(all, v)
	}
	reply(w, http.StatusOK, all)
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	span, err := banSpan(r.FormValue("for"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	x := Revocation{Subject: r.FormValue("subject"), ID: r.FormValue("token"), Reason: clipReason(r.FormValue("reason"))}
	if span > 0 {
		x.Until = time.Now().Add(span)
	}
	switch err := s.Revoke(r.Context(), x); {
	case errors.Is(err, ErrRevocation):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		s.listRevocations(w, r)
	}
}

func (s *Server) unrevoke(w http.ResponseWriter, r *http.Request) {
	if !s.revoked.remove(r.FormValue("subject"), r.FormValue("token"), time.Now()) {
		http.Error(w, "no such revocation", http.StatusNotFound)
		return
	}
	s.listRevocations(w, r)
}
