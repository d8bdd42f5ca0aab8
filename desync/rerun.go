package desync

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/flight"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A rerun is a part of the match, simulated again from a keyframe on.
type rerun struct {
	game     *lockstep.Game
	header   *lockstep.Header
	keyframe lockstep.Tick
	end      lockstep.Tick
	first    lockstep.Tick // of those that are looked at
	kept     lockstep.Tick // the tick of states[0], at or before first: where a second rerun differs already is there to be seen
	states   [][]byte      // of ticks kept to end
	bytes    int           // size of states
	most     int           // maximum of bytes
	frames   map[lockstep.Tick]*lockstep.Frame
	flight   *flight.Record // of the last ticks
	ending   *Ending        // nil if the end by the rules is the log's

	differences []*lockstep.DesyncError // checksums and keyframes of the log that differ from ours; at most maxEvidence
}

var errDone = errors.New("done")

// simulateAgain simulates a replay up to tick end, from the last keyframe that is not after begin, or else from the first. It
// keeps the states of ticks from to end, or fewer if they are large.
func simulateAgain(r *replay.Reader, g *lockstep.Game, begin, from, end lockstep.Tick, o *Options) (*rerun, error) {
	at, err := r.Seek(begin)
	if err != nil {
		return nil, err
	}
	if at > end || int64(end-at) > int64(o.MaxTicks) {
		return nil, fmt.Errorf("desync: %w: %d ticks from the keyframe of tick %d, want at most %d", replay.ErrLimit, int64(end)-int64(at), at, o.MaxTicks)
	}
	x := &rerun{game: g, keyframe: at, end: end, first: max(from, at), kept: max(from-min(from, keptBefore), at), frames: make(map[lockstep.Tick]*lockstep.Frame), most: o.MaxMemory}
	ring := new(flight.Ring)
	f := g.NewFollower(lockstep.FollowerOptions{Flight: ring})
	err = replay.Play(r, nil, func(rec *record.Record) error { return x.record(f, rec) })
	if errors.Is(err, errDone) || f.Simulation() != nil && f.Tick() == end {
		err = nil
	}
	if err == nil && f.Tick() < end {
		err = fmt.Errorf("desync: the replay ends at tick %d", f.Tick())
	}
	if err != nil {
		return nil, err
	}
	x.flight = ring.Record()
	return x, nil
}

// record applies one record, tick by tick.
func (x *rerun) record(f *lockstep.Follower, rec *record.Record) error {
	for frame := range rec.Frames() {
		if f.Simulation() != nil && f.Tick() >= x.end {
			return errDone
		}
		if err := x.step(f, frame); err != nil {
			return err
		}
	}
	if rec.Ticks() > 0 {
		return nil
	}
	before := f.Simulation()
	err := f.Apply(rec)
	x.header = f.Header()
	var desync *lockstep.DesyncError
	if errors.As(err, &desync) {
		switch {
		case desync.End != "":
			ours, _ := f.Simulation().Ended()
			x.differs(desync, ours, rec)
		case before != nil && len(x.differences) < maxEvidence:
			x.differences = append(x.differences, desync)
		}
		err = nil
	}
	if err == nil && before == nil && f.Simulation() != nil {
		x.keep(f)
	}
	return err
}

func (x *rerun) step(f *lockstep.Follower, frame *lockstep.Frame) error {
	var result []byte // with which the rules have ended the match before the frame
	if f.Simulation() != nil {
		ended, _ := f.Simulation().Ended()
		result = slices.Clone(ended)
	}
	if err := f.Advance(frame); err != nil {
		return err
	}
	if d := f.Outrun(); d != nil {
		x.differs(d, result, nil)
	}
	if len(frame.Commands) > 0 && frame.Tick >= x.kept {
		x.frames[frame.Tick] = frame.Clone()
	}
	x.keep(f)
	return nil
}

// keep adds the current state, and drops the oldest ones while there are too many bytes. It always keeps the last two.
func (x *rerun) keep(f *lockstep.Follower) {
	if f.Tick() < x.kept {
		return
	}
	b := f.Simulation().AppendState(nil)
	x.states = append(x.states, b)
	x.bytes += len(b)
	for x.bytes > x.most && len(x.states) > 2 {
		x.bytes -= len(x.states[0])
		x.states = slices.Delete(x.states, 0, 1)
		x.kept++
		x.first = max(x.first, x.kept)
	}
}

// state returns the state after a tick, or nil if it is not kept.
func (x *rerun) state(t lockstep.Tick) []byte {
	if x == nil || t < x.kept || t-x.kept >= lockstep.Tick(len(x.states)) {
		return nil
	}
	return x.states[t-x.kept]
}

// side returns the state after a tick as a side.
func (x *rerun) side(t lockstep.Tick) side {
	b := x.state(t)
	if b == nil {
		return side{}
	}
	var sum checksum.Sum
	if err := checksum.OfBytes(&sum, x.game.StateSchema(), b); err != nil {
		panic(err) // cannot happen: our own snapshots are canonical
	}
	return side{b, sum.Hash}
}

func (x *rerun) frame(t lockstep.Tick) lockstep.Frame {
	if f := x.frames[t]; f != nil {
		return *f
	}
	return lockstep.Frame{Tick: t}
}

// differs notes the first end that differs: our result, and the end record, which is nil if the log goes on.
func (x *rerun) differs(d *lockstep.DesyncError, ours []byte, end *record.Record) {
	if x.ending != nil {
		return
	}
	x.ending = &Ending{Tick: d.Tick, Text: d.End, Ours: json.RawMessage(x.header.ResultJSON(ours))}
	if end != nil {
		x.ending.Log = json.RawMessage(x.header.ResultJSON(end.Result))
	}
}

// A side is one side's state after a tick. Without bytes, it is unknown.
type side struct {
	bytes []byte
	hash  uint64
}

func (s *side) known() bool { return s.bytes != nil }

func hash(s side) string { return checksum.FormatHash(s.hash) }
