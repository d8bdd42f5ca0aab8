package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
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
		v := m.Status()
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
		reply(w, http.StatusOK, m.Status())
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
		if v, err := ma.registry.retry(r.PathValue("name")); err != nil {
			fail(w, codeConflict, err.Error())
		} else {
			reply(w, http.StatusOK, v)
		}
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
		ma.doEnding(w, r, func(m *Match, h *host.Host) (host.Ended, error) {
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

// do calls f in the goroutine of the match that the path names, and answers with the match.
func (ma *matchAPI) do(w http.ResponseWriter, r *http.Request, f func(*Match, *host.Host) error) {
	ma.doReply(w, r, f, func(m *Match) { reply(w, http.StatusOK, m.Status()) })
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
		failFor(w, 1, codeBusy, err.Error())
	case err != nil:
		fail(w, codeConflict, err.Error())
	default:
		answer(m)
	}
}

// doEnding is do for a call that ends connections.
func (ma *matchAPI) doEnding(w http.ResponseWriter, r *http.Request, f func(*Match, *host.Host) (host.Ended, error)) {
	var done affected
	ma.doReply(w, r, func(m *Match, h *host.Host) (err error) {
		if done.Ended, err = f(m, h); err == nil && done.Ended == (host.Ended{}) {
			done.Message = nobodyFits
		}
		return err
	}, func(m *Match) {
		if ma.keeper.flush(r.Context(), banKeyOf(m.header.Match)) != nil {
			fail(w, codeStorage, notKept)
			return
		}
		v := m.Status()
		v.Affected = &done
		reply(w, http.StatusOK, v)
	})
}

// listAssets answers with the assets of a match, so that a client can fetch them before it connects.
func (ma *matchAPI) listAssets(w http.ResponseWriter, r *http.Request) {
	if m := ma.registry.requested(w, r); m != nil {
		reply(w, http.StatusOK, append([]lockstep.Asset{}, m.assets...))
	}
}

// A banView is the JSON of a ban in a match.
type banJSON struct {
	Subject string `json:"subject"`
	Name    string `json:"name"`
	Address string `json:"address"`
	Seconds uint32 `json:"seconds"` // left; 0: for the rest of the match
	Reason  string `json:"reason"`
}

// listBans answers with the bans of a match, including those of kicks.
func (ma *matchAPI) listBans(w http.ResponseWriter, r *http.Request) {
	all := []banJSON{}
	ma.doReply(w, r, func(m *Match, h *host.Host) error {
		now := m.now()
		for _, b := range h.Bans().List(now) {
			v := banJSON{Subject: b.Subject, Name: b.Name, Address: b.Address, Reason: b.Reason}
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
	ma.doEnding(w, r, func(m *Match, h *host.Host) (host.Ended, error) {
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
		reply(w, http.StatusOK, m.Status())
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

// A connectionView is the JSON of a connection, for admins.
type connectionJSON struct {
	Peer         uint64         `json:"peer,string"`
	State        string         `json:"state"`
	Role         string         `json:"role"`
	Seat         *int           `json:"seat"`    // null for a spectator
	Session      string         `json:"session"` // its id, as in the log
	Name         string         `json:"name"`
	Build        string         `json:"build"`
	Platform     string         `json:"platform"`
	Subject      string         `json:"subject"`
	Guest        bool           `json:"guest"`
	Address      string         `json:"address"` // the network whose budgets it shares
	Spent        map[string]int `json:"spent"`   // of the budgets of its subject or address in the match, in percent
	AddressSpent map[string]int `json:"address_spent"`
}

// listConnections answers with the connections of a match, and what they and their addresses have spent of their budgets.
func (ma *matchAPI) listConnections(w http.ResponseWriter, r *http.Request) {
	all, now := []connectionJSON{}, time.Now()
	ma.doReply(w, r, func(m *Match, h *host.Host) error {
		for _, c := range h.Info().Connections(m.now()) {
			v := connectionJSON{
				Build: c.Build, Platform: c.Platform, Peer: uint64(c.ID), State: c.State.String(), Role: roleNames[c.Role], Name: c.Name, Subject: c.Subject, Guest: c.Guest,
				Address: c.Address, Spent: c.Spent, AddressSpent: map[string]int{},
			}
			if of := m.conns[c.ID]; of != nil {
				v.Session, v.AddressSpent = of.session, ma.gates.spent(of.addr, c.Subject, now)
				v.AddressSpent["guest_matches"] = ma.guests.Tried(of.addr, now)
			}
			if seat := int(c.Seat); seat < int(m.spec.Settings.Players) {
				v.Seat = &seat
			}
			all = append(all, v)
		}
		return nil
	}, func(*Match) { reply(w, http.StatusOK, all) })
}

// schemas answers with the schemas of a match, so that a client that is refused because of one can name the field.
func (ma *matchAPI) schemas(w http.ResponseWriter, r *http.Request) {
	if m := ma.registry.requested(w, r); m != nil {
		reply(w, http.StatusOK, protocol.SchemasOf(m.host.Header())) // a header does not change
	}
}

// ErrUnrecorded is the error of a save if the match has no replay.
var ErrUnrecorded = errors.New("server: the match has no replay: the server has no folder for them")

// Save writes a replay of the match up to its last tick to w, and returns that tick. The match goes on meanwhile. The
// replay has an end that says so, so it verifies like that of a match that is over. It has what players must not see, and
// ticks that a crash of the machine may still take from the match. After an error the replay in w is not whole.
func (m *Match) Save(ctx context.Context, w io.Writer) (lockstep.Tick, error) {
	x, err := m.openSave(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { x.file.Close() }()
	if err := x.seal(ctx, m.server.sealer.seals, filepath.Dir(m.path)); err != nil {
		return 0, err
	}
	_, err = io.Copy(w, x.file)
	return x.tick, err
}

// saveTimeout is the longest time that a save may take to be sent.
const saveTimeout = 10 * time.Minute

// A savedLog is the log of a match up to a tick.
type savedLog struct {
	file *os.File
	size int64
	tick lockstep.Tick
	err  error // why there is none
}

// openSave opens the match's log up to its last tick.
func (m *Match) openSave(ctx context.Context) (savedLog, error) {
	flushed := make(chan savedLog, 1)
	err := m.Do(ctx, func(h *host.Host) {
		var x savedLog
		switch {
		case !m.log.Recorded():
			x.err = ErrUnrecorded
		case m.log.Held() != "" || m.log.Flush() != nil:
			x.err = fmt.Errorf("%w: its disk is full, does not answer or has failed", ErrStorage)
		default:
			x.size, x.tick = m.log.Size(), h.Now()
		}
		flushed <- x
	})
	if err != nil {
		return savedLog{}, err
	}
	x := <-flushed
	if x.err != nil {
		return x, x.err
	}
	ctx, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	err = m.log.Await(ctx, x.size)
	if err == nil {
		x.file, err = files.OpenNoFollow(m.path)
	}
	return x, storageFailed(err)
}

// seal replaces the log by a sealed replay with an end, in a file without a name in a folder. Like sealer.seal, it leaves the other
// processors to the matches: seals has their number.
func (x *savedLog) seal(ctx context.Context, seals chan struct{}, dir string) error {
	select {
	case seals <- struct{}{}:
		defer func() { <-seals }()
	case <-ctx.Done():
		return ctx.Err()
	}
	r, err := replay.NewReader(x.file, x.size)
	if err != nil {
		return err
	}
	sealed, err := newTemporary(dir)
	if err != nil {
		return err
	}
	w := replay.NewWriter(&files.Interruptible{File: sealed, Context: ctx}, replay.WriterOptions{SegmentTicks: sealTicks})
	if _, err = replay.Save(w, r); err == nil {
		_, err = sealed.Seek(0, io.SeekStart)
	}
	if err != nil {
		sealed.Close()
		return err
	}
	x.file.Close()
	x.file, x.size = sealed, w.Size()
	return nil
}

// save answers with a replay of a match that goes on.
func (ma *matchAPI) save(w http.ResponseWriter, r *http.Request) {
	m := ma.registry.requested(w, r)
	if m == nil {
		return
	}
	if err := m.Status().disclosed.Files(readerWith(&auditOf(r).grant), false); err != nil {
		fail(w, codeRefused, err.Error())
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(saveTimeout)) // without it, the limit of all answers applies
	x, err := m.openSave(r.Context())
	if err == nil {
		defer func() { x.file.Close() }()
		err = x.seal(r.Context(), ma.sealer.seals, filepath.Dir(m.path))
	}
	switch {
	case errors.Is(err, ErrMatchOver):
		fail(w, codeOver, err.Error())
		return
	case errors.Is(err, ErrUnrecorded):
		fail(w, codeConflict, err.Error())
		return
	case err != nil:
		m.logger.Error("save", "err", err)
		fail(w, codeStorage, "the log of the match cannot be copied: its disk is full, does not answer or has failed")
		return
	}
	sendsFile(w, fmt.Sprintf("%s-%s-%d.ssr", m.Name(), m.Status().Match[:8], x.tick), "no-store")
	w.Header().Set("Content-Length", strconv.FormatInt(x.size, 10))
	io.Copy(w, x.file) // the client sees from the length whether it is whole
}

// MaxListed is the number of matches or replays in one answer. A client gets the next ones with the last name:
// ?after=NAME.
const MaxListed = 100

// A matchQuery says which matches are wanted. Each empty text admits all.
type matchQuery struct {
	state, game, build, prefix, after string
	limit                             int
}

func newMatchQuery(v url.Values) (q matchQuery, err error) {
	q = matchQuery{v.Get("state"), v.Get("game"), v.Get("build"), v.Get("prefix"), v.Get("after"), MaxListed}
	if text := v.Get("limit"); text != "" {
		if q.limit, err = strconv.Atoi(text); err != nil || q.limit < 1 || q.limit > MaxListed {
			return q, fmt.Errorf("limit: got %q, want 1 to %d", text, MaxListed)
		}
	}
	for s := matchRecovering; q.state != "" && s.String() != q.state; s++ {
		if s == matchEnded {
			return q, fmt.Errorf("state: got %q, want recovering, failed, lobby, playing, paused, held or ended", q.state)
		}
	}
	return q, nil
}

func (q *matchQuery) admits(v *Status) bool {
	is := func(want, got string) bool { return want == "" || got == want }
	return v.Name > q.after && strings.HasPrefix(v.Name, q.prefix) && is(q.state, v.State) && is(q.game, v.Game) && is(q.build, v.Build)
}

func (ma *matchAPI) list(w http.ResponseWriter, r *http.Request) {
	q, err := newMatchQuery(r.URL.Query())
	if err != nil {
		fail(w, codeRequest, err.Error())
		return
	}
	who := ma.access.listReader(r)
	found := slices.DeleteFunc(ma.registry.statuses(), func(v *Status) bool { return !q.admits(v) })
	if len(found) > q.limit {
		found = found[:q.limit]
		linkNext(w, r, found[q.limit-1].Name)
	}
	told := make([]toldStatus, len(found))
	for i, v := range found {
		told[i] = v.told(who)
	}
	reply(w, http.StatusOK, told)
}
