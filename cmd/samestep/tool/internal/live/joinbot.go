//go:build !js

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/bots"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A joinedProgram is the program of --bot-command in a live match. It gets the latest tick whenever it has answered, so a slow one misses
// some, and the match waits for none. Its own goroutine speaks with it; everything else is of the session's.
type joinedProgram struct {
	talk     *bots.Talk
	program  *bots.Program
	game     *gameset.Playable
	every    lockstep.Tick
	payloads *record.Payloads

	seat    lockstep.Player
	seated  bool
	begun   bool
	told    lockstep.Tick // of the last step
	score   int
	names   map[lockstep.Sequence]string // of commands without a receipt
	refused []bots.Refused
	seen    []byte
	last    []byte // the line of the end, or nil

	ticked chan struct{} // has room for one
	done   chan struct{}
	err    error // valid when done is closed
}

// joinProgram returns the program that the flags ask for, or nil.
func joinProgram(c *cli.Context, g *gameset.Playable, feeds bool) (*joinedProgram, error) {
	if !c.IsSet("bot-command") {
		for _, name := range []string{"bot-time", "every", "observe", "fields"} {
			if c.IsSet(name) {
				return nil, console.Usagef("--%s is for --bot-command only", name)
			}
		}
		return nil, nil
	}
	talk, err := talkOf(c, g)
	switch {
	case err != nil:
		return nil, err
	case c.IsSet("bot") || c.Bool("spectate"):
		return nil, console.Usagef("--bot-command: the program plays, so want no --bot and --spectate")
	case c.String("bot-command") == "":
		return nil, console.Wrongf(c, "bot-command", "got no command")
	case feeds && !talk.Views():
		return nil, console.Usagef("--observe: got state, want view: this client has no state")
	}
	b := &joinedProgram{talk: talk, game: g, every: gameset.TickOf(c, "every"), payloads: g.NewPayloads(), names: map[lockstep.Sequence]string{}, ticked: make(chan struct{}, 1), done: make(chan struct{})}
	b.program, err = bots.Start(c.String("bot-command"), c.Duration("bot-time"), unwrapped(c.App.ErrWriter))
	return b, err
}

var errNoSeat = errors.New("the match has no seat for the program of --bot-command")

// run speaks with the program until the session ends. An error of the program ends the session.
func (b *joinedProgram) run(ctx context.Context, s *client.Session) {
	defer close(b.done)
	b.err = b.play(ctx, s)
	if ctx.Err() != nil || errors.Is(b.err, client.ErrOver) {
		b.err = nil
	}
	if b.err == io.EOF {
		b.err = fmt.Errorf("the program of --bot-command has ended before the match")
	}
	if b.err != nil {
		s.Do(func(c *player.Client) { c.Leave("its program has failed") }) // an error: it is over
	}
}

func (b *joinedProgram) play(ctx context.Context, s *client.Session) error {
	var players uint8
	var period lockstep.Time
	if !b.wait(s) {
		return nil
	}
	if err := s.Do(func(c *player.Client) { players, period = sizeOf(c) }); err != nil {
		return err
	}
	if !b.seated {
		return errNoSeat
	}
	b.talk.With(b.program, []lockstep.Player{b.seat})
	reset, err := b.talk.Greet(ctx, "join", players, uint32(period), b.every)
	if err != nil {
		return err
	}
	if reset.Seed != nil || reset.Config != nil {
		return b.talk.Wrong(`a live match has its own seed and configuration: want {"reset": {}}`)
	}
	for {
		var line []byte
		var failed error
		if err := s.Do(func(c *player.Client) { line, failed = b.look(c) }); err != nil || failed != nil {
			return errors.Join(failed, err)
		}
		if line != nil {
			reply, err := b.talk.Ask(ctx, line, false)
			if err != nil {
				return err
			}
			if reply.Reset != nil {
				return b.talk.Wrong("a live match cannot be reset")
			}
			if err := s.Do(func(c *player.Client) { failed = b.submit(c, reply.Commands) }); err != nil || failed != nil {
				return errors.Join(failed, err)
			}
		}
		if !b.wait(s) {
			break
		}
	}
	if b.last == nil {
		return nil
	}
	_, err = b.talk.Ask(ctx, b.last, true)
	if err == io.EOF {
		return nil
	}
	return err
}

