//go:build !js

package checks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/internal/testing/mutants"
	"github.com/seed-49bee653/samestep/internal/testing/reach"
	"github.com/seed-49bee653/samestep/internal/testing/simulate"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// SimulateCommand returns the verb simulate.
func SimulateCommand() *cli.Command {
	return &cli.Command{
		Name:  "simulate",
		Usage: "play matches full of faults in virtual time, and check the engine's invariants",
		Description: `Plays one match of the game for each seed: a server with its disk, and clients, liars
and strangers on a bad network, with crashes and power cuts. Players are the game's
bots or give random commands. Each seed is played twice, and both runs must be the
same to the byte. A failure is reduced and written to a file with all its faults, for
--artifact. Exits with 1 if an invariant was violated, the matches reached too little,
or a known mistake was not found.`,
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "seeds", Value: 20, Usage: "number of matches; 0 with --time: no limit"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "the first seed"},
			&cli.Float64Flag{Name: "minutes", Value: 5, Usage: "length of each match"},
			&cli.IntFlag{Name: "clients", Value: 8, Usage: "players in each match"},
			&cli.StringFlag{Name: "game", Usage: "`NAME` of the game; the default is the program's first, or drones for the engine's examples: drones is the engine's own, in which most of the time is spent in the engine"},
			gameset.AssetsFlag, gameset.ConfigFlag,
			&cli.BoolFlag{Name: "relay", Usage: "some matches have no referee: the rules must then handle commands that Validate refuses"},
			&cli.DurationFlag{Name: "time", Usage: "start no more matches after this time"},
			&cli.IntFlag{Name: "workers", Usage: "matches at the same time", DefaultText: "one for each processor"},
			&cli.StringFlag{Name: "only", Usage: "only these kinds of faults, separated by commas; none: no faults at all"},
			&cli.BoolFlag{Name: "once", Usage: "play each seed only once"},
			&cli.StringFlag{Name: "artifact", Usage: "play the failure in `FILE` again, and no seeds"},
			&cli.StringFlag{Name: "dir", Value: ".", Usage: "`FOLDER` for failures"},
			&cli.IntFlag{Name: "shrink", Value: 300, Usage: "reduce each failure with at most `N` matches, however long they take; the default also ends after 2 minutes for all"},
			&cli.BoolFlag{Name: "mutants", Usage: "also put each known mistake into the engine, and check that it is found; needs the engine's checkout and the go command"},
			&cli.BoolFlag{Name: "report", Usage: "print the whole report: faults by kind, edges, counts"},
			console.JSONFlag,
		}, console.RandomFlags...),
		Action: runSimulate,
	}
}

func runSimulate(c *cli.Context) error {
	campaign, err := campaignOf(c)
	if err != nil {
		return err
	}
	hunt, err := huntOf(c)
	if err != nil {
		return err
	}
	if c.IsSet("artifact") {
		return playArtifact(c, c.String("artifact"))
	}
	bar := console.NewProgress(c.App.ErrWriter, int64(campaign.Seeds), "seeds")
	campaign.Progress = func(r *simulate.Report) { bar.Set(int64(r.Seeds)) }
	ctx, stop := console.Interruptible(c)
	campaign.Stop = ctx.Done()
	before := console.CPUTime()
	r, err := campaign.Run()
	defer stop()
	processor := console.CPUTime() - before
	bar.Done()
	if err != nil {
		return err
	}
	story := newSimulated(c, r)
	if processor > 0 {
		story.PerCore = r.AllHours / processor.Minutes()
	}
	story.keepFailures(ctx, c, campaign.Subject, r.Violations)
	interrupted := ctx.Err() != nil
	stop()
	if interrupted {
		hunt = nil
	}
	var huntErr error
	story.Mutants, huntErr = runHunt(c.App.ErrWriter, hunt)
	switch {
	case len(r.Violations) > 0:
		err = fmt.Errorf("%s of %s: %w", console.Count(len(r.Violations), "seed"), console.Count(r.Seeds, "seed"), console.ErrViolated)
	case interrupted:
		err = fmt.Errorf("%w after %s", console.ErrInterrupted, console.Count(r.Seeds, "seed"))
	case story.Reached != nil:
		err = enough(c, story.Reached)
		if idle := campaign.Idle(r); err == nil && idle != nil && c.String("allow-thin") == "" {
			err = fmt.Errorf("%w: try more --seeds, matches that last longer or other kinds with --only, ask for none with --only none, or say why that is enough (--allow-thin)", idle)
		}
	}
	return gameset.Tell(c, story, func(w io.Writer) { story.Print(w, c.Bool("report")) }, errors.Join(err, huntErr, story.Mutants.err()))
}

