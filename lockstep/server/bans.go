package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A banView is what an admin is told of a ban in a match.
type banView struct {
	Subject string `json:"subject"`
	Address string `json:"address"`
	Seconds uint32 `json:"seconds"` // that are left; 0: for the rest of the match
	Reason  string `json:"reason"`
}

// listBans answers with the bans of a match, also those of kicks.
func (s *Server) listBans(w http.ResponseWriter, r *http.Request) {
	all := []banView{}
	s.ask(w, r, func(m *Match, h *host.Host) error {
		now := m.now()
		for _, b := range h.Bans(now) {
			v := banView{Subject: b.Subject, Address: b.Address, Reason: b.Reason}
			if b.Until > 0 {
				v.Seconds = uint32(min((b.Until-now+lockstep.Second-1)/lockstep.Second, 1<<32-1))
			}
			all = append(all, v)
		}
		return nil
	}, func(*Match) { reply(w, http.StatusOK, all) })
}

// ban keeps somebody out of a match: the player of a seat, whoever has a connection,
// or a subject, an address or both.
func (s *Server) ban(w http.ResponseWriter, r *http.Request) {
	span, err := banSpan(r.FormValue("for"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reason := r.FormValue("reason")
	of, err := banTarget(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.do(w, r, func(m *Match, h *host.Host) error {
		now, until := m.now(), lockstep.Time(0)
		if span > 0 {
			until = now + lockstep.Time(span.Microseconds())
		}
		switch {
		case of.seat != nil:
			return h.BanPlayer(now, *of.seat, until, reason)
		case of.peer > 0:
			return h.BanPeer(now, of.peer, until, reason)
		}
		return h.Ban(now, host.Ban{Subject: of.subject, Address: of.address, Until: until, Reason: reason})
	})
}

// unban ends a ban of a subject, an address or both.
func (s *Server) unban(w http.ResponseWriter, r *http.Request) {
	of, err := banTarget(r)
	if err == nil && (of.seat != nil || of.peer > 0) {
		err = errTarget
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.do(w, r, func(m *Match, h *host.Host) error {
		if !h.Unban(m.now(), of.subject, of.address) {
			return fmt.Errorf("%w: no such ban", host.ErrBan)
		}
		return nil
	})
}

// maxBanSpan is the longest time of a ban that ends before its match.
const maxBanSpan = 365 * 24 * time.Hour

// banSpan reads how long a ban lasts; 0 is for the rest of the match.
func banSpan(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d > maxBanSpan {
		return 0, fmt.Errorf("for: got %q, want a time from 1s to %v, as 90s or 24h", text, maxBanSpan)
	}
	return d, nil
}

// A target says whom a request is about.
type target struct {
	seat             *lockstep.Player
	peer             host.PeerID
	subject, address string
}

var errTarget = errors.New("want a seat, a peer, or a subject, an address or both")

// banTarget reads whom a request is about.
func banTarget(r *http.Request) (of target, err error) {
	kinds := 0
	if text := r.FormValue("seat"); text != "" {
		kinds++
		n, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return of, errTarget
		}
		seat := lockstep.Player(n)
		of.seat = &seat
	}
	if text := r.FormValue("peer"); text != "" {
		kinds++
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil || n == 0 {
			return of, errTarget
		}
		of.peer = host.PeerID(n)
	}
	of.subject = r.FormValue("subject")
	if text := r.FormValue("address"); text != "" {
		if of.address, err = addressNamed(text); err != nil {
			return of, err
		}
	}
	if of.subject != "" || of.address != "" {
		kinds++
	}
	if kinds != 1 {
		return of, errTarget
	}
	return of, nil
}

// addressNamed returns the address that a text names, as connections have it: with
// or without the bits that of gives it.
func addressNamed(text string) (string, error) {
	addr, err := netip.ParseAddr(text)
	if p, perr := netip.ParsePrefix(text); perr == nil {
		addr, err = p.Addr(), nil
	}
	if err != nil {
		return "", fmt.Errorf("got address %q, want an IP address", text)
	}
	return of(netip.AddrPortFrom(addr, 1).String()).String(), nil
}
