package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/testing/logbench"
)

var minutesFlag = &cli.IntFlag{Name: "minutes", Value: 60, Usage: "length of the long match"}

func benchLog(c *cli.Context, show func(benchLine) error) error {
	if err := between(c, "minutes", 1, 1000); err != nil {
		return err
	}
	d := c.Duration("time")
	for i := range logbench.Figures {
		f := &logbench.Figures[i]
		r, err := f.Measure(d)
		if err != nil {
			return err
		}
		line := benchLine{Name: f.Name, Beside: f.Beside, Value: r.Ratio(), Unit: "x"}
		if f.Limit > 0 {
			line.Limit = fmt.Sprintf("<= %.2f", f.Limit)
		}
		if err := show(line); err != nil {
			return err
		}
	}
	rate, err := logbench.TicksPerSecond(d)
	if err != nil {
		return err
	}
	if err := show(benchLine{Name: "Step, 1,000 units fight", Value: rate, Unit: "ticks/s", Limit: ">= 2000"}); err != nil {
		return err
	}
	info, err := logbench.Play(30 * 60 * 20)
	if err != nil {
		return err
	}
	if err := show(benchLine{Name: "replay of 30 minutes, 4 bots", Value: logbench.BytesPerTick(info), Unit: "bytes/tick", Limit: "<= 6"}); err != nil {
		return err
	}
	return benchLong(c.Int("minutes"), d, show)
}

// benchLong measures work on the replay of a long match.
func benchLong(minutes int, d time.Duration, show func(benchLine) error) error {
	l, err := logbench.OpenLong(minutes, cacheDir())
	if err != nil {
		return err
	}
	if err := benchPace(l, d, show); err != nil {
		return err
	}
	outside, err := l.OutsideStep()
	if err != nil {
		return err
	}
	if err := show(benchLine{Name: "verify, outside of Step", Value: 100 * outside, Unit: "%", Limit: "<= 10"}); err != nil {
		return err
	}
	worst, err := l.WorstSeek()
	if err != nil {
		return err
	}
	if err := show(benchLine{Name: "seek, the longest of 12", Value: milliseconds(worst), Unit: "ms", Limit: "<= 500", Beside: "CPU time; of a sealed file"}); err != nil {
		return err
	}
	took, allocations, err := l.WriteTick()
	if err != nil {
		return err
	}
	if err := show(benchLine{Name: "writing a tick to a file", Value: float64(took.Nanoseconds()) / 1000, Unit: "us", Limit: "<= 5", Beside: "CPU time"}); err != nil {
		return err
	}
	return show(benchLine{Name: "allocations for it, all ticks", Value: float64(allocations), Unit: "", Limit: "0 a tick"})
}

// benchPace verifies the match with one worker and with two.
func benchPace(l *logbench.Long, d time.Duration, show func(benchLine) error) error {
	p, err := l.Pace(d)
	if err != nil {
		return err
	}
	match := count(l.Minutes, "minute") + ", 8 players, 1,000 units"
	for _, line := range []benchLine{
		{Name: "verify, 1 worker", Value: l.TimesRealTime(p.Wall[0]), Unit: "x", Beside: match},
		{Name: "verify, 2 workers", Value: l.TimesRealTime(p.Wall[1]), Unit: "x", Limit: ">= 200", Beside: match},
		{Name: "2 workers, in time", Value: p.Speedup(), Unit: "x", Limit: ">= 1.80", Beside: fmt.Sprintf("1 worker; %d processors, if they are idle otherwise", runtime.NumCPU())},
		{Name: "2 workers, in work", Value: p.Overhead(), Unit: "x", Beside: "1 worker; CPU time"},
	} {
		if err := show(line); err != nil {
			return err
		}
	}
	return nil
}

// cacheDir returns the folder for files that can be made again, or "".
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "samestep")
}
