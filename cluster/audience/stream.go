package audience

import (
	"bytes"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
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
	keep := a.frames[:0]
	for _, k := range a.frames {
		if k.Position <= p {
			keep = append(keep, k)
		}
	}
	clear(a.frames[len(keep):])
	a.frames = keep
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
	if n > 0 {
		rest := copy(a.frames, a.frames[n:])
		clear(a.frames[rest:])
		a.frames = a.frames[:rest]
	}
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
