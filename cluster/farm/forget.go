//go:build !js

package farm

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
)

// Forget removes the results of a build and its jobs in the queue, and returns their numbers. The replays stay. Stop the build's
// workers before: one that has a job stores its result later. The queue knows a job for an hour after it was submitted, so the
// same build can be submitted again only after that.
func Forget(ctx context.Context, conn *storage.Conn, build string) (results, jobs int, err error) {
	if err := checkBuild(build); err != nil {
		return 0, 0, err
	}
	if jobs, err = purge(ctx, conn, storage.JobsStream, subjectOf(build)); err == nil {
		results, err = purge(ctx, conn, "KV_"+storage.ResultsBucket, "$KV."+storage.ResultsBucket+"."+token(build)+".*")
	}
	return results, jobs, err
}

// purge removes the messages of a subject, and returns their number, which the library does not.
func purge(ctx context.Context, conn *storage.Conn, stream, subject string) (n int, err error) {
	body, err := json.Marshal(map[string]string{"filter": subject})
	if err != nil {
		return 0, err
	}
	err = briefly(ctx, func(ctx context.Context) error {
		m, err := conn.NATS.RequestWithContext(ctx, "$JS.API.STREAM.PURGE."+stream, body)
		if err != nil {
			return err
		}
		var answer struct {
			Error  *jetstream.APIError
			Purged int
		}
		if err := json.Unmarshal(m.Data, &answer); err != nil {
			return err
		}
		if answer.Error != nil {
			return answer.Error
		}
		n = answer.Purged
		return nil
	})
	if err != nil {
		return n, fmt.Errorf("farm: %w", err)
	}
	return n, nil
}
