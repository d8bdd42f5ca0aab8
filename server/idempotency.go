package server

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// maxCreations is the number of answers to POST /matches that a server remembers for admins, and for players.
	maxCreations = 256

	// creationAge is how long it remembers them.
	creationAge = 24 * time.Hour

	// maxCreationKey is the size limit of an Idempotency-Key, in bytes.
	maxCreationKey = 128
)

// A creationKey is an Idempotency-Key of a subject. Players cannot displace the keys of admins.
type creationKey struct {
	admin        bool
	subject, key string
}

// A creation is a request to create a match, with its answer.
type creation struct {
	body   [sha256.Size]byte // the sum of it
	at     time.Time
	answer []byte // nil while the match is being created
}

// creations are the requests that had an Idempotency-Key and did not fail.
type creations struct {
	mu  sync.Mutex
	all map[creationKey]*creation
}

// begin returns the earlier request with a key, or adds one.
func (c *creations) begin(k creationKey, body []byte, now time.Time) (earlier *creation, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var oldest creationKey
	n, old := 0, time.Time{}
	for other, x := range c.all {
		switch {
		case x.answer != nil && now.Sub(x.at) > creationAge:
			delete(c.all, other)
		case other.admin == k.admin:
			if n++; x.answer != nil && (old.IsZero() || x.at.Before(old)) {
				oldest, old = other, x.at
			}
		}
	}
	if x := c.all[k]; x != nil {
		copied := *x
		return &copied, true
	}
	if n >= maxCreations && old.IsZero() { // all are being created
		return &creation{body: sha256.Sum256(body)}, true
	}
	if n >= maxCreations {
		delete(c.all, oldest)
	}
	if c.all == nil {
		c.all = make(map[creationKey]*creation)
	}
	c.all[k] = &creation{body: sha256.Sum256(body), at: now}
	return nil, false
}

// end keeps the answer to a request. A request without one can be repeated.
func (c *creations) end(k creationKey, answer []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer != nil {
		c.all[k].answer = slices.Clip(answer)
	} else {
		delete(c.all, k)
	}
}

// once calls create, unless the request has the Idempotency-Key of an earlier one. Then it answers as it did that.
// create returns its answer, or nil after an error.
func (s *Server) once(w http.ResponseWriter, r *http.Request, g *host.Grant, body []byte, create func() []byte) {
	k := creationKey{g.Role == protocol.Admin, g.Subject, r.Header.Get("Idempotency-Key")}
	if k.key == "" {
		create()
		return
	}
	if len(k.key) > maxCreationKey {
		fail(w, codeRequest, "Idempotency-Key: want at most 128 bytes")
		return
	}
	earlier, found := s.creations.begin(k, body, time.Now())
	switch {
	case !found:
		var answer []byte
		defer func() { s.creations.end(k, answer) }() // also when the game panics
		answer = create()
	case earlier.body != sha256.Sum256(body):
		fail(w, codeKeyReused, "an earlier request with this Idempotency-Key had another body")
	case earlier.answer == nil:
		w.Header().Set("Retry-After", "1")
		fail(w, codeInProgress, "an earlier request with this Idempotency-Key is in progress")
	default:
		w.Header().Set("Idempotency-Replayed", "true")
		replyJSON(w, http.StatusCreated, earlier.answer)
	}
}
