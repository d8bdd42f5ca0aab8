//go:build !js

package live

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// DemoCommand returns the verb demo.
func DemoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "play a match of bots, record it, verify it, and find a planted desync",
		Description: `Plays a match of the game as fast as this machine can, in one process: a
coordinator, a copy of the simulation for each player, and bots in the seats. Halfway
through, a player joins late. Later, one field of one player's copy is changed behind
the engine's back, a field that keeps its change until the next check. The demo then
prints how the engine handled all this, and explains the desync's bundle (see desync
explain). It exits with 0 only if everything worked.`,
		Flags: []cli.Flag{
			&cli.UintFlag{Name: "seconds", Value: 20, Usage: "length of the match, 2 to 36000; the default is at least 400 ticks, and shorter for a game whose rules end it earlier"},
			&cli.UintFlag{Name: "players", Value: 4, Usage: "bots that play, 2 to 16; the default is smaller for a game with fewer seats"},
			gameset.GameFlag, gameset.AssetsFlag, gameset.ConfigFlag, gameset.ScenarioFlag, gameset.BotFlag,
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the map, the match and the bots"},
			&cli.StringFlag{Name: "dir", Usage: "`FOLDER` for the replay and the bundle; the default is a new private folder in the temporary folder"},
			&cli.BoolFlag{Name: "network", Usage: "play in real time over real sockets and bad links, with a lost connection, a slow spectator and a late one"},
			&cli.BoolFlag{Name: "web", Usage: "serve a page on which you play against the bots in a browser, until interrupted"},
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8766", Usage: "`ADDRESS` to listen on, with --web"},
			console.JSONFlag,
		},
		Action: demo,
	}
}

func demo(c *cli.Context) error {
	g, err := gameset.ChosenGame(c)
	if err != nil {
		return err
	}
	if err := cmp.Or(console.Between[uint](c, "seconds", 2, 36000), console.Between[uint](c, "players", 2, mostDemoPlayers)); err != nil {
		return err
	}
	if g, err = g.InScenario(c); err != nil {
		return err
	}
	if g, err = g.AgainstBots(c); err != nil {
		return err
	}
	o := demoOptions{Program: c.App.Name, Game: g, Tick: g.Period(), Seed: c.Uint64("seed"), Dir: c.String("dir")}
	if c.Bool("network") {
		o.Tick = min(o.Tick, liveTick)
	}
	if o.Length = o.ticksIn(c.Uint("seconds")); !c.IsSet("seconds") {
		o.Length = max(o.Length, usualDemo)
	} else if o.Length < shortestDemo {
		return console.Usagef("--seconds: got %d, want at least %v for %d ticks of this game", c.Uint("seconds"), math.Ceil(o.timeOf(shortestDemo).Seconds()), shortestDemo)
	}
	if o.override, err = g.Override(c); err != nil {
		return err
	}
	o.units = uint(g.UnitsIn(o.override))
	if o.Players, err = g.Seats(c, o.units, o.override); err != nil {
		return err
	}
	if c.Bool("web") {
		return webDemo(c, o)
	}
	if !c.IsSet("seconds") || c.Bool("network") {
		if err := o.fit(c.IsSet("seconds"), c.Bool("network")); err != nil {
			return err
		}
	}
	if c.IsSet("listen") {
		return console.Usagef("--listen is for --web only")
	}
	bar := console.NewProgress(c.App.ErrWriter, int64(o.Length), "ticks")
	if c.Bool("network") {
		s, err := runNetworkDemo(c.Context, o, bar)
		if err != nil {
			return err
		}
		return gameset.Tell(c, s, s.print, s.Failure())
	}
	s, err := runDemo(o, bar)
	if err != nil {
		return err
	}
	return gameset.Tell(c, s, s.print, s.Failure())
}

const (
	usualDemo     = 400    // ticks of the match, at least, if nobody says how many and the rules do not end it before
	shortestDemo  = 4      // ticks in which all of the demo can happen
	liveTick      = 50_000 // microseconds of a tick in real time, at most
	fewestSeconds = 8      // in which a short match is played in real time
	keyframeTicks = 300    // from one keyframe to the next
)

