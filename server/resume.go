package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// Errors of [Server.Resume], besides those of [Server.Create] and [replay.ErrLocked].
var (
	// ErrNotInterrupted: the match of the file has ended.
	ErrNotInterrupted = errors.New("server: the match has ended")

	// ErrDamaged: the file is damaged before its end, so the match's last state cannot be read.
	ErrDamaged = errors.New("server: the replay is damaged inside")

	// ErrOtherRules: the log names a module of rules, and the game of the spec is that of another one, or of none.
	ErrOtherRules = errors.New("server: the match was begun by other rules")
)

// A recovery is a match whose log is locked and whose name is reserved.
type recovery struct {
	match   *Match
	log     *os.File
	header  *lockstep.Header
	phase   time.Duration
	work    atomic.Uint64 // 0 until the replicated log is open; odd while the rules have a record, see counting
	decided atomic.Bool   // whether it goes on, or attempt has given it up
	kept    bool          // it goes on
	skipped lockstep.Tick // the ticks before were not simulated
	size    int64         // of the new log, when the match goes on
}

// decide reports whether nobody has decided before.
func (x *recovery) decide() bool { return x.decided.CompareAndSwap(false, true) }

// A starter makes and starts matches: a Server.
type starter interface {
	newMatch(MatchSpec) *Match
	start(m *Match, phase time.Duration, prepare func(phase time.Duration) error, undo func()) error
	forget(*Match)
}

// A recoverer resumes interrupted matches.
type recoverer struct {
	starter   starter
	registry  *registry
	denier    *denier
	replays   *replayFolder
	assets    *assetStore
	sealer    *sealer
	metrics   *metrics
	log       *slog.Logger
	elsewhere bool          // another server may continue a match, too
	comparing chan struct{} // holds a value while matches are resumed, or the beginning of one is simulated
}

// recoverMatch continues a claimed match. After an error, also a panic, another server may continue it.
func (rc *recoverer) recoverMatch(x *recovery) (err error) {
	m := x.match
	err = errPanicked // unless it returns
	dropped := false
	defer func() {
		if err != nil && !dropped && (x.decide() || x.kept) {
			m.log.Release(err)
		}
	}()
	defer x.log.Close()
	rc.registry.launching.Add(1) // before start says that it is done
	defer rc.registry.launching.Done()
	prepare := func(phase time.Duration) (err error) {
		if m.assets, err = rc.assets.holdAll(m.spec.Name, m.spec.Game, x.header); err != nil {
			return err
		}
		if err := m.openReplicated(x.header); err != nil {
			return err
		}
		x.work.Add(2)
		rc.replays.setLive(filepath.Base(m.path), true)
		if err := x.replace(phase); err != nil {
			rc.replays.setLive(filepath.Base(m.path), false)
			return fmt.Errorf("server: %s: %w", m.path, err)
		}
		return nil
	}
	// A replay that is closed without an end can be resumed again.
	err = rc.starter.start(m, x.phase, prepare, func() { m.closeReplay() })
	if errors.Is(err, ErrNotInterrupted) && rc.replays.archived(m.path) != m.path {
		x.log.Close()
		if moved := rc.sealer.archive(m.logger, m.path, nil); moved != nil {
			err = errors.Join(err, moved)
		} else {
			dropped = true
			m.log.Drop()
		}
	}
	if err != nil {
		return err
	}
	if x.skipped > 0 {
		rc.registry.launching.Go(func() { rc.compareSkipped(x) })
	}
	m.spec.started(m)
	return nil
}

// openInterrupted opens and locks a replay that nobody writes, and reads its header.
func openInterrupted(path string) (_ *os.File, _ *lockstep.Header, err error) {
	f, err := files.OpenNoFollow(path)
	if err != nil {
		return nil, nil, fmt.Errorf("server: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close() // this also releases the lock
		}
	}()
	if err := replay.Lock(f); err != nil {
		return nil, nil, err
	}
	// Another server may have resumed the match, in a new file of this path, before the lock.
	now, err := os.Lstat(path)
	if err != nil {
		return nil, nil, fmt.Errorf("server: %w", err)
	}
	info, err := f.Stat() // after the lock, because its writer may have written until then
	if err != nil {
		return nil, nil, fmt.Errorf("server: %w", err)
	}
	if !os.SameFile(now, info) {
		return nil, nil, fmt.Errorf("server: %s: %w", path, replay.ErrLocked)
	}
	r, err := replay.NewReader(f, info.Size())
	if err != nil {
		return nil, nil, err
	}
	rec, err := r.Next()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, ErrNeverBegan
	}
	if err != nil {
		return nil, nil, err
	}
	return f, rec.Header, nil
}

// replace creates the host of the match, and its new replay in the place of the old one.
func (x *recovery) replace(phase time.Duration) error {
	m := x.match
	size, err := x.log.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	r, err := replay.NewReader(x.log, size)
	if err != nil {
		return err
	}
	part := m.path + ".part"
	os.Remove(part) // a crash can have left one
	if err := m.openLog(part); err != nil {
		return err
	}
	err = x.copyLog(r, phase)
	if x.kept = x.decide(); err == nil && !x.kept {
		err = ErrHung
	}
	if err == nil {
		err = replay.Replace(part, m.path)
	}
	if err != nil {
		m.log.Abandon(part)
	}
	return err
}

