//go:build !js

package farm

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/seed-49bee653/samestep/cluster/objects"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/server/archive"
)

// A Job says that a file is to be verified with the rules of a build.
type Job struct {
	File  string `json:"file"`
	Build string `json:"build"`
}

const (
	maxFile  = 512 // bytes of the name of a file
	maxBuild = 128 // bytes of the name of a build
)

// check returns an error unless the storage can name the job.
func (j Job) check() error {
	if err := checkBuild(j.Build); err != nil {
		return err
	}
	if j.File == "" || len(j.File) > maxFile || !utf8.ValidString(j.File) {
		return fmt.Errorf("farm: got a file name of %d bytes, want UTF-8 of 1 to %d", len(j.File), maxFile)
	}
	return nil
}

func checkBuild(build string) error {
	if build == "" || len(build) > maxBuild || !utf8.ValidString(build) {
		return fmt.Errorf("farm: got a build of %d bytes, want UTF-8 of 1 to %d", len(build), maxBuild)
	}
	return nil
}

func token(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// subjectOf returns the subject of the jobs of a build.
func subjectOf(build string) string { return storage.JobsSubject + "." + token(build) }

// key is the key of the job's result. It is also the id by which the queue knows a job that is submitted twice.
func (j Job) key() string { return token(j.Build) + "." + token(j.File) }

// parseJob reads a message of the queue.
func parseJob(b []byte) (Job, error) {
	var j Job
	if err := json.Unmarshal(b, &j); err != nil {
		return Job{}, fmt.Errorf("farm: malformed job: %w", err)
	}
	return j, j.check()
}

// publish puts the job into the queue. It reports whether it was there already.
func (j Job) publish(ctx context.Context, conn *storage.Conn) (doubled bool, err error) {
	b, err := json.Marshal(j)
	if err != nil {
		return false, err
	}
	ack, err := conn.JS.Publish(ctx, subjectOf(j.Build), b, jetstream.WithMsgID(j.key()))
	if err != nil {
		return false, err
	}
	return ack.Duplicate, nil
}

// hasResult reports whether the job has a result.
func (j Job) hasResult(ctx context.Context, results jetstream.KeyValue) (bool, error) {
	_, err := results.Get(ctx, j.key())
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil, err
}

// consumerOf returns the name of the consumer that all workers of a build share.
func consumerOf(build string) string { return "farm-" + token(build) }

// forgotten is the time without a worker after which the storage forgets how often each job of a build was delivered.
const forgotten = 30 * 24 * time.Hour

// usualAckWait is after how much silence the queue gives a job to another worker.
const usualAckWait = 30 * time.Second

// consumer returns the consumer of a build, and makes it unless there is one with the same ackWait; 0 for any. Who submits may
// make one; a worker may not, where the storage has roles. Its MaxDeliver has no limit: a job beyond the limit would stay in
// the queue for ever without a result. The worker that gets it sets it aside.
func consumer(ctx context.Context, conn *storage.Conn, build string, ackWait time.Duration) (jetstream.Consumer, error) {
	c, err := conn.JS.Consumer(ctx, storage.JobsStream, consumerOf(build))
	switch {
	case err == nil && (ackWait == 0 || c.CachedInfo().Config.AckWait == ackWait):
		return c, nil
	case err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound):
		return nil, err
	}
	return conn.JS.CreateOrUpdateConsumer(ctx, storage.JobsStream, jetstream.ConsumerConfig{
		Durable: consumerOf(build), FilterSubject: subjectOf(build), AckPolicy: jetstream.AckExplicitPolicy, AckWait: cmp.Or(ackWait, usualAckWait),
		MaxDeliver: -1, MaxAckPending: 10_000, InactiveThreshold: forgotten,
	})
}

// requestTime is the time limit of one request to the storage.
const requestTime = 5 * time.Second

// briefly calls f for one request. An answer can be lost with a connection, and the library waits for it until the deadline of
// ctx, which may be far or none.
func briefly(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	return f(ctx)
}

// patiently calls f, for one request, until it succeeds, returns a permanent error, or ctx ends: the storage may be away.
// say is told why it waits, once.
func patiently(ctx context.Context, say func(error), f func(context.Context) error) error {
	return retry(ctx, say, func(ctx context.Context) error { return briefly(ctx, f) })
}

// retry is patiently for an f that limits the time of its requests.
func retry(ctx context.Context, say func(error), f func(context.Context) error) error {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := f(ctx)
		var final *permanentError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &final):
			return final.err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if say != nil {
			say(err)
			say = nil
		}
		if !storage.Pause(ctx, wait) {
			return ctx.Err()
		}
	}
}

// A permanentError is one that waiting does not change.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }

func (e *permanentError) Unwrap() error { return e.err }

// SubmitOptions configure [Submit] and [SubmitArchive]. A zero field has the default that its comment names.
type SubmitOptions struct {
	Build  string      // of the rules: workers of the same build take the jobs
	Prefix string      // of the names of a folder's files in the storage: farm
	Wait   func(error) // is told why Submit waits for the storage; nil disables it
	Done   func(n int) // is told the number of files so far; nil disables it
}

// Submitted says what a submission did.
type Submitted struct {
	Files    int `json:"files"`
	Uploaded int `json:"uploaded"` // files that the storage did not have
	Queued   int `json:"queued"`   // jobs that were not in the queue
	Known    int `json:"known"`    // files that have a result of this build
}

