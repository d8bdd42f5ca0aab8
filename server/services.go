package server

import (
	"log/slog"

	"github.com/seed-49bee653/samestep/server/internal/guests"
)

// services are what the matches of a server share.
type services struct {
	options Options // its limits are those of the beginning, see gates
	log     *slog.Logger
	metrics *metrics

	gates    *gates
	turned   *turned
	access   *access
	registry *registry
	guests   *guests.Quota
	keeper   *keeper
	assets   *assetStore

	replays    *replayFolder
	sealer     *sealer
	operations operations
	newFile    func(path string) (file, error) // for a replay
}

// forget releases what a match has held that is over, or that did not start.
func (sv *services) forget(m *Match) {
	sv.assets.release(m.assets)
	sv.registry.remove(m)
	sv.guests.Release(m.spec.guest)
}
