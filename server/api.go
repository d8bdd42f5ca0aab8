package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"

	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// maxBody is the size limit of a request's body, in bytes.
const maxBody = 64 << 10

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		fail(w, codeShutdown, "shutting down")
		return
	}
	w.Header().Set("Connection", "close") // the budget of connections is the only limit of this route
	w.Write([]byte("ok\n"))
}

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	if v := s.failed(r.PathValue("name")); v != nil {
		if who, ok := s.readerOf(w, r, v.Name); ok {
			reply(w, http.StatusOK, v.told(who))
		}
		return
	}
	m := s.requested(w, r)
	if m == nil {
		return
	}
	if who, ok := s.readerOf(w, r, m.Name()); ok {
		v := m.View()
		told := v.told(who)
		if who == disclosure.Operator {
			_ = m.Do(r.Context(), func(*host.Host) { told.Load = m.measured() }) // a match that is over has none
		}
		reply(w, http.StatusOK, told)
	}
}

// createMatch creates a match for an admin, or for a player if guests may. It reads the whole request before it
// counts a guest's match, so that slow requests occupy no place.
func (s *Server) createMatch(w http.ResponseWriter, r *http.Request) {
	g, ok := s.authenticate(w, r)
	guest := g.Role == protocol.Seated && s.limits.Load().GuestMatches > 0
	if !ok || !permitted(w, guest || g.Role == protocol.Admin) {
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		fail(w, codeTooLarge, err.Error())
		return
	}
	if err != nil {
		fail(w, codeRequest, err.Error())
		return
	}
	s.once(w, r, &g, body, func() []byte { return s.createFrom(w, r, body, &g) })
}

// createFrom creates the match that a body asks for. It returns its answer, or nil after an error.
func (s *Server) createFrom(w http.ResponseWriter, r *http.Request, body []byte, g *host.Grant) (answer []byte) {
	guest := g.Role != protocol.Admin
	if s.options.NewMatch == nil {
		fail(w, codeUnsupported, "this server does not create matches over HTTP")
		return nil
	}
	spec, err := s.specOf(body, readerWith(g))
	if errors.Is(err, fs.ErrNotExist) {
		fail(w, codeNoReplay, noReplay)
		return nil
	}
	if errors.Is(err, ErrNoMatch) {
		fail(w, codeNoMatch, err.Error())
		return nil
	}
	if err != nil {
		fail(w, codeRequest, err.Error())
		return nil
	}
	spec.Invite = spec.Invite || !guest
	if _, err = s.storage.check(); err == nil && guest {
		spec.guest, err = s.reserveGuest(addressOf(r.RemoteAddr), s.mostBots(&spec))
	}
	var m *Match
	if err == nil {
		if m, err = s.Create(spec); err != nil && guest {
			s.releaseGuest(spec.guest)
		}
	}
	if err != nil {
		s.refuseCreation(w, r, spec.Name, err)
		return nil
	}
	auditOf(r).match = m.Name()
	v := m.View()
	v.Tokens = m.Invitations()
	answer, _ = json.Marshal(v.told(readerWith(g))) // no view has an error
	replyJSON(w, http.StatusCreated, answer)
	return answer
}

