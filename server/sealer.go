package server

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/internal/measure"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A sealer takes over the replays of matches that are over.
type sealer struct {
	replays  *replayFolder
	store    Archive // or nil
	key      ed25519.PrivateKey
	keepOpen bool
	failures *measure.Failure

	seals   chan struct{} // holds a value while a replay is being sealed
	sealing sync.WaitGroup
	ctx     context.Context // ends when no more replays are sealed
	stop    func()
}

func newSealer(o *Options, replays *replayFolder, failures *measure.Failure) *sealer {
	sl := &sealer{replays: replays, store: o.Archive, key: o.SignKey, keepOpen: o.KeepOpen, failures: failures, seals: make(chan struct{}, 1)}
	sl.ctx, sl.stop = context.WithCancel(context.Background())
	return sl
}

// archive moves the replay of a match that is over out of the live folder, and seals it there.
func (sl *sealer) archive(log *slog.Logger, path string) error {
	to := sl.replays.archived(path)
	if to != path {
		if err := replay.Replace(path, to); err != nil {
			return err
		}
		sl.replays.setLive(filepath.Base(to), false) // the list has one more
	}
	if sl.keepOpen {
		sl.handOver(log, to)
	} else {
		sl.seal(log, to)
	}
	return nil
}

// seal compresses the replay of a finished match concurrently with the running ones. It seals one replay at a time, so
// that live matches keep the remaining CPUs.
func (sl *sealer) seal(log *slog.Logger, path string) {
	sl.sealing.Go(func() {
		select {
		case sl.seals <- struct{}{}:
			defer func() { <-sl.seals }()
		case <-sl.ctx.Done():
			return
		}
		err := SealFile(sl.ctx, path, sl.key)
		if err != nil && sl.ctx.Err() == nil {
			sl.failures.Inc()
			log.Error("seal", "path", path, "err", err)
		}
		sl.replays.setLive(filepath.Base(path), false) // its size has changed
		if err == nil {
			sl.handOver(log, path)
		}
	})
}

// SealFile seals the replay of a match that is over as a server does, and signs it unless the key is nil.
func SealFile(ctx context.Context, path string, key ed25519.PrivateKey) error {
	if err := replay.SealFile(ctx, path, replay.WriterOptions{SegmentTicks: sealTicks}); err != nil || key == nil {
		return err
	}
	return replay.SignFile(path, key)
}

// tellOwners tells the archive whose seats a match had, if there is an archive.
func (sl *sealer) tellOwners(path string, subjects map[lockstep.Player]string) error {
	if sl.store == nil || len(subjects) == 0 {
		return nil
	}
	return sl.store.Played(sl.replays.archived(path), subjects)
}

// handOver gives a sealed replay and the bundles of its match to the archive, if there is one.
func (sl *sealer) handOver(log *slog.Logger, path string) {
	if sl.store == nil {
		return
	}
	evidence, err := sl.replays.evidence(filepath.Base(path))
	if err != nil {
		log.Error("archive", "path", path, "err", err) // the next start hands them over
	}
	for _, p := range append(evidence, path) {
		sl.store.Add(p)
	}
}

// sealGrace is how long a seal may take to end after it was stopped.
const sealGrace = time.Second

// await waits until nothing is sealed any more, or until ctx has ended and a seal does not notice it.
func (sl *sealer) await(ctx context.Context) bool {
	sealed := make(chan struct{})
	go func() {
		sl.sealing.Wait()
		close(sealed)
	}()
	select {
	case <-sealed:
		return true
	case <-ctx.Done():
	}
	grace := time.NewTimer(sealGrace)
	defer grace.Stop()
	select {
	case <-sealed:
		return true
	case <-grace.C:
		return false
	}
}
