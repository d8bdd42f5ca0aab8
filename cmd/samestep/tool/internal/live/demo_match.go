//go:build !js

package live

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

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
	settings.Seed, settings.TickMicros = o.Seed, lockstep.TickPeriod(o.Rate)
	settings.CheckEvery = o.checkEvery()
	settings.KeyframeEvery = 15 * uint32(o.Rate)
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
		m.players = append(m.players, &demoPlayer{
			seat: lockstep.Player(p), follower: m.game.NewFollower(kept), bot: o.Game.Bot(lockstep.Player(p), o.Seed),
		})
	}
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
