package cluster

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Hurry lets a member wait a quarter of the usual times, but as long as usual before it gives a match up.
func (o *Options) Hurry() {
	u := usualTimes
	o.times = times{flush: u.flush / 4, silent: u.silent / 4, away: u.away, elsewhere: u.elsewhere / 4, patience: u.patience / 4, stray: u.stray / 4, tryAgain: u.tryAgain / 4}
}

// GiveUpEarly lets a member give up matches that it cannot store after a time.
func (o *Options) GiveUpEarly(after time.Duration) {
	o.times = usualTimes
	o.times.away = after
}

// A forgetful bucket loses the answer to one call.
type forgetful struct {
	jetstream.KeyValue
	what string
	lost atomic.Bool
}

// Lose loses the next answer of the directory to a call: "purge" also loses the call, and "create" does not.
func (m *Member) Lose(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.matches = &forgetful{KeyValue: m.matches, what: what}
}

func (f *forgetful) Purge(ctx context.Context, key string, o ...jetstream.KVDeleteOpt) error {
	if f.what == "purge" && !f.lost.Swap(true) {
		return context.DeadlineExceeded
	}
	return f.KeyValue.Purge(ctx, key, o...)
}

func (f *forgetful) Create(ctx context.Context, key string, value []byte, o ...jetstream.KVCreateOpt) (uint64, error) {
	revision, err := f.KeyValue.Create(ctx, key, value, o...)
	if f.what == "create" && !f.lost.Swap(true) {
		return 0, context.DeadlineExceeded
	}
	return revision, err
}