// refuseCreation answers with the error of a creation.
func (s *Server) refuseCreation(w http.ResponseWriter, r *http.Request, name string, err error) {
	log := logged.Match(s.log, wsmatch.Clip(name), "")
	guests, storage, failed := (*guestError)(nil), (*storageError)(nil), (*lockstep.PanicError)(nil)
	asset := (*record.AssetError)(nil)
	switch {
	case errors.As(err, &guests):
		guests.reply(w, s, r.RemoteAddr)
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

func (s *Server) end(w http.ResponseWriter, r *http.Request) {
	end := func(m *Match, h *host.Host) error { return h.Admin().End(m.now(), "ended by an admin") }
	s.doReply(w, r, end, func(m *Match) {
		if m.log.Stored() != nil {
			fail(w, codeStorage, "the end of the match is not stored: it may go on at another server")
			return
		}
		reply(w, http.StatusOK, m.View())
	})
}

// act runs the action that the last element of the path names.
func (s *Server) act(w http.ResponseWriter, r *http.Request) {
	action, name := r.PathValue("action"), "seat"
	switch action {
	case "start":
		s.do(w, r, func(m *Match, h *host.Host) error { return h.Admin().Start(m.now()) })
		return
	case "keyframe":
		s.do(w, r, func(m *Match, h *host.Host) error { return h.Admin().Keyframe(m.now()) })
		return
	case "retry":
		s.retryMatch(w, r)
		return
	case "pause", "resume", "kick":
	case "speed":
		name = "percent"
	default:
		fail(w, codeNoAction, "want start, pause, resume, kick, ban, unban, speed, keyframe or retry")
		return
	}
	if (action == "pause" || action == "resume") && r.FormValue(name) == "" {
		s.do(w, r, func(m *Match, _ *host.Host) error { return m.pause(action == "pause") })
		return
	}
	n, err := strconv.ParseUint(r.FormValue(name), 10, 16)
	if err != nil {
		fail(w, codeRequest, "want "+name+", a number")
		return
	}
	if action == "speed" && (n < record.MinSpeed || n > record.MaxSpeed) {
		fail(w, codeRequest, fmt.Sprintf("percent: got %d, want %d to %d", n, record.MinSpeed, record.MaxSpeed))
		return
	}
	seat := lockstep.Player(min(n, uint64(lockstep.System)))
	if action == "kick" {
		s.doEnding(w, r, "", func(m *Match, h *host.Host) (host.Ended, error) {
			return h.Admin().Remove(m.now(), seat, "kicked by an admin")
		})
		return
	}
	s.do(w, r, func(m *Match, h *host.Host) error {
		switch action {
		case "pause":
			return h.Admin().Pause(m.now(), seat)
		case "resume":
			return h.Admin().Resume(m.now(), seat)
		}
		return h.Admin().SetSpeed(m.now(), uint16(n))
	})
}

// retryMatch tries again to resume a match that failed.
func (s *Server) retryMatch(w http.ResponseWriter, r *http.Request) {
	v, err := s.retry(r.PathValue("name"))
	if err != nil {
		fail(w, codeConflict, err.Error())
		return
	}
	reply(w, http.StatusOK, v)
}

// do calls f in the goroutine of the match that the path names, and answers with the match.
func (s *Server) do(w http.ResponseWriter, r *http.Request, f func(*Match, *host.Host) error) {
	s.doReply(w, r, f, func(m *Match) { reply(w, http.StatusOK, m.View()) })
}

// doReply is do with another answer.
func (s *Server) doReply(w http.ResponseWriter, r *http.Request, f func(*Match, *host.Host) error, answer func(*Match)) {
	m := s.requested(w, r)
	if m == nil {
		return
	}
	var err error
	gone := m.Do(r.Context(), func(h *host.Host) {
		err = f(m, h)
		m.publish()  // so that the answer shows the effect
		m.keepBans() // so that it says whether they are stored
	})
	switch {
	case gone != nil:
		fail(w, codeOver, gone.Error())
	case errors.Is(err, coordinator.ErrBusy): // until the next tick
		w.Header().Set("Retry-After", "1")
		fail(w, codeBusy, err.Error())
	case err != nil:
		fail(w, codeConflict, err.Error())
	default:
		answer(m)
	}
}

// notKept says that the disk or the storage has failed.
const notKept = "it holds here and now, but could not be stored, so a restart would forget it; the server tries again"

// doEnding is do for a call that ends connections. name is what the caller may have meant as a name, or "".
func (s *Server) doEnding(w http.ResponseWriter, r *http.Request, name string, f func(*Match, *host.Host) (host.Ended, error)) {
	var done affected
	s.doReply(w, r, func(m *Match, h *host.Host) (err error) {
		if done.Ended, err = f(m, h); err == nil && done.Ended == (host.Ended{}) {
			done.Message = s.whyNobody(name, m.Name(), subjectNamed(h, m.now(), name))
		}
		return err
	}, func(m *Match) {
		if s.keeper.flush(r.Context(), banKeyOf(m.header.Match)) != nil {
			fail(w, codeStorage, notKept)
			return
		}
		v := m.View()
		v.Affected = &done
		reply(w, http.StatusOK, v)
	})
}
