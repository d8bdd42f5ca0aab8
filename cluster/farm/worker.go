//go:build !js

package farm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/seed-49bee653/samestep/cluster/objects"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// WorkerOptions configure [Work]. A zero field has the default that its comment names.
type WorkerOptions struct {
	Build string // of the rules; the worker takes the jobs of this build only
	Name  string // in results: the machine and the process

	// Game returns the game of the match in a file, or an error if the program does not have it.
	Game func(*replay.File) (*lockstep.Game, error)

	Jobs       int           // at a time: one for each processor
	MaxTicks   lockstep.Tick // of a replay; see replay.VerifyOptions
	MaxDeliver int           // deliveries after which a job is set aside: 5
	AckWait    time.Duration // after which the queue gives the job of a silent worker to another: 30 s
	Temp       string        // folder for replays while they are verified: that of the system
	UntilEmpty bool          // return when no job is left
	Done       func(Result)  // is told each result of this worker, by several goroutines; nil disables it
	Log        *slog.Logger  // nothing
}

// A worker is what the goroutines of Work share.
type worker struct {
	o       WorkerOptions
	conn    *storage.Conn
	store   *objects.Store
	results jetstream.KeyValue

	// create stores a result unless the job has one, in which case it returns jetstream.ErrKeyExists.
	create func(ctx context.Context, key string, value []byte) error
}

// Work verifies replays until ctx ends. While the storage is away it waits. When ctx ends it gives the jobs back that it has
// begun, and returns nil.
func Work(ctx context.Context, conn *storage.Conn, o WorkerOptions) error {
	return newWorker(conn, o).work(ctx)
}

func newWorker(conn *storage.Conn, o WorkerOptions) *worker {
	o.Jobs, o.MaxDeliver, o.AckWait = cmp.Or(o.Jobs, runtime.GOMAXPROCS(0)), cmp.Or(o.MaxDeliver, 5), cmp.Or(o.AckWait, usualAckWait)
	if o.Name == "" {
		host, _ := os.Hostname()
		o.Name = fmt.Sprintf("%s-%d", cmp.Or(host, "unknown"), os.Getpid())
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	w := &worker{o: o, conn: conn, store: objects.New(conn)}
	w.create = func(ctx context.Context, key string, value []byte) error {
		_, err := w.results.Create(ctx, key, value)
		return err
	}
	return w
}

func (w *worker) work(ctx context.Context) error {
	if err := checkBuild(w.o.Build); err != nil {
		return err
	}
	var queue jetstream.Consumer
	err := patiently(ctx, w.waiting, func(ctx context.Context) (err error) {
		if w.results, err = w.conn.JS.KeyValue(ctx, storage.ResultsBucket); err == nil {
			queue, err = consumer(ctx, w.conn, w.o.Build, w.o.AckWait)
		}
		return err
	})
	if err != nil {
		return nil // ctx has ended
	}
	var g errgroup.Group
	for range w.o.Jobs {
		g.Go(func() error {
			w.loop(ctx, queue)
			return nil
		})
	}
	return g.Wait()
}

func (w *worker) waiting(err error) { w.o.Log.Warn("waiting for the storage", "error", err) }

// pollTime is the time that one request for a job waits for it. A stopped worker waits for its end, because a job that came
// later would be delivered to nobody.
const pollTime = time.Second

// loop takes one job after the other.
func (w *worker) loop(ctx context.Context, queue jetstream.Consumer) {
	for ctx.Err() == nil {
		m, err := queue.Next(jetstream.FetchMaxWait(pollTime))
		switch {
		case err == nil:
			w.take(ctx, m)
		case errors.Is(err, nats.ErrTimeout): // no job
			if w.o.UntilEmpty {
				if n, err := left(ctx, w.conn, w.o.Build); err == nil && n == 0 { // nor in work
					return
				}
			}
		default:
			w.recover(ctx, &queue, err)
		}
	}
}

// recover waits until the storage is back, and makes the consumer again if it is gone.
func (w *worker) recover(ctx context.Context, queue *jetstream.Consumer, err error) {
	w.waiting(err)
	patiently(ctx, nil, func(ctx context.Context) error {
		q, err := consumer(ctx, w.conn, w.o.Build, w.o.AckWait)
		if err == nil {
			*queue = q
		}
		return err
	})
}

// take works on a job. It acknowledges it when the result is stored. If it does not, the queue delivers the job again.
func (w *worker) take(ctx context.Context, m jetstream.Msg) {
	j, err := parseJob(m.Data())
	if err != nil || j.Build != w.o.Build {
		w.o.Log.Error("not a job", "subject", m.Subject(), "error", err)
		m.TermWithReason("not a job")
		return
	}
	deliveries := 1
	if meta, err := m.Metadata(); err == nil {
		deliveries = int(meta.NumDelivered)
	}
	stop := w.heartbeat(m)
	defer stop()
	r, err := w.result(ctx, j, deliveries)
	switch {
	case err == nil:
	case errors.Is(err, errKnown):
		w.finish(ctx, m)
		return
	case ctx.Err() != nil:
		m.Nak()
		return
	default: // another try, or another machine, may succeed
		w.o.Log.Warn("the job goes back", "file", j.File, "delivery", deliveries, "error", err)
		m.NakWithDelay(retryTime)
		return
	}
	if w.keep(ctx, j, r) {
		w.finish(ctx, m)
	}
}

// retryTime is the time until a job that failed is delivered again.
const retryTime = time.Second

// errKnown says that the job has a result.
var errKnown = errors.New("the job has a result")

// result verifies the file of a job, or sets it aside. An error says that the job is to be delivered again.
func (w *worker) result(ctx context.Context, j Job, deliveries int) (Result, error) {
	known := false
	if err := patiently(ctx, w.waiting, func(ctx context.Context) (err error) {
		known, err = j.hasResult(ctx, w.results)
		return err
	}); err != nil {
		return Result{}, err
	}
	if known {
		return Result{}, errKnown
	}
	last := deliveries >= w.o.MaxDeliver
	var r Result
	if deliveries > w.o.MaxDeliver {
		r = Result{Class: ClassPoison, Error: fmt.Sprintf("%d workers started on the file and none finished", w.o.MaxDeliver)}
	} else {
		var crash *crashError
		v, err := w.verify(ctx, j.File)
		switch {
		case err == nil:
			r = v
		case ctx.Err() != nil || !last:
			return Result{}, err
		case errors.As(err, &crash):
			r = Result{Class: ClassPoison, Error: errorText(err)}
		case errors.Is(err, fs.ErrNotExist):
			r = Result{Class: ClassMissing, Error: errorText(err)}
		default:
			return Result{}, err
		}
	}
	r.File, r.Build, r.Worker, r.Deliveries = j.File, j.Build, w.o.Name, deliveries
	return r, nil
}

// heartbeat tells the queue that the job is in work, until it is stopped.
func (w *worker) heartbeat(m jetstream.Msg) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(w.o.AckWait / 4)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				m.InProgress() // without the storage it fails, and the next one may not
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// keep stores the result of a job unless it has one. It reports whether the job has one now.
func (w *worker) keep(ctx context.Context, j Job, r Result) bool {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // numbers and texts only
	}
	err = retry(ctx, w.waiting, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime) // what was computed is not given up at a stop
		defer cancel()
		err := w.create(ctx, j.key(), b)
		if errors.Is(err, jetstream.ErrKeyExists) {
			err = &permanentError{errKnown}
		}
		return err
	})
	if err == nil && w.o.Done != nil {
		w.o.Done(r)
	}
	return err == nil || errors.Is(err, errKnown)
}

