package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep"
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

// A denier has the revocations of a server, ends what they concern, and follows those of other servers.
type denier struct {
	keeper   *keeper
	revoked  *revocations
	registry *registry
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
type revocationJSON struct {
	Subject string `json:"subject"`
	Name    string `json:"name"`
	Token   string `json:"token"`
	Seconds uint32 `json:"seconds"` // left; 0: for ever
	Reason  string `json:"reason"`
}

func (dn *denier) list(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, dn.revocations())
}

func (dn *denier) revocations() []revocationJSON {
	all := []revocationJSON{}
	for _, r := range dn.revoked.active(time.Now()) {
		v := revocationJSON{Subject: r.Subject, Name: r.Name, Token: r.ID, Reason: r.Reason}
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
			done.Message = nobodyFits
		}
		reply(w, http.StatusOK, map[string]any{"affected": done, "revocations": dn.revocations()})
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

const (
	// sweepEvery is the period of sweeps of bans and revocations.
	sweepEvery = 5 * time.Minute

	// staleAfter is how long they stay when they are over: another server's clock may be behind.
	staleAfter = 5 * time.Minute
)

// sweepLater has the bans and revocations that nobody needs deleted, now and then until the server is shut down. No other place deletes
// what has expired.
func (dn *denier) sweepLater() {
	dn.mu.Lock()
	defer dn.mu.Unlock()
	if dn.keeper.store != nil && !dn.registry.isClosed() {
		dn.sweep = time.AfterFunc(sweepEvery, func() {
			if err := dn.keeper.store.Sweep(stale); err != nil && !dn.registry.isClosed() {
				dn.log.Warn("bans and revocations that are over are not deleted yet", "err", err)
			}
			dn.sweepLater()
		})
	}
}

// stop ends the sweeps of a server whose registry is closed.
func (dn *denier) stop() {
	dn.mu.Lock()
	defer dn.mu.Unlock()
	if dn.sweep != nil {
		dn.sweep.Stop()
	}
}

// stale reports whether nobody needs a value: bans of a match that is gone, or that are over, or a revocation that is over. It keeps
// what makes no sense, because somebody may have meant to deny something.
func stale(key string, value []byte, now time.Time, live func(lockstep.MatchID) bool) bool {
	past := now.Add(-staleAfter)
	if match, ok := matchOfBans(key); ok {
		all, err := parseBans(value)
		return !live(match) || err == nil && !slices.ContainsFunc(all, func(b keptBan) bool { return b.active(past) })
	}
	if !strings.HasPrefix(key, revocationKey) {
		return false
	}
	r, err := parseRevocation(key, value)
	return err == nil && !r.active(past)
}
