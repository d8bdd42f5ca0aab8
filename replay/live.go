package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// LiveOptions say how to follow a file.
type LiveOptions struct {
	// Delay and DelayTime say how much later than the file Next returns records, but for the first state and what is left at the match's end.
	Delay     lockstep.Tick
	DelayTime time.Duration

	// Operator says that the records are for the operator of the match, who may see everything. All others get them as the log says for
	// spectators (package disclosure): with the larger delay, or [disclosure.ErrViews] while a match that is sent as views goes on. A log
	// that says nothing is shown: such are those of programs without a server.
	Operator bool

	// Poll is the time between two looks at a file that has nothing new; 0 means 200 ms.
	Poll time.Duration

	// Waiting is called when Next has returned everything and begins to wait. Nil disables it.
	Waiting func()

	// Idle is the time without anything new after which Next returns [ErrIdle]; 0 means never. A paused match writes nothing.
	Idle time.Duration
}

// A LiveReader reads the replay of a running match, like a [Reader], and waits for more. It belongs to one goroutine.
type LiveReader struct {
	file    *os.File
	path    string
	options LiveOptions
	r       *Reader
	scout   *Reader        // reads to the end of the file; nil without a delay
	early   *record.Record // read, and not due yet
	header  *lockstep.Header
	base    lockstep.Tick // of the first keyframe …
	based   bool          // … if it was read
	ended   bool          // the scout has seen the end
	started uint64        // ticks that the scout has read
	opened  bool          // the log has said who may see it
	policy  disclosure.Log
	err     error
}

// OpenLive opens a file to follow it. The file may still be empty.
func OpenLive(path string, o LiveOptions) (*LiveReader, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	o.Poll = cmp.Or(o.Poll, 200*time.Millisecond)
	return &LiveReader{file: f, path: path, options: o}, nil
}

// Reopen returns a [Reader] of the file, of the size that it had at the last look.
func (l *LiveReader) Reopen() (*Reader, error) { return NewReader(l.file, l.size()) }

// Path returns the path given to OpenLive.
func (l *LiveReader) Path() string { return l.path }

// Close closes the file.
func (l *LiveReader) Close() error { return l.file.Close() }

// Record returns the bytes of the record that Next returned last, like [Reader.Record].
func (l *LiveReader) Record() []byte { return l.r.Record() }

// size returns the size of the file in bytes at the last look.
func (l *LiveReader) size() int64 {
	if l.r == nil {
		return 0
	}
	return l.r.Size()
}

