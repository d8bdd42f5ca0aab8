package server

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"
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
