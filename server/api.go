package server

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server/internal/guests"
)

// A matchAPI answers requests for matches.
type matchAPI struct {
	registry *registry
	access   *access
	gates    *gates
	guests   *guests.Quota
	keeper   *keeper
	sealer   *sealer
}

func (ma *matchAPI) show(w http.ResponseWriter, r *http.Request) {
	if v := ma.registry.failed(r.PathValue("name")); v != nil {
		if who, ok := ma.access.readerOf(w, r, v.Name); ok {
			reply(w, http.StatusOK, v.told(who))
		}
		return
	}
	m := ma.registry.requested(w, r)
	if m == nil {
		return
	}
	if who, ok := ma.access.readerOf(w, r, m.Name()); ok {
		v := m.View()
		told := v.told(who)
		if who == disclosure.Operator {
			_ = m.Do(r.Context(), func(*host.Host) { told.Load = m.measured() }) // a match that is over has none
		}
		reply(w, http.StatusOK, told)
	}
}

func (ma *matchAPI) end(w http.ResponseWriter, r *http.Request) {
	end := func(m *Match, h *host.Host) error { return h.Admin().End(m.now(), "ended by an admin") }
	ma.doReply(w, r, end, func(m *Match) {
		if m.log.Stored() != nil {
			fail(w, codeStorage, "the end of the match is not stored: it may go on at another server")
			return
		}
		reply(w, http.StatusOK, m.View())
	})
}

// act runs the action that the last element of the path names.
func (ma *matchAPI) act(w http.ResponseWriter, r *http.Request) {
	action, name := r.PathValue("action"), "seat"
	switch action {
	case "start":
		ma.do(w, r, func(m *Match, h *host.Host) error { return h.Admin().Start(m.now()) })
		return
	case "keyframe":
		ma.do(w, r, func(m *Match, h *host.Host) error { return h.Admin().Keyframe(m.now()) })
		return
	case "retry":
		ma.retryMatch(w, r)
		return
	case "pause", "resume", "kick":
	case "speed":
		name = "percent"
	default:
		fail(w, codeNoAction, "want start, pause, resume, kick, ban, unban, speed, keyframe or retry")
		return
	}
	if (action == "pause" || action == "resume") && r.FormValue(name) == "" {
		ma.do(w, r, func(m *Match, _ *host.Host) error { return m.pause(action == "pause") })
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
		ma.doEnding(w, r, "", func(m *Match, h *host.Host) (host.Ended, error) {
			return h.Admin().Remove(m.now(), seat, "kicked by an admin")
		})
		return
	}
	ma.do(w, r, func(m *Match, h *host.Host) error {
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
func (ma *matchAPI) retryMatch(w http.ResponseWriter, r *http.Request) {
	v, err := ma.registry.retry(r.PathValue("name"))
	if err != nil {
		fail(w, codeConflict, err.Error())
		return
	}
	reply(w, http.StatusOK, v)
}

// do calls f in the goroutine of the match that the path names, and answers with the match.
func (ma *matchAPI) do(w http.ResponseWriter, r *http.Request, f func(*Match, *host.Host) error) {
	ma.doReply(w, r, f, func(m *Match) { reply(w, http.StatusOK, m.View()) })
}

// doReply is do with another answer.
func (ma *matchAPI) doReply(w http.ResponseWriter, r *http.Request, f func(*Match, *host.Host) error, answer func(*Match)) {
	m := ma.registry.requested(w, r)
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

// doEnding is do for a call that ends connections. name is what the caller may have meant as a name, or "".
func (ma *matchAPI) doEnding(w http.ResponseWriter, r *http.Request, name string, f func(*Match, *host.Host) (host.Ended, error)) {
	var done affected
	ma.doReply(w, r, func(m *Match, h *host.Host) (err error) {
		if done.Ended, err = f(m, h); err == nil && done.Ended == (host.Ended{}) {
			done.Message = ma.access.whyNobody(name, m.Name(), subjectNamed(h, m.now(), name))
		}
		return err
	}, func(m *Match) {
		if ma.keeper.flush(r.Context(), banKeyOf(m.header.Match)) != nil {
			fail(w, codeStorage, notKept)
			return
		}
		v := m.View()
		v.Affected = &done
		reply(w, http.StatusOK, v)
	})
}

// listAssets answers with the assets of a match, so that a client can fetch them before it connects.
func (ma *matchAPI) listAssets(w http.ResponseWriter, r *http.Request) {
	m := ma.registry.requested(w, r)
	if m == nil {
		return
	}
	reply(w, http.StatusOK, append([]lockstep.Asset{}, m.assets...))
}
