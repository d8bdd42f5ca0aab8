package server

import (
	"crypto/sha256"
	"log/slog"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/server/internal/allowance"
	"github.com/seed-49bee653/samestep/server/internal/crowd"
)

// maxUnauthenticated is the number of unauthenticated connections of a server. A match has its own limit, see
// host.Options.MaxConnecting.
const maxUnauthenticated = 512

// descriptorShares is the number of equal parts of the process's file descriptors: one for unauthenticated WebSockets,
// one for connections that are not WebSockets, one for spectators, and one for players and files.
const descriptorShares = 4

// unlimitedDescriptors stands for any number of file descriptors.
const unlimitedDescriptors = 1 << 20

const (
	// maxSilent is the number of a server's connections beyond the budgets of their addresses that have sent nothing, and again of
	// those that have not shown a token yet.
	maxSilent = 128

	// maxOnTrial is the number of connections of an address beyond its budget that have sent nothing, and again of those that have not
	// shown a token yet.
	maxOnTrial = 64

	// trials is how many times Options.MaxPerAddress such connections of an address are listened to in a second.
	trials = 4

	// maxSockets is the number of a server's connections that are not WebSockets.
	maxSockets = 512

	// An address may open connectsAtOnce times Options.MaxPerAddress connections at once. This budget refills in
	// connectPeriod. Each connection costs a handshake, also if a later limit closes it.
	connectsAtOnce = 4
	connectPeriod  = connectsAtOnce * time.Second

	// leastConnects is the least value of Options.MaxPerAddress for this budget: a page needs several connections,
	// and each refusal closes one.
	leastConnects = 64
)

// guessPeriod is the time in which the wrong tokens and sessions of an address refill.
const guessPeriod = time.Minute

const (
	// reservedAtOnce is how many requests the holder of a token may make at once at an address whose budget is spent. It refills in
	// reservedPeriod.
	reservedAtOnce = 16
	reservedPeriod = reservedAtOnce * time.Second
)

// A reservation is the key of the budget of one token's holder at one address: a hash, because a subject may be long.
type reservation [sha256.Size]byte

// reservationOf returns the key of the reserve of one token's holder at an address.
func reservationOf(from netip.Prefix, subject string) reservation {
	return sha256.Sum256([]byte(from.String() + " " + subject))
}

// gates have the limits of connections and the budgets of addresses.
type gates struct {
	limits      atomic.Pointer[Limits] // see Server.SetLimits
	descriptors int                    // one of the equal parts of the file descriptors

	unauthenticated *crowd.Limit[*conn]
	authenticated   addressLimit
	sockets         *crowd.Limit[*socket] // that are not WebSockets
	silent          *crowd.Limit[*socket] // on trial, and have sent nothing
	onTrial         *crowd.Limit[*socket] // on trial, and have sent something
	reserved        *crowd.Limit[*conn]   // unauthenticated WebSockets that have shown a valid token, where others crowd
	paths           *crowd.Limit[*path]   // that have not named their connection
	spectators      *crowd.Limit[*conn]   // WebSockets
	halfOpen        wsmatch.Places        // QUIC handshakes that are not finished

	connects   *allowance.Table[netip.Prefix]
	trials     *allowance.Table[netip.Prefix] // connections on trial that are listened to
	kept       *allowance.Table[netip.Prefix] // of those who show a token
	keptEach   *allowance.Table[reservation]  // the same, of each of them
	handshakes *allowance.Table[netip.Prefix] // of QUIC
	sent       *allowance.Table[netip.Prefix] // bytes, over connections that are not WebSockets
	reads      *allowance.Table[netip.Prefix]
	frames     *allowance.Table[netip.Prefix]
	guesses    *allowance.Table[netip.Prefix]
}

