//go:build !js

package mirror

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// findTime is the time limit for looking a match up.
const findTime = 5 * time.Second

// requested returns the match that the path names. If there is none, it answers the request and returns nil.
func (s *Server) requested(w http.ResponseWriter, r *http.Request) *Match {
	ctx, cancel := context.WithTimeout(r.Context(), findTime)
	defer cancel()
	m, err := s.Follow(ctx, r.PathValue("name"))
	switch {
	case err == nil && m.Status().dark:
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusServiceUnavailable, "busy", darkText)
	case err == nil:
		return m
	case errors.Is(err, ErrNoMatch):
		fail(w, http.StatusNotFound, "no_match", "no such match")
	case errors.Is(err, ErrFull):
		fail(w, http.StatusServiceUnavailable, "too_many_matches", "the mirror follows as many matches as it may")
	case errors.Is(err, ErrClosed):
		fail(w, http.StatusServiceUnavailable, "shutting_down", "shutting down")
	default:
		logged.Match(s.options.Log, wsmatch.Clip(r.PathValue("name")), "").Warn("mirror", "err", err)
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusServiceUnavailable, "busy", "the mirror cannot reach the match now")
	}
	return nil
}

// play upgrades a request to a WebSocket, and serves it.
func (s *Server) play(w http.ResponseWriter, r *http.Request) {
	from := wsmatch.AddressOf(r.RemoteAddr)
	if !s.reserve(from) {
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusTooManyRequests, "too_many_requests", "too many connections from your address, or to this mirror")
		return
	}
	served := false
	defer func() {
		if !served {
			s.release(from)
		}
	}()
	m := s.requested(w, r)
	if m == nil {
		return
	}
	socket := &hijacker{ResponseWriter: w}
	ws, err := websocket.Accept(socket, r, &websocket.AcceptOptions{
		Subprotocols: []string{server.Subprotocol}, OriginPatterns: s.options.Front.Origins, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return // Accept has answered
	}
	if ws.Subprotocol() != server.Subprotocol {
		ws.Close(websocket.StatusPolicyViolation, "want the subprotocol "+server.Subprotocol)
		return
	}
	ws.SetReadLimit(protocol.MaxAuthMessage)
	c := &conn{match: m, ws: ws, addr: from, remote: wsmatch.Clip(r.RemoteAddr), session: logged.SessionOf(r), agent: wsmatch.Clip(r.UserAgent())}
	c.Conn = wsmatch.New(ws, wsmatch.Options{Match: c, Socket: socket.conn, Buffers: &buffers, Queue: maxQueued, Keep: keepBuffer, Over: m.done, OverText: gone})
	served = true
	go func() { // the HTTP server's goroutine would keep its request and a large stack
		defer s.release(from)
		defer ws.CloseNow()
		c.serve()
	}()
}

// A hijacker keeps the hijacked connection.
type hijacker struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.conn = c
	return c, rw, err
}

// Unwrap is for [http.ResponseController].
func (h *hijacker) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// reserve takes a place for a WebSocket of an address, and reports false if there is none.
func (s *Server) reserve(from netip.Prefix) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.total >= s.options.MaxConnections || s.conns[from] >= s.options.Front.MaxPerAddress {
		s.metrics.refused.Inc()
		return false
	}
	s.conns[from]++
	s.total++
	s.running.Add(1)
	return true
}

func (s *Server) release(from netip.Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.conns[from]--; s.conns[from] == 0 {
		delete(s.conns, from)
	}
	s.running.Done()
}

// show answers with the status of a match, as soon as it is known.
func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	if v := s.statusOf(w, r); v != nil {
		reply(w, v)
	}
}

// schemas answers with the schemas of a match.
func (s *Server) schemas(w http.ResponseWriter, r *http.Request) {
	if v := s.statusOf(w, r); v != nil {
		reply(w, protocol.SchemasOf(v.header))
	}
}

// statusOf returns the status of the match that the path names, and waits a short time for its header. Without one it answers the request.
func (s *Server) statusOf(w http.ResponseWriter, r *http.Request) *Status {
	m := s.requested(w, r)
	if m == nil {
		return nil
	}
	got := make(chan *Status, 1)
	for deadline := time.Now().Add(findTime); ; time.Sleep(20 * time.Millisecond) {
		if !m.post(input{do: func() { m.publish(); got <- m.status.Load() }}) {
			break
		}
		select {
		case v := <-got:
			if v.refused != nil {
				fail(w, http.StatusForbidden, "refused", v.refused.Error())
				return nil
			}
			if v.header != nil {
				return v
			}
		case <-m.done:
		case <-r.Context().Done():
			return nil
		}
		if time.Now().After(deadline) {
			break
		}
	}
	w.Header().Set("Retry-After", "1")
	fail(w, http.StatusServiceUnavailable, "busy", "the mirror does not know the match yet")
	return nil
}

// fail answers with an error, as docs/spec/http.md describes it.
func fail(w http.ResponseWriter, status int, code, message string) {
	b, _ := json.Marshal(map[string]any{"error": map[string]string{"code": code, "message": message}}) // texts have no error
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(append(b, '\n'))
}

// reply answers with a value as JSON.
func reply(w http.ResponseWriter, v any) {
	b, _ := json.Marshal(v) // no value of ours has an error
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Write(append(b, '\n'))
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
