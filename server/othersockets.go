package server

import (
	"bufio"
	"net"
	"net/http"
	"slices"
	"strings"
)

// HandleOtherSockets sets the handler of WebSockets that offer no [Subprotocol], on any path: those of clients that speak
// another wire. It comes after the checks of hosts, proxies and origins, and control frames are limited as for other WebSockets. The
// handler limits everything else: connections, messages. It can join matches by [Server.Dial]. Without a handler
// the routes refuse such requests. It must be set before the server serves.
func (s *Server) HandleOtherSockets(h http.Handler) { s.others = h }

// IsOtherSocket reports whether a request is for a WebSocket and does not offer the [Subprotocol]. See
// [Server.HandleOtherSockets].
func IsOtherSocket(r *http.Request) bool {
	return slices.Contains(listed(r.Header, "Upgrade"), "websocket") && !slices.Contains(listed(r.Header, "Sec-Websocket-Protocol"), Subprotocol)
}

// listed returns the values of a header that lists some, in lower case.
func listed(h http.Header, name string) []string {
	all := strings.Split(strings.ToLower(strings.Join(h.Values(name), ",")), ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// An otherHijacker is the ResponseWriter for the handler of other WebSockets.
type otherHijacker struct{ hijacker }

// Hijack implements http.Hijacker. The connection no longer counts as one that is not a WebSocket.
func (h *otherHijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := h.hijacker.Hijack()
	if err == nil {
		markUpgraded(h.conn)
	}
	return c, rw, err
}