// reducing is how long all failures are reduced together, unless --shrink is given.
const reducing = 2 * time.Minute

// keepFailures reduces failures and writes each to a file.
func (s *simulated) keepFailures(ctx context.Context, c *cli.Context, subject *simulate.Subject, all []*simulate.Outcome) {
	if !c.IsSet("shrink") {
		limited, stop := context.WithTimeout(ctx, reducing)
		defer stop()
		ctx = limited
	}
	for i, out := range all {
		v := &s.Violations[i]
		if c.Int("shrink") > 0 && ctx.Err() == nil {
			fmt.Fprintf(c.App.ErrWriter, "seed %d violates %s, and is reduced with at most %s\n", v.Seed, v.Invariant, console.Count(c.Int("shrink"), "match"))
		}
		if err := v.keep(ctx, c, subject, out); err != nil {
			v.Unwritten = err.Error() // the report is printed all the same
		}
	}
}

// keep reduces a failure and writes it to a file.
func (v *simulatedFail) keep(ctx context.Context, c *cli.Context, s *simulate.Subject, out *simulate.Outcome) error {
	bar := console.NewProgress(c.App.ErrWriter, int64(c.Int("shrink")), "matches")
	name := filepath.Join(c.String("dir"), fmt.Sprintf("simulation-%d.json", out.Plan.Seed))
	small, err := simulate.Keep(s, out, simulate.ShrinkOptions{Runs: c.Int("shrink"), Stop: ctx.Done(), Progress: func(n int) { bar.Set(int64(n)) }}, name)
	bar.Done()
	if small.Outcome == nil {
		return err
	}
	if v.Tried = small.Runs; !small.Whole {
		v.Stopped = "--shrink"
		if err := ctx.Err(); errors.Is(err, context.DeadlineExceeded) {
			v.Stopped = fmt.Sprintf("%s for all failures; --shrink takes longer", console.Seconds(reducing))
		} else if err != nil {
			v.Stopped = "interrupted"
		}
	}
	if err == nil {
		v.Artifact = name
	}
	return err
}

// campaignOf returns the campaign of the flags of simulate.
func campaignOf(c *cli.Context) (*simulate.Campaign, error) {
	length, calm := c.Float64("minutes"), c.String("only") == "none"
	switch {
	case !(length > 0 && length <= 24*60):
		return nil, console.Usagef("--minutes: got %v, want up to a day", length)
	case !calm && length*60 < float64(simulate.Shortest/lockstep.Second):
		return nil, console.Usagef("--minutes: got %v, want at least 0.7, or --only none: faults stop half a minute before the end", length)
	case c.Int("seeds") < 0 || c.Int("seeds") == 0 && c.Duration("time") <= 0:
		return nil, console.Usagef("--seeds: got %d, want at least 1, or --time", c.Int("seeds"))
	}
	if err := cmp.Or(console.Between[time.Duration](c, "time", 0, 0), console.Between(c, "clients", 1, 200), console.Between(c, "shrink", 0, 0),
		console.Between(c, "workers", 0, 0), isDirectory(c.String("dir"))); err != nil {
		return nil, err
	}
	subject, err := simulateSubject(c)
	if err != nil {
		return nil, err
	}
	campaign := &simulate.Campaign{
		Options: simulate.Options{
			Subject: subject, Clients: c.Int("clients"),
			Length: lockstep.Time(length * 60 * float64(lockstep.Second)), Calm: calm,
		},
		First: c.Uint64("seed"), Seeds: c.Int("seeds"), Time: c.Duration("time"), Workers: c.Int("workers"), Once: c.Bool("once"),
	}
	if campaign.TickRate, err = simulatedRate(c, subject, campaign.Length); err != nil {
		return nil, err
	}
	if only := c.String("only"); only != "" && !calm {
		for _, kind := range strings.Split(only, ",") {
			if simulate.Group(kind) == "" {
				return nil, console.Usagef("--only: unknown kind %q, want none, %s", kind, strings.Join(simulate.Kinds(), ", "))
			}
			campaign.Only = append(campaign.Only, kind)
		}
	}
	return campaign, nil
}

