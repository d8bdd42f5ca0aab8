//go:build !js

package archive

import (
	"slices"
	"time"
)

// A queue has the files in a server's folder that the store does not have. It does no I/O and reads no clock.
type queue struct {
	order   []string             // the names of those that wait, the next one first
	later   []string             // the same of those that were tried, and come after the others
	paths   map[string]string    // of all files, by name
	since   map[string]time.Time // the same: when they came
	moving  string               // the name of the file that is on its way; "" for none
	dropped bool                 // it is deleted
	refused []string             // the names of those that the archive or its store does not take
	listed  map[string]bool      // the names of those that were tried since they came
}

func newQueue() queue {
	return queue{paths: make(map[string]string), since: make(map[string]time.Time), listed: make(map[string]bool)}
}

// add adds a file, unless it is there.
func (q *queue) add(name, path string, now time.Time) {
	if _, known := q.paths[name]; !known {
		q.order = append(q.order, name)
		q.paths[name], q.since[name] = path, now
	}
}

// forget removes a file that is in no list.
func (q *queue) forget(name string) {
	delete(q.paths, name)
	delete(q.since, name)
	delete(q.listed, name)
}

// oldest returns the longest time for which a file has waited.
func (q *queue) oldest(now time.Time) (d time.Duration) {
	for _, at := range q.since {
		d = max(d, now.Sub(at))
	}
	return d
}

// next begins to move the file that waits longest, and returns its name, or "". A replay comes after its bundles and pages, so that
// another server which finds and deletes it finds these, too.
func (q *queue) next() (name string) {
	if len(q.order) == 0 {
		q.order, q.later = q.later, nil
	}
	if len(q.order) == 0 {
		return ""
	}
	name = q.order[0]
	at := max(slices.IndexFunc(q.order, func(other string) bool { return other != name && replayOf(other) == name }), 0)
	q.moving = q.order[at]
	q.order = slices.Delete(q.order, at, at+1)
	return q.moving
}

// nextUnlisted begins with a file that waits and was not tried yet, and returns its name, or "".
func (q *queue) nextUnlisted() (name string) {
	fresh := func(name string) bool { return !q.listed[name] }
	for _, list := range []*[]string{&q.order, &q.later} {
		if at := slices.IndexFunc(*list, fresh); at >= 0 {
			q.moving = (*list)[at]
			*list = slices.Delete(*list, at, at+1)
			return q.moving
		}
	}
	return ""
}

// An outcome says what became of a file that was moved.
type outcome int

const (
	left    outcome = iota // it is no longer in the folder, or not for the archive
	again                  // the store is away, or this file ails: it is tried again after the others
	refusal                // it waits for retry
)

// end ends the move of a file, and reports whether the file was deleted meanwhile.
func (q *queue) end(o outcome) (dropped bool) {
	name := q.moving
	dropped, q.moving, q.dropped = q.dropped, "", false
	q.listed[name] = true
	switch {
	case dropped || o == left:
		q.forget(name)
	case o == again:
		q.later = append(q.later, name)
	default:
		q.refused = append(q.refused, name)
	}
	return dropped
}

// busy reports whether a file is on its way, or will be.
func (q *queue) busy() bool { return len(q.order) > 0 || len(q.later) > 0 || q.moving != "" }

// retry lets the refused files wait again.
func (q *queue) retry() {
	q.order = append(q.order, q.refused...)
	q.refused = nil
}

// drop removes a file that is deleted, and reports whether it is on its way.
func (q *queue) drop(name string) (moving bool) {
	if name == q.moving {
		q.dropped = true
		return true
	}
	is := func(other string) bool { return other == name }
	for _, list := range []*[]string{&q.order, &q.later, &q.refused} {
		*list = slices.DeleteFunc(*list, is)
	}
	q.forget(name)
	return false
}

// of returns the paths of the files that a deletion takes by their names: with a replay all of the match, and with a bundle its page.
func (q *queue) of(name string) map[string]string {
	found := make(map[string]string)
	for n, path := range q.paths {
		if n == name || replayOf(n) == name || kindOf(name) == kindBundle && stem(n) == stem(name) {
			found[n] = path
		}
	}
	return found
}
