package skirmish

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Limits of a match.
const (
	MaxPlayers = 16
	MaxUnits   = 30000 // alive at one time, all players together
	MinSize    = 32    // cells along a side of the map
	MaxSize    = 512
)

// ErrConfig is wrapped by the errors of bad configurations.
var ErrConfig = errors.New("skirmish: bad config")

// A Config has the options of a match beyond the engine's settings. There are no implicit defaults, so the log has the
// real values. [Defaults] makes one.
type Config struct {
	Units     uint16 // on the map at the start: bases, workers and armies of all players
	Size      uint16 // cells along a side of the square map, even
	Crystals  uint16 // of each player at the start
	Cap       uint16 // largest number of units and buildings of a player
	Teams     uint8  // player p is of team p modulo Teams
	Obstacles uint8  // per cent of the map
	Workers   uint8  // of each player at the start
	Zones     bool   // whether the map has teleports, shrines, spawn zones and a hoard
	Diplomacy bool   // whether players may change their teams, if there are two or more
	Observers bool   // whether players share their sight with observers at the start

	Map    []lockstep.Asset // one file as [ParseMap] reads it, or none for a random map by Size, Obstacles and Zones
	layout *Layout          `state:"derived"` // the content of Map
}

// Defaults returns the options of a match without teams, in which three or more players may form alliances. Units is the
// number of units on the whole map at the start. The map grows with it, so the density of units stays the same.
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
		Diplomacy: players > 2,
		Observers: true,
	}
}

// Opening returns the options of a match that begins small: each player has a base, six workers, four soldiers and archers,
// and crystals enough to choose what to build first.
func Opening(players int) Config {
	n := min(max(players, 1), MaxPlayers)
	c := Defaults(uint8(n), uint16(n)*11)
	c.Size, c.Workers, c.Crystals, c.Cap = uint16(min(80+16*((n-1)/2), 176)), 6, 350, 150
	return c
}

// load is Rules.Load: it reads the file of Map.
func (c *Config) load(contents [][]byte) (err error) {
	if len(contents) != 1 {
		return fmt.Errorf("%w: got %d maps, want at most 1", ErrConfig, len(contents))
	}
	c.layout, err = ParseMap(contents[0])
	return err
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
	if l := c.layout; l != nil {
		if c.Size != l.Map.Size {
			return fmt.Errorf("%w: size is %d, want %d as in the map", ErrConfig, c.Size, l.Map.Size)
		}
		if int(players) > len(l.Bases) {
			return fmt.Errorf("%w: %d players, want at most %d, the number of bases on the map", ErrConfig, players, len(l.Bases))
		}
	}
	if c.Size%2 != 0 {
		return fmt.Errorf("%w: size is %d, want an even number", ErrConfig, c.Size)
	}
	return nil
}