// finish acknowledges a job. If the storage does not hear it, the next worker finds the result.
func (w *worker) finish(ctx context.Context, m jetstream.Msg) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime)
	defer cancel()
	if err := m.DoubleAck(ctx); err != nil {
		w.o.Log.Warn("a job with a result was not acknowledged", "error", err)
	}
}

// A crashError is a panic of the rules, or of the engine.
type crashError struct {
	what  any
	stack []byte
}

func (e *crashError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.what, e.stack) }

// verify fetches a file and verifies it. The error says nothing about the file, or that it is missing, or is a crashError.
func (w *worker) verify(ctx context.Context, name string) (Result, error) {
	f, err := w.fetch(ctx, name)
	if err != nil {
		return Result{}, err
	}
	path := f.Name()
	defer os.Remove(path) // where that was not possible before
	defer f.Close()
	file, err := replay.Open(path)
	os.Remove(path) // so nothing is left over, however the program ends; Windows refuses it
	if replay.ClassOf(err) == "" {
		return Result{}, err
	}
	if err != nil {
		return newResult(&desync.Verification{Err: err}), nil
	}
	defer file.Close()
	from := time.Now()
	v, err := w.simulate(file)
	if err != nil {
		return Result{}, err
	}
	r := newResult(v)
	r.Seconds = time.Since(from).Seconds()
	return r, nil
}

// fetch copies a file to the disk. It waits while the storage is away, or the disk is full.
func (w *worker) fetch(ctx context.Context, name string) (f *os.File, err error) {
	err = retry(ctx, w.waiting, func(ctx context.Context) (err error) {
		f, err = w.store.Fetch(ctx, name, w.o.Temp)
		if errors.Is(err, fs.ErrNotExist) {
			err = &permanentError{err}
		}
		return err
	})
	return f, err
}

// simulate verifies a file as samestep replay verify does.
func (w *worker) simulate(f *replay.File) (v *desync.Verification, err error) {
	defer func() {
		if what := recover(); what != nil {
			err = &crashError{what, debug.Stack()}
		}
	}()
	h, err := f.Header()
	if err != nil {
		return &desync.Verification{Err: err}, nil
	}
	var games replay.Games
	if h.Engine != replay.ForeignEngine { // an imported match is only compared
		g, err := w.o.Game(f)
		if err != nil {
			return &desync.Verification{Err: err}, nil
		}
		games = replay.Games{g}
	}
	o := replay.VerifyOptions{Now: time.Now, MaxTicks: w.o.MaxTicks, Workers: max(1, runtime.GOMAXPROCS(0)/w.o.Jobs)}
	v, _ = desync.Verify(f, games, o) // v has the error
	return v, nil
}
