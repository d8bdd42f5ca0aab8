//go:build !js

package farm

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
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
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// A permanentError is one that waiting does not change.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }

func (e *permanentError) Unwrap() error { return e.err }
