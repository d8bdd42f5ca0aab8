package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// Denials returns the bans and revocations of the whole cluster, for [server.Options.Denials].
func (m *Member) Denials() server.Denials { return denials{m} }

// denials are the bucket of bans and revocations.
type denials struct{ m *Member }

// Put implements [server.Denials].
func (d denials) Put(key string, value []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.m.ctx), writeTime)
	defer cancel()
	if _, err := d.m.denied.Put(ctx, key, value); err != nil {
		return fmt.Errorf("cluster: %s: %w", key, err)
	}
	return nil
}

// Delete implements [server.Denials].
func (d denials) Delete(key string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.m.ctx), writeTime)
	defer cancel()
	if err := d.m.denied.Purge(ctx, key, jetstream.PurgeTTL(storage.MarkerTime)); err != nil {
		return fmt.Errorf("cluster: %s: %w", key, err)
	}
	return nil
}

// Get implements [server.Denials].
func (d denials) Get(key string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(d.m.ctx, writeTime)
	defer cancel()
	e, err := d.m.denied.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: %s: %w", key, err)
	}
	return e.Value(), nil
}

// Sweep implements [server.Denials]. The time is that of the storage when it has stored this server's lease, so a server whose clock is
// wrong deletes nothing that others need.
func (d denials) Sweep(stale func(key string, value []byte, now time.Time, live func(lockstep.MatchID) bool) bool) error {
	ctx, cancel := context.WithTimeout(d.m.ctx, sweepTime)
	defer cancel()
	var all []jetstream.KeyValueEntry
	err := readBucket(ctx, d.m.options.Conn, storage.DeniedBucket, func(e jetstream.KeyValueEntry) error {
		all = append(all, e)
		return nil
	})
	live := make(map[string]bool) // by ID; read later than the bans, because the directory has a match before it has bans
	if err == nil {
		err = readBucket(ctx, d.m.options.Conn, storage.MatchesBucket, func(e jetstream.KeyValueEntry) error {
			m, err := parseMatch(e.Value(), e.Revision())
			if err == nil {
				live[m.ID] = true
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	lease, err := d.m.servers.Get(ctx, d.m.id)
	if err != nil {
		return fmt.Errorf("cluster: the lease of server %s: %w", d.m.options.Name, err)
	}
	for _, e := range all {
		if !stale(e.Key(), e.Value(), lease.Created(), func(match lockstep.MatchID) bool { return live[match.String()] }) {
			continue
		}
		err := d.m.denied.Purge(ctx, e.Key(), jetstream.LastRevision(e.Revision()), jetstream.PurgeTTL(storage.MarkerTime))
		if err != nil && !isStale(err) { // another server has put or deleted one meanwhile
			return fmt.Errorf("cluster: %s: %w", e.Key(), err)
		}
	}
	return nil
}

// sweepTime is how long a sweep may take.
const sweepTime = 30 * time.Second

// Watch implements [server.Denials].
func (d denials) Watch(saw func(key string, value []byte), gone func(key string)) error {
	err := readBucket(d.m.ctx, d.m.options.Conn, storage.DeniedBucket, func(e jetstream.KeyValueEntry) error {
		saw(e.Key(), e.Value())
		return nil
	})
	if err != nil {
		return err
	}
	d.m.running.Go(func() {
		d.m.watch("denials", d.m.denied, func(key string, value []byte, _ uint64) { saw(key, value) }, gone)
	})
	return nil
}
