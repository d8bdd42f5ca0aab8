package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// Revoke refuses tokens from now on, in all matches and over HTTP, as if they were unknown. It ends the connections and
// sessions that used them, and returns what it has ended when that is done, or ctx's error. A server keeps 1,024 revocations, in
// memory only; a permanent one belongs in the list of tokens, or with the issuer of JWTs.
func (s *Server) Revoke(ctx context.Context, r Revocation) (host.Ended, error) {
	if err := s.revoked.add(r, time.Now()); err != nil {
		return host.Ended{}, err
	}
	text := "revoked"
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	ended, err := s.Expel(ctx, r.matches, text)
	s.log.Warn("revoked", "subject", r.Subject, "name", r.Name, "token", r.ID, "until", r.Until, "seats", ended.Seats, "connections", ended.Connections)
	return ended, err
}

// Revocations returns the active revocations.
func (s *Server) Revocations() []Revocation {
	s.revoked.mu.Lock()
	defer s.revoked.mu.Unlock()
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(s.revoked.all), func(r Revocation) bool { return !r.active(now) })
}

// Expel calls host.Host.Expel in all matches: it ends the connections, seats and sessions of the grants for which match
// reports true. match is called in the goroutines of the matches. Expel returns what it has ended, and ctx's error if a
// match did not answer in time.
func (s *Server) Expel(ctx context.Context, match func(*host.Grant) bool, reason string) (ended host.Ended, err error) {
	var done sync.WaitGroup
	var mu sync.Mutex
	for _, m := range s.Matches() {
		done.Go(func() { // a busy match does not delay the rest
			n := host.Ended{}
			gone := m.Do(ctx, func(h *host.Host) { n = h.Expel(m.now(), match, reason) })
			mu.Lock()
			defer mu.Unlock()
			switch {
			case gone == nil:
				ended.Add(n)
			case !errors.Is(gone, ErrMatchOver):
				err = gone
			}
		})
	}
	done.Wait()
	return ended, err
}

// A revocationView is the JSON of a revocation.
type revocationView struct {
	Subject string `json:"subject"`
	Name    string `json:"name"`
	Token   string `json:"token"`
	Seconds uint32 `json:"seconds"` // left; 0: for as long as the server runs
	Reason  string `json:"reason"`
}

func (s *Server) listRevocations(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, s.revocationViews())
}

func (s *Server) revocationViews() []revocationView {
	all := []revocationView{}
	for _, r := range s.Revocations() {
		v := revocationView{Subject: r.Subject, Name: r.Name, Token: r.ID, Reason: r.Reason}
		if !r.Until.IsZero() {
			v.Seconds = uint32((time.Until(r.Until) + time.Second - 1) / time.Second)
		}
		all = append(all, v)
	}
	return all
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	d, err := banDuration(r.FormValue("for"))
	if err != nil {
		fail(w, codeRequest, err.Error())
		return
	}
	x := revocationIn(r)
	x.Reason = wsmatch.Clip(r.FormValue("reason"))
	if d > 0 {
		x.Until = time.Now().Add(d)
	}
	done := affected{}
	switch done.Ended, err = s.Revoke(r.Context(), x); {
	case errors.Is(err, ErrRevocation):
		fail(w, codeConflict, err.Error())
	case err != nil:
		fail(w, codeBusy, err.Error())
	default:
		if done.Ended == (host.Ended{}) {
			done.Message = nobodyFits
		}
		reply(w, http.StatusOK, map[string]any{"affected": done, "revocations": s.revocationViews()})
	}
}

// revocationIn returns the subject, the name and the token in a request.
func revocationIn(r *http.Request) Revocation {
	return Revocation{Subject: r.FormValue("subject"), Name: r.FormValue("name"), ID: r.FormValue("token")}
}

func (s *Server) unrevoke(w http.ResponseWriter, r *http.Request) {
	if x := revocationIn(r); !s.revoked.remove(&x, time.Now()) {
		fail(w, codeNoRevocation, "no such revocation")
		return
	}
	s.listRevocations(w, r)
}
