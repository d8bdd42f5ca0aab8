package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server/internal/guests"
	"github.com/seed-49bee653/samestep/server/internal/repeat"
)

// A creator answers POST /matches.
type creator struct {
	make     func(MatchSpec) (*Match, error)         // [Server.Create]
	like     func(id string) (MatchSpec, error)      // [Server.Like]
	newMatch func(body io.Reader) (MatchSpec, error) // Options.NewMatch
	host     *host.Options                           // of a match whose spec has none
	registry *registry
	gates    *gates
	guests   *guests.Quota
	storage  *storage
	access   *access
	turned   *turned
	log      *slog.Logger
	repeats  repeat.Table // of requests with an Idempotency-Key
}

// create creates a match for an admin, or for a player if guests may. It reads the whole request before it
// counts a guest's match, so that slow requests occupy no place.
func (cr *creator) create(w http.ResponseWriter, r *http.Request) {
	g, ok := cr.access.authenticate(w, r, "")
	guest := g.Role == protocol.Seated && cr.gates.limits.Load().GuestMatches > 0
	if !ok || !permitted(w, guest || g.Role == protocol.Admin) {
		return
	}
	if body, ok := readBody(w, r); ok {
		cr.once(w, r, &g, body, func() []byte { return cr.createFrom(w, r, body, &g) })
	}
}

// createFrom creates the match that a body asks for. It returns its answer, or nil after an error.
func (cr *creator) createFrom(w http.ResponseWriter, r *http.Request, body []byte, g *host.Grant) (answer []byte) {
	guest := g.Role != protocol.Admin
	if cr.newMatch == nil {
		fail(w, codeUnsupported, "this server does not create matches over HTTP")
		return nil
	}
	spec, err := cr.specOf(body, readerWith(g))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fail(w, codeNoReplay, noReplay)
		return nil
	case errors.Is(err, ErrNoMatch):
		fail(w, codeNoMatch, err.Error())
		return nil
	case err != nil:
		fail(w, codeRequest, err.Error())
		return nil
	}
	spec.Invite = spec.Invite || !guest
	if _, err = cr.storage.check(); err == nil && guest {
		err = cr.reserveGuest(wsmatch.AddressOf(r.RemoteAddr), &spec)
	}
	var m *Match
	if err == nil {
		if m, err = cr.make(spec); err != nil && guest {
			cr.guests.Release(spec.guest)
		}
	}
	if err != nil {
		cr.refuseCreation(w, r, spec.Name, err)
		return nil
	}
	auditOf(r).match = m.Name()
	v := m.Status()
	v.Tokens = m.Invitations()
	answer, _ = json.Marshal(v.told(readerWith(g))) // no view has an error
	replyJSON(w, http.StatusCreated, answer)
	return answer
}

// refuseCreation answers with the error of a creation.
func (cr *creator) refuseCreation(w http.ResponseWriter, r *http.Request, name string, err error) {
	log := logged.Match(cr.log, wsmatch.Clip(name), "")
	guest, storage, failed := (*guests.Error)(nil), (*storageError)(nil), (*lockstep.PanicError)(nil)
	asset := (*record.AssetError)(nil)
	switch {
	case errors.As(err, &guest):
		cr.turned.away("guests", r.RemoteAddr)
		failFor(w, 30, map[bool]code{true: codeGuestLimit, false: codeGuestsFull}[guest.Own], guest.Error())
	case errors.Is(err, ErrExists):
		fail(w, codeExists, err.Error())
	case errors.Is(err, ErrFull):
		fail(w, codeFull, err.Error())
	case errors.Is(err, ErrShutdown):
		fail(w, codeShutdown, err.Error())
	case errors.As(err, &storage):
		fail(w, codeStorage, err.Error())
	case errors.Is(err, ErrStorage):
		log.Error("creation", "err", err)
		fail(w, codeStorage, ErrStorage.Error()) // err has paths
	case errors.As(err, &asset) && !errors.Is(err, record.ErrAsset):
		log.Error("creation", "err", err) // it may have paths
		fail(w, codeRequest, fmt.Sprintf("asset %q with sha256 %s is not on this server, or is damaged there", asset.Asset.Name, asset.Asset.SHA256))
	case errors.As(err, &failed):
		log.Error("creation", "err", err, "stack", string(failed.Stack))
		fail(w, codeGame, "the game has failed at the start of the match")
	default:
		fail(w, codeRequest, err.Error())
	}
}

