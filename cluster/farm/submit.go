//go:build !js

package farm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/seed-49bee653/samestep/cluster/objects"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/server/archive"
)

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
var ErrOther = errors.New("the storage has another file of this name")

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
