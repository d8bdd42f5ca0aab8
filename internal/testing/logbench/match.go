package logbench

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
)

// Play plays a match of bots and returns the information about its replay. The replay has
// a checksum every second and only the first keyframe.
func Play(s *Subject, ticks lockstep.Tick) (*replay.Info, error) {
	settings := lockstep.DefaultSettings(s.Players)
	settings.Seed, settings.KeyframeEvery = 1, 0
	var file bytes.Buffer
	if err := play(s, &file, settings, ticks); err != nil {
		return nil, err
	}
	r, err := openReplay(file.Bytes())
	if err != nil {
		return nil, err
	}
	return replay.ReadInfo(r)
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

// BytesPerTick returns the size of a replay per tick, without the states of its keyframes.
func BytesPerTick(info *replay.Info) float64 {
	return float64(info.SizeBytes-info.StateBytes) / float64(max(info.Ticks, 1))
}

// TicksPerSecond returns how many ticks of a battle a bare loop of Step runs in a second.
// It runs the battle for about d and takes the best time.
func TicksPerSecond(s *Subject, d time.Duration) (float64, error) {
	b, err := newBattle(s, 1)
	if err != nil {
		return 0, err
	}
	defer lockThread()()
	loop := b.Loop()
	best := time.Duration(1<<63 - 1)
	for from, rounds := time.Now(), 0; rounds < 2 || time.Since(from) < d; rounds++ {
		if err := b.bare(loop); err != nil {
			return 0, err
		}
		began := clock()
		for part := range b.parts() {
			b.step(loop, part)
		}
		best = min(best, clock()-began)
	}
	return float64(b.Ticks) / best.Seconds(), nil
}
