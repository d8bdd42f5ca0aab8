package server

import (
	"crypto/sha256"
	"math"
	"net/netip"
	"sync/atomic"
	"time"

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
	halfOpen        crowd.Handshakes

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
	l := o.Limits()
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
