package audience

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// SendSize is the largest message that Send makes of more than one record, in bytes: room for one chunk of a keyframe. Slow
	// readers occupy that much memory each.
	SendSize = protocol.MaxChunk + 4<<10

	// chunkOverhead bounds the size of a chunk's message without the chunk, in bytes.
	chunkOverhead = 32
)

// Send appends the next bytes for a peer: its private messages, then the chunks of a keyframe, then records. They are one WebSocket
// message, or empty if there is nothing to send.
func (a *Audience) Send(id host.PeerID, dst []byte) []byte {
	p := a.byID[id]
	if p == nil {
		return dst
	}
	begin := len(dst)
	limit := begin + SendSize
	if len(p.out) > 0 {
		dst = append(dst, p.out...)
		if p.out = p.out[:0]; cap(p.out) > keepPrivate {
			p.out = nil
		}
	}
	dst = a.appendWait(p, dst)
	if p.sync != nil {
		dst = a.appendSync(p, dst, limit)
	}
	if p.streams() {
		dst = a.appendRecords(p, dst, begin, limit)
	}
	a.stats.BytesOut += uint64(len(dst) - begin)
	return dst
}

// appendRecords appends the next records of a peer.
func (a *Audience) appendRecords(p *peer, dst []byte, begin, limit int) []byte {
	if a.atCut(p) {
		a.stats.Resyncs++
		a.startSync(p)
		return dst
	}
	if !a.ring.Has(p.cursor) {
		a.strike(p)
		return dst
	}
	end := a.window(p)
	room := limit - len(dst)
	if len(dst) == begin {
		room = protocol.MaxServerMessage
		if p.cursor < end && len(a.ring.Record(p.cursor)) <= SendSize {
			room = SendSize
		}
	}
	dst, p.cursor = a.ring.AppendFrom(dst, p.cursor, end, room)
	p.high = max(p.high, p.cursor)
	if a.ended && p.cursor == a.ring.Next() && len(dst) <= limit {
		a.close(p, protocol.CloseEnded, "the match has ended", 0)
		dst = append(dst, p.out...)
		p.out = p.out[:0]
	}
	return dst
}

// window returns the position up to which records may be sent to a peer: what is delivered, up to the next cut, and not too many
// without an ack.
func (a *Audience) window(p *peer) protocol.Position {
	end := min(a.sent, p.acked+protocol.Position(a.options.Lag/2)+64)
	if len(a.cuts) > 0 {
		if c := a.cutFor(p); c != nil {
			end = min(end, c.from)
		}
	}
	return end
}

// atCut reports whether a peer has reached a cut, and may see what is after it.
func (a *Audience) atCut(p *peer) bool {
	if len(a.cuts) == 0 {
		return false
	}
	c := a.cutFor(p)
	if c == nil || p.cursor < c.from || c.to > a.sent {
		return false
	}
	k := a.keyframe()
	return k != nil && k.Position >= c.to
}

// startSync begins to send a peer a keyframe in place of the records up to it.
func (a *Audience) startSync(p *peer) {
	a.stats.Syncs++
	a.become(p, host.Syncing)
	p.sync, p.syncAt, p.confirmed = nil, 0, false
	p.syncRoom, p.syncMore = a.options.SyncBytesPerTick, a.now+a.period()
	p.deadline = a.now + a.options.SyncTimeout
	a.wakeAt(p.deadline)
	a.mark(p)
	if k := a.keyframe(); k != nil {
		a.give(p, k)
	}
}

// give begins to send a keyframe to a waiting peer.
func (a *Audience) give(p *peer, k *Keyframe) {
	p.sync = k
	p.deadline += lockstep.Second * lockstep.Time(len(k.Bytes)>>20)
	a.mark(p)
}

// appendSync appends the next chunk of a keyframe.
func (a *Audience) appendSync(p *peer, dst []byte, limit int) []byte {
	k := p.sync
	for p.syncAt < len(k.Bytes) {
		n := min(protocol.MaxChunk, len(k.Bytes)-p.syncAt, p.syncRoom, a.keyframeRoom(p, len(k.Bytes)))
		if n <= 0 || len(dst)+n+chunkOverhead > limit {
			a.wakeAt(p.syncMore)
			return dst
		}
		a.message = protocol.Message{
			Kind: protocol.KindStateSync, Position: k.Position, Tick: k.Tick,
			Offset: uint32(p.syncAt), Total: uint32(len(k.Bytes)), Bytes: k.Bytes[p.syncAt : p.syncAt+n],
		}
		dst = a.writer.Append(dst, &a.message)
		p.syncAt += n
		p.syncRoom -= n
		a.stats.SyncBytes += uint64(n)
		a.spend(p, n, len(k.Bytes))
	}
	p.sync = nil
	a.become(p, host.CatchingUp)
	p.cursor, p.acked, p.base, p.tick = k.Position, k.Position, k.Position, k.Tick
	p.high = max(p.high, k.Position)
	return dst
}

// strike sends a keyframe to a peer that is too far behind, and closes one that has had MaxStrikes of them. Ten minutes without a
// strike forgive one.
func (a *Audience) strike(p *peer) {
	for p.strikes > 0 && a.now-p.struckAt > 600*lockstep.Second {
		p.strikes--
		p.struckAt += 600 * lockstep.Second
	}
	if int(p.strikes) >= a.options.MaxStrikes {
		a.close(p, protocol.CloseSlow, "too far behind", 1000)
		return
	}
	p.strikes++
	p.struckAt = a.now
	a.stats.Strikes++
	a.startSync(p)
}

// lag returns how many ticks a peer is behind what it may see.
func (a *Audience) lag(p *peer) lockstep.Tick { return a.Now() - min(p.tick, a.Now()) }

// period returns the time of a tick.
func (a *Audience) period() lockstep.Time {
	if a.header == nil {
		return 50 * lockstep.Millisecond
	}
	return lockstep.Time(a.header.Settings.Micros(1))
}