// A simulated is the report of a simulation, as --json prints it.
type simulated struct {
	Game       string           `json:"game"`
	Seeds      int              `json:"seeds"`
	Once       bool             `json:"once"`
	Ticks      uint64           `json:"ticks,string"`
	Hours      float64          `json:"match_hours"`       // of the ticks
	Accepted   int              `json:"commands_answered"` // that clients were told are accepted
	Reached    *reach.Reached   `json:"reached"`           // null without matches
	AllHours   float64          `json:"match_hours_of_all_runs"`
	Seconds    float64          `json:"seconds"`
	Speed      float64          `json:"match_hours_per_minute"`      // of all runs
	PerCore    float64          `json:"match_hours_per_core_minute"` // the same; 0 where CPU time is unknown
	Compared   int              `json:"states_compared"`
	Checks     int              `json:"checksums_compared"`
	Crashes    int              `json:"crash_points"`
	Faults     []simulatedFault `json:"faults"`
	None       []string         `json:"faults_at_zero"`
	Edges      int              `json:"edges_covered"`
	AllEdges   int              `json:"edges"`
	NoEdges    []string         `json:"edges_missing"`
	Counts     map[string]int   `json:"counts"`
	Mutants    *hunted          `json:"mutants"` // null if they were not hunted
	Violations []simulatedFail  `json:"violations"`

	Program string `json:"-"` // the name of this one
}

type simulatedFault struct {
	Kind  string `json:"kind"`
	Group string `json:"group"`
	Count int    `json:"count"`
}

// A simulatedFail is a violation that simulate has found.
type simulatedFail struct {
	Seed uint64 `json:"seed,string"`
	simulate.Violation
	Again    string   `json:"again"`    // the command that plays it again
	Artifact string   `json:"artifact"` // the file of the reduced failure
	Tried    int      `json:"tried"`    // matches that were played to reduce it
	Stopped  string   `json:"stopped"`  // the limit that ended that, if one did
	Last     []string `json:"last"`

	Unwritten string `json:"unwritten,omitempty"` // why there is no such file
}

// reduced returns the command of a program that plays the reduced failure.
func (v *simulatedFail) reduced(program string) string {
	if v.Unwritten != "" {
		return "not written: " + v.Unwritten
	}
	command := program + " simulate --artifact " + words.ShellWord(v.Artifact)
	if v.Stopped != "" {
		command += fmt.Sprintf("\nstopped: after %s (%s); a smaller one may fail as well", console.Count(v.Tried, "match"), v.Stopped)
	}
	return command
}

func newSimulated(c *cli.Context, r *simulate.Report) *simulated {
	s := &simulated{
		Game: simulatedName(c), Seeds: r.Seeds, Once: c.Bool("once"), Hours: r.Hours, AllHours: r.AllHours, Seconds: r.Wall.Seconds(), Speed: r.AllHours / max(r.Wall.Minutes(), 1e-9), Ticks: r.Ticks,
		Accepted: r.Accepted, Compared: r.Compared, Checks: r.Checks, Crashes: r.Crashes, Counts: r.Counts,
		None: []string{}, NoEdges: []string{}, Violations: []simulatedFail{}, Program: c.App.Name,
	}
	if r.Reached != nil {
		s.Reached = r.Reached.Reached()
	}
	for _, kind := range simulate.Kinds() {
		s.Faults = append(s.Faults, simulatedFault{kind, simulate.Group(kind), r.Injected[kind]})
		if r.Injected[kind] == 0 {
			s.None = append(s.None, kind)
		}
	}
	var missing []string
	s.Edges, s.AllEdges, missing = r.Edges()
	s.NoEdges = append(s.NoEdges, missing...)
	for _, out := range r.Violations {
		s.Violations = append(s.Violations, simulatedFail{Seed: out.Plan.Seed, Violation: *out.Violation, Again: again(c, out.Plan.Seed), Last: out.Last})
	}
	return s
}

