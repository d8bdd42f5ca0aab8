package server

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/internal/tries"
	"github.com/seed-49bee653/samestep/lockstep"
)

// claim locks the log of an interrupted match, and reserves the match's name.
func (rc *recoverer) claim(path string, spec MatchSpec) (*recovery, error) {
	log, header, err := openInterrupted(path)
	if err != nil {
		return nil, err
	}
	x := &recovery{log: log, header: header}
	if spec.Name, err = resumedName(path, header); err == nil {
		spec.Settings = header.Settings
		x.phase, err = rc.registry.reserve(spec.Name, spec.Settings)
	}
	if err != nil {
		log.Close()
		return nil, err
	}
	x.match = rc.starter.newMatch(spec)
	x.match.path = path
	x.match.know(header)
	status := newStatus(x.match, header, matchRecovering)
	rc.registry.note(func(r *recoveries) { r.pending[spec.Name] = status })
	return x, nil
}

// unclaim undoes claim.
func (rc *recoverer) unclaim(x *recovery) {
	x.log.Close()
	rc.starter.forget(x.match)
	rc.registry.launching.Done()
}

// errDiskSlow: another server of the cluster, with a disk of its own, may continue the match.
var errDiskSlow = errors.New("server: the disk has not answered while the match was resumed")

// attempt continues a claimed match. A match that panics or hangs costs only itself. It waits for a disk that does not answer, unless
// another server may continue the match.
func (rc *recoverer) attempt(x *recovery) error {
	done := make(chan error, 1)
	go func() { done <- contain(rc.metrics, x.match.logger, func() error { return rc.recoverMatch(x) }) }()
	look := time.NewTicker(hungTime)
	defer look.Stop()
	for seen, told := uint64(0), false; ; {
		select {
		case err := <-done:
			x.match.notePanic(err)
			return err
		case <-look.C:
		}
		now := x.work.Load()
		stands, byRules := now == seen, now%2 == 1
		seen = now
		switch {
		case !stands:
			continue
		case !byRules && !rc.elsewhere:
			if !told {
				x.match.logger.Warn("waiting for the disk", "path", x.match.path)
			}
			told = true
			continue
		}
		if !x.decide() {
			continue
		}
		if byRules {
			x.match.log.Release(ErrHung)
			return ErrHung
		}
		if now > 0 { // it has the replicated log; the file stays, because the disk does not answer
			x.match.log.Leave(errDiskSlow)
		}
		return errDiskSlow
	}
}

// testTime is how long a resumed match runs until nobody doubts it. Its log can lack up to a second of what it has played, and in that the
// tick that ends the process.
const testTime = 2 * lockstep.Second

// standTime is how long a match may stand after Options.AwaitPlayers until its try is over. Until then it is known whether the match hangs.
const standTime = hungTime + 5*time.Second

// AwaitTest waits until a resumed match has run for two seconds of its time, and for a tick. It reports false if the match stands in its lobby or in a
// pause, stops before, or ctx ends.
func (m *Match) AwaitTest(ctx context.Context) (ran bool) {
	from := m.Status().Tick
	enough := from + 1 + lockstep.Tick(int64(testTime)/max(m.spec.Settings.Micros(1), 1))
	run := time.Duration(m.spec.Settings.Micros(int64(enough-from))) * time.Microsecond
	ctx, cancel := context.WithTimeout(ctx, m.server.options.AwaitPlayers+standTime+run)
	defer cancel()
	look := time.NewTicker(time.Second / 4)
	defer look.Stop()
	for {
		over := false
		select {
		case <-m.done:
			over = true
		case <-ctx.Done():
			return false
		case <-look.C:
		}
		switch v := m.Status(); {
		case v.hung:
			return false
		case v.Tick >= enough || v.over:
			return true
		case over || v.state() == matchPaused || v.state() == matchLobby:
			return false
		}
	}
}

// An Interrupted is a match to recover: the path of its log, and a spec as for [Server.Resume].
type Interrupted struct {
	Path string
	Spec MatchSpec
	Err  error // why the match cannot be resumed, if the caller knows that
}

// A resuming match is one that Recover tries.
type resuming struct {
	Interrupted
	*recovery
	known tries.Record
	done  func(Interrupted, *Match, error)
}

// recover is Server.Recover.
func (rc *recoverer) recover(all []Interrupted, done func(Interrupted, *Match, error)) {
	rc.comparing <- struct{}{} // until all matches were tried
	rc.registry.note(func(r *recoveries) { r.since, r.done = time.Now(), 0 })
	rc.registry.launching.Add(1)
	var claimed []*resuming
	for _, one := range all {
		x := &resuming{Interrupted: one, done: done}
		if err := rc.claimTry(x); err != nil {
			rc.notRecovered(x, err)
			continue
		}
		claimed = append(claimed, x)
	}
	slices.SortStableFunc(claimed, func(a, b *resuming) int { return a.known.Compare(b.known) })
	go func() {
		defer rc.registry.launching.Done()
		defer func() { <-rc.comparing }()
		rc.tryAll(claimed, len(claimed) == 1)
	}()
}

// claimTry claims an interrupted match, unless it is set aside.
func (rc *recoverer) claimTry(x *resuming) (err error) {
	if err = x.Err; err == nil {
		x.recovery, err = rc.claim(x.Path, x.Spec)
	}
	if err != nil {
		return err
	}
	if x.known, err = readTries(x.Path); err == nil && x.known.Trying {
		x.known = x.known.Died()
		x.match.logger.Warn("the process ended while it resumed this match", "path", x.Path, "deaths_alone", x.known.Deaths)
		err = writeTries(x.Path, x.known) // so that it counts once
	}
	if err == nil && x.known.SetAside() {
		err = ErrSetAside
	}
	if err != nil {
		rc.unclaim(x.recovery)
	}
	return err
}