// copyLog copies the log to the new replay, and creates the host.
func (x *recovery) copyLog(r *replay.Reader, phase time.Duration) error {
	m := x.match
	if err := x.checkRules(r); err != nil {
		return err
	}
	recovery := host.NewRecovery(m.spec.Game)
	if keyframes := r.Index(); len(keyframes) > 2 {
		x.skipped = keyframes[len(keyframes)-2] // the last one is compared
		recovery.SkipTo(x.skipped)
	}
	found, err := replay.Continue(m.log.Writer, r, counting{recovery, &x.work})
	switch {
	case err != nil:
		return err
	case found.Damage == nil && (r.Finished() || m.server.options.KeepOpen):
		return ErrNotInterrupted
	case found.Damage == nil: // the host says whether the rules have ended it
	case errors.Is(found.Damage, replay.ErrUnsupported):
		return found.Damage
	case found.Damage.Next > 0 || !errors.Is(found.Damage, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %w", ErrDamaged, found.Damage)
	}
	if x.skipped > 0 && recovery.Check() != nil {
		if recovery, err = wholeRecovery(m.spec.Game, r, &x.work); err != nil {
			return err
		}
		x.skipped = 0
	}
	m.epoch = time.Now().Add(-phase)
	if err := m.spec.restore(recovery.Options()); err != nil {
		return err
	}
	m.invited = recovery.Invitations()
	m.holds.Pause(recovery.Paused())
	x.work.Add(1) // it may ask the rules
	m.host, err = recovery.Host(m.now(), m.hostOptions())
	x.work.Add(1)
	if errors.Is(err, coordinator.ErrEnded) {
		return ErrNotInterrupted
	} else if err != nil {
		return err
	}
	if err := m.restoreBans(); err != nil {
		return err
	}
	m.holds.Await(m.now() + lockstep.Time(m.server.options.AwaitPlayers.Microseconds()))
	m.hold() // before the first tick
	_, concluded := m.host.Result()
	if _, err := recovery.Disclosure(); err != nil && !concluded { // a crash came before the event
		m.rememberDisclosure()
	}
	if m.process(); m.host.Err() != nil && !concluded {
		return m.host.Err()
	}
	if err := m.log.Sync(); err != nil {
		return err
	}
	x.size = m.log.Size()
	return m.log.WriteBehind()
}

// checkRules refuses to continue a match by other rules than those of the module that its log names, even if they say that they are
// the same build.
func (x *recovery) checkRules(log *replay.Reader) error {
	rules, _ := log.Rules() // what is damaged says so when it is read
	if got := x.match.rulesSum(); rules != nil && got != rules.Sum.String() {
		return fmt.Errorf("%w: want the module with SHA-256 %s, which the log names, got %s", ErrOtherRules, rules.Sum, cmp.Or(got, "rules without a module"))
	}
	return nil
}

// wholeRecovery simulates the whole match of r.
func wholeRecovery(g *lockstep.Game, r *replay.Reader, work *atomic.Uint64) (*host.Recovery, error) {
	again, err := r.Reopen()
	if err != nil {
		return nil, err
	}
	whole := host.NewRecovery(g)
	log := counting{whole, work}
	for _, err := range again.All() {
		if damage := (*replay.DamageError)(nil); errors.As(err, &damage) {
			break // the end of the log
		}
		if err == nil {
			err = log.Append(again.Record())
		}
		if err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// A counting log counts when its records go to the rules, and when they come back. All else waits for a disk or a network.
type counting struct {
	lockstep.Log
	work *atomic.Uint64
}

func (c counting) Append(raw []byte) error {
	c.work.Add(1)
	defer c.work.Add(1)
	return c.Log.Append(raw)
}

// compareSkipped simulates the log of a recovered match from the beginning and compares its checksums.
// A difference does not end the match, in which all players have the same state.
func (rc *recoverer) compareSkipped(x *recovery) {
	m := x.match
	rc.comparing <- struct{}{}
	defer func() { <-rc.comparing }()
	err := contain(rc.metrics, m.logger, func() error { return rc.compareLog(x) })
	if differs := (*lockstep.DesyncError)(nil); errors.As(err, &differs) {
		rc.metrics.unlike.Inc()
		m.logger.Error("the beginning of a recovered match does not agree with its log", "path", m.ReplayPath(), "err", err)
	} else if err != nil && !errors.Is(err, ErrShutdown) {
		m.logger.Warn("the beginning of a recovered match was not compared", "path", m.ReplayPath(), "err", err)
	}
}

func (rc *recoverer) compareLog(x *recovery) error {
	m := x.match
	f, err := files.OpenNoFollow(m.ReplayPath())
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := replay.NewReader(f, x.size)
	if err != nil {
		return err
	}
	whole := coordinator.NewRecovery(m.spec.Game)
	for rec, err := range r.All() {
		if damage := (*replay.DamageError)(nil); errors.As(err, &damage) {
			break // the end of the log then
		}
		if err == nil && rc.registry.isClosed() {
			err = ErrShutdown
		}
		if err == nil {
			err = whole.Apply(rec)
		}
		if err != nil {
			return err
		}
	}
	return whole.Check()
}

// errPanicked is the error of code that has panicked.
var errPanicked = errors.New("server: panic")

func contain(metrics *metrics, log *slog.Logger, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			metrics.panics.Inc()
			log.Error("panic", "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: %v", errPanicked, v)
		}
	}()
	return f()
}