// notOfMatch are the flags of simulate that do not decide how a match goes, and those that again gives itself.
var notOfMatch = []string{"seeds", "seed", "minutes", "clients", "game", "time", "workers", "once", "artifact", "dir", "shrink", "mutants", "report", "json"}

// again returns the command that plays a seed again.
func again(c *cli.Context, seed uint64) string {
	command := fmt.Sprintf("%s simulate --game %s --seeds 1 --seed %d --minutes %v --clients %d",
		c.App.Name, words.ShellWord(simulatedName(c)), seed, c.Float64("minutes"), c.Int("clients"))
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !c.IsSet(name) || slices.Contains(notOfMatch, name) {
			continue
		}
		for _, value := range serving.FlagValues(c, name) {
			if value == "true" || value == "false" {
				command += fmt.Sprintf(" --%s=%s", name, value)
				continue
			}
			command += fmt.Sprintf(" --%s %s", name, words.ShellWord(value))
		}
	}
	return command
}

// Print prints it for people.
func (s *simulated) Print(w io.Writer, whole bool) {
	line := console.NewLiner(w)
	line("game", "%s", s.Game)
	line("seeds", "%d, each played %s", s.Seeds, map[bool]string{true: "once", false: "twice; only the speed counts both"}[s.Once])
	line("play", "%.2f match-hours, which are %s; clients were told of %s", s.Hours, console.Count(int64(s.Ticks), "tick"), console.Count(s.Accepted, "accepted command"))
	if s.Reached != nil {
		line("reached", "%s", s.Reached)
	}
	line("speed", "%.2f match-hours in %s: %.1f a minute", s.AllHours, console.Seconds(time.Duration(s.Seconds*float64(time.Second))), s.Speed)
	if s.PerCore > 0 {
		line("", "%.1f match-hours a minute of one processor", s.PerCore)
	}
	line("compared", "%s of clients, %s", console.Count(s.Compared, "state"), console.Count(s.Checks, "checksum"))
	line("crashes", "%s", console.Count(s.Crashes, "point"))
	total := 0
	for _, f := range s.Faults {
		total += f.Count
	}
	// .ci/run looks for ", 0 kinds at zero".
	line("faults", "%s of %d kinds, %d kinds at zero", console.Count(total, "fault"), len(s.Faults), len(s.None))
	line("edges", "%d of %d in the protocol's state machines", s.Edges, s.AllEdges)
	if s.Mutants != nil {
		line("mutants", "%s", s.Mutants.text)
	} else if whole {
		line("mutants", "not hunted (--mutants)")
	}
	if whole {
		s.printTables(w)
	}
	line("violations", "%d", len(s.Violations))
	for _, v := range s.Violations {
		fmt.Fprintf(w, "\nseed %d: %v\nagain: %s\nreduced: %s\n", v.Seed, &v.Violation, v.Again, v.reduced(s.Program))
		if whole {
			fmt.Fprintln(w, strings.Join(v.Last, "\n"))
		}
	}
	if s.Mutants != nil {
		s.Mutants.print(w)
	}
}

func (s *simulated) printTables(w io.Writer) {
	fmt.Fprintln(w)
	for _, f := range s.Faults {
		fmt.Fprintf(w, "  %8d  %-10s %s\n", f.Count, f.Group, f.Kind)
	}
	fmt.Fprintln(w)
	for _, name := range slices.Sorted(maps.Keys(s.Counts)) {
		fmt.Fprintf(w, "  %8d  %s\n", s.Counts[name], name)
	}
	for _, e := range s.NoEdges {
		fmt.Fprintf(w, "  not seen  %s\n", e)
	}
	fmt.Fprintln(w)
}

// simulatedUnits is the usual number of units, if the game knows units.
const simulatedUnits = 120

// drones is the name of the simulator's own game.
const drones = "drones"

