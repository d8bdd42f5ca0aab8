package logbench

import (
	"cmp"
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/twin"
)

// flown compares a follower that keeps a flight record with one that keeps none.
func flown(s *Subject) (*sides, error) {
	return follow(s, lockstep.FollowerOptions{Flight: new(flight.Ring)}, lockstep.FollowerOptions{})
}

// heavy compares a follower that restores twins of itself with one that does not. All ticks are one part, because in each round other ticks
// have twins: the best times of short parts would have none. On one processor the time of this thread is that of all.
func heavy(s *Subject) (*sides, error) {
	whole := *s
	whole.Ticks = cmp.Or(s.Ticks, 600)
	whole.Part = whole.Ticks
	found := error(nil)
	sides, err := follow(&whole, lockstep.FollowerOptions{Workers: 1, Heavy: twin.Options{
		Percent: heavyPercent,
		Clock:   func() int64 { return int64(clock()) }, // which is what counts here
		Found:   func(d *twin.Difference) { found = errors.New(d.String()) },
	}}, lockstep.FollowerOptions{Workers: 1})
	if err != nil {
		return nil, err
	}
	first := sides.first
	sides.first = func(part int) error {
		if err := first(part); err != nil {
			return err
		}
		return found
	}
	return sides, nil
}

// heavyPercent is the share of the twins.
const heavyPercent = 10

// follow compares a follower that has options with one that has others.
func follow(s *Subject, options, others lockstep.FollowerOptions) (*sides, error) {
	b, err := newBattle(s, lockstep.DefaultSettings(s.Players).CheckEvery)
	if err != nil {
		return nil, err
	}
	var followers [2]*lockstep.Follower
	n := int(b.Part)
	feed := func(side int) func(part int) error {
		return func(part int) error { return b.feed(followers[side], b.ends[part*n], b.ends[(part+1)*n]) }
	}
	return &sides{
		measured: b.measured(),
		parts:    b.parts(),
		reset: func() error {
			for side, o := range []lockstep.FollowerOptions{options, others} {
				followers[side] = b.Game.NewFollower(o)
				if err := b.feed(followers[side], 0, b.ends[0]); err != nil {
					return err
				}
			}
			return nil
		},
		first: feed(0), second: feed(1),
	}, nil
}

// feed gives records to a follower.
func (b *battle) feed(f *lockstep.Follower, from, to int) error {
	for _, record := range b.records[from:to] {
		if err := f.Append(record); err != nil {
			return err
		}
	}
	return nil
}

// A Flight is the size of the flight record of a match.
type Flight struct {
	Memory int // bytes of the ring
	Ticks  int // of the record
	Bytes  int // of the record
	Latest int // bytes of that of the latest 320 ticks
	Of     string
}

// Fly returns the sizes of the flight record of a match after a number of ticks.
func Fly(s *Subject, ticks lockstep.Tick) (*Flight, error) {
	long := *s
	long.WarmUp, long.Ticks, long.Part, long.Units = 20, ticks, 1, min(s.Units, 1) // as many as are left
	b, err := newBattle(&long, lockstep.DefaultSettings(s.Players).CheckEvery)
	if err != nil {
		return nil, err
	}
	var ring flight.Ring
	if err := b.feed(b.Game.NewFollower(lockstep.FollowerOptions{Flight: &ring}), 0, b.ends[len(b.ends)-1]); err != nil {
		return nil, err
	}
	r := ring.Record()
	f := &Flight{Memory: ring.Memory(), Ticks: len(r.Ticks), Bytes: len(r.Append(nil)), Of: b.measured()}
	r.Ticks = r.Ticks[max(0, len(r.Ticks)-320):]
	f.Latest = len(r.Append(nil))
	return f, nil
}
