package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A banView is the JSON of a ban in a match.
type banView struct {
	Subject string `json:"subject"`
	Name    string `json:"name"`
	Address string `json:"address"`
	Seconds uint32 `json:"seconds"` // left; 0: for the rest of the match
	Reason  string `json:"reason"`
}

// listBans answers with the bans of a match, including those of kicks.
func (ma *matchAPI) listBans(w http.ResponseWriter, r *http.Request) {
	all := []banView{}
	ma.doReply(w, r, func(m *Match, h *host.Host) error {
		now := m.now()
		for _, b := range h.Bans().List(now) {
			v := banView{Subject: b.Subject, Name: b.Name, Address: b.Address, Reason: b.Reason}
			if b.Until > 0 {
				v.Seconds = uint32(min((b.Until-now+lockstep.Second-1)/lockstep.Second, 1<<32-1))
			}
			all = append(all, v)
		}
		return nil
	}, func(*Match) { reply(w, http.StatusOK, all) })
}

// ban bans the player of a seat, the peer of a connection, or those whom a subject, a name and an address fit.
func (ma *matchAPI) ban(w http.ResponseWriter, r *http.Request) {
	d, err := banDuration(r.FormValue("for"))
	var target target
	if err == nil {
		target, err = banTarget(r)
	}
	if err != nil {
		fail(w, codeRequest, err.Error())
		return
	}
	reason := r.FormValue("reason")
	ma.doEnding(w, r, target.Subject, func(m *Match, h *host.Host) (host.Ended, error) {
		now, until := m.now(), lockstep.Time(0)
		if d > 0 {
			until = now + lockstep.Time(d.Microseconds())
		}
		switch {
		case target.seat != nil:
			return h.Bans().AddPlayer(now, *target.seat, until, reason)
		case target.peer > 0:
			return h.Bans().AddPeer(now, target.peer, until, reason)
		}
		b := target.Ban
		b.Until, b.Reason = until, reason
		return h.Bans().Add(now, b)
	})
}

// unban ends a ban of a subject, a name and an address.
func (ma *matchAPI) unban(w http.ResponseWriter, r *http.Request) {
	target, err := banTarget(r)
	if err == nil && (target.seat != nil || target.peer > 0) {
		err = errTarget
	}
	if err != nil {
		fail(w, codeRequest, err.Error())
		return
	}
	ma.doReply(w, r, func(m *Match, h *host.Host) error {
		if !h.Bans().Remove(m.now(), target.Ban) {
			return fmt.Errorf("%w: no such ban", host.ErrBan)
		}
		return nil
	}, func(m *Match) {
		if ma.keeper.flush(r.Context(), banKeyOf(m.header.Match)) != nil {
			fail(w, codeStorage, notKept)
			return
		}
		reply(w, http.StatusOK, m.View())
	})
}

// A target is whom a request bans.
type target struct {
	seat     *lockstep.Player
	peer     host.PeerID
	host.Ban // of a subject, a name or an address
}

var errTarget = errors.New("want a seat, a peer, or a subject, a name, an address or several of these three")

// targetNames are the values of a request that name whom a ban concerns, besides a seat and a peer.
var targetNames = []string{"subject", "name", "address"}

// banTarget reads the target of a request.
func banTarget(r *http.Request) (t target, err error) {
	given := 0
	if text := r.FormValue("seat"); text != "" {
		given++
		n, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return t, errTarget
		}
		seat := lockstep.Player(n)
		t.seat = &seat
	}
	if text := r.FormValue("peer"); text != "" {
		given++
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil || n == 0 {
			return t, errTarget
		}
		t.peer = host.PeerID(n)
	}
	t.Subject, t.Name = r.FormValue("subject"), r.FormValue("name")
	if text := r.FormValue("address"); text != "" {
		if t.Address, err = parseAddress(text); err != nil {
			return t, err
		}
	}
	if t.Subject != "" || t.Name != "" || t.Address != "" {
		given++
	}
	if given != 1 {
		return t, errTarget
	}
	return t, nil
}

// parseAddress returns the address in a text, with or without a prefix length, in the form of [conn].addr.
func parseAddress(text string) (string, error) {
	addr, err := netip.ParseAddr(text)
	if p, perr := netip.ParsePrefix(text); perr == nil {
		addr, err = p.Addr(), nil
	}
	if err != nil {
		return "", fmt.Errorf("got address %q, want an IP address", text)
	}
	return wsmatch.AddressOf(netip.AddrPortFrom(addr, 1).String()).String(), nil
}
