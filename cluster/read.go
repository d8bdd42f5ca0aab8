package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
)

// ErrUnused is the error of [Read] for a storage that no server has used yet.
var ErrUnused = errors.New("cluster: no server has used this storage yet")

// Read returns the servers with a lease and the matches that are not over, by name, as they are in the storage now.
func Read(ctx context.Context, conn *storage.Conn) (servers []Server, matches []Match, err error) {
	if unused(ctx, conn) {
		return nil, nil, ErrUnused
	}
	err = readBucket(ctx, conn, storage.ServersBucket, func(e jetstream.KeyValueEntry) error {
		var s Server
		err := json.Unmarshal(e.Value(), &s)
		servers = append(servers, s)
		return err
	})
	if err == nil {
		err = readBucket(ctx, conn, storage.MatchesBucket, func(e jetstream.KeyValueEntry) error {
			m, err := parseMatch(e.Value(), e.Revision())
			if err == nil {
				matches = append(matches, *m)
			}
			return err
		})
	}
	slices.SortFunc(servers, func(a, b Server) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(matches, func(a, b Match) int { return cmp.Compare(a.Name, b.Name) })
	return servers, matches, err
}

// unused reports whether the storage has nothing of a cluster. The directory is on disk, so it outlives a restart.
func unused(ctx context.Context, conn *storage.Conn) bool {
	_, err := conn.JS.KeyValue(ctx, storage.MatchesBucket)
	return errors.Is(err, jetstream.ErrBucketNotFound)
}

// readBucket calls f with all that is in a bucket.
func readBucket(ctx context.Context, conn *storage.Conn, name string, f func(jetstream.KeyValueEntry) error) error {
	kv, err := conn.JS.KeyValue(ctx, name)
	if err != nil {
		return fmt.Errorf("cluster: bucket %s: %w", name, err)
	}
	w, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("cluster: bucket %s: %w", name, err)
	}
	defer w.Stop()
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return errors.New("cluster: the connection to the storage is closed")
			}
			if e == nil { // all that is there
				return nil
			}
			if err := f(e); err != nil {
				return fmt.Errorf("cluster: key %s of bucket %s: %w", e.Key(), name, err)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
