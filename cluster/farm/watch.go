//go:build !js

package farm

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/replay"
)

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