// fit makes the match shorter than one that the rules end before, unless the length was given.
func (o *demoOptions) fit(given, live bool) error {
	config, err := o.configure(o.Players)
	if err != nil {
		return err
	}
	end, err := o.Game.Length(uint8(o.Players), o.Seed, config, o.Length+1)
	if err != nil || end > o.Length {
		return err
	}
	switch {
	case given:
		return endsBefore(end, o.Length)
	case end*3/4 < shortestDemo:
		return endsBefore(end, shortestDemo*4/3+1)
	}
	o.Length = end * 3 / 4 // the demo's bots give their commands later
	if live {
		o.Tick = max(o.Tick, fewestSeconds*1_000_000/uint32(o.Length))
	}
	return nil
}

// runDemo plays the match, verifies its replay and finds the planted desync.
func runDemo(o demoOptions, bar *console.Progress) (*demoStory, error) {
	if err := o.makeDir(); err != nil {
		return nil, err
	}
	path := filepath.Join(o.Dir, o.Game.Name()+".ssr")
	var m *demoMatch
	var broken error
	from := time.Now()
	if err := files.Replace(path, func(f *os.File) (err error) {
		if m, err = newDemoMatch(o, f); err != nil {
			return err
		}
		from = time.Now()
		if broken = m.play(bar); breaks(broken) {
			return m.writer.Close()
		}
		return broken
	}); err != nil {
		return nil, err
	}
	if broken != nil {
		return nil, m.broken(path, broken)
	}
	bar.Done()
	s := m.story(time.Since(from))
	if err := s.readReplay(path); err != nil {
		return nil, err
	}
	if m.evidence == nil {
		return s, nil // the story says that the desync was not detected
	}
	s.Explained.Bundle = fmt.Sprintf("%s-desync-%d-player%d.zip", strings.TrimSuffix(path, ".ssr"), m.report.Tick, m.report.Player)
	if err := writeBundle(s.Explained.Bundle, path, m.coordinator.Referee().Header(), m.evidence, o.Game); err != nil {
		return nil, err
	}
	return s, s.Explain()
}

// A demoMatch is a coordinator and all players, in one process.
type demoMatch struct {
	options     demoOptions
	game        *lockstep.Game
	coordinator *coordinator.Coordinator
	writer      *replay.Writer
	tail        *record.Tail
	players     []*demoPlayer
	late        *lockstep.Follower // nil until somebody joins late
	payloads    *record.Payloads

	commands, rejected int
	joined             lockstep.Tick // of the late joiner
	planted            plantedError
	failed             error // of a copy without a planted error, whose seat follows; or nil
	failedSeat         lockstep.Player
	held               *heldCopy                 // of the player in whose copy the error is planted, until it is
	report             *coordinator.DesyncReport // the first one
	divergence         *lockstep.Divergence      // behind the report
	evidence           *host.Evidence            // of the report
}

// A demoPlayer is a copy of the match, and the bot that plays in it.
type demoPlayer struct {
	seat     lockstep.Player
	follower *lockstep.Follower
	bot      lockstep.Bot
	sequence lockstep.Sequence
}