// tryAll resumes claimed matches, one after the other or, without a suspicion, on all processors. It returns when their tries are over.
func (rc *recoverer) tryAll(claimed []*resuming, alone bool) {
	processors := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, x := range claimed {
		if !rc.registry.isClosed() && rc.denier.readBans(x.recovery) != nil { // it waits without a processor
			rc.registry.launching.Go(func() {
				rc.denier.awaitBans(x.recovery)
				rc.tryAll([]*resuming{x}, alone)
			})
			continue
		}
		alone := alone || x.known.Suspect
		if !rc.registry.enter(alone) {
			rc.unclaim(x.recovery)
			rc.notRecovered(x, ErrShutdown)
			continue
		}
		processors <- struct{}{}
		rc.registry.launching.Go(func() {
			defer rc.registry.leave()
			m := rc.try(x, alone)
			<-processors
			if m != nil {
				rc.test(x, m, alone)
			}
		})
	}
	if rc.registry.enter(true) { // after the last one
		rc.registry.leave()
	}
}

// try resumes a match.
func (rc *recoverer) try(x *resuming, alone bool) *Match {
	began := time.Now()
	err := writeTries(x.Path, x.known.Begin(alone))
	if err != nil {
		rc.unclaim(x.recovery)
		rc.notRecovered(x, err)
		return nil
	}
	x.match.logger.Info("match is being resumed", "path", x.Path, "alone", alone, "deaths_alone", x.known.Deaths)
	err = rc.attempt(x.recovery)
	rc.registry.note(func(r *recoveries) { r.done++ })
	if err == nil {
		x.match.logger.Info("match recovered", "tick", uint32(x.match.Status().Tick), "simulated_from", uint32(x.skipped), "seconds", time.Since(began).Seconds())
		x.done(x.Interrupted, x.match, nil)
		return x.match
	}
	known := x.known
	if errors.Is(err, ErrHung) {
		known = x.known.Begin(alone).Died()
	}
	rc.keepTries(x, known)
	rc.notRecovered(x, err)
	return nil
}

// test ends the try of a match that runs.
func (rc *recoverer) test(x *resuming, m *Match, alone bool) {
	known := x.known
	if m.AwaitTest(rc.sealer.ctx) {
		known = tries.Record{}
	} else if m.hangs() {
		known = known.Begin(alone).Died()
	}
	rc.keepTries(x, known)
}

// keepTries keeps what is known against a match that is not tried any more.
func (rc *recoverer) keepTries(x *resuming, known tries.Record) {
	if _, err := os.Lstat(x.Path); errors.Is(err, fs.ErrNotExist) { // the match is over
		known = tries.Record{}
	}
	if err := writeTries(x.Path, known); err != nil {
		x.match.logger.Error("the end of a try is not noted", "path", x.Path, "err", err)
	}
}

// notRecovered says why a log was not recovered. Its name stays reserved, unless its match is over or never
// began.
func (rc *recoverer) notRecovered(x *resuming, err error) {
	defer x.done(x.Interrupted, nil, err)
	name := MatchOfLog(x.Path)
	log := logged.Match(rc.log, name, "")
	if x.recovery != nil {
		log = x.match.logger
	}
	switch {
	case errors.Is(err, ErrNotInterrupted):
		log.Info("match is over", "path", x.Path)
		return
	case errors.Is(err, ErrNeverBegan):
		log.Warn("match not resumed", "path", x.Path, "err", err)
		return
	case errors.Is(err, ErrShutdown): // the next start recovers it
		return
	}
	log.Error("match not resumed", "path", x.Path, "err", err)
	f := &failedMatch{path: x.Path, again: func() (*Status, error) { return rc.again(x) }}
	if x.recovery != nil {
		f.status = newStatus(x.match, x.header, matchFailed)
		f.status.Failure = "it could not be resumed; the log of the server says why"
		if errors.Is(err, ErrSetAside) || errors.Is(err, ErrHung) {
			f.status.Failure = err.Error()
		}
	}
	rc.registry.note(func(r *recoveries) {
		r.failed[name] = f // it reserves the name
		delete(r.pending, name)
	})
}

// again tries again to resume a match that failed, alone. It returns its status.
func (rc *recoverer) again(failed *resuming) (*Status, error) {
	x := &resuming{Interrupted: failed.Interrupted, done: failed.done}
	known, err := readTries(x.Path)
	if err == nil {
		err = writeTries(x.Path, known.Again())
	}
	if err == nil {
		err = rc.claimTry(x)
	}
	if err != nil {
		return nil, err
	}
	rc.registry.launching.Go(func() { rc.tryAll([]*resuming{x}, true) })
	return newStatus(x.match, x.header, matchRecovering), nil
}

// readBans reads the bans that an interrupted match had.
func (dn *denier) readBans(x *recovery) error {
	if dn.keeper.store == nil {
		return nil
	}
	value, err := dn.keeper.store.Get(banKeyOf(x.header.Match))
	x.match.bans, x.match.bansKept = value, value != nil
	return err
}

// awaitBans reads the bans that an interrupted match had. While it cannot, the match stays recovering, which admits nobody, and the
// server is not ready.
func (dn *denier) awaitBans(x *recovery) {
	for told := false; !dn.registry.isClosed(); time.Sleep(keepAgain) {
		err := dn.readBans(x)
		if err == nil {
			return
		}
		if !told {
			told = true
			x.match.logger.Error("the bans of a match cannot be read, so nobody is admitted to it; the server tries again", "at", dn.keeper.place(banKeyOf(x.header.Match)), "err", err)
			dn.registry.note(func(r *recoveries) { r.unread++ })
			defer dn.registry.note(func(r *recoveries) { r.unread-- })
		}
	}
}