// Next returns the next record, valid until the next call. It waits until the record is there and whole, or ctx ends. It returns
// [io.EOF] after the end record, and a [*DamageError] if the file is damaged or, with [ErrReplaced], another one.
func (l *LiveReader) Next(ctx context.Context) (*record.Record, error) {
	if l.err != nil {
		return nil, l.err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	waited := false
	for since := time.Now(); ; {
		rec, err := l.next()
		if rec != nil || err != nil {
			l.err = err
			return rec, err
		}
		more, err := l.grow()
		if err != nil {
			l.err = err
			return nil, err
		}
		if more {
			since = time.Now()
			continue
		}
		if idle := l.options.Idle; idle > 0 && time.Since(since) > idle {
			return nil, l.damage(ErrIdle)
		}
		if !waited && l.options.Waiting != nil {
			l.options.Waiting()
		}
		waited = true
		timer.Reset(l.options.Poll)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Header waits like Next until the header of the match is there, and returns it. Next still returns its record.
func (l *LiveReader) Header(ctx context.Context) (*lockstep.Header, error) {
	if l.header == nil {
		rec, err := l.Next(ctx)
		if err != nil {
			return nil, err
		}
		l.early = rec
	}
	return l.header, nil
}

// All iterates over the remaining records, see [record.All], and waits for them like Next.
func (l *LiveReader) All(ctx context.Context) iter.Seq2[*record.Record, error] {
	return record.All(func() (*record.Record, error) { return l.Next(ctx) })
}

// next returns the next record if it is there and due, and otherwise nil.
func (l *LiveReader) next() (*record.Record, error) {
	if l.r == nil {
		return nil, nil
	}
	if ok, err := l.open(); !ok {
		return nil, err
	}
	rec := l.early
	if rec == nil {
		var err error
		if rec, err = l.r.Next(); err != nil {
			return nil, waitable(err)
		}
		l.meet(rec)
	}
	l.early = nil
	if l.r.tick > l.base && !l.due() {
		l.early = rec
		return nil, nil
	}
	return rec, nil
}

// waitable returns nil for the error of a file that only ends too early.
func waitable(err error) error {
	var d *DamageError
	if errors.As(err, &d) && d.Next == 0 && ClassOf(d).Early() {
		return nil
	}
	return err
}

func (l *LiveReader) meet(rec *record.Record) {
	switch {
	case rec.Kind == record.KindHeader:
		l.header = rec.Header
		l.options.Delay += lockstep.Tick(rec.Header.Settings.TicksIn(l.options.DelayTime.Microseconds()))
		l.options.DelayTime = 0
	case rec.Kind == record.KindKeyframe && !l.based:
		l.base, l.based = rec.Tick, true
	}
}

// open finds out what the log says about who may see it, before anything is returned. It reports false while that is not known.
func (l *LiveReader) open() (bool, error) {
	if l.opened || l.options.Operator {
		return true, nil
	}
	p, err := l.policy.Policy()
	for ; errors.Is(err, disclosure.ErrUnknown); p, err = l.policy.Policy() {
		if !l.lookAhead() {
			return l.failed(), nil // the reader comes to what is wrong with the file
		}
		if l.ended || l.started > 1 { // a match that begins in the state of another one has its first tick before the event
			p, err = disclosure.Policy{}, nil
			break
		}
	}
	if err == nil && p.Records(disclosure.Spectator) != nil {
		for !l.ended && l.lookAhead() {
		}
		if !l.ended {
			return false, p.Records(disclosure.Spectator)
		}
	}
	l.opened = err == nil
	l.options.Delay = max(l.options.Delay, p.Delay)
	return l.opened, err
}

// lookAhead lets the scout read a record, and reports false if it cannot.
func (l *LiveReader) lookAhead() bool {
	if l.scout == nil {
		l.scout, _ = NewReader(l.file, l.r.size) // no error: l.r could be made, too
	}
	rec, err := l.scout.Next()
	if err != nil {
		return false
	}
	l.policy.Take(rec)
	l.started += uint64(rec.Ticks())
	l.ended = rec.Kind == record.KindEnd
	return true
}

// failed reports whether the scout has met an error that more of the file does not mend.
func (l *LiveReader) failed() bool {
	return l.scout.err != nil && waitable(l.scout.err) != nil
}

func (l *LiveReader) due() bool {
	if l.options.Delay == 0 {
		return true
	}
	for !l.ended && (l.scout == nil || l.scout.tick < l.r.tick+l.options.Delay) && l.lookAhead() {
	}
	return l.ended || l.failed() || l.scout.tick >= l.r.tick+l.options.Delay
}

func (l *LiveReader) grow() (bool, error) {
	named, err := os.Stat(l.path)
	same := err == nil
	info, err := l.file.Stat() // after the name, so that no last bytes of a renamed file are missed
	if err != nil {
		return false, fmt.Errorf("replay: %w", err)
	}
	same = same && os.SameFile(named, info)
	switch size := info.Size(); {
	case size < l.size():
		return false, l.damage(fmt.Errorf("%w: %d bytes, and there were %d", ErrReplaced, size, l.size()))
	case size == l.size() && !same:
		return false, l.damage(fmt.Errorf("%w: %s is another file now", ErrReplaced, l.path))
	case size == l.size():
		return false, nil
	case l.r == nil:
		if l.r, err = NewReader(l.file, size); waitable(err) != nil {
			return false, err
		}
		return l.r != nil, nil
	default:
		l.r.grow(size)
		if l.scout != nil {
			l.scout.grow(size)
		}
		return true, nil
	}
}

func (l *LiveReader) damage(err error) error {
	if l.r == nil {
		return &DamageError{Err: err}
	}
	return &DamageError{Offset: l.r.offset, Tick: l.r.tick, Err: err}
}

// VerifyLive verifies a match while it is played, like [Verify] with one worker, until it is over.
func VerifyLive(ctx context.Context, l *LiveReader, g *lockstep.Game, o VerifyOptions) (*Verification, error) {
	v := &Verification{}
	f := g.NewFollower(lockstep.FollowerOptions{})
	for rec, err := range l.All(ctx) {
		if err == nil {
			err = l.r.CheckTicks(l.r.tick-l.base, o.MaxTicks)
		}
		if err == nil {
			err = v.apply(f, l.r, rec, o.KeepGoing)
			v.Header, v.Checked, v.Began, v.Ticks = f.Header(), f.Checked(), l.base, f.Tick()
		}
		if err != nil {
			return v, v.found(err)
		}
		if o.Progress != nil {
			o.Progress(v.Ticks, v.Ticks)
		}
	}
	return v, v.found(nil)
}
