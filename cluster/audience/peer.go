package audience

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// maxPrivate bounds the private messages that wait for a peer, in bytes. Spectators get few of them.
	maxPrivate = 8 << 10

	// roomClosing is the part of maxPrivate that is reserved for the last messages.
	roomClosing = 4 << 10

	// keepPrivate bounds the memory that a peer keeps for its next messages, in bytes.
	keepPrivate = 256
)

// A peer is one connection.
type peer struct {
	id       host.PeerID
	state    host.PeerState
	from     *address // of a peer that is not closed
	dirty    bool     // on Audience.dirty
	auth     *protocol.Auth
	platform string // of its client, as it describes it

	out  []byte // private messages, encoded
	told uint64 // version of the wait that it knows

	sync      *Keyframe     // being sent
	syncAt    int           // bytes of it that were sent
	syncRoom  int           // bytes of it that may still be sent before syncMore
	syncMore  lockstep.Time //
	confirmed bool          // an ack has arrived since the keyframe was sent
	strikes   uint8         // keyframes sent because it was too far behind
	pinged    bool          // a ping is unanswered
	struckAt  lockstep.Time
	deadline  lockstep.Time // of auth, of the first ack after a sync, of reaching the present

	cursor protocol.Position // of the next record to send
	high   protocol.Position // the highest cursor so far
	acked  protocol.Position
	base   protocol.Position // of the last keyframe that it was sent
	tick   lockstep.Tick     // the last simulated one, from its acks

	heard    lockstep.Time // when its last message arrived
	nonce    uint64        // of the latest ping
	errorAt  lockstep.Time // when the next error about a limit may be sent
	reported lockstep.Tick // its latest checksum
	agreed   lockstep.Tick // the latest tick at which it agreed

	messages, bytes, offences, syncs, resyncs host.Bucket // of Rates

	code   protocol.CloseCode
	reason string
}

// streams reports whether the peer is sent records.
func (p *peer) streams() bool { return p.state == host.CatchingUp || p.state == host.Live }

// become changes the state of a peer.
func (a *Audience) become(p *peer, s host.PeerState) {
	a.count[p.state]--
	p.state = s
	a.count[s]++
}

// spectators returns the number of welcomed connections.
func (a *Audience) spectators() int {
	return a.count[host.Syncing] + a.count[host.CatchingUp] + a.count[host.Live]
}

// Connect takes a new connection, which must authenticate. from is its address, in any form. Connect returns false if there is no
// room; the caller should then close the socket.
func (a *Audience) Connect(now lockstep.Time, from string) (host.PeerID, bool) {
	a.at(now)
	if a.count[host.Connecting] >= a.options.MaxConnecting {
		i := slices.IndexFunc(a.peers, func(p *peer) bool { return p.state == host.Connecting })
		a.close(a.peers[i], protocol.CloseBusy, "others want to come in", 1000)
	}
	if len(a.peers) >= a.options.MaxSpectators+2*a.options.MaxConnecting {
		a.stats.NoRoom++
		return 0, false
	}
	a.lastID++
	p := &peer{id: a.lastID, heard: a.now, deadline: a.now + a.options.AuthTimeout}
	p.from = a.addresses.open(a.now, pack.Clip(from, record.MaxName), a.keyframeRate(0))
	a.peers = append(a.peers, p)
	a.byID[p.id] = p
	a.count[host.Connecting]++
	a.wakeAt(p.deadline)
	if a.closed != nil {
		a.close(p, protocol.CloseCode(a.closed.Code), a.closed.Text, a.closed.RetryMS)
	}
	return p.id, true
}

// Disconnect forgets a connection whose socket is closed.
func (a *Audience) Disconnect(now lockstep.Time, id host.PeerID) {
	a.at(now)
	p := a.byID[id]
	if p == nil {
		return
	}
	a.discharge(p)
	a.count[p.state]--
	delete(a.byID, id)
	i, _ := slices.BinarySearchFunc(a.peers, id, func(p *peer, id host.PeerID) int { return cmp.Compare(p.id, id) })
	a.peers = slices.Delete(a.peers, i, i+1)
}

func (a *Audience) discharge(p *peer) {
	if p.from != nil {
		p.from.users--
		p.from = nil
	}
}

// mark puts a peer on the list of those with something to send.
func (a *Audience) mark(p *peer) {
	if !p.dirty {
		p.dirty = true
		a.dirty = append(a.dirty, p.id)
	}
}

