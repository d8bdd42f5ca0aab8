package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A denier has the revocations of a server, ends what they concern, and follows those of other servers.
type denier struct {
	keeper   *keeper
	revoked  *revocations
	registry *registry
	access   *access
	log      *slog.Logger

	mu    sync.Mutex
	sweep *time.Timer // of bans and revocations; nil without Denials
}

// revokeNow is Server.Revoke.
func (dn *denier) revokeNow(ctx context.Context, r Revocation) (host.Ended, error) {
	if err := dn.revoked.add(r, time.Now()); err != nil {
		return host.Ended{}, err
	}
	value, err := json.Marshal(r)
	if err != nil {
		panic(err) // cannot happen: texts and a time
	}
	dn.keeper.keep(r.key(), value)
	ended, err := dn.expel(ctx, r.matches, r.text())
	if err == nil {
		err = storageFailed(dn.keeper.flush(ctx, r.key()))
	}
	dn.log.Warn("revoked", "subject", r.Subject, "name", r.Name, "token", r.ID, "until", r.Until, "seats", ended.Seats, "connections", ended.Connections)
	return ended, err
}

// text is what the clients are told.
func (r *Revocation) text() string {
	if r.Reason == "" {
		return "revoked"
	}
	return "revoked: " + r.Reason
}

// expel is Server.Expel.
func (dn *denier) expel(ctx context.Context, match func(*host.Grant) bool, reason string) (ended host.Ended, err error) {
	var done sync.WaitGroup
	var mu sync.Mutex
	for _, m := range dn.registry.running() {
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

// watch takes the revocations that are kept, and follows those of other servers. It returns an error if not all of them can hold:
// a server without them would admit those whom they concern.
func (dn *denier) watch() error {
	if dn.keeper.store == nil {
		return nil
	}
	var mu sync.Mutex
	var wrong []error
	began := false
	keys := make(map[string]Revocation)
	err := dn.keeper.store.Watch(func(key string, value []byte) {
		if !strings.HasPrefix(key, revocationKey) {
			return
		}
		r, err := parseRevocation(key, value)
		if err == nil {
			err = dn.revoked.put(r, time.Now(), maxRevokedKept)
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			keys[key] = r
			go dn.expelRevoked(r) // matches may be busy
		case began:
			dn.log.Error("a revocation does not hold here; repair or remove it", "at", dn.keeper.place(key), "err", err)
		default:
			wrong = append(wrong, fmt.Errorf("%s: %w; repair or remove it, then start again", dn.keeper.place(key), err))
		}
	}, func(key string) {
		mu.Lock()
		defer mu.Unlock()
		if r, ok := keys[key]; ok {
			dn.revoked.forget(&r)
			delete(keys, key)
		}
	})
	mu.Lock()
	defer mu.Unlock()
	began = true
	return errors.Join(append(wrong, err)...)
}

// expelRevoked ends the connections of a revocation that another server has told.
func (dn *denier) expelRevoked(r Revocation) {
	if !r.active(time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), expelTime)
	defer cancel()
	if ended, _ := dn.expel(ctx, r.matches, r.text()); ended != (host.Ended{}) {
		dn.log.Warn("revoked", "subject", r.Subject, "name", r.Name, "token", r.ID, "until", r.Until, "seats", ended.Seats, "connections", ended.Connections)
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

func (dn *denier) list(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, dn.views())
}

func (dn *denier) views() []revocationView {
	all := []revocationView{}
	for _, r := range dn.revoked.active(time.Now()) {
		v := revocationView{Subject: r.Subject, Name: r.Name, Token: r.ID, Reason: r.Reason}
		if !r.Until.IsZero() {
			v.Seconds = uint32((time.Until(r.Until) + time.Second - 1) / time.Second)
		}
		all = append(all, v)
	}
	return all
}

func (dn *denier) revoke(w http.ResponseWriter, r *http.Request) {
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
	switch done.Ended, err = dn.revokeNow(r.Context(), x); {
	case errors.Is(err, ErrRevocation):
		fail(w, codeConflict, err.Error())
	case errors.Is(err, ErrStorage):
		fail(w, codeStorage, notKept)
	case err != nil:
		fail(w, codeBusy, err.Error())
	default:
		if done.Ended == (host.Ended{}) {
			done.Message = dn.access.whyNobody(x.Subject, "", dn.registry.connectedAs(r.Context(), x.Subject))
		}
		reply(w, http.StatusOK, map[string]any{"affected": done, "revocations": dn.views()})
	}
}

// revocationIn returns the subject, the name and the token in a request.
func revocationIn(r *http.Request) Revocation {
	return Revocation{Subject: r.FormValue("subject"), Name: r.FormValue("name"), ID: r.FormValue("token")}
}

func (dn *denier) unrevoke(w http.ResponseWriter, r *http.Request) {
	x := revocationIn(r)
	if !dn.revoked.remove(&x, time.Now()) {
		fail(w, codeNoRevocation, "no such revocation")
		return
	}
	dn.keeper.keep(x.key(), nil)
	if dn.keeper.flush(r.Context(), x.key()) != nil {
		fail(w, codeStorage, notKept)
		return
	}
	dn.list(w, r)
}
