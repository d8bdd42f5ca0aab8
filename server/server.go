package server

import (
	"context"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server/internal/front"
)

// Subprotocol is the WebSocket subprotocol that a client must offer.
const Subprotocol = "samestep.v1"

// A Server runs matches. It is an http.Handler, and safe for concurrent use.
//
// It is a composition: each of its parts has its own state, and knows of the others only those that are its fields.
type Server struct {
	services

	// Connections and requests, before they reach a route.
	hosts     *front.Hosts
	proxies   front.Proxies
	origins   front.Origins
	others    http.Handler // see HandleOtherSockets; or nil
	pipes     *pipeListener
	datagrams atomic.Pointer[datagramServer]

	// Routes.
	mux       *http.ServeMux
	matchAPI  *matchAPI
	creator   *creator
	replayAPI *replayAPI

	denier    *denier
	recoverer *recoverer
	storage   *storage
}

// Matches returns the matches by name.
func (s *Server) Matches() []*Match { return s.registry.running() }

// OpenReplay opens the replay of a match that is over by the name of its file, in Options.Dir or in the archive. The error
// wraps [fs.ErrNotExist] if there is none.
func (s *Server) OpenReplay(ctx context.Context, name string) (*os.File, error) {
	return s.replayAPI.open(ctx, name)
}

// Revoke refuses tokens from now on, in all matches and over HTTP, as if they were unknown. It ends the connections and
// sessions that used them, and returns what it has ended when that is done, or ctx's error. A server has at most 1,024 revocations. They
// are in Options.Denials: the next server with these refuses the tokens, too, and so do others that share them. The error wraps
// [ErrStorage] if the revocation holds only in this process, because it could not be kept.
func (s *Server) Revoke(ctx context.Context, r Revocation) (host.Ended, error) {
	return s.denier.revokeNow(ctx, r)
}

// Revocations returns the active revocations.
func (s *Server) Revocations() []Revocation { return s.denier.revoked.active(time.Now()) }

// Expel calls host.Admin.Expel in all matches: it ends the connections, seats and sessions of the grants for which match
// reports true. match is called in the goroutines of the matches. Expel returns what it has ended, and ctx's error if a
// match did not answer in time.
func (s *Server) Expel(ctx context.Context, match func(*host.Grant) bool, reason string) (ended host.Ended, err error) {
	return s.denier.expel(ctx, match, reason)
}

// Recover resumes matches in the background, on all processors. It returns when their logs are locked and their names
// are reserved. From then on their requests are answered with 503 and Retry-After, and their WebSockets with closing.
// Each match begins to run when it is resumed.
//
// Before Recover plays a log it notes that in a file beside it, until the match has run for two seconds. If the process ends before, the
// next Recover tries the matches that have such a note alone, one at a time, after all others. Of one that ends the process twice so,
// the error is [ErrSetAside].
//
// Recover calls done with the error of each match, see [Server.Resume], from several goroutines. It also logs the error
// with the log's path. The log stays as it is, and its name is taken until the server ends or an admin has it tried again; only the
// replay of a match that is over leaves the live folder.
func (s *Server) Recover(all []Interrupted, done func(Interrupted, *Match, error)) {
	s.recoverer.recover(all, done)
}
