//go:build !js

package archive

import (
	"context"
	"errors"
	"time"
)

// upload moves files into the store, until ctx ends.
func (a *Archive) upload(ctx context.Context) {
	p := pause{first: a.o.Retry, longest: a.o.LongestRetry}
	for ctx.Err() == nil {
		name, err := a.moveNext(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			next := p.next()
			a.log.Warn("archive", "name", name, "err", err, "waiting", a.Waiting(), "retry_in", next.Round(time.Millisecond))
			a.listWaiting(ctx)
			sleep(ctx, next, a.arrived) // the next file may be one that the store takes
		case name == "":
			sleep(ctx, a.retryRefused(time.Now()), a.arrived)
		default:
			p.reset()
		}
	}
}

// retryRefused lets refused files wait again when it is time, and returns the time until then.
func (a *Archive) retryRefused(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue.refused) == 0 {
		return time.Hour
	}
	if now.Before(a.renew) {
		return a.renew.Sub(now)
	}
	a.queue.retry()
	return 0
}

// moveNext moves the file that waits longest, and returns its name, or "". It returns only errors after which the store may be
// away.
func (a *Archive) moveNext(ctx context.Context) (name string, err error) {
	return a.step(ctx, a.queue.next, a.move)
}

// listWaiting brings the files that wait into the index, without the store, so that they are found while it is away.
func (a *Archive) listWaiting(ctx context.Context) {
	for ctx.Err() == nil {
		name, err := a.step(ctx, a.queue.nextUnlisted, a.list)
		if err != nil && ctx.Err() == nil {
			a.log.Warn("archive", "name", name, "err", err)
		}
		if name == "" {
			return
		}
	}
}

// step takes a file from the queue with next, and does something with it. It returns its name, or "".
func (a *Archive) step(ctx context.Context, next func() string, do func(ctx context.Context, path string) error) (name string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.mu.Lock()
	name = next()
	path := a.queue.paths[name]
	a.stopMove = cancel
	a.mu.Unlock()
	if name == "" {
		return "", nil
	}
	err = do(ctx, path)
	o := left
	switch {
	case errors.Is(err, errListed):
		o, err = again, nil
	case errors.Is(err, errErased): // in this order, so that the tombstone stays as long as the file
		if err = removeLocal(path); err == nil {
			err = a.comeBack(true, name)
		}
		if err != nil {
			o = again
		}
	case errors.Is(err, ErrRefused):
		a.log.Error("not archived", "path", path, "err", err)
		o, err = refusal, nil
	case err != nil:
		o = again
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue.end(o) {
		err = nil
	}
	if o == refusal && len(a.queue.refused) == 1 {
		a.renew = time.Now().Add(12 * a.o.LongestRetry)
	}
	a.idle.Broadcast()
	wake(a.changed) // there is one more, or somebody has deleted it meanwhile
	return name, err
}

// retainEvery is the interval at which the age of files is looked at, besides after each new file.
const retainEvery = 10 * time.Minute

// restShare times as long as it took to list the store, retention does not list it again.
const restShare = 50

// keepHouse deletes what is not to be kept, and makes the index when it is missing, until ctx ends. It does not wait for uploads.
func (a *Archive) keepHouse(ctx context.Context) {
	p := pause{first: a.o.Retry, longest: a.o.LongestRetry}
	for ctx.Err() == nil {
		a.countPass()
		next, err := a.tidy(ctx, time.Now())
		a.countPass()
		switch {
		case ctx.Err() != nil:
		case err != nil:
			next = p.next()
			a.log.Warn("archive", "err", err, "again_in", next.Round(time.Millisecond))
			sleep(ctx, next, nil)
		default:
			p.reset()
			sleep(ctx, next, a.changed)
		}
	}
}

// countPass notes that keepHouse begins or ends to look.
func (a *Archive) countPass() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.passes++
	a.idle.Broadcast()
}

// tidy does what there is to do besides moving files, and returns the time until the next time.
func (a *Archive) tidy(ctx context.Context, now time.Time) (next time.Duration, err error) {
	lost, err := a.repairIndex(ctx)
	if !lost && !now.Before(a.rest) {
		listing, rerr := a.retainNow(ctx, now)
		a.rest = now.Add(restShare * listing)
		err = errors.Join(err, rerr)
	}
	err = errors.Join(err, a.eraseAll(ctx))
	if next = a.rest.Sub(now); next <= 0 {
		next = retainEvery
	}
	if wait := a.untilDue(now); wait > 0 {
		next = min(next, wait)
	}
	return next, err
}

// retainNow puts tombstones on what is not to be kept, and returns how long it took to list the store.
func (a *Archive) retainNow(ctx context.Context, now time.Time) (listing time.Duration, err error) {
	l, err := a.settle(now)
	if err != nil {
		return 0, err
	}
	listing, err = a.retain(ctx, l.now(now), now, func(name string) error {
		_, err := a.condemnMatch(name)
		if isFull(err) {
			err = a.makeRoom(ctx, name)
		}
		return err
	})
	return listing, errors.Join(err, a.announceDeletion(&l, now))
}

// repairIndex makes the index if it was lost, and otherwise finds what was stored just before a crash. It works once after a start. Its
// error is also set while only the second is missing, so that lost says whether the index can be used.
func (a *Archive) repairIndex(ctx context.Context) (lost bool, err error) {
	a.mu.Lock()
	lost, checked := a.lost, a.checked
	a.mu.Unlock()
	if checked {
		return false, nil
	}
	if lost {
		n, err := a.Rebuild(ctx)
		if err != nil {
			return true, err
		}
		a.log.Info("archive index", "files", n)
	} else {
		_, err = a.refresh(ctx)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lost, a.checked = false, err == nil
	a.idle.Broadcast()
	return false, err
}