// simulatedName returns the name of the game: by default the program's first, or drones if that is one of the engine's examples.
func simulatedName(c *cli.Context) string {
	first := gameset.Listed(c)[0]
	switch {
	case c.IsSet(gameset.GameFlag.Name):
		return c.String(gameset.GameFlag.Name)
	case strings.HasPrefix(first.Source.Path, console.Module+"/examples/"):
		return drones
	}
	return first.Name()
}

// mostRate is the tick rate of the matches of simulate, and of those that their rules end before, as slow that they last as long as the
// simulation if a tick a second is slow enough: else most faults would come after their end.
const mostRate = 20

// simulatedRate returns the tick rate of matches of a length.
func simulatedRate(c *cli.Context, s *simulate.Subject, length lockstep.Time) (uint16, error) {
	g, err := gameset.Listed(c).Named(simulatedName(c))
	if err != nil || s.Relay {
		return mostRate, nil // of drones, whose rules end nothing
	}
	seats := s.Seats[len(s.Seats)-1]
	config, err := s.Configure(seats)
	if err != nil {
		return 0, err
	}
	seconds := lockstep.Tick(max(1, length/lockstep.Second))
	ticks, err := g.Length(seats, c.Uint64("seed"), config, seconds*mostRate)
	return uint16(max(1, ticks/seconds)), err
}

// simulateSubject returns the game of the simulation.
func simulateSubject(c *cli.Context) (*simulate.Subject, error) {
	if simulatedName(c) == drones {
		config := struct{ Units uint16 }{256}
		text, err := gameset.ConfigText(c)
		if err == nil && len(text) > 0 {
			if err = json.Unmarshal(text, &config); err != nil {
				err = gameset.ConfigMistake(c, err)
			}
		}
		return simulate.Drones(config.Units), err
	}
	g, err := gameset.Listed(c).Named(simulatedName(c))
	if err != nil {
		return nil, err
	}
	override, err := g.Override(c)
	if err != nil {
		return nil, err
	}
	override = g.WithUnits(override, simulatedUnits)
	configure := func(seats uint8) (any, error) { return g.Configure(seats, 0, override) }
	kinds, err := console.Weights(c)
	if err != nil {
		return nil, err
	}
	s := &simulate.Subject{Game: g.Game, Configure: configure, Play: simulatedGame(g, kinds), Relay: c.Bool("relay")}
	seats := g.MostSeats(uint8(min(c.Int("clients")+simulate.SpareSeats, lockstep.MaxPlayers)), lockstep.MaxPlayers, 0, override)
	for n := uint8(1); n < seats; n++ {
		if g.SeatsFit(n, 0, override) {
			s.Seats = append(s.Seats, n)
		}
	}
	s.Seats = append(s.Seats, seats)
	config, err := configure(seats)
	if err == nil {
		err = g.Accepts(seats, 1, config)
	}
	if err != nil || c.IsSet("artifact") {
		return s, err
	}
	return s, console.ThinHint(locksteptest.Thin(g.Game, locksteptest.Options{
		Config: config, Players: seats, Seed: c.Uint64("seed"), Weights: kinds, AllowThin: c.String("allow-thin"), Floor: g.Floor,
	}, g.Bots()), "--clients N, ")
}

// enough returns an error if all matches together reached less than the game's floor. The simulator's own game has none.
func enough(c *cli.Context, r *locksteptest.Reached) error {
	g, err := gameset.Listed(c).Named(simulatedName(c))
	if err != nil {
		return nil
	}
	kinds, err := console.Weights(c)
	if err != nil {
		return err
	}
	return console.ThinHint(g.Floor.Check(r, &locksteptest.Options{Weights: kinds, AllowThin: c.String("allow-thin")}, true), "--clients N, --seeds N, --minutes N, ")
}

// simulatedGame returns the players of a simulation: a random half give random commands by weight, the others are bots.
func simulatedGame(g *gameset.Playable, weights map[string]int) func(lockstep.Player, *rand.Rand) func(*lockstep.Simulation) []any {
	return func(p lockstep.Player, r *rand.Rand) func(*lockstep.Simulation) []any {
		seed := r.Uint64()
		if g.Maker == nil || r.IntN(2) == 0 {
			return locksteptest.RandomBot(g.Game, everyCall, weights)(p, seed)
		}
		return g.Bot(p, seed)
	}
}

