//go:build !js

// Package engine has the verbs of the engine's own developers: bench and attack.
package engine

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/testing/fixedbench"
	"github.com/seed-49bee653/samestep/internal/testing/logbench"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/flight"
)

// BenchCommand returns the verb bench.
func BenchCommand() *cli.Command {
	flags := []cli.Flag{console.JSONFlag, &cli.DurationFlag{Name: "time", Value: 2 * time.Second, Usage: "how long to measure each figure"}}
	return &cli.Command{
		Name:  "bench",
		Usage: "measure the cost of the engine on this machine",
		Description: `Most figures are ratios of the CPU times of two tasks that alternate within one run, so
a longer run gives valid figures on a busy machine, too. A missed limit is reported, but
is not an error: the limits are for an idle machine with two processors.`,
		Subcommands: []*cli.Command{
			{
				Name:  "log",
				Usage: "a match of the game, compared with the same game without the engine",
				Description: `The tax is what a player's machine does besides the game: it decodes the log, computes
and compares a checksum every tick, and writes the replay. Bots play. For skirmish,
without --config, there are more figures, with the limits that the engine promises, and
a long match, which is kept in your cache directory for the next run.`,
				Flags: append(flags[:len(flags):len(flags)], minutesFlag,
					gameset.GameFlag, gameset.AssetsFlag, gameset.ConfigFlag,
					&cli.UintFlag{Name: "players", Value: 4, Usage: "seats of the match, 1 to 16"}),
				Action: benchAction(benchLog),
			},
			{
				Name:  "fixed",
				Usage: "fixed-point arithmetic, compared with floating point",
				Flags: flags, Action: benchAction(benchFixed),
			},
			benchNetCommand(),
		},
	}
}

// A benchLine is one measured figure.
type benchLine struct {
	Name   string  `json:"name"`
	Beside string  `json:"beside,omitempty"` // the other side of the ratio
	Of     string  `json:"of,omitempty"`     // what was played, verified or sent
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Limit  string  `json:"limit,omitempty"` // that Value should keep
	Missed bool    `json:"missed"`          // it does not
}

// misses reports whether the value is beyond the limit.
func (l benchLine) misses() bool {
	var op string
	var limit float64
	if _, err := fmt.Sscan(l.Limit, &op, &limit); err != nil {
		return false // none, or one in words
	}
	return op == "<=" && l.Value > limit || op == ">=" && l.Value < limit
}

func (l benchLine) print(w io.Writer) {
	line := fmt.Sprintf("%-28s %8.2f %-10s  %-8s", l.Name, l.Value, l.Unit, l.Limit)
	if l.Beside != "" {
		line += "  compared with " + l.Beside
	}
	if l.Of != "" {
		line += "  (" + l.Of + ")"
	}
	if l.Missed {
		line += "  limit missed"
	}
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}

// benchAction makes the action of a benchmark, which passes its lines to show.
func benchAction(bench func(c *cli.Context, show func(benchLine)) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := console.Between(c, "time", 0, time.Hour); err != nil {
			return err
		}
		var lines []benchLine
		limits, missed := 0, 0
		err := bench(c, func(l benchLine) {
			if l.Missed = l.misses(); l.Missed {
				missed++
			}
			if l.Limit != "" {
				limits++
			}
			lines = append(lines, l)
			if !c.Bool("json") {
				l.print(c.App.Writer)
			}
		})
		switch {
		case err == nil && c.Bool("json"):
			err = console.WriteJSON(c.App.Writer, lines)
		case missed > 0 && !c.Bool("json"):
			fmt.Fprintf(c.App.Writer, "%d of %s missed, as on a busy machine or with a short --time\n", missed, console.Count(limits, "limit"))
		}
		return err
	}
}

