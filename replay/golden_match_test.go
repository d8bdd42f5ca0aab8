package replay_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A golden is a match of bots whose replay is in the repository's testdata/replays.
type golden struct {
	name     string
	players  uint8
	ticks    lockstep.Tick
	config   skirmish.Config
	settings func(*lockstep.Settings)

	// before runs before a tick is sealed. Nil disables it.
	before func(*coordinator.Coordinator, lockstep.Tick) error
}

// Together they hold every record kind and every system command except InputDelaySet, after which a rerun could not
// know when to submit.
var goldens = []golden{
	{
		name: "duel", players: 2, ticks: 1200, config: skirmish.Defaults(2, 100),
		settings: func(s *lockstep.Settings) { s.Seed, s.KeyframeEvery = 11, 600 },
	},
	{
		name: "four", players: 4, ticks: 600, config: skirmish.Defaults(4, 240),
		settings: func(s *lockstep.Settings) { s.Seed, s.CheckEvery, s.KeyframeEvery = 12, 1, 0 },
	},
	{
		name: "eight", players: 8, ticks: 400, config: skirmish.Defaults(8, 320),
		settings: func(s *lockstep.Settings) {
			s.Seed, s.TickMicros, s.KeyframeEvery = 1<<64-1, lockstep.TickPeriod(10), 0
		},
	},
	{
		name: "roster", players: 3, ticks: 400, config: skirmish.Defaults(3, 100),
		settings: func(s *lockstep.Settings) { s.Seed, s.KeyframeEvery = 13, 200 },
		before:   rosterHappens,
	},
}

// rosterHappens makes players join and leave.
func rosterHappens(c *coordinator.Coordinator, t lockstep.Tick) error {
	var err error
	switch t {
	case 30:
		_, err = c.Lose(1)
	case 40:
		_, err = c.TakeOver(1)
	case 60:
		_, err = c.Pause(0)
	case 61:
		_, err = c.Resume(2)
	case 80:
		_, err = c.Return(1)
	case 100:
		_, err = c.SetSpeed(150)
	case 150:
		err = c.Report(1, 140, &checksum.Sum{Hash: 1})
	case 200:
		_, err = c.Leave(2)
	case 210:
		err = c.Note(0, record.TopicChat, "gg \x1b[31m\u202e"+"\u00e9")
	}
	return err
}

// header returns the header of the match. It is the same on every machine.
func (g *golden) header(tb testing.TB, game *lockstep.Game) *lockstep.Header {
	tb.Helper()
	s := lockstep.DefaultSettings(g.players)
	g.settings(&s)
	var id lockstep.MatchID
	copy(id[:], "golden "+g.name)
	h, err := game.NewHeader(id, s, &g.config)
	if err != nil {
		tb.Fatal(err)
	}
	h.Platform, h.Sources = "golden", ""
	return h
}

// recordMatch plays the match and returns its replay.
func (g *golden) recordMatch(tb testing.TB, game *lockstep.Game) []byte {
	tb.Helper()
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	h := g.header(tb, game)
	c, err := coordinator.New(game, h, w, coordinator.Options{InputDelay: 1})
	if err != nil {
		tb.Fatal(err)
	}
	payloads := game.NewPayloads()
	var bots []*skirmish.Bot
	sequences := make([]lockstep.Sequence, g.players)
	for p := range lockstep.Player(g.players) {
		if _, err := c.Join(p); err != nil {
			tb.Fatal(err)
		}
		if err := c.Note(p, record.TopicName, fmt.Sprintf("bot %d", p)); err != nil {
			tb.Fatal(err)
		}
		bots = append(bots, skirmish.NewBot(p, h.Settings.Seed))
	}
	for t := lockstep.Tick(1); t <= g.ticks; t++ {
		for p, bot := range bots {
			for _, order := range bot.Think(lockstep.World[skirmish.World](c.Referee().Simulation())) {
				payload, err := payloads.EncodeAs(order.Kind, order.Value)
				if err != nil {
					tb.Fatal(err)
				}
				sequences[p]++
				c.Submit(lockstep.Player(p), sequences[p], order.Kind, payload)
			}
		}
		if g.before != nil {
			if err := g.before(c, t); err != nil {
				tb.Fatal(err)
			}
		}
		if _, err := c.Tick(); err != nil {
			tb.Fatal(err)
		}
	}
	finish(tb, c, w, "the golden match is over")
	return file.Bytes()
}

// A rerun plays the match of a replay again as a new match: it submits the logged commands to a coordinator of its own.
type rerun struct {
	game     *lockstep.Game
	file     bytes.Buffer
	writer   *replay.Writer
	c        *coordinator.Coordinator
	payloads *record.Payloads
	commands int
}

// again plays the match of a replay again and returns the rerun with the file that it wrote.
func again(tb testing.TB, game *lockstep.Game, file []byte) *rerun {
	tb.Helper()
	r := &rerun{game: game, payloads: game.NewPayloads()}
	r.writer = replay.NewWriter(&r.file, replay.WriterOptions{})
	if err := replay.Play(open(tb, file), nil, r.recordMatch); err != nil {
		tb.Fatal(err)
	}
	if err := r.writer.Close(); err != nil {
		tb.Fatal(err)
	}
	return r
}

// recordMatch submits the commands and reports of a record.
func (r *rerun) recordMatch(rec *record.Record) (err error) {
	switch rec.Kind {
	case record.KindHeader:
		r.c, err = coordinator.New(r.game, rec.Header, r.writer, coordinator.Options{InputDelay: 1})
	case record.KindFrame:
		for i := range rec.Frame.Commands {
			if err := r.command(&rec.Frame.Commands[i]); err != nil {
				return fmt.Errorf("tick %d: %w", rec.Tick, err)
			}
		}
		_, err = r.c.Tick()
	case record.KindEmpty:
		for range rec.Empty {
			if _, err := r.c.Tick(); err != nil {
				return err
			}
		}
	case record.KindMismatch:
		err = r.c.Report(rec.Player, rec.Tick, &checksum.Sum{Hash: rec.Hash})
	case record.KindNote:
		err = r.c.Note(rec.Player, rec.Topic, rec.Text)
	case record.KindEvent:
		err = r.c.Event(rec.Player, rec.Event, rec.Text)
	case record.KindEnd:
		err = r.c.End(rec.Text)
	}
	return err
}

func (r *rerun) command(c *lockstep.Command) (err error) {
	r.commands++
	if c.Player != lockstep.System {
		return r.c.Submit(c.Player, c.Sequence, c.Kind, c.Payload).Err()
	}
	r.payloads.Reset()
	if err := r.payloads.Decode(c); err != nil {
		return err
	}
	switch v := c.Value.(type) {
	case *lockstep.Joined:
		if r.c.Seated(v.Player) {
			_, err = r.c.Return(v.Player)
		} else {
			_, err = r.c.Join(v.Player)
		}
	case *lockstep.Left:
		_, err = r.c.Leave(v.Player)
	case *lockstep.Lost:
		_, err = r.c.Lose(v.Player)
	case *lockstep.TakenOver:
		_, err = r.c.TakeOver(v.Player)
	case *lockstep.Paused:
		_, err = r.c.Pause(v.Player)
	case *lockstep.Resumed:
		_, err = r.c.Resume(v.Player)
	case *lockstep.SpeedSet:
		_, err = r.c.SetSpeed(v.Percent)
	default:
		err = fmt.Errorf("no rerun of %T", v)
	}
	return err
}