// wait waits for a tick, and reports false at the end of the session.
func (b *joinedProgram) wait(s *client.Session) bool {
	select {
	case <-b.ticked:
		return true
	case <-s.Done():
		return false
	}
}

// sizeOf returns the seats of a match and the time of a tick.
func sizeOf(c *player.Client) (players uint8, period lockstep.Time) {
	if sight, ok := c.Sight(); ok {
		return sight.Players, sight.Period
	}
	settings := c.Simulation().Header().Settings
	return settings.Players, lockstep.Time(settings.TickMicros)
}

// tick says that there is something new to see.
func (b *joinedProgram) tick() {
	select {
	case b.ticked <- struct{}{}:
	default:
	}
}

// look returns the next step as a line, or nil if it is too early.
func (b *joinedProgram) look(c *player.Client) ([]byte, error) {
	if b.begun && c.Tick() < b.told+b.every {
		return nil, nil
	}
	return b.line(c, &bots.Step{})
}

// line completes a step by what the client has.
func (b *joinedProgram) line(c *player.Client, s *bots.Step) ([]byte, error) {
	if sight, ok := c.Sight(); ok {
		s.Tick, b.seen = sight.Tick, append(b.seen[:0], sight.Current...)
	} else {
		sim := c.Simulation()
		var err error
		if s.Tick = sim.Tick(); b.talk.Views() {
			b.seen, err = sim.AppendView(b.seen[:0], sim.ViewerOf(b.seat))
		} else {
			b.seen = sim.AppendState(b.seen[:0])
		}
		score, failed := b.game.ScoreOf(sim, b.seat)
		if err = errors.Join(err, failed); err != nil {
			return nil, err
		}
		if b.begun {
			s.Rewards = []int{score - b.score}
		}
		b.score = score
		if result, ended := sim.Ended(); ended && s.Terminated {
			s.Result = sim.Header().ResultJSON(result)
		}
		if !b.begun && !b.talk.Views() { // who sees views may not know it
			var text strings.Builder
			if err := b.game.ConfigSchema().DumpJSON(&text, sim.Header().Config); err != nil {
				return nil, err
			}
			s.Config, s.Seed = []byte(strings.TrimSpace(text.String())), &sim.Header().Settings.Seed
		}
	}
	s.Begins, s.Episode, s.Refused = !b.begun, 1, b.refused
	b.begun, b.told, b.refused = true, s.Tick, nil
	return b.talk.Line(s, b.seen), nil
}

// submit gives the program's commands.
func (b *joinedProgram) submit(c *player.Client, commands []bots.Command) error {
	for _, command := range commands {
		if kind, _, err := b.payloads.Encode(command.Is); err != nil || kind != command.Kind {
			return b.talk.Wrong("the command %s has the type of another one, and only gym can give it", command.Name)
		}
		sequence, err := c.Submit(command.Is)
		if err != nil {
			b.refuse(command.Name, err)
			continue
		}
		b.names[sequence] = command.Name
	}
	return nil
}

func (b *joinedProgram) refuse(name string, err error) {
	if len(b.refused) < record.CommandWindow {
		b.refused = append(b.refused, bots.Refused{Seat: int(b.seat), Name: name, Reason: err.Error()})
	}
}

// event takes an event of the client.
func (b *joinedProgram) event(c *player.Client, e any) {
	switch e := e.(type) {
	case player.Welcomed:
		b.seat, b.seated = e.Seat, e.Seat != lockstep.System
	case lockstep.Receipt:
		if err := e.Err(); err != nil && e.Reason.Final() {
			b.refuse(b.names[e.Sequence], err)
		}
		if e.Reason.Final() {
			delete(b.names, e.Sequence)
		}
	case player.Ended:
		if b.begun {
			b.last, _ = b.line(c, &bots.Step{Terminated: e.ByRules, Truncated: !e.ByRules}) // an error: it does not learn the end
			b.last = append([]byte(nil), b.last...)
		}
	}
}

// close ends the program, and returns its error.
func (b *joinedProgram) close() error {
	<-b.done
	b.program.Close(b.err == nil)
	return b.err
}
