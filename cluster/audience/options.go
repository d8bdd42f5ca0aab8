package audience

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// Options are an Audience's policies and limits. Zero fields have the defaults named.
type Options struct {
	// Delay is how far behind the source the spectators are: the larger of Delay ticks and of the ticks that are due in
	// DelayTime. It comes on top of the delay of the source, which a [Log] finds in the log.
	Delay     lockstep.Tick
	DelayTime lockstep.Time

	// Batch is the least time between two deliveries of records to a spectator. It saves processor time: a delivery costs the same
	// for one tick as for ten. 0 delivers each record at once.
	Batch lockstep.Time

	// Authorize reports whether a token may watch; an error refuses it. Nil lets everybody watch.
	Authorize func(token string) error

	MaxSpectators int // 10,000
	MaxConnecting int // connections without a welcome: 512

	AckEvery         lockstep.Tick // a second
	Lag              lockstep.Tick // ticks that a spectator may be behind: 5 s
	MaxStrikes       int           // keyframes for a spectator that is too far behind before it is closed: 3
	KeyframeEvery    lockstep.Tick // age of the latest keyframe at which Ready asks for another one: 30 s, and a quarter of the delay
	RingRecords      int           // 4 × Lag + 2 × delay + 3 × the log's keyframe interval, at most 18,000 ticks of it, + 256
	RingBytes        int           // 1 MiB and 64 for each of RingRecords
	SyncBytesPerTick int           // bytes of a keyframe sent to one spectator: 256 KiB

	AuthTimeout lockstep.Time // 10 s
	PingEvery   lockstep.Time // silence after which a spectator is sent a ping: 5 s
	IdleTimeout lockstep.Time // 10 s
	SyncTimeout lockstep.Time // 30 s; each MiB of keyframe adds 1 s
	Linger      lockstep.Time // time to read the end of the match: 15 s

	Rates Rates
}

// Rates limit one connection, except Keyframes. Zero rates have the defaults named.
type Rates struct {
	Messages host.Rate // 50 a second, 150 at once
	Bytes    host.Rate // 16 KiB a second, 64 KiB at once
	Offences host.Rate // exceeded limits and refused messages: 5 a second, 30 at once
	Syncs    host.Rate // requested keyframes: 4 a minute
	Resyncs  host.Rate // keyframes after a desync: 2 a minute

	// Keyframes bounds the bytes of keyframes to all spectators of one address: 4 MiB a second, 128 MiB at once. Those of all
	// addresses together have 8 times as much.
	Keyframes host.Rate
}

// or sets a zero field to its default.
func or[T comparable](field *T, otherwise T) {
	var zero T
	if *field == zero {
		*field = otherwise
	}
}

// maxDelay bounds the delay, in ticks.
const maxDelay = disclosure.MaxDelay

// completeFixed sets the defaults that are the same for every match.
func (o *Options) completeFixed() {
	or(&o.MaxSpectators, 10_000)
	or(&o.MaxConnecting, 512)
	or(&o.MaxStrikes, 3)
	or(&o.SyncBytesPerTick, 256<<10)
	or(&o.AuthTimeout, 10*lockstep.Second)
	or(&o.PingEvery, 5*lockstep.Second)
	or(&o.IdleTimeout, 10*lockstep.Second)
	or(&o.SyncTimeout, 30*lockstep.Second)
	or(&o.Linger, 15*lockstep.Second)
	r := &o.Rates
	or(&r.Messages, host.Rate{N: 50, Per: lockstep.Second, Burst: 150})
	or(&r.Bytes, host.Rate{N: 16 << 10, Per: lockstep.Second, Burst: 64 << 10})
	or(&r.Offences, host.Rate{N: 5, Per: lockstep.Second, Burst: 30})
	or(&r.Syncs, host.Rate{N: 4, Per: 60 * lockstep.Second, Burst: 4})
	or(&r.Resyncs, host.Rate{N: 2, Per: 60 * lockstep.Second, Burst: 2})
	or(&r.Keyframes, host.Rate{N: 4 << 20, Per: lockstep.Second, Burst: 128 << 20})
}

// complete sets the defaults for a match with settings s, whose spectators have a delay already.
func (o *Options) complete(s *lockstep.Settings, delay lockstep.Tick) {
	second := max(1, lockstep.Tick(s.TicksIn(int64(lockstep.Second))))
	o.Delay = min(max(o.Delay, lockstep.Tick(s.TicksIn(int64(o.DelayTime))))+delay, maxDelay)
	or(&o.AckEvery, min(second, 1<<15))
	or(&o.Lag, max(5*second, 4*o.AckEvery))
	or(&o.KeyframeEvery, max(30*second, o.Delay/4))
	or(&o.RingRecords, int(4*o.Lag+2*o.Delay+3*max(min(lockstep.Tick(s.KeyframeEvery), 6000), o.KeyframeEvery)+256))
	or(&o.RingBytes, 1<<20+64*o.RingRecords)
}

func (o *Options) check() error {
	for _, f := range []struct {
		name           string
		got, low, high int64
	}{
		{"delay", int64(o.Delay), 0, int64(maxDelay)},
		{"delay time", int64(o.DelayTime), 0, int64(24 * 3600 * lockstep.Second)},
		{"batch", int64(o.Batch), 0, int64(5 * lockstep.Second)},
		{"max spectators", int64(o.MaxSpectators), 1, 1 << 20},
		{"max connecting", int64(o.MaxConnecting), 1, 1 << 20},
		{"ack every", int64(o.AckEvery), 0, 1 << 15},
		{"lag", int64(o.Lag), 0, 1 << 20},
		{"max strikes", int64(o.MaxStrikes), 1, 1000},
		{"ring records", int64(o.RingRecords), 0, 1 << 24},
		{"ring bytes", int64(o.RingBytes), 0, 1 << 30},
		{"sync bytes per tick", int64(o.SyncBytesPerTick), 1 << 10, 1 << 30},
		{"auth timeout", int64(o.AuthTimeout), 1, int64(3600 * lockstep.Second)},
		{"ping every", int64(o.PingEvery), 1, int64(3600 * lockstep.Second)},
		{"idle timeout", int64(o.IdleTimeout), 1, int64(3600 * lockstep.Second)},
		{"sync timeout", int64(o.SyncTimeout), 1, int64(3600 * lockstep.Second)},
		{"linger", int64(o.Linger), 1, int64(3600 * lockstep.Second)},
	} {
		if f.got < f.low || f.got > f.high {
			return fmt.Errorf("audience: %s: got %d, want %d to %d", f.name, f.got, f.low, f.high)
		}
	}
	r := &o.Rates
	for i, rate := range []host.Rate{r.Messages, r.Bytes, r.Offences, r.Syncs, r.Resyncs, r.Keyframes} {
		if !rate.Valid() {
			return fmt.Errorf("audience: rate %d: got %+v", i, rate)
		}
	}
	return nil
}