// benchFixed measures each pair in rounds of n operations, for --time in all.
func benchFixed(c *cli.Context, show func(benchLine)) error {
	const n = 40_000
	for _, p := range fixedbench.Pairs {
		once := p.Measure(1, n)
		round := time.Duration((once.FixedNS + once.FloatNS) * n)
		r := p.Measure(1+int(c.Duration("time")/max(round, 1)), n)
		show(benchLine{Name: p.Name, Value: r.Ratio(), Unit: "x", Limit: atMost(p.Limit()),
			Beside: fmt.Sprintf("float64: %.2f ns, fixed: %.2f ns", r.FloatNS, r.FixedNS)})
	}
	return nil
}

// atMost formats a limit. 0 is none.
func atMost(limit float64) string {
	if limit == 0 {
		return ""
	}
	return fmt.Sprintf("<= %.2f", limit)
}

var minutesFlag = &cli.IntFlag{Name: "minutes", Value: 60, Usage: "length of the long match"}

func benchLog(c *cli.Context, show func(benchLine)) error {
	if err := cmp.Or(console.Between(c, "minutes", 1, 1000), console.Between[uint](c, "players", 1, 16)); err != nil {
		return err
	}
	d := c.Duration("time")
	g, err := gameset.ChosenGame(c)
	if err != nil {
		return err
	}
	if err := g.NeedSources(); err != nil {
		return err
	}
	if g.Name() != "skirmish" || c.IsSet(gameset.ConfigFlag.Name) {
		return benchGame(c, g, show)
	}
	if err := benchFigures(logbench.Figures, d, show); err != nil {
		return err
	}
	if err := showFlight(logbench.War(1000), "<= 64", show); err != nil {
		return err
	}
	if err := showLoops(d, show); err != nil {
		return err
	}
	rate, measured, err := logbench.TicksPerSecond(logbench.War(1000), d)
	if err != nil {
		return err
	}
	show(benchLine{Name: "Step, 1,000 units fight", Value: rate, Unit: "ticks/s", Limit: ">= 2000", Of: measured})
	played, err := logbench.Play(logbench.Skirmish(400), lockstep.Tick(c.Int("minutes")*60*20/2))
	if err != nil {
		return err
	}
	showReplay(played, 4, "<= 6", show)
	l, err := logbench.OpenLong(c.Int("minutes"), gameset.CacheDir())
	if err != nil {
		return err
	}
	return benchLong(l, d, show)
}

func benchFigures(figures []logbench.Figure, d time.Duration, show func(benchLine)) error {
	for i := range figures {
		f := &figures[i]
		r, err := f.Measure(d)
		if err != nil {
			return err
		}
		show(benchLine{Name: f.Name, Beside: f.Beside, Value: r.Ratio(), Unit: "x", Limit: atMost(f.Limit), Of: r.Measured()})
	}
	return nil
}

const mostBenched = 6000 // ticks of matches whose replays are measured

// benchGame measures a match of any game. Limits are promised only for skirmish.
func benchGame(c *cli.Context, g *gameset.Playable, show func(benchLine)) error {
	players, config, err := g.Match(c, 0)
	if err != nil {
		return err
	}
	s := &logbench.Subject{Game: g.Game, Players: players, Config: config, Bot: g.Bot, Loop: g.Loop}
	if err := g.Accepts(s.Players, 1, s.Config); err != nil {
		return err
	}
	d := c.Duration("time")
	if err := benchFigures(logbench.FiguresOf(s), d, show); err != nil {
		return err
	}
	if err := showFlight(s, "", show); err != nil {
		return err
	}
	rate, measured, err := logbench.TicksPerSecond(s, d)
	if err != nil {
		return err
	}
	show(benchLine{Name: "Step", Value: rate, Unit: "ticks/s", Of: measured})
	played, err := logbench.Play(s, mostBenched)
	if err != nil {
		return err
	}
	showReplay(played, s.Players, "", show)
	return nil
}

