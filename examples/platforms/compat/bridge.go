//go:build !js

package compat

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// A Bridge is the http.Handler of the WebSockets of another engine's clients.
type Bridge struct {
	options Options
	shared  shared

	mu    sync.Mutex
	open  map[netip.Addr]int
	total int
}

// New returns a Bridge to the matches of a server.
func New(s *server.Server, o Options) *Bridge {
	o.complete()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return s.Dial(ctx) }
	return &Bridge{
		options: o, open: make(map[netip.Addr]int),
		shared: shared{
			options: o, game: lockstep.MustGame(platforms.Rules()), ledgers: newLedgers(),
			http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}},
		},
	}
}

// ServeHTTP implements http.Handler.
func (b *Bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	from, _ := netip.ParseAddrPort(r.RemoteAddr) // invalid over a unix socket, whose clients share the limit
	if !b.enter(from.Addr()) {
		w.Header().Set("Connection", "close")
		http.Error(w, "too many connections", http.StatusServiceUnavailable)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{OriginPatterns: b.options.Origins, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		b.leave(from.Addr())
		return // Accept has answered
	}
	ws.SetReadLimit(maxMessage)
	c := &conn{shared: &b.shared, ws: ws, match: b.matchOf(r.URL.Path), remote: r.RemoteAddr, last: -1}
	go func() { // the HTTP server's goroutine would keep its request and a large stack
		defer b.leave(from.Addr())
		c.serve()
	}()
}

// matchOf returns the match that a path names.
func (b *Bridge) matchOf(path string) string {
	words := strings.Split(strings.Trim(path, "/"), "/")
	for i, word := range words[:len(words)-1] {
		if word == "matches" {
			return words[i+1]
		}
	}
	return b.options.Match
}

// enter counts a connection, and returns false if there are too many.
func (b *Bridge) enter(from netip.Addr) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.total >= b.options.Max || b.open[from] >= b.options.MaxPerAddress {
		return false
	}
	b.total++
	b.open[from]++
	return true
}

func (b *Bridge) leave(from netip.Addr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total--
	if b.open[from]--; b.open[from] == 0 {
		delete(b.open, from)
	}
}
