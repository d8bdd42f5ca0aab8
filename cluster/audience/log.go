package audience

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Log is a source that reads the whole log of a match, from its header on. The log has keyframes, and events that are not for
// spectators. It also says who may see the match: the Audience gets nothing before the Log knows, and nothing of a match whose
// spectators are sent views, which need the rules.
type Log struct {
	to       *Audience
	dec      record.Decoder
	header   *lockstep.Header
	raw      []byte            // its record
	position protocol.Position // of the next record of the stream
	roster   roster
	policy   disclosure.Log
	base     lockstep.Tick // of the first keyframe
	known    bool          // the Audience has the policy
	first    *Keyframe     // the latest one that the Audience does not have, because the policy is not known; nil after more than maxEarly records
	early    []early       // the records after first
	speed    uint16
	delay    uint16
}

// NewLog returns a Log that gives its records to an Audience. Another one may have read the same log before: the records are
// compared then.
func NewLog(to *Audience) *Log { return &Log{to: to, base: 1<<32 - 1, speed: 100, delay: 1} }

// Append takes the next records of the log. After an error it takes no more. The error is [disclosure.ErrViews] for a match that
// no Audience may have.
func (l *Log) Append(now lockstep.Time, b []byte) error {
	for len(b) > 0 {
		r, rest, err := l.dec.Decode(b)
		if err != nil {
			return err
		}
		if err := l.record(now, r, b[:len(b)-len(rest)]); err != nil {
			return err
		}
		b = rest
	}
	return nil
}

// record takes one record.
func (l *Log) record(now lockstep.Time, r *record.Record, raw []byte) error {
	switch {
	case r.Kind == record.KindHeader:
		if len(raw) > protocol.MaxServerMessage {
			return fmt.Errorf("audience: got a header of %d bytes, want at most %d", len(raw), protocol.MaxServerMessage)
		}
		l.header, l.raw, l.position = r.Header, slices.Clone(raw), 1
		l.roster.seats = make([]seat, r.Header.Settings.Players)
		return nil
	case r.Kind == record.KindKeyframe:
		if r.Tick != l.dec.Tick() {
			return nil // of the past: the records after it have no end that is known here
		}
		k := &Keyframe{Bytes: l.roster.appendNotes(slices.Concat(l.raw, raw)), Tick: r.Tick, Position: l.position}
		if l.base = min(l.base, r.Tick); !l.known {
			l.first, l.early = k, nil
			return nil
		}
		return l.to.Sync(now, l.header, k)
	case r.Event == record.EventDisclosure:
		return l.disclose(now, r)
	case r.LogOnly():
		return nil
	}
	l.roster.take(r)
	l.pace(r)
	if r.Kind != record.KindEmpty || r.Empty == 1 {
		return l.append(now, l.dec.Tick(), raw, r)
	}
	n := lockstep.Tick(r.Empty) // a live match has each empty tick as one record, so positions count them
	one := record.Record{Kind: record.KindEmpty, Empty: 1}
	for t := r.Tick - n + 1; t <= r.Tick; t++ {
		if err := l.append(now, t, emptyTick, &one); err != nil {
			return err
		}
	}
	return nil
}

// emptyTick is the record of one tick without commands.
var emptyTick = []byte{0x92, byte(record.KindEmpty), 1}

// disclose takes the event with the policy of the match.
func (l *Log) disclose(now lockstep.Time, r *record.Record) error {
	l.policy.Take(r)
	p, err := l.policy.Policy()
	if err == nil {
		err = p.Records(disclosure.Spectator)
	}
	switch {
	case err != nil || l.known:
		return err
	}
	l.known = true
	l.to.disclose(p)
	k, after := l.first, l.early
	if l.first, l.early = nil, nil; k == nil { // the next keyframe begins
		return nil
	}
	if err := l.to.Sync(now, l.header, k); err != nil {
		return err
	}
	l.position = k.Position
	for i := range after {
		if err := l.append(now, after[i].tick, after[i].raw, &after[i].record); err != nil {
			return err
		}
	}
	return nil
}

// A Log keeps so many records between a keyframe and the policy, and so many bytes of them. A match that begins in the state of another
// one has a few.
const (
	maxEarly      = 64
	maxEarlyBytes = 1 << 20
)

// An early record came after a keyframe, and before the policy.
type early struct {
	tick   lockstep.Tick
	raw    []byte
	record record.Record // only what Append reads
}

// keepEarly takes a record that the Audience does not have yet.
func (l *Log) keepEarly(t lockstep.Tick, raw []byte, r *record.Record) {
	l.position++
	size := len(raw)
	for i := range l.early {
		size += len(l.early[i].raw)
	}
	if len(l.early) == maxEarly || size > maxEarlyBytes {
		l.first, l.early = nil, nil
	}
	if l.first != nil {
		l.early = append(l.early, early{t, slices.Clone(raw), record.Record{Kind: r.Kind, Tick: r.Tick, Hash: r.Hash}})
	}
}

// Tick returns the tick of the last frame so far.
func (l *Log) Tick() lockstep.Tick { return l.dec.Tick() }

// Unknown returns [disclosure.ErrUnknown] for a log that goes on, and has not said who may see the match. A match that begins in the
// state of another one has its first tick before that.
func (l *Log) Unknown() error {
	if _, err := l.policy.Policy(); err != nil && l.dec.Tick() > l.base && l.dec.Tick()-l.base > 1 {
		return err
	}
	return nil
}

func (l *Log) append(now lockstep.Time, t lockstep.Tick, raw []byte, r *record.Record) error {
	if l.to.header == nil {
		l.keepEarly(t, raw, r)
		return nil
	}
	if err := l.to.Append(now, l.position, t, raw, r); err != nil {
		return err
	}
	l.position++
	return nil
}

// pace notes changes of the speed and of the input delay.
func (l *Log) pace(r *record.Record) {
	for i := range r.Frame.Commands {
		c := &r.Frame.Commands[i]
		if c.Player != lockstep.System {
			continue
		}
		switch v, _ := record.SystemValue(c); v := v.(type) {
		case *lockstep.SpeedSet:
			l.speed = v.Percent
		case *lockstep.InputDelaySet:
			l.delay = v.Ticks
		default:
			continue
		}
		l.to.Pace(l.speed, l.delay)
	}
}
