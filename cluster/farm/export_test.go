//go:build !js

package farm

import (
	"context"

	"github.com/seed-49bee653/samestep/cluster/storage"
)

// PublishTwice puts a job into the queue without the id by which it is known when it comes again.
func PublishTwice(ctx context.Context, conn *storage.Conn, file, build string) error {
	for range 2 {
		if _, err := conn.JS.Publish(ctx, subjectOf(build), []byte(`{"file":"`+file+`","build":"`+build+`"}`)); err != nil {
			return err
		}
	}
	return nil
}

// WorkCareless is Work by a worker that writes its results over those of others.
func WorkCareless(ctx context.Context, conn *storage.Conn, o WorkerOptions) error {
	w := newWorker(conn, o)
	w.create = func(ctx context.Context, key string, value []byte) error {
		_, err := w.results.Put(ctx, key, value)
		return err
	}
	return w.work(ctx)
}

// Left is the number of jobs of a build in the queue.
var Left = left
