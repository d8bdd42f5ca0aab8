package audience

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Keyframe is what a spectator begins with, as a state_sync has it: the header record, a keyframe record, and the notes and events of the
// roster. It does not change.
type Keyframe struct {
	Bytes    []byte
	Tick     lockstep.Tick
	Position protocol.Position // of the first record after it
}

// A cut is where the stream does not continue: the source has missed the records from, up to, but not including, to, or
// they may be others. A keyframe stands at to. Spectators who have begun before it are resynced there.
type cut struct{ from, to protocol.Position }

// Sync takes a keyframe of the log, where the stream stands or has stood. The first one begins the match.
func (a *Audience) Sync(now lockstep.Time, h *lockstep.Header, k *Keyframe) error {
	if err := a.know(now, h, k); err != nil {
		return err
	}
	if next := a.ring.Next(); k.Position > next {
		return fmt.Errorf("audience: %w: got a keyframe at position %d, want at most %d", record.ErrOutOfPlace, k.Position, next)
	}
	a.keep(k, false)
	a.reveal()
	a.provide()
	return nil
}

// Resync takes a keyframe from which the source continues, after it was away. The match may have lost its latest records meanwhile, and
// have others.
func (a *Audience) Resync(now lockstep.Time, h *lockstep.Header, k *Keyframe) error {
	first := a.header == nil
	if err := a.know(now, h, k); err != nil {
		return err
	}
	if !first {
		a.cut(k)
	}
	a.keep(k, true)
	a.reveal()
	a.provide()
	return nil
}

// know takes the header of the match, and checks it if it is known.
func (a *Audience) know(now lockstep.Time, h *lockstep.Header, k *Keyframe) error {
	a.at(now)
	if a.header == nil {
		a.begin(h, k.Position)
		a.tick, a.highest = k.Tick, k.Tick
		a.admitWaiting()
	}
	if h.Match != a.header.Match {
		return fmt.Errorf("%w: got %v, want %v", ErrOtherMatch, h.Match, a.header.Match)
	}
	return nil
}

// Offer takes a keyframe that the source got besides the stream, and that may be ahead of it. One of another match is ignored.
func (a *Audience) Offer(now lockstep.Time, h *lockstep.Header, k *Keyframe) {
	a.at(now)
	switch {
	case a.header == nil || h.Match != a.header.Match:
	case k.Position > a.ring.Next():
		a.offered = k
	default:
		a.keep(k, false)
		a.provide()
	}
}

// cut ends the stream so far, and continues it from a keyframe.
func (a *Audience) cut(k *Keyframe) {
	a.stats.Cuts++
	a.tick, a.offered = k.Tick, nil
	a.highest = max(a.highest, a.tick)
	if a.options.Delay > 0 && k.Position < a.ring.Next() {
		a.rewind(k.Position)
	}
	next := a.ring.Next()
	if a.options.Delay == 0 || k.Position-next > protocol.Position(len(a.ticks)/2) || next == a.ring.First() { // nobody needs the records before
		a.ring.Begin(k.Position)
		a.cuts, a.frames, a.checks, a.ended = nil, nil, checks{}, false
		a.shown, a.sent, a.scanned = k.Position, min(a.sent, k.Position), min(a.scanned, k.Position)
		a.resync(0)
		return
	}
	a.ring.Skip(k.Position)
	for p := next; p < k.Position; p++ {
		a.ticks[p%protocol.Position(len(a.ticks))] = k.Tick
	}
	a.cuts = append(a.cuts, cut{next, k.Position})
}

// cutFor returns the first cut that a peer has before it, or nil.
func (a *Audience) cutFor(p *peer) *cut {
	for i := range a.cuts {
		if c := &a.cuts[i]; p.base < c.to {
			return c
		}
	}
	return nil
}

// Append takes the record at position p of the log, after whose last frame the match is at tick t. A source may repeat records. If a
// repeated one differs, it and those after it replace the earlier ones.
func (a *Audience) Append(now lockstep.Time, p protocol.Position, t lockstep.Tick, raw []byte, r *record.Record) error {
	a.at(now)
	next := a.ring.Next()
	switch {
	case p > next:
		return fmt.Errorf("audience: %w: got position %d, want %d", record.ErrOutOfPlace, p, next)
	case p < a.ring.First() || p < next && bytes.Equal(a.ring.Record(p), raw):
		return nil
	case p < next:
		a.rewind(p)
	}
	if err := a.ring.Append(raw); err != nil {
		return err
	}
	if a.ticks != nil {
		a.ticks[p%protocol.Position(len(a.ticks))] = t
	}
	a.tick, a.highest = t, max(a.highest, t)
	switch r.Kind {
	case record.KindChecksum:
		a.checks.add(r.Tick, r.Hash)
	case record.KindEnd:
		a.end()
	}
	if a.offered != nil && a.offered.Position <= p+1 {
		a.keep(a.offered, false)
		a.offered = nil
	}
	a.reveal()
	return nil
}

// end notes the end of the match: spectators get the rest at once.
func (a *Audience) end() {
	a.ended, a.endedAt = true, a.now
	a.wakeAt(a.now + a.options.Linger)
	for _, p := range a.peers {
		a.mark(p)
	}
}

