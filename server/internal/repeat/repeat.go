package repeat

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

const (
	// MaxKey is the size limit of Key.Text, in bytes.
	MaxKey = 128

	// maxKeys is the number of answers that a Table remembers for admins, and for players.
	maxKeys = 256

	// maxAge is how long it remembers them.
	maxAge = 24 * time.Hour
)

// A Key is that of a subject's request.
type Key struct {
	Admin         bool
	Subject, Text string
}

// A request is one that began, and did not fail.
type request struct {
	body   [sha256.Size]byte // the sum of it
	at     time.Time
	answer []byte // nil while it is in progress
}

// A Table has the requests with a key. The zero value is empty.
type Table struct {
	mu  sync.Mutex
	all map[Key]*request
}

// A State says what to do with a request.
type State uint8

// The states.
const (
	New     State = iota // do it, and call End
	Running              // an earlier request is in progress
	Changed              // the earlier request had another body
	Done                 // answer as the earlier request was answered
)

// Begin looks for the earlier request with a key, or adds one. The answer is that of [Done].
func (t *Table) Begin(k Key, body []byte, now time.Time) (s State, answer []byte) {
	sum := sha256.Sum256(body)
	t.mu.Lock()
	defer t.mu.Unlock()
	var oldest Key
	n, old := 0, time.Time{}
	for other, x := range t.all {
		switch {
		case x.answer != nil && now.Sub(x.at) > maxAge:
			delete(t.all, other)
		case other.Admin == k.Admin:
			if n++; x.answer != nil && (old.IsZero() || x.at.Before(old)) {
				oldest, old = other, x.at
			}
		}
	}
	switch x := t.all[k]; {
	case x != nil && x.body != sum:
		return Changed, nil
	case x != nil && x.answer != nil:
		return Done, x.answer
	case x != nil, n >= maxKeys && old.IsZero(): // or all are in progress
		return Running, nil
	case n >= maxKeys:
		delete(t.all, oldest)
	case t.all == nil:
		t.all = make(map[Key]*request)
	}
	t.all[k] = &request{body: sum, at: now}
	return New, nil
}

// End keeps the answer to a new request. A request without one can be repeated.
func (t *Table) End(k Key, answer []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if answer != nil {
		t.all[k].answer = slices.Clip(answer)
	} else {
		delete(t.all, k)
	}
}