// ErrOther is the error of a file whose name the storage has with another content. Files in the storage do not change, or a
// result would not say of which it is.
var ErrOther = errors.New("the storage has a different file with this name")

// parallel is the number of files that a submission works on at a time.
const parallel = 8

// A submission is the work of Submit.
type submission struct {
	conn    *storage.Conn
	store   *objects.Store
	results jetstream.KeyValue
	o       SubmitOptions

	mu  sync.Mutex
	sum Submitted
}

// Submit stores the replays of a folder and of those below it, except logs of running matches (live), and puts a job for
// each into the queue. A file that the storage has is not sent again, and a job in the queue or with a result not queued
// again, so an interrupted Submit can be repeated. It waits while the storage is away.
func Submit(ctx context.Context, conn *storage.Conn, dir string, o SubmitOptions) (Submitted, error) {
	if o.Prefix == "" {
		o.Prefix = "farm"
	}
	return submit(ctx, conn, o, func(ctx context.Context, each func(name, path string)) error {
		return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			case d.IsDir() && d.Name() == "live" && path != dir:
				return fs.SkipDir
			case d.Type().IsRegular() && strings.EqualFold(filepath.Ext(path), ".ssr"):
				rel, err := filepath.Rel(dir, path)
				if err != nil {
					return err
				}
				each(o.Prefix+"/"+filepath.ToSlash(rel), path)
			}
			return nil
		})
	})
}

// SubmitArchive puts a job for each replay that the storage has into the queue, those of the archive included.
func SubmitArchive(ctx context.Context, conn *storage.Conn, o SubmitOptions) (Submitted, error) {
	return submit(ctx, conn, o, func(ctx context.Context, each func(name, path string)) error {
		return objects.New(conn).List(ctx, func(f archive.Object) error {
			if strings.HasSuffix(f.Name, ".ssr") {
				each(f.Name, "")
			}
			return ctx.Err()
		})
	})
}

func submit(ctx context.Context, conn *storage.Conn, o SubmitOptions, walk func(context.Context, func(name, path string)) error) (Submitted, error) {
	if err := checkBuild(o.Build); err != nil {
		return Submitted{}, err
	}
	s := &submission{conn: conn, store: objects.New(conn), o: o}
	err := patiently(ctx, o.Wait, func(ctx context.Context) (err error) {
		if s.results, err = conn.JS.KeyValue(ctx, storage.ResultsBucket); err == nil {
			_, err = consumer(ctx, conn, o.Build, 0)
		}
		return err
	})
	if err != nil {
		return Submitted{}, fmt.Errorf("farm: %w", err)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	err = walk(ctx, func(name, path string) {
		g.Go(func() error {
			if err := s.file(ctx, Job{File: name, Build: o.Build}, path); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	})
	if werr := g.Wait(); werr != nil { // the reason why walk was stopped
		err = werr
	}
	return s.sum, err
}

// file submits one file. Without a path, the storage has it.
func (s *submission) file(ctx context.Context, j Job, path string) error {
	if err := j.check(); err != nil {
		return err
	}
	var one Submitted
	if path != "" {
		if err := retry(ctx, s.o.Wait, func(ctx context.Context) (err error) {
			one.Uploaded, err = s.upload(ctx, j.File, path)
			return err
		}); err != nil {
			return err
		}
	}
	err := patiently(ctx, s.o.Wait, func(ctx context.Context) error {
		known, err := j.hasResult(ctx, s.results)
		if err != nil || known {
			one.Known = 1
			return err
		}
		one.Known = 0
		doubled, err := j.publish(ctx, s.conn)
		if err == nil && !doubled {
			one.Queued = 1
		}
		return err
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum = Submitted{s.sum.Files + 1, s.sum.Uploaded + one.Uploaded, s.sum.Queued + one.Queued, s.sum.Known + one.Known}
	if s.o.Done != nil {
		s.o.Done(s.sum.Files)
	}
	return nil
}

// upload stores a file unless the storage has it, and returns how many it has stored.
func (s *submission) upload(ctx context.Context, name, path string) (int, error) {
	want, err := sumOf(path)
	if err != nil {
		return 0, &permanentError{err}
	}
	got, err := s.store.Sum(ctx, name)
	switch {
	case err == nil && got == want:
		return 0, nil
	case err == nil:
		return 0, &permanentError{ErrOther}
	case !errors.Is(err, fs.ErrNotExist):
		return 0, err
	}
	return 1, s.store.Put(ctx, name, path)
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return objects.SumOf(f)
}

// Forget removes the results of a build and its jobs in the queue, and returns their numbers. The replays stay. Stop the build's
// workers before: one that has a job stores its result later. The queue knows a job for an hour after it was submitted, so the
// same build can be submitted again only after that.
func Forget(ctx context.Context, conn *storage.Conn, build string) (results, jobs int, err error) {
	if err := checkBuild(build); err != nil {
		return 0, 0, err
	}
	err = briefly(ctx, func(ctx context.Context) (err error) {
		jobs, err = conn.Purge(ctx, storage.JobsStream, subjectOf(build))
		return err
	})
	if err == nil {
		err = briefly(ctx, func(ctx context.Context) (err error) {
			results, err = conn.Purge(ctx, "KV_"+storage.ResultsBucket, "$KV."+storage.ResultsBucket+"."+token(build)+".*")
			return err
		})
	}
	return results, jobs, err
}
