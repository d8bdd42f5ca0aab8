package main

import (
	"math"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

var maxTicksFlag = &cli.UintFlag{Name: "max-ticks", Usage: "refuse to simulate more than `N` ticks", DefaultText: "262144 and 64 for each byte, at most 16777216"}

// maxTicks returns what the flag says, and 0 without it.
func maxTicks(c *cli.Context) lockstep.Tick {
	if !c.IsSet("max-ticks") {
		return 0
	}
	return lockstep.Tick(min(max(c.Uint("max-ticks"), 1), math.MaxUint32))
}

// tickOf returns the tick of a flag.
func tickOf(c *cli.Context, name string) lockstep.Tick {
	return lockstep.Tick(min(c.Uint(name), math.MaxUint32))
}

// simulateOptions returns how much a command may simulate, with a progress bar,
// which done takes away.
func simulateOptions(c *cli.Context) (o replay.SimulateOptions, done func()) {
	var bar *progress
	o = replay.SimulateOptions{MaxTicks: maxTicks(c), Progress: func(done, all lockstep.Tick) {
		if bar == nil {
			bar = newProgress(c.App.ErrWriter, int64(all), "ticks")
		}
		bar.set(int64(done))
	}}
	return o, func() {
		if bar != nil {
			bar.done()
		}
	}
}
