package skirmish

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/fixed"
)

// Limits of a match.
const (
	MaxPlayers = 16
	MaxUnits   = 30000 // alive at one time, all players together
	MinSize    = 32    // cells along a side of the map
	MaxSize    = 512
)

// ErrConfig is what every refused configuration wraps.
var ErrConfig = errors.New("skirmish: bad config")

// A Config is everything about a match that the engine's settings do not say. All of it is explicit: nothing is filled in
// later, so that the log holds what was played. [Defaults] makes one.
type Config struct {
	Units     uint16 // on the map at the start: bases, workers and armies of all players
	Size      uint16 // cells along a side of the square map, even
	Crystals  uint16 // each player has at the start
	Cap       uint16 // units and buildings that a player can have
	Teams     uint8  // player p is of team p modulo Teams
	Obstacles uint8  // per cent of the map that is rock
	Workers   uint8  // each player has at the start
	Zones     bool   // whether the map has teleports, shrines and hoards
}

// Defaults returns the usual match for a number of players, everyone for himself, with a number of units on the whole map at
// the start: the map grows with the units, so that the fights are of one density.
func Defaults(players uint8, units uint16) Config {
	n := max(units, 1) / uint16(max(players, 1))
	side := fixed.ISqrt64(uint64(units) * 16)
	return Config{
		Units:     units,
		Size:      uint16(min(max(side+15, 64, 8*uint64(players))/16*16, MaxSize)),
		Crystals:  300,
		Cap:       min(n+n/2+50, MaxUnits),
		Teams:     players,
		Obstacles: 12,
		Workers:   uint8(min(max(n/6, 4), 60)),
		Zones:     true,
	}
}

func (c *Config) check(players uint8) error {
	for _, limit := range []struct {
		name           string
		got, low, high int
	}{
		{"players", int(players), 1, MaxPlayers},
		{"units", int(c.Units), int(players) * (1 + int(c.Workers)), MaxUnits},
		{"size", int(c.Size), MinSize, MaxSize},
		{"teams", int(c.Teams), 1, int(players)},
		{"obstacles", int(c.Obstacles), 0, 40},
		{"cap", int(c.Cap), 1, MaxUnits},
		{"crystals", int(c.Crystals), 0, 1<<16 - 1},
	} {
		if limit.got < limit.low || limit.got > limit.high {
			return fmt.Errorf("%w: %s is %d, want %d to %d", ErrConfig, limit.name, limit.got, limit.low, limit.high)
		}
	}
	if c.Size%2 != 0 {
		return fmt.Errorf("%w: size is %d, want an even number", ErrConfig, c.Size)
	}
	return nil
}