// newGates returns the gates of a server with complete options.
func newGates(o *Options) *gates {
	share := max(o.Descriptors/descriptorShares, 1)
	trial := min(maxSilent, max(share/descriptorShares, 1))
	connects := connectsAtOnce * max(leastConnects, o.MaxPerAddress)
	g := &gates{
		descriptors: share,
		silent:      crowd.New[*socket](trial), onTrial: crowd.New[*socket](trial), reserved: crowd.New[*conn](trial),
		paths: crowd.New[*path](maxUnnamedPaths), spectators: crowd.New[*conn](share),
		authenticated: addressLimit{max: o.MaxPerAddress, conns: make(map[netip.Prefix][]*conn)},
		connects:      allowance.New[netip.Prefix](connects, connectPeriod),
		handshakes:    allowance.New[netip.Prefix](connects, connectPeriod),
		kept:          allowance.New[netip.Prefix](connects, connectPeriod),
		keptEach:      allowance.New[reservation](reservedAtOnce, reservedPeriod),
		trials:        allowance.New[netip.Prefix](trials*max(leastConnects, o.MaxPerAddress), time.Second),
		sent:          allowance.New[netip.Prefix](maxSent, time.Second),
		reads:         allowance.New[netip.Prefix](o.MaxReads, time.Second),
		frames:        allowance.New[netip.Prefix](maxAddressFrames, time.Minute),
		guesses:       allowance.New[netip.Prefix](o.MaxGuesses, guessPeriod),
	}
	l := o.Limits
	g.limits.Store(&l)
	g.unauthenticated, g.sockets = crowd.New[*conn](g.mostUnauthenticated(&l)), crowd.New[*socket](g.mostSockets(&l))
	return g
}

// resize changes the limits at once, and closes the connections beyond those that have changed.
func (g *gates) resize(all *Limits, now time.Time) {
	before := g.limits.Swap(all)
	opened := max(leastConnects, all.MaxPerAddress)
	for _, b := range []*allowance.Table[netip.Prefix]{g.connects, g.handshakes, g.kept} {
		b.Resize(connectsAtOnce*opened, now)
	}
	g.trials.Resize(trials*opened, now)
	g.reads.Resize(all.MaxReads, now)
	g.guesses.Resize(all.MaxGuesses, now)
	if all.MaxUnauthenticated != before.MaxUnauthenticated {
		g.unauthenticated.Resize(g.mostUnauthenticated(all), func(*conn) int { return all.MaxUnauthenticated })
	}
	if all.MaxPerAddress == before.MaxPerAddress {
		return
	}
	g.sockets.Resize(g.mostSockets(all), func(x *socket) int {
		if x.proxy {
			return math.MaxInt
		}
		return all.MaxPerAddress
	})
	for _, c := range g.authenticated.resize(all.MaxPerAddress) {
		c.turnedAway("address")
		c.Drop()
	}
}

// mostUnauthenticated returns the number of unauthenticated WebSockets that the server may have.
func (g *gates) mostUnauthenticated(l *Limits) int {
	return min(max(maxUnauthenticated, l.MaxUnauthenticated), g.descriptors)
}

// mostSockets returns the number of connections that are not WebSockets that the server may have, besides those on trial.
func (g *gates) mostSockets(l *Limits) int {
	return min(max(maxSockets, l.MaxPerAddress), max(g.descriptors-3*g.silent.Most(), 1))
}

// keep takes a request of a token's holder from the part of an address's budgets that is kept for those.
func (g *gates) keep(from netip.Prefix, subject string, now time.Time) bool {
	return g.keptEach.Spend(reservationOf(from, subject), 1, now) && g.kept.Spend(from, 1, now)
}

// leave removes a connection that has closed from all limits.
func (g *gates) leave(c *conn) {
	g.authenticated.remove(c)
	g.spectators.Remove(c)
	g.reserved.Remove(c)
	g.unauthenticated.Remove(c)
}

// spent returns what an address has spent of each of its budgets, in percent, and a subject of the reserve there.
func (g *gates) spent(from netip.Prefix, subject string, now time.Time) map[string]int {
	all := map[string]int{"kept_each": g.keptEach.Spent(reservationOf(from, subject), now)}
	for name, b := range map[string]*allowance.Table[netip.Prefix]{
		"connections": g.connects, "trials": g.trials, "kept": g.kept, "handshakes": g.handshakes, "bytes": g.sent,
		"reads": g.reads, "frames": g.frames, "wrong_tokens": g.guesses,
	} {
		all[name] = b.Spent(from, now)
	}
	return all
}

// An addressLimit limits the authenticated connections of each address. At the limit one connection is closed: that of
// a guest if the new one has a token, otherwise one of the subject that has most. If that is the new connection's own
// subject, the new connection is closed. So nobody keeps out another subject, and no player is closed for somebody
// with no better right.
type addressLimit struct {
	max int // of an address

	mu    sync.Mutex
	conns map[netip.Prefix][]*conn // the oldest first
}

