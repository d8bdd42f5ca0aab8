package server

import (
	"github.com/seed-49bee653/samestep/server/internal/guests"

	"github.com/seed-49bee653/samestep/server/internal/front"

	"log/slog"
	"net/http"
	"sync/atomic"
)

// Subprotocol is the WebSocket subprotocol that a client must offer.
const Subprotocol = "samestep.v1"

// A Server runs matches. It is an http.Handler, and safe for concurrent use.
//
// It is a composition: each of its parts has its own state, and knows of the others only those that are its fields.
type Server struct {
	options Options // its limits are those of the beginning, see gates
	log     *slog.Logger
	metrics *metrics

	// Connections and requests, before they reach a route.
	hosts     *front.Hosts
	proxies   front.Proxies
	origins   front.Origins
	gates     *gates
	turned    *turned
	access    *access
	others    http.Handler // see HandleOtherSockets; or nil
	pipes     *pipeListener
	datagrams atomic.Pointer[datagramServer]

	// Routes.
	mux       *http.ServeMux
	matchAPI  *matchAPI
	creator   *creator
	replayAPI *replayAPI

	// Matches.
	registry  *registry
	guests    *guests.Quota
	denier    *denier
	keeper    *keeper
	recoverer *recoverer
	assets    *assetStore

	// Files.
	replays    *replayFolder
	sealer     *sealer
	storage    *storage
	operations operations
	newFile    func(path string) (file, error) // for a replay
}

// Matches returns the matches by name.
func (s *Server) Matches() []*Match { return s.registry.running() }

// forget releases what a match has held that is over, or that did not start.
func (s *Server) forget(m *Match) {
	s.assets.release(m.assets)
	s.registry.remove(m)
	s.guests.Release(m.spec.guest)
}