// showLoops shows what Turn.Each saves.
func showLoops(d time.Duration, show func(benchLine)) error {
	for _, n := range []int{1000, 10_000} {
		l, err := logbench.CompareLoops(n, d)
		if err != nil {
			return err
		}
		show(benchLine{Name: "Turn.Each, " + console.Count(n, "element"), Value: l.Speedup(), Unit: "x",
			Beside: fmt.Sprintf("a plain loop, %v; %d processors, if they are idle otherwise", l.Plain.Round(time.Microsecond), runtime.NumCPU())})
	}
	return nil
}

// showFlight shows the size of a flight record.
func showFlight(s *logbench.Subject, limit string, show func(benchLine)) error {
	f, err := logbench.Fly(s, flight.MaxTicks)
	if err != nil {
		return err
	}
	show(benchLine{Name: "flight record, memory", Value: float64(f.Memory) / 1024, Unit: "KiB", Limit: limit, Of: f.Of})
	show(benchLine{Name: "flight record, bytes", Value: float64(f.Bytes) / 1024, Unit: "KiB", Of: console.Count(f.Ticks, "tick")})
	show(benchLine{Name: "flight record, its end", Value: float64(f.Latest) / 1024, Unit: "KiB", Of: console.Count(min(f.Ticks, 320), "tick")})
	return nil
}

// showReplay shows the size of replays of bots.
func showReplay(p *logbench.Played, players uint8, limit string, show func(benchLine)) {
	of := fmt.Sprintf("%s, %s, %s", console.Count(int(players), "bot"), console.Count(int64(p.Ticks), "tick"), console.Count(p.Commands, "command"))
	if p.Matches > 1 {
		of += fmt.Sprintf(", %d matches one after the other", p.Matches)
	}
	show(benchLine{Name: "replay, without keyframes", Value: p.BytesPerTick(), Unit: "bytes/tick", Limit: limit, Of: of})
	show(benchLine{Name: "replay, with keyframes", Value: p.BytesPerHour() / 1e6, Unit: "MB/hour", Of: of})
}

func benchLong(l *logbench.Long, d time.Duration, show func(benchLine)) error {
	p, err := l.Pace(d)
	if err != nil {
		return err
	}
	match := fmt.Sprintf("a match of %s, %s, %.0f units alive on average", console.MatchTime(l.Length.Seconds()), console.Count(int(l.Players), "player"), l.Units)
	show(benchLine{Name: "verify, 1 worker", Value: l.TimesRealTime(p.Wall[0]), Unit: "x", Beside: "the time of the match", Of: match})
	show(benchLine{Name: "verify, 2 workers", Value: l.TimesRealTime(p.Wall[1]), Unit: "x", Limit: ">= 200", Beside: "the time of the match", Of: match})
	show(benchLine{Name: "2 workers, in time", Value: p.Speedup(), Unit: "x", Limit: ">= 1.80", Beside: fmt.Sprintf("1 worker; %d processors, if they are idle otherwise", runtime.NumCPU())})
	show(benchLine{Name: "2 workers, in work", Value: p.Overhead(), Unit: "x", Beside: "1 worker; CPU time"})
	outside, err := l.OutsideStep()
	if err != nil {
		return err
	}
	show(benchLine{Name: "verify, outside of Step", Value: 100 * outside, Unit: "%", Limit: "<= 10"})
	worst, err := l.WorstSeek()
	if err != nil {
		return err
	}
	show(benchLine{Name: "seek, the longest of 12", Value: console.Milliseconds(worst), Unit: "ms", Limit: "<= 500", Beside: "CPU time; of a sealed file"})
	took, allocations, err := l.WriteTick()
	if err != nil {
		return err
	}
	show(benchLine{Name: "writing a tick to a file", Value: float64(took.Nanoseconds()) / 1000, Unit: "us", Limit: "<= 5", Beside: "CPU time"})
	show(benchLine{Name: "allocations for it, all ticks", Value: float64(allocations), Unit: "", Limit: "0 a tick"})
	return nil
}