// add adds a connection, and returns the one to close, or nil.
func (l *addressLimit) add(c *conn) (victim *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return nil
	}
	l.conns[c.addr] = append(l.conns[c.addr], c)
	if len(l.conns[c.addr]) <= l.max {
		return nil
	}
	victim = leastEntitled(l.conns[c.addr], c)
	l.delete(victim)
	return victim
}

// resize changes the limit, and returns the connections to close.
func (l *addressLimit) resize(most int) (victims []*conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.max = most
	for addr, all := range l.conns {
		for n := len(all) - most; n > 0; n-- {
			victim := leastEntitled(l.conns[addr], &conn{subject: "a token"}) // guests first
			l.delete(victim)
			victims = append(victims, victim)
		}
	}
	return victims
}

// remove removes a closed connection. A remove may come before the add, because the match handles the connection's
// last message later.
func (l *addressLimit) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.closed = true
	l.delete(c)
}

func (l *addressLimit) delete(c *conn) {
	if l.conns[c.addr] = crowd.Without(l.conns[c.addr], c); len(l.conns[c.addr]) == 0 {
		delete(l.conns, c.addr)
	}
}

// leastEntitled returns the connection to close for a new one, which is in the list: the latest of a subject.
func leastEntitled(all []*conn, added *conn) *conn {
	bySubject := make(map[string][]*conn)
	for _, c := range all {
		bySubject[c.subject] = append(bySubject[c.subject], c)
	}
	victims := bySubject[added.subject]
	for _, c := range all {
		if weight(bySubject[c.subject], added) > weight(victims, added) {
			victims = bySubject[c.subject]
		}
	}
	return victims[len(victims)-1]
}

// weight returns the number of connections. For a new connection with a token, one guest weighs more than all that
// have tokens.
func weight(all []*conn, added *conn) (n int) {
	const guest = 1 << 20 // more than the connections of an address
	for _, c := range all {
		if n++; added.subject != "" && c.subject == "" {
			n += guest
		}
	}
	return n
}

// Lines in the log about connections and requests that were turned away, for each reason.
const (
	turnedLines       = 1 // a second
	turnedLinesAtOnce = 10
)

// turned counts and logs the clients that are turned away.
type turned struct {
	log   *slog.Logger
	count *prometheus.CounterVec
	lines map[string]*refusalLog // by reason; never changed
}

func newTurned(log *slog.Logger, count *prometheus.CounterVec) *turned {
	t := &turned{log: log, count: count, lines: make(map[string]*refusalLog, len(turnReasons))}
	for _, reason := range turnReasons {
		l := newRefusalLog(turnedLines, turnedLinesAtOnce)
		t.lines[reason] = &l
	}
	return t
}

// away counts and logs that a client was turned away, for one of turnReasons.
func (t *turned) away(reason, remote string) { t.awayFrom(t.log, reason, remote) }

// awayFrom is away with a logger that names the match and the session, and more words for the line.
func (t *turned) awayFrom(log *slog.Logger, reason, remote string, more ...any) {
	t.count.WithLabelValues(reason).Inc()
	omitted, ok := t.lines[reason].allow()
	if !ok {
		return
	}
	words := append([]any{"reason", reason, "address", clientText(remote)}, more...)
	if omitted > 0 {
		words = append(words, "omitted", omitted)
	}
	log.Warn("turned away", words...)
}

// Lines in the log about refused calls: a flood of them must not fill the disk.
const (
	refusedLines       = 20 // a second
	refusedLinesAtOnce = 200
)

// A refusalLog limits the lines about refused calls.
type refusalLog struct {
	limit   *rate.Limiter
	omitted atomic.Int64 // since the last line
}

func newRefusalLog(perSecond rate.Limit, atOnce int) refusalLog {
	return refusalLog{limit: rate.NewLimiter(perSecond, atOnce)}
}

// allow reports whether another line may be logged, and how many were omitted before it.
func (l *refusalLog) allow() (omitted int64, ok bool) {
	if !l.limit.AllowN(time.Now(), 1) {
		l.omitted.Add(1)
		return 0, false
	}
	return l.omitted.Swap(0), true
}

// clientText returns the address of an "address:port" without the port.
func clientText(remote string) string {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote
	}
	return ap.Addr().Unmap().String()
}
