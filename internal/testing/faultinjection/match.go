package faultinjection

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

const (
	players       = 4
	units         = 120
	ticks         = 400
	checkEvery    = 20
	keyframeEvery = 100
)

type (
	rules = lockstep.Rules[skirmish.World, skirmish.Config]
	step  = func(*skirmish.World, *lockstep.Turn)
)

// A match is a played match with its frames and states.
type match struct {
	header  *lockstep.Header
	game    *lockstep.Game // with the true rules
	file    []byte         // its replay
	blocks  []block        // of the file
	frames  []lockstep.Frame
	states  [][]byte // of the referee, by tick
	copied  [][]byte // of the player's copy
	reports []coordinator.DesyncReport
}

// A block is the end of a written part of the file, and the last tick in it.
type block struct {
	end  int64
	tick lockstep.Tick
}

// A cast selects the rules of the referee and of one player. The others have the right ones.
type cast struct {
	referee, copied rules
	seat            lockstep.Player // of the copy
	lies            lockstep.Tick   // from this tick on it reports false checksums; 0: never
}

// truthful returns a cast without a fault.
func truthful(seat lockstep.Player) cast {
	return cast{referee: skirmish.Rules(), copied: skirmish.Rules(), seat: seat}
}

// play plays a match of bots.
func play(seed uint64, c cast) (*match, error) {
	m := &match{game: lockstep.MustGame(skirmish.Rules())}
	l, err := newLive(m, seed, c)
	if err != nil {
		return nil, err
	}
	for t := lockstep.Tick(1); t <= ticks; t++ {
		if err := l.tick(t); err != nil {
			return nil, fmt.Errorf("faultinjection: tick %d: %w", t, err)
		}
	}
	if err := l.coordinator.End("played"); err != nil {
		return nil, err
	}
	if err := l.writer.Close(); err != nil {
		return nil, err
	}
	m.file = l.file.Bytes()
	return m, nil
}

// A live is a running match.
type live struct {
	*match
	file        bytes.Buffer
	writer      *replay.Writer
	coordinator *coordinator.Coordinator
	cast        cast
	copy        *lockstep.Follower // of one player
	others      *lockstep.Follower
	bots        []*skirmish.Bot
	payloads    *record.Payloads
	sequences   [players]lockstep.Sequence
}

func newLive(m *match, seed uint64, c cast) (*live, error) {
	l := &live{match: m, payloads: m.game.NewPayloads(), cast: c}
	config := skirmish.Defaults(players, units)
	settings := lockstep.DefaultSettings(players)
	settings.Seed, settings.CheckEvery, settings.KeyframeEvery = seed, checkEvery, keyframeEvery
	var err error
	if m.header, err = m.game.NewHeader(lockstep.MatchID{0: 13, 15: byte(seed)}, settings, &config); err != nil {
		return nil, err
	}
	l.writer = replay.NewWriter(&l.file, replay.WriterOptions{})
	l.copy = lockstep.MustGame(c.copied).NewFollower(lockstep.FollowerOptions{})
	l.others = m.game.NewFollower(lockstep.FollowerOptions{})
	l.coordinator, err = coordinator.New(lockstep.MustGame(c.referee), m.header, record.Tee(l.writer, l), coordinator.Options{InputDelay: 2})
	if err != nil {
		return nil, err
	}
	for seat := range lockstep.Player(players) {
		if _, err := l.coordinator.Join(seat); err != nil {
			return nil, err
		}
		l.bots = append(l.bots, skirmish.NewBot(seat, seed))
	}
	m.frames = append(m.frames, lockstep.Frame{})
	m.keep(l)
	return l, nil
}

// Append gives a record to the copies, as the network would.
func (l *live) Append(record []byte) error {
	if end := l.writer.Size(); len(l.blocks) == 0 || end > l.blocks[len(l.blocks)-1].end {
		l.blocks = append(l.blocks, block{end, l.now()})
	}
	for _, f := range []*lockstep.Follower{l.copy, l.others} {
		var desync *lockstep.DesyncError
		if err := f.Append(record); err != nil && !errors.As(err, &desync) {
			return err
		}
	}
	return nil
}

// now returns the tick of the last written frame, also during a tick.
func (l *live) now() lockstep.Tick {
	if l.coordinator == nil {
		return 0
	}
	return l.coordinator.Referee().Tick()
}

func (l *live) tick(t lockstep.Tick) error {
	w := lockstep.World[skirmish.World](l.coordinator.Referee().Simulation())
	for p, bot := range l.bots {
		for _, order := range bot.Think(w) {
			if err := l.submit(lockstep.Player(p), order.Value); err != nil {
				return err
			}
		}
	}
	for i := range w.Units {
		if u := &w.Units[i]; u.Kind == skirmish.Base && t%7 == 0 {
			if err := l.changeMind(u, t); err != nil {
				return err
			}
		}
	}
	frame, err := l.coordinator.Tick()
	if err != nil {
		return err
	}
	l.frames = append(l.frames, cloneFrame(frame))
	l.keep(l)
	if t%checkEvery > 0 {
		return nil
	}
	for p := range lockstep.Player(players) {
		from := l.others
		if p == l.cast.seat {
			from = l.copy
		}
		own, _ := from.Sum(t)
		sum := *own
		if p == l.cast.seat && l.cast.lies > 0 && t >= l.cast.lies {
			sum.Hash ^= 1
		}
		if err := l.coordinator.Report(p, t, &sum); err != nil {
			return err
		}
	}
	for _, r := range l.coordinator.Desyncs() {
		l.reports = append(l.reports, *r)
	}
	return nil
}

// changeMind orders a base's new units to one place and, in the same tick, to another, so
// that the order of commands matters. With the commands of bots it seldom does.
func (l *live) changeMind(u *skirmish.Unit, t lockstep.Tick) error {
	for i := range uint16(2) {
		order := skirmish.Move{Who: skirmish.Who{Units: []skirmish.UnitID{u.ID}}, To: skirmish.Point{X: 64 + uint16(t)%64, Y: 64 + 8*i}}
		if err := l.submit(lockstep.Player(u.Owner), &order); err != nil {
			return err
		}
	}
	return nil
}

// submit gives a command to the coordinator, which may refuse it.
func (l *live) submit(p lockstep.Player, value any) error {
	kind, payload, err := l.payloads.Encode(value)
	if err != nil {
		return err
	}
	l.sequences[p]++
	l.coordinator.Submit(p, l.sequences[p], kind, payload)
	return nil
}

// keep saves the states of a tick.
func (m *match) keep(l *live) {
	m.states = append(m.states, l.coordinator.Referee().Simulation().AppendState(nil))
	m.copied = append(m.copied, l.copy.Simulation().AppendState(nil))
}

func cloneFrame(f *lockstep.Frame) lockstep.Frame {
	c := lockstep.Frame{Tick: f.Tick}
	for _, cmd := range f.Commands {
		cmd.Payload, cmd.Value = bytes.Clone(cmd.Payload), nil
		c.Commands = append(c.Commands, cmd)
	}
	return c
}
