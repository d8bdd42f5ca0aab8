package faultinjection

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

const (
	longest    = 400 // ticks of a match
	shortest   = 8   // ticks of a match that its rules end
	checkEvery = 20  // as usual, or less in a shorter match; the only keyframe is the first one, as usual in a match of this length
	fewChecks  = 8   // in a short match
)

// A match is a played match with its frames and states.
type match struct {
	subject *Subject
	header  *lockstep.Header
	game    *lockstep.Game // with the true rules
	file    []byte         // its replay
	blocks  []block        // of the file
	frames  []lockstep.Frame
	states  [][]byte // of the referee, by tick
	copied  [][]byte // of the player's copy
	reports []coordinator.DesyncReport
	flights []host.Flight // at the first report: of the referee, of the player with the copy, and of one that agrees
}

// A block is the end of a written part of the file, and the last tick in it.
type block struct {
	end  int64
	tick lockstep.Tick
}

// A cast selects the game of the referee and of one player. The others have the right one.
type cast struct {
	referee, copied *lockstep.Game
	seat            lockstep.Player // of the copy
	lies            lockstep.Tick   // from this tick on it reports false checksums; 0: never
	brief           bool            // ends soon after the first desync
}

// truthful returns a cast without a fault.
func (s *Subject) truthful(seat lockstep.Player) cast {
	return cast{referee: s.Game, copied: s.Game, seat: seat}
}

// play plays a match of bots.
func (s *Subject) play(seed uint64, c cast) (*match, error) {
	m := &match{subject: s, game: s.Game}
	l, err := newLive(m, seed, c)
	if err != nil {
		return nil, err
	}
	for t := lockstep.Tick(1); t <= s.ticks; t++ {
		if err := l.tick(t); err != nil {
			return nil, err
		}
		if c.brief && len(m.reports) > 0 && t > m.reports[0].Tick+s.checks() {
			break
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

// An endedError reports a match that its rules have ended.
type endedError struct{ tick lockstep.Tick }

func (e *endedError) Error() string {
	return fmt.Sprintf("the rules end the match in tick %d, want at least %d ticks", e.tick, shortest+1)
}

// measure sets the length of the matches, less than that of a match which its rules end, and the ticks from one check to the next.
func (s *Subject) measure(seed uint64) error {
	s.ticks = longest
	_, err := s.play(seed, s.truthful(1))
	if over := (*endedError)(nil); errors.As(err, &over) && over.tick > shortest {
		last := over.tick - 1
		s.every = min(checkEvery, last/fewChecks)
		s.ticks = last / s.every * s.every
		return nil
	}
	return err
}

// checks returns the number of ticks from one check to the next.
func (s *Subject) checks() lockstep.Tick { return cmp.Or(s.every, checkEvery) }

// A live is a running match.
type live struct {
	*match
	file        bytes.Buffer
	writer      *replay.Writer
	coordinator *coordinator.Coordinator
	cast        cast
	copy        *lockstep.Follower // of one player
	others      *lockstep.Follower
	bots        []func(*lockstep.Simulation) []any // by player
	payloads    *record.Payloads
	sequences   []lockstep.Sequence // by player
	dice        *rand.Rand
}

func newLive(m *match, seed uint64, c cast) (*live, error) {
	players := m.subject.Players
	l := &live{match: m, payloads: m.game.NewPayloads(), cast: c, sequences: make([]lockstep.Sequence, players), dice: rand.New(rand.NewPCG(seed, 6))}
	settings := lockstep.DefaultSettings(players)
	settings.Seed, settings.CheckEvery = seed, uint16(m.subject.checks())
	var err error
	if m.header, err = m.game.NewHeader(lockstep.MatchID{0: 13, 15: byte(seed)}, settings, m.subject.Config); err != nil {
		return nil, err
	}
	l.writer = replay.NewWriter(&l.file, replay.WriterOptions{FlushTicks: uint32(m.subject.checks())})
	l.copy = c.copied.NewFollower(lockstep.FollowerOptions{Flight: new(flight.Ring)})
	l.others = m.game.NewFollower(lockstep.FollowerOptions{Flight: new(flight.Ring)})
	l.coordinator, err = coordinator.New(c.referee, m.header, record.Tee(l.writer, l), coordinator.Options{
		InputDelay: 2, Referee: lockstep.FollowerOptions{Flight: new(flight.Ring)},
	})
	if err != nil {
		return nil, err
	}
	for seat := range lockstep.Player(players) {
		if _, err := l.coordinator.Join(seat); err != nil {
			return nil, err
		}
		l.bots = append(l.bots, m.subject.Bot(seat, seed))
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
	sim := l.coordinator.Referee().Simulation()
	for p, bot := range l.bots {
		for _, value := range bot(sim) {
			if err := l.submit(lockstep.Player(p), value); err != nil {
				return err
			}
		}
	}
	frame, err := l.coordinator.Tick()
	if err != nil {
		return err
	}
	if _, over := l.coordinator.Result(); over {
		return &endedError{t}
	}
	l.frames = append(l.frames, CloneFrame(frame))
	l.keep(l)
	if t%l.subject.checks() > 0 {
		return nil
	}
	for p := range lockstep.Player(l.subject.Players) {
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
		if len(l.reports) == 0 {
			l.fly()
		}
		l.reports = append(l.reports, *r)
	}
	return nil
}

// fly takes the records of the last ticks, as the host does at a report.
func (l *live) fly() {
	other := lockstep.Player(0)
	if l.cast.seat == 0 {
		other = 1
	}
	for _, m := range []struct {
		player   lockstep.Player
		follower *lockstep.Follower
	}{{lockstep.System, l.coordinator.Referee()}, {l.cast.seat, l.copy}, {other, l.others}} {
		l.flights = append(l.flights, host.Flight{Player: m.player, Bytes: m.follower.Flight().Record().Append(nil)})
	}
}

// submit gives a command to the coordinator, which may refuse it. Sometimes the player
// changes its mind in the same tick: it gives almost the same command again. So the order
// of commands matters, which it seldom does with the commands of bots.
func (l *live) submit(p lockstep.Player, value any) error {
	kind, payload, err := l.payloads.Encode(value)
	if err != nil {
		return err
	}
	payload = bytes.Clone(payload)
	l.sequences[p]++
	l.coordinator.Submit(p, l.sequences[p], kind, payload)
	if l.dice.IntN(3) == 0 && l.subject.alter(l.dice, kind, payload) {
		l.sequences[p]++
		l.coordinator.Submit(p, l.sequences[p], kind, payload)
	}
	return nil
}

// alter inverts a random bit of a command's payload in place. It reports false if the
// result is not well-formed.
func (s *Subject) alter(dice *rand.Rand, kind lockstep.Kind, payload []byte) bool {
	if len(payload) == 0 {
		return false
	}
	payload[dice.IntN(len(payload))] ^= 1 << dice.IntN(8)
	return s.Game.NewPayloads().Decode(&lockstep.Command{Kind: kind, Payload: payload}) == nil
}

// keep saves the states of a tick.
func (m *match) keep(l *live) {
	m.states = append(m.states, l.coordinator.Referee().Simulation().AppendState(nil))
	m.copied = append(m.copied, l.copy.Simulation().AppendState(nil))
}

// CloneFrame returns a copy of a frame that shares no memory with it, without the decoded commands.
func CloneFrame(f *lockstep.Frame) lockstep.Frame {
	c := lockstep.Frame{Tick: f.Tick}
	for _, cmd := range f.Commands {
		cmd.Payload, cmd.Value = bytes.Clone(cmd.Payload), nil
		c.Commands = append(c.Commands, cmd)
	}
	return c
}