// close ends a connection: the peer is sent the reason, and is no longer read. It may come back after retryMS; 0 means never.
func (a *Audience) close(p *peer, code protocol.CloseCode, reason string, retryMS uint32) {
	if p.state == host.Closed {
		return
	}
	a.message = protocol.Message{Kind: protocol.KindClosing, Code: uint8(code), Text: reason, RetryMS: retryMS}
	p.out = a.writer.Append(p.out, &a.message)
	p.code, p.reason = code, reason
	if int(code) < len(a.stats.Closed) {
		a.stats.Closed[code]++
	}
	a.discharge(p)
	a.become(p, host.Closed)
	p.sync, p.auth = nil, nil
	a.mark(p)
}

// Closed reports whether the Audience has closed a connection. Once Send returns nothing more, the caller should close its socket
// and call Disconnect.
func (a *Audience) Closed(id host.PeerID) (code protocol.CloseCode, reason string, closed bool) {
	p := a.byID[id]
	if p == nil || p.state != host.Closed {
		return 0, "", false
	}
	return p.code, p.reason, true
}

// private queues a message for one peer. It closes a peer whose queue is full.
func (a *Audience) private(p *peer, m *protocol.Message) {
	if p.state == host.Closed {
		return
	}
	before := len(p.out)
	p.out = a.writer.Append(p.out, m)
	if len(p.out) > maxPrivate-roomClosing {
		p.out = p.out[:before]
		a.close(p, protocol.CloseSlow, "does not read its answers", 1000)
		return
	}
	a.mark(p)
}

// offend answers a message that is not allowed, and closes a peer that sends too many of them. Code 0 sends no error.
func (a *Audience) offend(p *peer, code protocol.ErrorCode, text string) {
	a.stats.Offences++
	if !p.offences.Take(a.now, a.options.Rates.Offences, 1) {
		a.close(p, protocol.CloseAbuse, "limits were exceeded again and again", 0)
		return
	}
	if code == protocol.ErrorLimit {
		if a.now < p.errorAt {
			return
		}
		p.errorAt = a.now + lockstep.Second
	}
	if code != 0 {
		a.error(p, code, text, "")
	}
}

func (a *Audience) error(p *peer, code protocol.ErrorCode, text, field string) {
	a.message = protocol.Message{Kind: protocol.KindError, Code: uint8(code), Text: text, Field: field}
	a.private(p, &a.message)
}

// malformed closes a peer that violates the protocol.
func (a *Audience) malformed(p *peer, text string) {
	a.error(p, protocol.ErrorMalformed, text, "")
	a.close(p, protocol.CloseMalformed, "malformed", 0)
}

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

// startSync starts to send a peer a keyframe instead of the records up to it.
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

const (
	// spareAddresses is the number of addresses that are kept beyond those of connections, so that reconnecting does not reset a
	// limit.
	spareAddresses = 4096

	// allAddresses multiplies the limit of keyframes of an address for all of them together.
	allAddresses = 8
)

// An address counts the bytes of keyframes to the connections of one address.
type address struct {
	key   string
	users int
	used  host.Bucket
}

// addresses is a table of bounded size, sorted by key.
type addresses struct {
	all     []*address
	max     int
	sweptAt lockstep.Time
}

// open returns the address of one more connection.
func (t *addresses) open(now lockstep.Time, key string, r host.Rate) *address {
	if now-t.sweptAt >= 60*lockstep.Second || len(t.all) >= t.max {
		t.sweptAt = now
		t.all = slices.DeleteFunc(t.all, func(x *address) bool { return x.users == 0 && (x.used.Room(now, r) >= r.Burst || len(t.all) >= t.max) })
	}
	i, found := slices.BinarySearchFunc(t.all, key, func(x *address, key string) int { return cmp.Compare(x.key, key) })
	if !found {
		t.all = slices.Insert(t.all, i, &address{key: strings.Clone(key)})
	}
	t.all[i].users++
	return t.all[i]
}

// keyframeRate returns the rate, in bytes, of keyframes of some size to one address. A keyframe of any size can be sent 32 times at
// once, and 32 times a minute.
func (a *Audience) keyframeRate(size int) host.Rate {
	const most = 1 << 30 / allAddresses // so that those of all addresses are valid, too
	r := a.options.Rates.Keyframes
	all := 32 * int64(size)
	r.N = int(min(max(int64(r.N), all*int64(r.Per)/int64(60*lockstep.Second)), most))
	r.Burst = int(min(max(int64(r.Burst), all), most))
	return r
}