// reserveGuest reserves a place for a guest's match, with as many bots as it can have at a time: all seats if players have substitutes.
func (cr *creator) reserveGuest(from netip.Prefix, spec *MatchSpec) (err error) {
	bots := spec.bots()
	if o := cmp.Or(spec.Host, cr.host); spec.Substitute != nil || o.Substitute != nil {
		bots = int(spec.Settings.Players)
	}
	l := cr.gates.limits.Load()
	spec.guest, err = cr.guests.Reserve(from, bots, guests.Limits{Matches: l.GuestMatches, Each: l.GuestMatchesPerAddress, Bots: l.GuestBots}, time.Now())
	return err
}

// specOf returns the spec of the match that the body of a request asks for: like another one, which may have another name and
// nothing else, or what Options.NewMatch makes of it. Who may not know the seed of the new match does not choose it either, and a
// copy of a match that is over gets another one.
func (cr *creator) specOf(body []byte, who disclosure.Reader) (MatchSpec, error) {
	var r struct{ Name, Like string }
	if json.Unmarshal(body, &r) != nil || r.Like == "" {
		spec, err := cr.newMatch(bytes.NewReader(body))
		if err == nil && spec.Settings.Seed != 0 && cr.hidesSeed(&spec, who) {
			err = errSeed
		}
		return spec, err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return MatchSpec{}, fmt.Errorf("a match: want name and like alone: %w", err)
	}
	if how, ok := cr.registry.makingOf(r.Like); ok && !how.over && how.disclosed.Records(who) != nil {
		return MatchSpec{}, errSecret
	}
	spec, err := cr.like(r.Like)
	if err != nil {
		return MatchSpec{}, fmt.Errorf("a match: %w", err)
	}
	if spec.Name = r.Name; cr.hidesSeed(&spec, who) {
		spec.Settings.Seed = 0
	}
	return spec, nil
}

// hidesSeed reports whether a new match will hide its seed from r.
func (cr *creator) hidesSeed(spec *MatchSpec, r disclosure.Reader) bool {
	return cmp.Or(spec.Host, cr.host).Disclosure().Records(r) != nil
}

// once calls create, unless the request has the Idempotency-Key of an earlier one. Then it answers as it did that.
// create returns its answer, or nil after an error.
func (cr *creator) once(w http.ResponseWriter, r *http.Request, g *host.Grant, body []byte, create func() []byte) {
	k := repeat.Key{Admin: g.Role == protocol.Admin, Subject: g.Subject, Text: r.Header.Get("Idempotency-Key")}
	if k.Text == "" {
		create()
		return
	}
	if len(k.Text) > repeat.MaxKey {
		fail(w, codeRequest, "Idempotency-Key: want at most 128 bytes")
		return
	}
	switch state, answer := cr.repeats.Begin(k, body, time.Now()); state {
	case repeat.New:
		defer func() { cr.repeats.End(k, answer) }() // also when the game panics
		answer = create()
	case repeat.Changed:
		fail(w, codeKeyReused, "an earlier request with this Idempotency-Key had another body")
	case repeat.Running:
		failFor(w, 1, codeInProgress, "an earlier request with this Idempotency-Key is in progress")
	case repeat.Done:
		w.Header().Set("Idempotency-Replayed", "true")
		replyJSON(w, http.StatusCreated, answer)
	}
}

// ErrNoMatch is returned for the ID of a match that the server does not know.
var ErrNoMatch = errors.New("server: no match of that ID is known here: it ended long ago, or on another server")

// errSeed refuses a match of which its maker would know what the others may not see.
var errSeed = errors.New("a match: the server hides the seeds of its matches: want no seed, or the token of an admin")

// errSecret refuses a match with the seed of one that hides it.
var errSecret = errors.New("a match: the other one is not over here, and hides its seed: ask with the token of an admin, or when it is over at the server that has it")
