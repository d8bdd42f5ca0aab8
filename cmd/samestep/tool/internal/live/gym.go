//go:build !js

package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/bots"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// GymCommand returns the verb gym.
func GymCommand() *cli.Command {
	return &cli.Command{
		Name:      "gym",
		Usage:     "let a program of any language play or learn a game, as fast as both can",
		ArgsUsage: "[GAME]",
		Description: `Plays matches, episodes, with a program that speaks lines of JSON (docs/bots.md): it gets
what its seats see in each step, and answers with commands, or with a reset for the next
episode. The program is the one that has started gym, over standard input and output, or
that of --bot-command. The game's bots play the other seats. The same commands after a
reset with the same seed lead to the same episode.`,
		Flags: slices.Concat([]cli.Flag{
			&cli.UintFlag{Name: "players", Value: 2, Usage: "seats, 1 to 16; the default is another number if the game needs it"},
			&cli.StringFlag{Name: "seats", Value: "0", Usage: "`SEATS` that the program plays, such as 0,1, or all"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the first episode, unless its reset has one; without one, each episode has the next"},
			&cli.UintFlag{Name: "ticks", Usage: "truncate an episode after `N` ticks; 0: never"},
			&cli.UintFlag{Name: "episodes", Usage: "end after `N` episodes; 0: when the program ends"},
			&cli.StringFlag{Name: "record", Usage: "write a replay of each episode into `FOLDER`"},
			gameset.AssetsFlag, gameset.ConfigFlag, gameset.ScenarioFlag, gameset.BotFlag, console.JSONFlag,
		}, botFlags),
		Action: gym,
	}
}

// botFlags are those of verbs that speak with a program.
var botFlags = []cli.Flag{
	&cli.StringFlag{Name: "bot-command", Usage: "`COMMAND` of the shell that starts the program that plays, such as \"python3 bot.py\""},
	&cli.DurationFlag{Name: "bot-time", Value: time.Minute, Usage: "how long the program of --bot-command may take for an answer; 0: no limit"},
	&cli.UintFlag{Name: "every", Value: 1, Usage: "ticks of a step: the program is asked once in `N` ticks"},
	&cli.StringFlag{Name: "observe", Usage: "what the program sees: view or state; the default is a view if the rules have them"},
	&cli.StringFlag{Name: "fields", Usage: "the `FIELDS` of it, such as Units,Players; the default is all"},
}

// talkOf returns the conversation that the flags ask for.
func talkOf(c *cli.Context, g *gameset.Playable) (*bots.Talk, error) {
	if err := console.Between[uint](c, "every", 1, 0); err != nil {
		return nil, err
	}
	if err := console.Between[time.Duration](c, "bot-time", 0, 0); err != nil {
		return nil, err
	}
	return bots.New(g, bots.Options{Observe: c.String("observe"), Fields: c.String("fields")})
}

// unwrapped returns the writer of a verb without what cleans it, for another goroutine.
func unwrapped(w io.Writer) io.Writer {
	if c, ok := w.(*words.Cleaner); ok {
		return c.Unwrap()
	}
	return w
}

func gym(c *cli.Context) error {
	e, err := newGym(c)
	if err != nil {
		return err
	}
	command, child := c.String("bot-command"), c.IsSet("bot-command")
	switch {
	case !child && (c.IsSet("bot-time") || c.Bool(console.JSONFlag.Name)):
		return console.Usagef("--bot-time and --json are for --bot-command: standard output has the protocol")
	case child && command == "":
		return console.Wrongf(c, "bot-command", "got no command")
	}
	ctx, stop := console.Interruptible(c)
	defer stop()
	program := bots.Own(c.App.Reader, unwrapped(c.App.Writer))
	if child {
		if program, err = bots.Start(command, c.Duration("bot-time"), unwrapped(c.App.ErrWriter)); err != nil {
			return err
		}
	}
	e.talk.With(program, e.seats)
	began := time.Now()
	if err = e.run(ctx); ctx.Err() != nil {
		err = console.ErrInterrupted
	}
	program.Close(err == nil)
	e.summary.tell(time.Since(began), e.period)
	if !child {
		if err == nil {
			e.summary.print(c.App.ErrWriter)
		}
		return err
	}
	if err != nil && e.summary.Episodes == 0 {
		return err
	}
	return gameset.Tell(c, &e.summary, e.summary.print, err)
}

// A gymnasium plays episodes of a game.
type gymnasium struct {
	game     *gameset.Playable
	talk     *bots.Talk
	players  uint8
	seats    []lockstep.Player // of the program
	override []byte            // JSON of --config
	every    lockstep.Tick
	most     lockstep.Tick // ticks of an episode; 0: any
	episodes int           // 0: any
	seed     uint64        // of the next episode
	folder   string        // of replays, or ""
	period   uint32        // microseconds of a tick
	views    [][]byte
	payloads *record.Payloads
	summary  gymSummary

	episode *episode // or nil
}

func newGym(c *cli.Context) (*gymnasium, error) {
	g := gameset.Listed(c)[0]
	var err error
	if name := c.Args().First(); name != "" {
		if g, err = gameset.GameNamed(c, name, ""); err != nil {
			return nil, err
		}
	}
	if err := console.Between[uint](c, "players", 1, gameset.MaxRoom); err != nil {
		return nil, err
	}
	if g, err = g.InScenario(c); err != nil {
		return nil, err
	}
	if g, err = g.AgainstBots(c); err != nil {
		return nil, err
	}
	e := &gymnasium{game: g, every: gameset.TickOf(c, "every"), most: gameset.TickOf(c, "ticks"), episodes: int(c.Uint("episodes")), seed: c.Uint64("seed"), folder: c.String("record"), payloads: g.NewPayloads()}
	if e.talk, err = talkOf(c, g); err != nil {
		return nil, err
	}
	if e.override, err = g.Override(c); err != nil {
		return nil, err
	}
	players, err := g.Seats(c, uint(g.UnitsIn(e.override)), e.override)
	if err != nil {
		return nil, err
	}
	e.players = uint8(players)
	if e.seats, err = seatsOf(c.String("seats"), e.players); err != nil {
		return nil, console.Wrongf(c, "seats", "%v", err)
	}
	e.views = make([][]byte, len(e.seats))
	e.period = lockstep.DefaultSettings(e.players).TickMicros
	if e.folder != "" {
		err = os.MkdirAll(e.folder, 0o700)
	}
	return e, err
}

// seatsOf reads the seats of a program.
func seatsOf(text string, players uint8) (seats []lockstep.Player, err error) {
	if text == "all" {
		for p := range players {
			seats = append(seats, lockstep.Player(p))
		}
		return seats, nil
	}
	for _, word := range strings.Split(text, ",") {
		p, err := strconv.ParseUint(word, 10, 8)
		if err != nil || p >= uint64(players) || slices.Contains(seats, lockstep.Player(p)) {
			return nil, fmt.Errorf("got %q, want different seats from 0 to %d, or all", text, players-1)
		}
		seats = append(seats, lockstep.Player(p))
	}
	slices.Sort(seats)
	return seats, nil
}

// run plays until the program ends, or the episodes are over.
func (e *gymnasium) run(ctx context.Context) (err error) {
	defer func() {
		if e.episode != nil {
			err = cmp.Or(e.close("the program has ended"), err)
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}()
	reset, err := e.talk.Greet(ctx, "gym", e.players, e.period, e.every)
	if err == io.EOF {
		return errors.New("the program has ended before its first reset")
	} else if err != nil {
		return err
	}
	for {
		step, err := e.begin(reset)
		if err != nil {
			return err
		}
		for reset = nil; reset == nil; {
			reply, err := e.say(ctx, step)
			if err != nil {
				return err
			}
			if reset = reply.Reset; reset != nil {
				break
			}
			if step, err = e.step(reply.Commands); err != nil {
				return err
			}
		}
		if e.episode != nil {
			if err := e.close("the program has reset it"); err != nil {
				return err
			}
		}
	}
}

// say says what the seats see, and closes an episode that is over before it does.
func (e *gymnasium) say(ctx context.Context, s *bots.Step) (*bots.Reply, error) {
	sim := e.episode.match.Referee().Simulation()
	if !e.talk.Views() {
		e.views[0] = sim.AppendState(e.views[0][:0])
	} else {
		for i, p := range e.seats {
			var err error
			if e.views[i], err = sim.AppendView(e.views[i][:0], sim.ViewerOf(p)); err != nil {
				return nil, err
			}
		}
	}
	if s.Terminated || s.Truncated {
		if err := e.close("it has the ticks of --ticks"); err != nil {
			return nil, err
		}
		if e.episodes > 0 && e.summary.Episodes >= e.episodes {
			_, err := e.talk.Say(ctx, s, e.views...)
			return nil, cmp.Or(err, io.EOF) // these were all episodes
		}
	}
	return e.talk.Say(ctx, s, e.views...)
}

// An episode is a match that gym plays.
type episode struct {
	match    *coordinator.Coordinator
	writer   *replay.Writer // or nil
	file     *os.File
	bots     []lockstep.Bot // by seat; nil: the program's
	sequence []lockstep.Sequence
	scores   []int // by the program's seats
}

// nowhere is the log of an episode that is not recorded.
type nowhere struct{}

// Append implements [lockstep.Log].
func (nowhere) Append([]byte) error { return nil }

// begin begins an episode, and returns its first step.
func (e *gymnasium) begin(r *bots.Reset) (*bots.Step, error) {
	seed, override := e.seed, e.override
	if r.Seed != nil {
		seed = uint64(*r.Seed)
	}
	if r.Config != nil {
		override = r.Config
	}
	config, err := e.game.Configure(e.players, 0, override)
	if err != nil {
		return nil, e.talk.Wrong("reset: config: %v", err)
	}
	settings := lockstep.DefaultSettings(e.players)
	settings.Seed = seed
	var id lockstep.MatchID
	rand.Read(id[:])
	header, err := e.game.NewHeader(id, settings, config)
	if err != nil {
		return nil, err
	}
	ep := &episode{sequence: make([]lockstep.Sequence, e.players), bots: make([]lockstep.Bot, e.players)}
	for p := range ep.bots {
		if !slices.Contains(e.seats, lockstep.Player(p)) {
			ep.bots[p] = e.game.Bot(lockstep.Player(p), seed)
		}
	}
	var log lockstep.Log = nowhere{}
	if e.folder != "" {
		if ep.file, err = os.CreateTemp(e.folder, e.game.Name()+".*.part"); err != nil {
			return nil, err
		}
		ep.writer = replay.NewWriter(ep.file, replay.WriterOptions{Rules: e.game.Reference()})
		log = ep.writer
	}
	e.episode = ep // which run closes
	if ep.match, err = coordinator.New(e.game.Game, header, log, coordinator.Options{}); err != nil {
		if r.Config != nil {
			err = e.talk.Wrong("reset: %v", err)
		}
		return nil, err
	}
	e.seed = seed + 1
	e.summary.Episodes++
	for p := range e.players {
		if _, err := ep.match.Join(lockstep.Player(p)); err != nil {
			return nil, err
		}
	}
	if _, err := ep.match.Tick(); err != nil { // in which the seats are taken
		return nil, err
	}
	for _, p := range e.seats {
		score, err := e.game.ScoreOf(ep.match.Referee().Simulation(), p)
		if err != nil {
			return nil, err
		}
		ep.scores = append(ep.scores, score)
	}
	var text strings.Builder
	if err := e.game.WriteConfig(&text, config); err != nil {
		return nil, err
	}
	s := &bots.Step{Begins: true, Episode: e.summary.Episodes, Seed: &seed, Config: []byte(strings.TrimSpace(text.String()))}
	return s, e.note(s)
}

// note completes a step by the state of the match.
func (e *gymnasium) note(s *bots.Step) error {
	m := e.episode.match
	s.Tick = m.Now()
	var result []byte
	if result, s.Terminated = m.Result(); s.Terminated {
		s.Result = m.Header().ResultJSON(result)
	}
	s.Truncated = !s.Terminated && e.most > 0 && s.Tick >= e.most
	for i, p := range e.seats {
		score, err := e.game.ScoreOf(m.Referee().Simulation(), p)
		if err != nil {
			return err
		}
		s.Rewards = append(s.Rewards, score-e.episode.scores[i])
		e.episode.scores[i] = score
	}
	return nil
}

// step plays the ticks of a step, the first of which gets the commands.
func (e *gymnasium) step(commands []bots.Command) (*bots.Step, error) {
	s, ep := &bots.Step{}, e.episode
	e.summary.Steps++
	for _, c := range commands {
		if r, err := e.submit(c.Player, c.Kind, c.Is); err != nil {
			return nil, err
		} else if r.Reason != lockstep.Accepted {
			s.Refused = append(s.Refused, bots.Refused{Seat: int(c.Player), Name: c.Name, Reason: r.Err().Error()})
		}
	}
	for range e.every {
		for p, bot := range ep.bots {
			if bot == nil {
				continue
			}
			for _, v := range bot(ep.match.Referee().Simulation()) {
				kind, _, err := e.payloads.Encode(v)
				if err != nil {
					return nil, err
				}
				if _, err := e.submit(lockstep.Player(p), kind, v); err != nil {
					return nil, err
				}
			}
		}
		if _, err := ep.match.Tick(); err != nil {
			return nil, err
		}
		e.summary.Ticks++
		if _, over := ep.match.Result(); over || e.most > 0 && ep.match.Now() >= e.most {
			break
		}
	}
	return s, e.note(s)
}

// submit gives a command.
func (e *gymnasium) submit(p lockstep.Player, kind lockstep.Kind, v any) (lockstep.Receipt, error) {
	payload, err := e.payloads.EncodeAs(kind, v)
	if err != nil {
		return lockstep.Receipt{}, err
	}
	e.episode.sequence[p]++
	return e.episode.match.Submit(p, e.episode.sequence[p], kind, payload), nil
}

// close ends the episode, whose log says why unless the rules have ended it.
func (e *gymnasium) close(reason string) error {
	ep := e.episode
	e.episode = nil
	var err error
	if ep.match != nil && ep.match.Err() == nil {
		err = ep.match.End(reason)
	}
	if ep.file == nil {
		return err
	}
	defer os.Remove(ep.file.Name()) // fails after the rename
	err = cmp.Or(err, ep.writer.Close())
	err = cmp.Or(err, ep.file.Close())
	if err != nil || ep.match == nil {
		return err
	}
	name := filepath.Join(e.folder, fmt.Sprintf("%s-%06d.ssr", e.game.Name(), e.summary.Episodes))
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("--record: %s exists, want a folder without it", name)
	}
	e.summary.Replays++
	return os.Rename(ep.file.Name(), name)
}

// A gymSummary is what gym tells at its end.
type gymSummary struct {
	Episodes int     `json:"episodes"`
	Steps    int     `json:"steps"`
	Ticks    int     `json:"ticks"`
	Replays  int     `json:"replays"`
	Seconds  float64 `json:"seconds"`
	Rate     float64 `json:"steps_per_second"`
	RealTime float64 `json:"times_real_time"`
}

func (s *gymSummary) tell(took time.Duration, period uint32) {
	s.Seconds = took.Seconds()
	s.Rate = float64(s.Steps) / max(s.Seconds, 1e-6)
	s.RealTime = float64(s.Ticks) * float64(period) / 1e6 / max(s.Seconds, 1e-6)
}

func (s *gymSummary) print(w io.Writer) {
	fmt.Fprintf(w, "%s, %s: %.0f steps a second, %.0f times real time", console.Count(s.Episodes, "episode"), console.Count(s.Steps, "step"), s.Rate, s.RealTime)
	if s.Replays > 0 {
		fmt.Fprintf(w, "; %s", console.Count(s.Replays, "replay"))
	}
	fmt.Fprintln(w)
}