// newDemoMatch begins the match and writes its log to file.
func newDemoMatch(o demoOptions, file io.Writer) (*demoMatch, error) {
	m := &demoMatch{options: o, game: o.Game.Game, writer: replay.NewWriter(file, replay.WriterOptions{Rules: o.Game.Reference()}), tail: &record.Tail{}}
	m.payloads = m.game.NewPayloads()
	settings := lockstep.DefaultSettings(uint8(o.Players))
	settings.Seed, settings.TickMicros = o.Seed, o.Tick
	settings.CheckEvery = o.checkEvery()
	settings.KeyframeEvery = keyframeTicks
	var id lockstep.MatchID
	rand.Read(id[:])
	config, err := o.configure(o.Players)
	if err != nil {
		return nil, err
	}
	header, err := m.game.NewHeader(id, settings, config)
	if err != nil {
		return nil, err
	}
	// Only the referee and the copy that will differ keep the states since the check before last, which tell the field.
	// If every copy did, a large match would take gigabytes.
	history := lockstep.FollowerOptions{History: lockstep.HistoryOptions{
		Length: 2 * int(settings.CheckEvery), EveryTick: true, States: true,
	}}
	for p := range o.Players {
		kept := lockstep.FollowerOptions{}
		if p == o.Players-1 {
			kept = history
		}
		kept.Flight = new(flight.Ring)
		m.players = append(m.players, &demoPlayer{
			seat: lockstep.Player(p), follower: m.game.NewFollower(kept), bot: o.Game.Bot(lockstep.Player(p), o.Seed),
		})
	}
	history.Flight = new(flight.Ring)
	m.coordinator, err = coordinator.New(m.game, header, record.Tee(m.writer, m.tail, m), coordinator.Options{
		InputDelay: 2, Referee: history,
	})
	if err != nil {
		return nil, err
	}
	for _, p := range m.players {
		if _, err := m.coordinator.Join(p.seat); err != nil {
			return nil, err
		}
		if err := m.coordinator.Note(p.seat, record.TopicName, playerName(p.seat)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Append gives a record to all followers of the match, as the network would. That a follower fails is no fault of the log.
func (m *demoMatch) Append(raw []byte) error {
	if record.KindOf(raw) == record.KindPanic {
		return nil // no peer gets it
	}
	for _, p := range m.players {
		if m.held != nil && p == m.held.player {
			m.held.records = append(m.held.records, slices.Clone(raw))
		} else if err := p.follower.Append(raw); err != nil && m.failed == nil && !m.expected(p, err) {
			m.failed, m.failedSeat = fmt.Errorf("player %d: %w", p.seat, err), p.seat
		}
	}
	if m.late != nil {
		return m.late.Append(raw)
	}
	return nil
}

// breaks reports whether err, of play, shows a fault of the rules, so that the replay is worth keeping.
func breaks(err error) bool {
	return errors.As(err, new(*lockstep.PanicError)) || errors.As(err, new(*lockstep.DesyncError))
}

// broken writes the bundle of a panic of the rules, and returns an error that says what to do with the replay of a match that err has ended.
func (m *demoMatch) broken(path string, err error) error {
	replayed := words.ShellWord(path)
	fault := (*lockstep.PanicError)(nil)
	if !errors.As(err, &fault) {
		return fmt.Errorf("demo: %w: without a planted error, so the rules have no fixed result; try: %s fuzz, and %s vet; the replay is %s", err, m.options.Program, m.options.Program, replayed)
	}
	e := &host.Evidence{Report: coordinator.DesyncReport{Tick: fault.Tick, Player: lockstep.System}, Participants: m.participants()}
	e.Panic = &record.Panic{Where: fault.Where, Text: fmt.Sprint(fault.Value), Stack: string(fault.Stack)}
	whose := "server"
	if m.failed != nil {
		e.Report.Player, whose = m.failedSeat, fmt.Sprintf("player%d", m.failedSeat)
	}
	bundle := fmt.Sprintf("%s-panic-%d-%s.zip", strings.TrimSuffix(path, ".ssr"), fault.Tick, whose)
	if err := writeBundle(bundle, path, m.coordinator.Referee().Header(), e, m.options.Game); err != nil {
		return err
	}
	return fmt.Errorf("demo: %w; try: %s desync explain %s; the replay is %s", err, m.options.Program, words.ShellWord(bundle), replayed)
}

// expected reports whether err is the desync of the player with the planted error.
func (m *demoMatch) expected(p *demoPlayer, err error) bool {
	_, desynced := err.(*lockstep.DesyncError)
	return desynced && m.planted.Tick > 0 && p.seat == m.planted.Player
}

// takeDesync keeps the first desync report, and finds the field while both sides still have the states.
func (m *demoMatch) takeDesync() {
	reports := m.coordinator.Desyncs()
	if m.report != nil || len(reports) == 0 {
		return
	}
	r := reports[0]
	m.report, m.evidence = r, m.collect(r)
	if d, ok := lockstep.Diverged(m.coordinator.Referee(), m.players[r.Player].follower, 1); ok {
		if d.Fields.Total > 0 { // named as all reports name them
			d.Fields, _, _ = desync.DiffStates(m.game.StateSchema(), m.coordinator.Referee().State(d.Tick), m.players[r.Player].follower.State(d.Tick), "")
		}
		m.divergence = &d
	}
}

// collect collects the evidence of a desync as a server does, but with the states of every tick since the sides agreed.
func (m *demoMatch) collect(r *coordinator.DesyncReport) *host.Evidence {
	e := &host.Evidence{Report: *r, Participants: m.participants()}
	for t := r.Agreed; t <= r.Tick; t++ {
		referee, player := m.coordinator.Referee().State(t), m.players[r.Player].follower.State(t)
		if referee != nil && player != nil {
			e.Exhibits = append(e.Exhibits, host.Exhibit{Tick: t, Referee: slices.Clone(referee), Player: slices.Clone(player)})
		}
	}
	agrees := m.players[0]
	if r.Player == 0 {
		agrees = m.players[1]
	}
	for _, x := range []demoPlayer{{seat: lockstep.System, follower: m.coordinator.Referee()}, *m.players[r.Player], *agrees} {
		e.Flights = append(e.Flights, host.Flight{Player: x.seat, Bytes: x.follower.Flight().Record().Append(nil)})
	}
	return e
}

// participants returns the players.
func (m *demoMatch) participants() (all []host.Participant) {
	header := m.coordinator.Referee().Header()
	for _, p := range m.players {
		all = append(all, host.Participant{
			Player: p.seat, Name: playerName(p.seat), Build: header.Build, Platform: header.Platform, Sources: header.Sources,
		})
	}
	return all
}

// endsBefore is the error of a match that its rules end too soon.
func endsBefore(end, least lockstep.Tick) error {
	return fmt.Errorf("demo: the rules end the match at tick %d, want at least %d ticks: try fewer --seconds, another --config or --seed, or a bot (tool.Bot) instead of random commands", end, least)
}

func (m *demoMatch) play(bar *console.Progress) error {
	last := m.options.Length
	for t := lockstep.Tick(1); t <= last; t++ {
		frame, err := m.coordinator.Tick()
		if errors.Is(err, coordinator.ErrEnded) {
			return endsBefore(t-1, last)
		} else if err != nil {
			return err
		}
		if m.failed != nil {
			return errors.Join(m.failed, m.coordinator.End(m.failed.Error()))
		}
		if err := m.heldTurn(frame); err != nil {
			return err
		}
		if err := m.playersTurn(t); err != nil {
			return err
		}
		if t == last/2 {
			m.late, m.joined = m.game.NewFollower(lockstep.FollowerOptions{}), t
			if err := m.tail.Join(m.late); err != nil {
				return fmt.Errorf("late joiner: %w", err)
			}
		}
		if t == last*3/4 {
			m.hold(m.players[len(m.players)-1])
		}
		bar.Set(int64(t))
	}
	if err := m.coordinator.End("the demo is over"); err != nil {
		return err
	}
	return m.writer.Close()
}

// playersTurn lets every player give commands, and report the checksum of tick t if it is a checked one.
func (m *demoMatch) playersTurn(t lockstep.Tick) error {
	for _, p := range m.players {
		if t%lockstep.Tick(p.follower.Header().Settings.CheckEvery) == 0 {
			sum, _ := p.follower.Sum(t)
			if err := m.coordinator.Report(p.seat, t, sum); err != nil {
				return err
			}
			m.takeDesync()
		}
		if m.held != nil && p == m.held.player {
			continue // it sees nothing new
		}
		for _, order := range p.bot(p.follower.Simulation()) {
			kind, payload, err := m.payloads.Encode(order)
			if err != nil {
				return err
			}
			p.sequence++
			m.commands++
			if m.coordinator.Submit(p.seat, p.sequence, kind, payload).Reason != lockstep.Accepted {
				m.rejected++
			}
		}
	}
	return nil
}

// writeBundle writes a bundle as a server does.
func writeBundle(path, replayPath string, h *lockstep.Header, e *host.Evidence, g *gameset.Playable) error {
	list, err := g.Assets(h)
	if err != nil {
		return err
	}
	var contents [][]byte
	for _, a := range list {
		b, err := g.ReadAsset(a)
		if err != nil {
			return err
		}
		contents = append(contents, b)
	}
	if g.Module != nil {
		contents = append(contents, g.Module.Bytes)
	}
	log, err := files.Open(replayPath)
	if err != nil {
		return err
	}
	defer log.Close()
	return files.Replace(path, func(f *os.File) error { return replay.WriteBundle(f, h, e, log, contents...) })
}

// A heldCopy waits until the next check, so that the commands up to it are known when the error is planted, and none removes it.
type heldCopy struct {
	player  *demoPlayer
	records [][]byte
	frames  []lockstep.Frame
}

// hold lets a player's copy wait from this tick on.
func (m *demoMatch) hold(p *demoPlayer) { m.held = &heldCopy{player: p} }

// heldTurn keeps a frame for the waiting player. At a check it plants the error and lets the player go on, or tries until the next check.
func (m *demoMatch) heldTurn(f *lockstep.Frame) error {
	h := m.held
	if h == nil {
		return nil
	}
	h.frames = append(h.frames, faultinjection.CloneFrame(f))
	if f.Tick%lockstep.Tick(m.coordinator.Referee().Header().Settings.CheckEvery) > 0 {
		return nil
	}
	err := m.plant(h)
	again := errors.Is(err, faultinjection.ErrNothingLasts) && f.Tick < m.options.Length
	if err != nil && !again {
		return err
	}
	m.held = nil
	for _, record := range h.records {
		if err := h.player.follower.Append(record); err != nil && !m.expected(h.player, err) {
			return fmt.Errorf("player %d: %w", h.player.seat, err)
		}
	}
	if again {
		m.hold(h.player)
		return nil
	}
	return m.locate(h.player)
}

// plant changes one field of a player's copy.
func (m *demoMatch) plant(h *heldCopy) error {
	sim := h.player.follower.Simulation()
	b := sim.AppendState(nil)
	path, err := faultinjection.Plantable(m.game, h.player.follower.Header(), sim.Tick(), b, h.frames)
	if err != nil {
		return err
	}
	v, err := m.game.StateSchema().Lookup(b, path)
	if err != nil {
		return err
	}
	v.Flip()
	m.planted = plantedError{Player: h.player.seat, Tick: sim.Tick() + 1, Path: path}
	return sim.Restore(sim.Tick(), b)
}

// locate records what the planted error did in its first tick.
func (m *demoMatch) locate(p *demoPlayer) error {
	x := &m.planted
	d, _, err := desync.DiffStates(m.game.StateSchema(), m.coordinator.Referee().State(x.Tick), p.follower.State(x.Tick), "")
	if err != nil {
		return err
	}
	if d.Total == 0 {
		return fmt.Errorf("demo: the error planted in %s changes nothing in tick %d", x.Path, x.Tick) // cannot happen: a trial has shown that it does
	}
	x.Path, x.Want, x.Got = d.List[0].Path, d.List[0].A, d.List[0].B
	return nil
}

// story describes the match, and compares the copies with each other.
func (m *demoMatch) story(took time.Duration) *demoStory {
	referee := m.coordinator.Referee()
	s := &demoStory{}
	s.apart = gameset.List{m.options.Game}.Apart()
	s.program, s.games, s.Match.Game = m.options.Program, replay.Games{m.game}, m.game.Name()
	s.Failures, s.Planted = []string{}, m.planted // not null in JSON
	s.Match.Players, s.Match.Units, s.Match.Seed, s.Match.Ticks = m.options.Players, m.options.units, m.options.Seed, referee.Tick()
	s.Match.Commands, s.Match.Rejected, s.Match.Checksum = m.commands, m.rejected, stateHash(referee)
	s.Match.Seconds, s.Match.TimesRealTime = took.Seconds(), m.options.matchTime().Seconds()/took.Seconds()
	s.LateJoin.Tick, s.LateJoin.Checksum = m.joined, stateHash(m.late)
	if every := lockstep.Tick(referee.Header().Settings.KeyframeEvery); every > 0 {
		s.LateJoin.Keyframe = m.joined / every * every
	}
	s.expect(m.late.Tick() == s.Match.Ticks && s.LateJoin.Checksum == s.Match.Checksum, "the late joiner has another state")
	for _, p := range m.players {
		if p.seat != m.planted.Player {
			s.expect(stateHash(p.follower) == s.Match.Checksum, "player %d has another state", p.seat)
		}
	}
	m.compareDesync(s)
	return s
}

// compareDesync compares the report of the desync with what was planted.
func (m *demoMatch) compareDesync(s *demoStory) {
	if m.report == nil {
		s.expect(false, "the planted desync was not detected")
		return
	}
	x := &s.Desync
	x.Report, x.Tick, x.Player = m.report.String(), m.report.Tick, m.report.Player
	s.expect(x.Player == m.planted.Player, "player %d was blamed", x.Player)
	if m.divergence == nil || len(m.divergence.Fields.List) == 0 {
		s.expect(false, "no field that differs was found")
		return
	}
	d, field := m.divergence, m.divergence.Fields.List[0]
	x.First, x.Section, x.Fields, x.Path, x.Want, x.Got = d.Tick, d.Section, d.Fields.Total, field.Path, field.A, field.B
	s.expect(x.First == m.planted.Tick, "the first divergent tick is reported as %d", x.First)
	s.expect(x.Path == m.planted.Path && x.Want == m.planted.Want && x.Got == m.planted.Got, "the field is reported as %s, %s instead of %s", x.Path, x.Got, x.Want)
}
