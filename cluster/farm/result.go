//go:build !js

package farm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// The classes of results that are not classes of files.
const (
	ClassPoison  replay.Class = "poison"  // several workers died, or panicked, while they verified the file
	ClassMissing replay.Class = "missing" // the storage does not have the file
	ClassFailed  replay.Class = "failed"  // the error says nothing about the file
)

// A Result says what a worker has found in a file.
type Result struct {
	File       string        `json:"file"`
	Build      string        `json:"build"`
	Class      replay.Class  `json:"class"`
	Tick       lockstep.Tick `json:"tick,omitempty"`   // the first at which a checksum is not the simulation's
	Party      desync.Party  `json:"party,omitempty"`  // that was wrong first, or why nobody is accused
	Player     *int          `json:"player,omitempty"` // if the party is a player
	Ticks      lockstep.Tick `json:"ticks"`            // simulated
	Seconds    float64       `json:"seconds"`
	Worker     string        `json:"worker"`
	Deliveries int           `json:"deliveries"` // of the job, until this result
	Error      string        `json:"error,omitempty"`
}

// maxError is the largest size of the text of an error, in bytes.
const maxError = 2000

// newResult returns the result of a verification.
func newResult(v *desync.Verification) Result {
	r := Result{Class: classOf(v), Error: errorText(v.Err)}
	if v.Verification != nil {
		r.Ticks = v.Ticks - min(v.Ticks, v.Began)
		if v.First != nil {
			r.Tick = v.First.Tick
		}
	}
	if v.Verdict != nil && len(v.Verdict.Blames) > 0 {
		first := v.Verdict.Blames[0]
		for _, b := range v.Verdict.Blames[1:] {
			if b.First < first.First {
				first = b
			}
		}
		r.blame(first.Who, first.Player, first.First)
	} else if v.Verdict != nil && v.Verdict.Party == desync.NoFixedResult {
		r.Party = v.Verdict.Party // which is nobody
	}
	if m := v.Imported; m != nil {
		r.Ticks = m.Ticks
		if len(m.Differ) > 0 {
			r.blame(desync.WrongPlayer, m.Differ[0].Player, m.Differ[0].First)
		}
	}
	return r
}

// blame notes the party that was wrong first. A player can be wrong in a file that is true.
func (r *Result) blame(who desync.Party, p lockstep.Player, first lockstep.Tick) {
	r.Party = who
	if who == desync.WrongPlayer {
		player := int(p)
		r.Player = &player
	}
	if r.Tick == 0 || first < r.Tick {
		r.Tick = first
	}
}

func classOf(v *desync.Verification) replay.Class {
	class := replay.ClassOf(v.Err)
	switch {
	case errors.Is(v.Err, desync.ErrDisagreed), errors.Is(v.Err, desync.ErrUnfixed):
		return replay.ClassDesync
	case class == "":
		return ClassFailed
	}
	return class
}

// errorText returns the text of err, cut to a limit, or nothing for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	text := strings.ToValidUTF8(err.Error(), "?")
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "") + " …"
	}
	return text
}

// String returns the result as a line for people.
func (r Result) String() string {
	text := fmt.Sprintf("%-11s %s: ", r.Class, r.File)
	if r.Error != "" {
		text += r.Error
	} else {
		text += strconv.FormatUint(uint64(r.Ticks), 10) + " ticks"
	}
	if r.Party == desync.NoFixedResult {
		text += "; " + string(r.Party)
	} else if r.Party != "" {
		text += fmt.Sprintf("; wrong first: %s", r.Party)
		if r.Player != nil {
			text += fmt.Sprintf(" %d", *r.Player)
		}
		text += fmt.Sprintf(" at tick %d", r.Tick)
	}
	return strings.ReplaceAll(text, "\n", "; ")
}