func times(r host.Rate, n int) host.Rate {
	return host.Rate{N: n * r.N, Per: r.Per, Burst: n * r.Burst}
}

// keyframeRoom returns how many bytes of a keyframe of some size a peer may be sent now.
func (a *Audience) keyframeRoom(p *peer, size int) int {
	r := a.keyframeRate(size)
	return min(p.from.used.Room(a.now, r), a.keyframes.Room(a.now, times(r, allAddresses)))
}

// spend charges n bytes of a keyframe to a peer.
func (a *Audience) spend(p *peer, n, size int) {
	r := a.keyframeRate(size)
	p.from.used.Take(a.now, r, n)
	a.keyframes.Take(a.now, times(r, allAddresses), n)
}

// An assembly puts the chunks of a state_sync together.
type assembly struct {
	position protocol.Position
	tick     lockstep.Tick
	total    int
	bytes    []byte
}

// add takes the chunk of m, and returns the keyframe if it is complete. It takes memory only for bytes that have arrived.
func (a *assembly) add(m *protocol.Message, limit int) (*Keyframe, error) {
	if m.Offset == 0 {
		if m.Total == 0 || int(m.Total) > limit {
			return nil, fmt.Errorf("audience: %w: got a state_sync of %d bytes, want 1 to %d", record.ErrMalformed, m.Total, limit)
		}
		*a = assembly{position: m.Position, tick: m.Tick, total: int(m.Total)}
	}
	if int(m.Offset) != len(a.bytes) || int(m.Total) != a.total || m.Position != a.position || m.Tick != a.tick || len(m.Bytes) == 0 {
		return nil, fmt.Errorf("audience: %w: got a chunk of %d bytes at byte %d of %d, want byte %d of %d", record.ErrMalformed, len(m.Bytes), m.Offset, m.Total, len(a.bytes), a.total)
	}
	if a.bytes = append(a.bytes, m.Bytes...); len(a.bytes) < a.total {
		return nil, nil
	}
	k := &Keyframe{Bytes: a.bytes, Tick: a.tick, Position: a.position}
	*a = assembly{}
	return k, nil
}

// open reads a keyframe: the header, the keyframe, notes and events. The Decoder reads the records after it.
func (k *Keyframe) open() (h *lockstep.Header, dec *record.Decoder, err error) {
	dec = new(record.Decoder)
	b := k.Bytes
	for n := 0; len(b) > 0; n++ {
		r, rest, err := dec.Decode(b)
		if err != nil {
			return nil, dec, err
		}
		fits := r.Kind == record.KindNote || r.Kind == record.KindEvent
		switch n {
		case 0:
			fits, h = r.Kind == record.KindHeader, r.Header
		case 1:
			fits = r.Kind == record.KindKeyframe
		}
		if !fits || n == 1 && r.Tick != k.Tick {
			return nil, dec, fmt.Errorf("audience: %w: record %d of a state_sync of tick %d: got kind %d of tick %d", record.ErrMalformed, n, k.Tick, r.Kind, r.Tick)
		}
		b = rest
	}
	if h == nil || len(k.Bytes) == 0 || dec.Tick() != k.Tick {
		return nil, dec, fmt.Errorf("audience: %w: a state_sync without a keyframe", record.ErrMalformed)
	}
	return h, dec, nil
}

// checks has the agreed state hashes of the latest checked ticks in the log.
type checks struct {
	latest [64]check // the next one replaces the oldest
	next   int
}

type check struct {
	tick lockstep.Tick // 0 for none
	hash uint64
}

// add adds a check. A later one of the same tick replaces it.
func (c *checks) add(t lockstep.Tick, hash uint64) {
	for i := range c.latest {
		if c.latest[i].tick == t {
			c.latest[i].hash = hash
			return
		}
	}
	c.latest[c.next] = check{t, hash}
	c.next = (c.next + 1) % len(c.latest)
}

// find returns the agreed state hash of a tick.
func (c *checks) find(t lockstep.Tick) (hash uint64, known bool) {
	for i := range c.latest {
		if c.latest[i].tick == t && t > 0 {
			return c.latest[i].hash, true
		}
	}
	return 0, false
}