// rewind forgets the records from p on, which others replace.
func (a *Audience) rewind(p protocol.Position) {
	a.stats.Rewinds++
	a.ring.Truncate(p)
	a.shown, a.sent, a.scanned = min(a.shown, p), min(a.sent, p), min(a.scanned, p)
	a.ended = false
	a.frames = slices.DeleteFunc(a.frames, func(k *Keyframe) bool { return k.Position > p })
	for len(a.cuts) > 0 && a.cuts[len(a.cuts)-1].to > p {
		a.cuts = a.cuts[:len(a.cuts)-1]
	}
	a.checks, a.offered = checks{}, nil
	a.resync(p)
}

// resync sends keyframes to the spectators that have seen records from p on.
func (a *Audience) resync(p protocol.Position) {
	for _, q := range a.peers {
		if q.streams() && q.cursor > p || q.sync != nil && q.sync.Position > p {
			a.stats.Resyncs++
			q.high = max(q.high, q.cursor)
			a.startSync(q)
		}
	}
}

// reveal finds the records that the delay hides no more, and delivers them unless the last delivery was too short a time ago.
func (a *Audience) reveal() {
	next := a.ring.Next()
	if a.ticks == nil || a.ended {
		a.shown = next
	} else {
		a.shown = max(a.shown, a.ring.First())
		for a.shown < next && a.ticks[a.shown%protocol.Position(len(a.ticks))]+a.options.Delay <= a.tick {
			a.shown++
		}
	}
	for len(a.cuts) > 0 && a.cuts[0].to < a.ring.First() {
		a.cuts = a.cuts[1:]
	}
	a.deliver()
}

// deliver lets the spectators have the records that are shown.
func (a *Audience) deliver() {
	if a.sent >= a.shown {
		return
	}
	if due := a.sentAt + a.options.Batch; !a.ended && a.options.Batch > 0 && a.now < due {
		a.wakeAt(due)
		return
	}
	a.sent, a.sentAt = a.shown, a.now
	a.drop()
}

// maxFrames bounds the number of keyframes.
const maxFrames = 12

// keep adds a keyframe. Without force it does not if the one before is so young that a delay would make the Audience keep many.
func (a *Audience) keep(k *Keyframe, force bool) {
	if n := len(a.frames); n > 0 {
		last := a.frames[n-1]
		young := k.Tick < last.Tick+a.options.Delay/4 && !a.visible(last) && a.ring.Has(last.Position)
		if k.Position <= last.Position || young && !force {
			return
		}
		if n == maxFrames {
			a.frames = a.frames[:n-1]
		}
	}
	a.stats.Keyframes++
	a.frames = append(a.frames, k)
	a.drop()
}

// drop forgets keyframes before the latest one that spectators may see, and those whose records the ring has lost.
func (a *Audience) drop() {
	n := 0
	for n+1 < len(a.frames) && (a.visible(a.frames[n+1]) || !a.ring.Has(a.frames[n].Position)) {
		n++
	}
	a.frames = slices.Delete(a.frames, 0, n)
}

// visible reports whether spectators may see a keyframe. The first state of a match is no secret.
func (a *Audience) visible(k *Keyframe) bool {
	return k.Position <= a.shown && (k.Tick == 0 || a.ended || k.Tick+a.options.Delay <= a.tick)
}

// keyframe returns the latest keyframe that spectators may see, or nil.
func (a *Audience) keyframe() *Keyframe {
	if !a.live {
		return nil
	}
	for i := len(a.frames) - 1; i >= 0; i-- {
		if k := a.frames[i]; a.visible(k) && k.Position <= a.sent && a.ring.Has(k.Position) {
			return k
		}
	}
	return nil
}

// wantsKeyframe reports whether the latest keyframe is old, or lost, and there are spectators.
func (a *Audience) wantsKeyframe() bool {
	if a.header == nil || a.ended || a.spectators() == 0 {
		return false
	}
	n := len(a.frames)
	return n == 0 || a.tick >= a.frames[n-1].Tick+a.options.KeyframeEvery || !a.ring.Has(a.frames[n-1].Position)
}

// untilSeen returns the time until spectators can see anything, at the full speed of the match; 0 if they can, or if nobody knows.
func (a *Audience) untilSeen() lockstep.Time {
	if len(a.frames) == 0 || a.keyframe() != nil || !a.live {
		return 0
	}
	seen := a.frames[0].Tick + a.options.Delay
	return lockstep.Time(a.header.Settings.Micros(int64(seen - min(seen, a.tick))))
}

// provide gives a keyframe to the spectators that wait for one.
func (a *Audience) provide() {
	if a.count[host.Syncing] == 0 {
		return
	}
	k := a.keyframe()
	if k == nil {
		return
	}
	for _, p := range a.peers {
		if p.state == host.Syncing && p.sync == nil {
			a.give(p, k)
		}
	}
}

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

// A Log keeps at most this many records between a keyframe and the policy, and this many bytes of them. A match that begins in the state of another
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
