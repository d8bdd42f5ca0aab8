package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// Revoke refuses tokens from now on, in all matches and over HTTP, as if they were unknown. It ends the connections and
// sessions that used them, and returns what it has ended when that is done, or ctx's error. A server has at most 1,024 revocations. They
// are in Options.Denials: the next server with these refuses the tokens, too, and so do others that share them. The error wraps
// [ErrStorage] if the revocation holds only in this process, because it could not be kept.
func (s *Server) Revoke(ctx context.Context, r Revocation) (host.Ended, error) {
	if err := s.revoked.add(r, time.Now()); err != nil {
		return host.Ended{}, err
	}
	value, err := json.Marshal(r)
	if err != nil {
		panic(err) // cannot happen: texts and a time
	}
	s.keeper.keep(r.key(), value)
	ended, err := s.Expel(ctx, r.matches, r.text())
	if err == nil {
		err = storageFailed(s.keeper.flush(ctx, r.key()))
	}
	s.log.Warn("revoked", "subject", r.Subject, "name", r.Name, "token", r.ID, "until", r.Until, "seats", ended.Seats, "connections", ended.Connections)
	return ended, err
}

// text is what the clients are told.
func (r *Revocation) text() string {
	if r.Reason == "" {
		return "revoked"
	}
	return "revoked: " + r.Reason
}

// Revocations returns the active revocations.
func (s *Server) Revocations() []Revocation {
	s.revoked.mu.Lock()
	defer s.revoked.mu.Unlock()
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(s.revoked.all), func(r Revocation) bool { return !r.active(now) })
}

// Expel calls host.Admin.Expel in all matches: it ends the connections, seats and sessions of the grants for which match
// reports true. match is called in the goroutines of the matches. Expel returns what it has ended, and ctx's error if a
// match did not answer in time.
func (s *Server) Expel(ctx context.Context, match func(*host.Grant) bool, reason string) (ended host.Ended, err error) {
	var done sync.WaitGroup
	var mu sync.Mutex
	for _, m := range s.Matches() {
		done.Go(func() { // a busy match does not delay the rest
			n := host.Ended{}
			gone := m.Do(ctx, func(h *host.Host) { n = h.Admin().Expel(m.now(), match, reason) })
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

// watchDenials takes the revocations that are kept, and follows those of other servers. It returns an error if not all of them can hold:
// a server without them would admit those whom they concern.
func (s *Server) watchDenials() error {
	if s.keeper.store == nil {
		return nil
	}
	var mu sync.Mutex
	var wrong []error
	began := false
	keys := make(map[string]Revocation)
	err := s.keeper.store.Watch(func(key string, value []byte) {
		if !strings.HasPrefix(key, revocationKey) {
			return
		}
		r, err := parseRevocation(key, value)
		if err == nil {
			err = s.revoked.put(r, time.Now(), maxRevokedKept)
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			keys[key] = r
			go s.expelRevoked(r) // matches may be busy
		case began:
			s.log.Error("a revocation does not hold here; repair or remove it", "at", s.keeper.place(key), "err", err)
		default:
			wrong = append(wrong, fmt.Errorf("%s: %w; repair or remove it, then start again", s.keeper.place(key), err))
		}
	}, func(key string) {
		mu.Lock()
		defer mu.Unlock()
		if r, ok := keys[key]; ok {
			s.revoked.forget(&r)
			delete(keys, key)
		}
	})
	mu.Lock()
	defer mu.Unlock()
	began = true
	return errors.Join(append(wrong, err)...)
}

// expelRevoked ends the connections of a revocation that another server has told.
func (s *Server) expelRevoked(r Revocation) {
	if !r.active(time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), expelTime)
	defer cancel()
	if ended, _ := s.Expel(ctx, r.matches, r.text()); ended != (host.Ended{}) {
		s.log.Warn("revoked", "subject", r.Subject, "name", r.Name, "token", r.ID, "until", r.Until, "seats", ended.Seats, "connections", ended.Connections)
	}
}

// expelTime is how long the matches may take to end the connections of a revocation.
const expelTime = 10 * time.Second

// A revocationView is the JSON of a revocation.
type revocationView struct {
	Subject string `json:"subject"`
	Name    string `json:"name"`
	Token   string `json:"token"`
	Seconds uint32 `json:"seconds"` // left; 0: for ever
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
	if x.matches(&auditOf(r).grant) {
		fail(w, codeConflict, "it would refuse your own token: another admin can revoke it")
		return
	}
	x.Reason = wsmatch.Clip(r.FormValue("reason"))
	if d > 0 {
		x.Until = time.Now().Add(d)
	}
	done := affected{}
	switch done.Ended, err = s.Revoke(r.Context(), x); {
	case errors.Is(err, ErrRevocation):
		fail(w, codeConflict, err.Error())
	case errors.Is(err, ErrStorage):
		fail(w, codeStorage, notKept)
	case err != nil:
		fail(w, codeBusy, err.Error())
	default:
		if done.Ended == (host.Ended{}) {
			done.Message = s.whyNobody(x.Subject, "", s.connectedAs(r.Context(), x.Subject))
		}
		reply(w, http.StatusOK, map[string]any{"affected": done, "revocations": s.revocationViews()})
	}
}

// revocationIn returns the subject, the name and the token in a request.
func revocationIn(r *http.Request) Revocation {
	return Revocation{Subject: r.FormValue("subject"), Name: r.FormValue("name"), ID: r.FormValue("token")}
}

func (s *Server) unrevoke(w http.ResponseWriter, r *http.Request) {
	x := revocationIn(r)
	if !s.revoked.remove(&x, time.Now()) {
		fail(w, codeNoRevocation, "no such revocation")
		return
	}
	s.keeper.keep(x.key(), nil)
	if s.keeper.flush(r.Context(), x.key()) != nil {
		fail(w, codeStorage, notKept)
		return
	}
	s.listRevocations(w, r)
}
