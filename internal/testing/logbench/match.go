package logbench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
)

// Played is the size of the replays of some matches.
type Played struct {
	Matches    int
	Ticks      lockstep.Tick // of all matches
	Commands   int
	Bytes      int64         // without the states of keyframes
	StateBytes int64         // of the keyframes
	Length     time.Duration // of the ticks
}

// BytesPerHour returns how many bytes the replays have for an hour of play.
func (p *Played) BytesPerHour() float64 {
	return float64(p.Bytes+p.StateBytes) / max(p.Length.Hours(), 1e-9)
}

// BytesPerTick returns the size of the replays per tick, without the states of keyframes.
func (p *Played) BytesPerTick() float64 { return float64(p.Bytes) / float64(max(p.Ticks, 1)) }

// maxMatches is how many matches Play plays at most.
const maxMatches = 1000

// Play plays a match of bots, and further ones if the rules end it before it has the
// ticks. The replay of each has the checksums and keyframes of the default settings.
func Play(s *Subject, ticks lockstep.Tick) (*Played, error) {
	settings := lockstep.DefaultSettings(s.Players)
	p := &Played{}
	defer func() { p.Length = time.Duration(settings.Micros(int64(p.Ticks))) * time.Microsecond }()
	for p.Ticks < ticks {
		if p.Matches == maxMatches {
			return nil, fmt.Errorf("logbench: the rules ended %d matches after %d ticks in all, want %d", p.Matches, p.Ticks, ticks)
		}
		p.Matches++
		settings.Seed = uint64(p.Matches)
		var file bytes.Buffer
		if err := play(s, &file, settings, ticks-p.Ticks); err != nil {
			return nil, err
		}
		r, err := openReplay(file.Bytes())
		if err != nil {
			return nil, err
		}
		info, err := replay.ReadInfo(r)
		if err != nil {
			return nil, err
		}
		p.Ticks += info.Ticks
		p.Commands += info.Commands
		p.Bytes += info.SizeBytes - info.StateBytes
		p.StateBytes += info.StateBytes
	}
	return p, nil
}

// play writes the replay of a match of bots.
func play(s *Subject, to io.Writer, settings lockstep.Settings, ticks lockstep.Tick) error {
	h, err := s.Game.NewHeader(lockstep.MatchID{2}, settings, s.Config)
	if err != nil {
		return err
	}
	writer := replay.NewWriter(to, replay.WriterOptions{})
	c, err := coordinator.New(s.Game, h, writer, coordinator.Options{InputDelay: 2})
	if err != nil {
		return err
	}
	for p := range lockstep.Player(settings.Players) {
		if _, err := c.Join(p); err != nil {
			return err
		}
	}
	crowd := newCrowd(s, settings.Seed)
	for t := lockstep.Tick(1); t <= ticks; t++ {
		if err := crowd.submit(c, t); err != nil {
			return err
		}
		if _, err := c.Tick(); errors.Is(err, coordinator.ErrEnded) {
			break // by the rules
		} else if err != nil {
			return err
		}
	}
	if err := c.End("played"); err != nil && !errors.Is(err, coordinator.ErrEnded) {
		return err
	}
	return writer.Close()
}

// submit gives the bots' commands for tick t to a coordinator, which may refuse some.
func (c *crowd) submit(to *coordinator.Coordinator, t lockstep.Tick) error {
	f, err := c.frame(t, to.Referee().Simulation())
	if err != nil {
		return err
	}
	for i := range f.Commands {
		cmd := &f.Commands[i]
		to.Submit(cmd.Player, cmd.Sequence, cmd.Kind, cmd.Payload)
	}
	return nil
}

// TicksPerSecond returns how many ticks of a battle a bare loop of Step runs in a second.
// It runs the battle for about d and takes the best time. It also says what was measured.
func TicksPerSecond(s *Subject, d time.Duration) (rate float64, measured string, err error) {
	b, err := newBattle(s, 1)
	if err != nil {
		return 0, "", err
	}
	defer lockThread()()
	loop := b.Loop()
	best := time.Duration(1<<63 - 1)
	for from, rounds := time.Now(), 0; rounds < 2 || time.Since(from) < d; rounds++ {
		if err := b.bare(loop); err != nil {
			return 0, "", err
		}
		began := clock()
		for part := range b.parts() {
			b.step(loop, part)
		}
		best = min(best, clock()-began)
	}
	return float64(b.Ticks) / best.Seconds(), b.measured(), nil
}
