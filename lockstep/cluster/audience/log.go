package audience

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Log is a source that reads the whole log of a match, from its header on. The log has keyframes, and notes that are not for
// spectators.
type Log struct {
	to       *Audience
	dec      record.Decoder
	header   *lockstep.Header
	raw      []byte            // its record
	position protocol.Position // of the next record of the stream
	roster   roster
	speed    uint16
	delay    uint16
}

// NewLog returns a Log that gives its records to an Audience. Another one may have read the same log before: the records are
// compared then.
func NewLog(to *Audience) *Log { return &Log{to: to, speed: 100, delay: 1} }

// Append takes the next records of the log. After an error it takes no more.
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
		return l.to.Sync(now, l.header, k)
	case r.Kind == record.KindNote && hidden(r.Topic):
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

func (l *Log) append(now lockstep.Time, t lockstep.Tick, raw []byte, r *record.Record) error {
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

// hidden reports whether notes of a topic are for the log only.
func hidden(topic string) bool {
	switch topic {
	case host.TopicClaim, host.TopicInvitation, host.TopicOptions, host.TopicReserved:
		return true
	}
	return false
}
