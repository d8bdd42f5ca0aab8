package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/lockstep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep/server"
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