// Results returns all results of a build, in the order in which they were found. An error ends them.
func Results(ctx context.Context, conn *storage.Conn, build string) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		w, err := watchResults(ctx, conn, build)
		if err != nil {
			yield(Result{}, err)
			return
		}
		defer w.stop()
		for {
			r, err := w.next(ctx)
			if err == io.EOF || !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// A watcher reads the results of a build.
type watcher struct {
	jetstream.KeyWatcher
	cancel context.CancelFunc
}

func watchResults(ctx context.Context, conn *storage.Conn, build string) (*watcher, error) {
	if err := checkBuild(build); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(requestTime, cancel) // of the requests here, not of what is watched
	defer late.Stop()
	kv, err := conn.JS.KeyValue(ctx, storage.ResultsBucket)
	if err == nil {
		var w jetstream.KeyWatcher
		if w, err = kv.Watch(ctx, token(build)+".*", jetstream.IgnoreDeletes()); err == nil {
			return &watcher{w, cancel}, nil
		}
	}
	cancel()
	return nil, fmt.Errorf("farm: %w", err)
}

func (w *watcher) stop() {
	w.cancel()
	w.Stop()
	for range w.Updates() { // or the library waits for a reader for ever
	}
}

// longestSilence is the time without a result after which reading the known ones fails.
const longestSilence = 20 * time.Second

// next returns the next result. It returns io.EOF, once, after the last of those that were there at the beginning.
func (w *watcher) next(ctx context.Context) (Result, error) {
	silent := time.NewTimer(longestSilence)
	defer silent.Stop()
	select {
	case e, ok := <-w.Updates():
		if !ok && ctx.Err() == nil {
			return Result{}, errors.New("farm: the storage has ended the list of results")
		}
		return parseResult(e)
	case <-silent.C:
		return Result{}, fmt.Errorf("farm: no results: %w", context.DeadlineExceeded)
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// parseResult reads an entry of the bucket. Nil is the end of those that were there at the beginning.
func parseResult(e jetstream.KeyValueEntry) (Result, error) {
	var r Result
	if e == nil {
		return r, io.EOF
	}
	if err := json.Unmarshal(e.Value(), &r); err != nil {
		return r, fmt.Errorf("farm: malformed result %s: %w", e.Key(), err)
	}
	return r, nil
}

// Progress says how far the farm is with a build.
type Progress struct {
	Build     string               `json:"build"`
	Done      int                  `json:"done"`       // results
	Left      int                  `json:"left"`       // jobs without a result
	Working   int                  `json:"working"`    // of these, how many are in work
	Classes   map[replay.Class]int `json:"classes"`    // number of results of each class
	Ticks     uint64               `json:"-"`          // simulated
	PerSecond float64              `json:"per_second"` // results in the last half minute, or since the beginning of Watch
	Remaining float64              `json:"remaining"`  // seconds, at this rate; 0 if it is not known
}

// window is the time over which the throughput is measured.
const window = 30 * time.Second

// Watch calls report at once and then every period with the progress of a build, until no job is left, report returns an
// error, or ctx ends. The last Progress has all results. While the storage is away it waits.
func Watch(ctx context.Context, conn *storage.Conn, build string, period time.Duration, report func(Progress) error) error {
	if err := checkBuild(build); err != nil {
		return err
	}
	var speed throughput
	return retry(ctx, nil, func(ctx context.Context) error {
		return watch(ctx, conn, build, period, &speed, func(p Progress) error {
			if err := report(p); err != nil {
				return &permanentError{err}
			}
			return nil
		})
	})
}

// watch is Watch until the storage is away.
func watch(ctx context.Context, conn *storage.Conn, build string, period time.Duration, speed *throughput, report func(Progress) error) error {
	w, err := watchResults(ctx, conn, build)
	if err != nil {
		return err
	}
	defer w.stop()
	p := Progress{Build: build, Classes: map[replay.Class]int{}}
	for {
		r, err := w.next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		p.add(r)
	}
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		if p.Left, err = left(ctx, conn, build); err != nil {
			return err
		}
		if p.Left == 0 {
			if p, err = count(ctx, conn, build); err != nil {
				return err
			}
		}
		p.Working = working(ctx, conn, build)
		p.PerSecond = speed.add(time.Now(), p.Done)
		p.Remaining = 0
		if p.PerSecond > 0 {
			p.Remaining = float64(p.Left) / p.PerSecond
		}
		if err := report(p); err != nil || p.Left == 0 {
			return err
		}
		if err := w.until(ctx, tick.C, &p); err != nil {
			return err
		}
	}
}

func (p *Progress) add(r Result) {
	p.Done++
	p.Classes[r.Class]++
	p.Ticks += uint64(r.Ticks)
}

// until adds results until tick.
func (w *watcher) until(ctx context.Context, tick <-chan time.Time, p *Progress) error {
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return fmt.Errorf("farm: the results ended: %w", ctx.Err())
			}
			r, err := parseResult(e)
			if err != nil {
				return err
			}
			p.add(r)
		case <-tick:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// count reads all results. When no job is left all are stored, but the watcher may not have them yet.
func count(ctx context.Context, conn *storage.Conn, build string) (Progress, error) {
	p := Progress{Build: build, Classes: map[replay.Class]int{}}
	for r, err := range Results(ctx, conn, build) {
		if err != nil {
			return p, err
		}
		p.add(r)
	}
	return p, nil
}

// left returns the number of jobs of a build that are not acknowledged.
func left(ctx context.Context, conn *storage.Conn, build string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	stream, err := conn.JS.Stream(ctx, storage.JobsStream)
	if err != nil {
		return 0, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(subjectOf(build)))
	if err != nil {
		return 0, err
	}
	return int(info.State.Subjects[subjectOf(build)]), nil
}

// working returns the number of jobs of a build that workers have; 0 if that is not known.
func working(ctx context.Context, conn *storage.Conn, build string) int {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	c, err := conn.JS.Consumer(ctx, storage.JobsStream, consumerOf(build))
	if err != nil { // no worker has been there
		return 0
	}
	return c.CachedInfo().NumAckPending
}

// A throughput has the numbers of results in the last window.
type throughput struct {
	at   []time.Time
	done []int
}

// add notes a number of results, and returns how many there were per second.
func (t *throughput) add(now time.Time, done int) float64 {
	t.at, t.done = append(t.at, now), append(t.done, done)
	for len(t.at) > 2 && now.Sub(t.at[0]) > window {
		t.at, t.done = t.at[1:], t.done[1:]
	}
	if s := now.Sub(t.at[0]).Seconds(); s > 0 {
		return float64(done-t.done[0]) / s
	}
	return 0
}