// everyCall is the rate of a random bot that gives a command whenever it is asked.
const everyCall = 16

// playArtifact plays the failure in a file again.
func playArtifact(c *cli.Context, name string) error {
	a, err := simulate.OpenArtifact(name)
	if err != nil {
		return err
	}
	if !c.IsSet("game") {
		if err := c.Set("game", a.Game); err != nil {
			return err
		}
	}
	s, err := simulateSubject(c)
	if err == nil {
		s, err = a.Of(s)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	out, err := simulate.Twice(s, a.Plan)
	if err != nil {
		return err
	}
	result := "no invariant is violated"
	if out.Violation != nil {
		result, err = fmt.Sprint(out.Violation), console.ErrViolated
	}
	return gameset.Tell(c, map[string]any{"artifact": name, "trace": fmt.Sprintf("%016x", out.Trace), "violation": out.Violation, "last": out.Last}, func(w io.Writer) {
		printPlan(w, a.Plan)
		for _, line := range out.Last {
			fmt.Fprintln(w, line)
		}
		fmt.Fprintf(w, "trace %016x\n%s\n", out.Trace, result)
	}, err)
}

// printPlan prints the faults of a plan.
func printPlan(w io.Writer, p *simulate.Plan) {
	present := 0
	for i := range p.Machines {
		if !p.Machines[i].Absent {
			present++
		}
	}
	fmt.Fprintf(w, "seed %d, %s, %s:\n", p.Seed, console.Count(present, "client"), console.Count(len(p.Faults), "fault"))
	for _, f := range p.Faults {
		fmt.Fprintf(w, "%10.6f s  %s of client %d for %.3f s (%d)\n", float64(f.At)/1e6, f.Kind, f.Who, float64(f.For)/1e6, f.N)
	}
}

var errAlive = errors.New("some mutants survived")

// huntOf returns the hunt for mutants, or nil without --mutants.
func huntOf(c *cli.Context) (*mutants.Hunt, error) {
	if !c.Bool("mutants") {
		return nil, nil
	}
	if c.IsSet("artifact") {
		return nil, console.Usagef("--mutants: cannot be used with --artifact")
	}
	root, err := mutants.Checkout(".")
	if err != nil {
		return nil, console.Usagef("--mutants: needs a checkout of the engine, and the go command: %v", err)
	}
	return &mutants.Hunt{Root: root, Mutants: mutants.All(), Workers: c.Int("workers")}, nil
}

// A hunted is the result of a hunt for mutants.
type hunted struct {
	All    int      `json:"all"`
	Killed int      `json:"killed"`
	Median int      `json:"median_runs"` // until a mutant is killed
	Most   int      `json:"most_runs"`
	Alive  []mutant `json:"alive"`

	text string
}

type mutant struct {
	Name string `json:"name"`
	File string `json:"file"`
	Hits string `json:"breaks"`
}

// runHunt runs a hunt. It returns nil for nil.
func runHunt(w io.Writer, h *mutants.Hunt) (*hunted, error) {
	if h == nil {
		return nil, nil
	}
	bar := console.NewProgress(w, int64(len(h.Mutants)), "mutants")
	defer bar.Done()
	tried := int64(0)
	h.Found = func(*mutants.Result) { tried++; bar.Set(tried) }
	results, err := h.Run()
	if err != nil {
		return nil, err
	}
	return newHunted(mutants.Summarize(results)), nil
}

func newHunted(s *mutants.Summary) *hunted {
	h := &hunted{All: s.All, Killed: s.Killed, Median: s.Median, Most: s.Most, Alive: []mutant{}, text: s.String()}
	for _, r := range s.Alive {
		h.Alive = append(h.Alive, mutant{r.Mutant.Name, r.File, r.Mutant.Hits})
	}
	return h
}

func (h *hunted) print(w io.Writer) {
	for _, m := range h.Alive {
		fmt.Fprintf(w, "\nalive: %s\nin:    %s, and breaks %s\n", m.Name, m.File, m.Hits)
	}
}

// err returns an error if a mutant has survived.
func (h *hunted) err() error {
	if h == nil || len(h.Alive) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s: %w", len(h.Alive), console.Count(h.All, "mutant"), errAlive)
}
