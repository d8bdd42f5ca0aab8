package platforms

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Limits of a match.
const (
	MaxPlayers = 64
	maxLength  = 1_000_000 // of each coordinate, size and speed in a Config
)

// ErrConfig is wrapped by the errors of bad configurations.
var ErrConfig = errors.New("platforms: bad config")

// A Config has the options of a match. Lengths are thousandths of a cell, speeds are lengths per tick.
type Config struct {
	GridColumns   uint16 // units in a row at the start
	SpawnStartX   int32
	SpawnStartY   int32
	SpawnStepX    int32
	SpawnStepY    int32
	UnitWidth     int32
	UnitHeight    int32
	MoveStep      int32 // of a unit that walks
	JumpRiseSpeed int32 // at the start of a jump
	JumpGravity   int32 // by which the speed falls in each tick
	FallSpeed     int32 // the largest speed of falling
	SpawnAir      int32 // height above the grid at the start
}

// Usual returns the options of a usual match, which do not depend on the number of players.
func Usual(int) Config {
	return Config{
		GridColumns: 11, SpawnStartX: 4000, SpawnStartY: 4000, SpawnStepX: 4000, SpawnStepY: 4000,
		UnitWidth: 100, UnitHeight: 200, MoveStep: 100, JumpRiseSpeed: 180, JumpGravity: 18, FallSpeed: 100, SpawnAir: 800,
	}
}

func (c *Config) check(players uint8) error {
	for _, limit := range []struct {
		name           string
		got, low, high int64
	}{
		{"players", int64(players), 1, MaxPlayers},
		{"grid columns", int64(c.GridColumns), 1, 1000},
		{"spawn start x", int64(c.SpawnStartX), -maxLength, maxLength},
		{"spawn start y", int64(c.SpawnStartY), -maxLength, maxLength},
		{"spawn step x", int64(c.SpawnStepX), -maxLength, maxLength},
		{"spawn step y", int64(c.SpawnStepY), -maxLength, maxLength},
		{"unit width", int64(c.UnitWidth), 1, maxLength},
		{"unit height", int64(c.UnitHeight), 1, maxLength},
		{"move step", int64(c.MoveStep), 0, maxLength},
		{"jump rise speed", int64(c.JumpRiseSpeed), 0, maxLength},
		{"jump gravity", int64(c.JumpGravity), 1, maxLength},
		{"fall speed", int64(c.FallSpeed), 1, maxLength},
		{"spawn air", int64(c.SpawnAir), -maxLength, maxLength},
	} {
		if limit.got < limit.low || limit.got > limit.high {
			return fmt.Errorf("%w: %s is %d, want %d to %d", ErrConfig, limit.name, limit.got, limit.low, limit.high)
		}
	}
	return nil
}

// start makes the world at tick 0.
func start(w *World, settings *lockstep.Settings, c *Config) error {
	if err := c.check(settings.Players); err != nil {
		return err
	}
	w.Players = settings.Players
	for p := range int64(settings.Players) {
		column, row := p%int64(c.GridColumns), p/int64(c.GridColumns)
		w.Units = append(w.Units, Unit{
			X: int64(c.SpawnStartX) + column*int64(c.SpawnStepX),
			Y: int64(c.SpawnStartY) + row*int64(c.SpawnStepY) + int64(c.SpawnAir),
		})
	}
	return nil
}
