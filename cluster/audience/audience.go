package audience

import (
	"errors"
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/internal/ring"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// ErrOtherMatch is the error of [Audience.Sync] for a header of another match.
var ErrOtherMatch = errors.New("audience: the header of another match")

// never is a time later than all others.
const never lockstep.Time = 1<<63 - 1

// An Audience serves the spectators of one match. It is a state machine: records, bytes and the caller's time go in, bytes come
// out. It belongs to one goroutine.
//
// A source calls Sync or Resync, Append, Live, Hold and Pace. The owner of the sockets calls Connect, Receive and Disconnect, Advance
// at the time that [Ready] gives, and Ready after any of these. For each peer of a Ready it then calls Send until it returns nothing
// more or the socket is busy, and then Closed.
type Audience struct {
	options Options
	policy  disclosure.Policy // of the source's match, and after begin with the delay of the options
	header  *lockstep.Header  // nil before the first Sync
	auth    *protocol.Auth    // the identity that a client must have
	ring    *ring.Ring
	ticks   []lockstep.Tick // the tick of the record at p, at p modulo its length; nil without a delay
	cuts    []cut           // in the ring, ascending
	frames  []*Keyframe     // the latest one that spectators may see, and later ones, ascending
	offered *Keyframe       // for frames, once the stream has reached it
	checks  checks
	speed   uint16 // of the match, in percent
	delay   uint16 // of its input, in ticks

	tick    lockstep.Tick // of the last frame of the source
	highest lockstep.Tick // of all sources so far
	shown   protocol.Position
	sent    protocol.Position // records before it may be sent: shown, at the last delivery
	sentAt  lockstep.Time
	live    bool // the source has reached the present
	ended   bool // the log has its end record
	endedAt lockstep.Time
	closed  *protocol.Message // the closing for every connection; nil while the match can be watched
	hold    wait

	now       lockstep.Time
	wake      lockstep.Time
	timedAt   lockstep.Time // of the last run of all timers
	peers     []*peer
	byID      map[host.PeerID]*peer // only looked up, never ranged over
	lastID    host.PeerID
	count     [host.Closed + 1]int // of peers, by state
	addresses addresses
	keyframes host.Bucket // bytes, to all addresses

	dirty    []host.PeerID
	scanned  protocol.Position // sent at the last takeDirty
	welcomed []host.PeerID
	desynced []Desync
	ready    Ready

	reader   protocol.Reader
	received protocol.Message
	writer   protocol.Writer
	message  protocol.Message // scratch
	stats    Stats
}

// New returns an Audience that waits for its source.
func New(o Options) (*Audience, error) {
	o.completeFixed()
	if err := o.check(); err != nil {
		return nil, err
	}
	return &Audience{options: o, byID: make(map[host.PeerID]*peer), addresses: addresses{max: o.MaxSpectators + o.MaxConnecting + spareAddresses}, wake: never, speed: 100, delay: 1}, nil
}

// A Desync is a checksum of a spectator that differs from the log's. The build is that of the match: no other is let in.
type Desync struct {
	Peer     host.PeerID
	Tick     lockstep.Tick
	Platform string // as its client describes it
}

// A Ready is the work that an Audience hands to the owner of the sockets. The next call of [Audience.Ready] reuses its memory.
type Ready struct {
	Welcomed []host.PeerID // since the last call
	Desynced []Desync      // since the last call
	Peers    []host.PeerID // to send to or to close
	Keyframe bool          // the source should get a new keyframe, if it can
	Next     lockstep.Time // when to call Advance, unless another method is called before
}

// Ready returns the work since the last call.
func (a *Audience) Ready() *Ready {
	r := &a.ready
	r.Welcomed, a.welcomed = a.welcomed, r.Welcomed[:0]
	r.Desynced, a.desynced = a.desynced, r.Desynced[:0]
	r.Peers = a.takeDirty(r.Peers[:0])
	r.Keyframe = a.wantsKeyframe()
	r.Next = a.wake
	return r
}

// takeDirty appends the peers that have something new to send, or were closed, since the last call.
func (a *Audience) takeDirty(dst []host.PeerID) []host.PeerID {
	if a.sent != a.scanned {
		a.scanned = a.sent
		for _, p := range a.peers {
			if p.streams() && (p.cursor < a.window(p) || a.atCut(p)) {
				a.mark(p)
			}
		}
	}
	for _, id := range a.dirty {
		if p := a.byID[id]; p != nil {
			p.dirty = false
			dst = append(dst, id)
		}
	}
	a.dirty = a.dirty[:0]
	return dst
}

// at sets the time to now, unless it is later already.
func (a *Audience) at(now lockstep.Time) { a.now = max(a.now, now) }

// wakeAt makes Advance due at a time, or earlier.
func (a *Audience) wakeAt(t lockstep.Time) { a.wake = min(a.wake, t) }

// Header returns the header of the match, or nil before the first Sync.
func (a *Audience) Header() *lockstep.Header { return a.header }

// Delay returns the delay in ticks. It is known after the first Sync.
func (a *Audience) Delay() lockstep.Tick { return a.options.Delay }

// Now returns the last tick that spectators may see.
func (a *Audience) Now() lockstep.Tick {
	return a.policy.Shown(disclosure.Spectator, a.tick, a.ended)
}

// Settings returns the settings of the match, as far as spectators may know them. It needs a header.
func (a *Audience) Settings() lockstep.Settings {
	return a.policy.Settings(disclosure.Spectator, a.header.Settings)
}

// Figures reports whether everybody may know how many bytes the match takes here.
func (a *Audience) Figures() bool {
	return !a.policy.Hides() || a.policy.Figures(disclosure.Spectator, a.ended)
}

// Next returns the position of the record that the source has next.
func (a *Audience) Next() protocol.Position {
	if a.ring == nil {
		return 0
	}
	return a.ring.Next()
}

// Live says that the source has reached the present: from now on spectators are sent keyframes.
func (a *Audience) Live(now lockstep.Time) {
	a.at(now)
	if !a.live {
		a.live = true
		a.provide()
	}
}

// Pace says at what speed and input delay the match runs, for spectators who come later.
func (a *Audience) Pace(speedPercent, inputDelay uint16) { a.speed, a.delay = speedPercent, inputDelay }

// Ended reports whether the source has had the end record.
func (a *Audience) Ended() bool { return a.ended }

// Close closes all connections, and those that come later, for a reason. Clients may come back after retry, and not at all if
// it is 0.
func (a *Audience) Close(now lockstep.Time, code protocol.CloseCode, reason string, retry lockstep.Time) {
	a.at(now)
	a.closed = &protocol.Message{Kind: protocol.KindClosing, Code: uint8(code), Text: reason, RetryMS: uint32(min(max(retry, 0).Milliseconds(), 1<<32-1))}
	for _, p := range a.peers {
		a.close(p, code, reason, a.closed.RetryMS)
	}
}

// Reopen lets connections in again after Close.
func (a *Audience) Reopen(now lockstep.Time) {
	a.at(now)
	a.closed = nil
}

// disclose says who may see the match, before the first Sync.
func (a *Audience) disclose(p disclosure.Policy) {
	if a.header == nil {
		a.policy = p
	}
}

// begin prepares for the match with header h.
func (a *Audience) begin(h *lockstep.Header, at protocol.Position) {
	a.header, a.auth = h, protocol.AuthOf(h)
	a.options.complete(&h.Settings, a.policy.Delay)
	a.policy.Delay = a.options.Delay
	a.ring = ring.New(a.options.RingRecords, a.options.RingBytes)
	a.ring.Begin(at)
	a.shown, a.sent, a.scanned = at, at, at
	if a.options.Delay > 0 {
		a.ticks = make([]lockstep.Tick, max(a.options.RingRecords, 16))
	}
}

const (
	// maxChat and maxChatBytes bound the lines of chat that a spectator is told when it begins.
	maxChat      = 16
	maxChatBytes = 2 << 10
)

// A roster is what the log has told about the seats, and the last lines of chat.
type roster struct {
	seats []seat
	chat  []line
}

type seat struct {
	name     string
	presence string // "" if nothing was told
	ready    bool   // in the lobby
}

type line struct {
	player lockstep.Player
	text   string
}

// take takes the next record of the log.
func (r *roster) take(rec *record.Record) {
	if rec.Kind == record.KindNote || rec.Kind == record.KindEvent {
		r.note(rec)
		return
	}
	if rec.Ticks() > 0 {
		for i := range r.seats {
			r.seats[i].ready = false // the lobby is over
		}
	}
	for i := range rec.Frame.Commands {
		if c := &rec.Frame.Commands[i]; c.Player == lockstep.System {
			if v, err := record.SystemValue(c); err == nil {
				r.command(v)
			}
		}
	}
}

func (r *roster) note(rec *record.Record) {
	if rec.Topic == record.TopicChat {
		r.chat = append(r.chat, line{rec.Player, rec.Text})
		for size := r.chatBytes(); len(r.chat) > maxChat || size > maxChatBytes; size = r.chatBytes() {
			r.chat = append(r.chat[:0], r.chat[1:]...)
		}
		return
	}
	if int(rec.Player) >= len(r.seats) {
		return
	}
	s := &r.seats[rec.Player]
	switch {
	case rec.Topic == record.TopicName:
		s.name = rec.Text
	case rec.Event == record.EventPresence:
		s.presence = rec.Text
		s.ready = s.ready && rec.Text == record.PresenceHere
	case rec.Topic == record.TopicReady:
		s.ready = rec.Text == record.ReadyYes
	}
}

func (r *roster) chatBytes() (n int) {
	for _, l := range r.chat {
		n += 16 + len(l.text)
	}
	return n
}

func (r *roster) command(value any) {
	become := func(p lockstep.Player, presence string) {
		if int(p) < len(r.seats) {
			r.seats[p].presence = presence
		}
	}
	switch v := value.(type) {
	case *lockstep.Joined:
		if int(v.Player) < len(r.seats) && r.seats[v.Player].presence != record.PresenceBot { // else an event has said so
			become(v.Player, record.PresenceHere)
		}
	case *lockstep.Lost:
		become(v.Player, record.PresenceAway)
	case *lockstep.TakenOver:
		become(v.Player, record.PresenceTakenOver)
	case *lockstep.Left:
		become(v.Player, record.PresenceVacant)
	}
}

// appendNotes appends notes that tell a spectator what the log has told.
func (r *roster) appendNotes(dst []byte) []byte {
	for i := range r.seats {
		s, p := &r.seats[i], lockstep.Player(i)
		if s.name != "" {
			dst = append(dst, record.Note(p, record.TopicName, s.name)...)
		}
		if s.presence == "" || s.presence == record.PresenceVacant {
			continue
		}
		dst = append(dst, record.Event(p, record.EventPresence, s.presence)...)
		if s.ready {
			dst = append(dst, record.Note(p, record.TopicReady, record.ReadyYes)...)
		}
	}
	for _, l := range r.chat {
		dst = append(dst, record.Note(l.player, record.TopicChat, l.text)...)
	}
	return dst
}

// Stats are an Audience's counters since it began, and its current sizes.
type Stats struct {
	Tick       lockstep.Tick // the last one of the source
	Shown      lockstep.Tick // the last one that spectators may see
	Spectators int
	Connecting int
	BytesIn    uint64
	BytesOut   uint64
	Welcomes   uint64
	Syncs      uint64 // keyframes sent
	SyncBytes  uint64 // of them
	Resyncs    uint64 // keyframes sent because the source has missed or replaced records
	Strikes    uint64 // keyframes sent because a spectator was too far behind
	Desyncs    uint64 // checksums of spectators that differ from the log's
	Keyframes  uint64 // taken from the source
	Cuts       uint64 // times that the source was away
	Rewinds    uint64 // times that the source has replaced records
	Offences   uint64
	NoRoom     uint64
	Closed     [protocol.CloseInactive + 1]uint64 // connections, by CloseCode
	Memory     int                                // see Audience.Memory
	StateBytes int                                // of the latest keyframe
}

// Stats returns the counters and the current sizes.
func (a *Audience) Stats() Stats {
	s := a.stats
	s.Tick, s.Shown, s.Spectators, s.Connecting, s.Memory = a.tick, a.Now(), a.spectators(), a.count[host.Connecting], a.Memory()
	if n := len(a.frames); n > 0 {
		s.StateBytes = len(a.frames[n-1].Bytes)
	}
	return s
}

const (
	// peerMemory is the size of one connection without its queue, in bytes.
	peerMemory = 1 << 10

	// addressMemory is the size of an address with its key, in bytes.
	addressMemory = 256
)

// Memory returns the memory that the Audience holds now, in bytes: the ring, keyframes, queues and addresses.
func (a *Audience) Memory() int {
	sum := addressMemory*len(a.addresses.all) + 4*len(a.ticks)
	if a.ring != nil {
		sum += a.ring.Memory()
	}
	for _, k := range a.frames {
		sum += len(k.Bytes)
	}
	for i, p := range a.peers {
		sum += peerMemory + cap(p.out)
		if p.sync != nil && !slices.Contains(a.frames, p.sync) && (i == 0 || a.peers[i-1].sync != p.sync) {
			sum += len(p.sync.Bytes)
		}
	}
	return sum
}

// MemoryBound returns the limit of Memory in a match whose states have at most stateBytes bytes:
//
//	ring        max(RingBytes, 256 KiB) + 16·RingRecords, and 4·RingRecords with a delay
//	keyframes   (8 + SyncTimeout / 5 s) · (state + header + 4 KiB): of the log, and those still being sent to slow readers
//	peers       (MaxSpectators + 2·MaxConnecting) · (1 KiB + 2·8 KiB)
//	addresses   (MaxSpectators + MaxConnecting + 4096) · 256 B
//
// A peer that reads has 1 KiB. The sockets of a server have buffers besides, see package mirror.
func (a *Audience) MemoryBound(stateBytes int) int {
	o := &a.options
	sum := (o.MaxSpectators+2*o.MaxConnecting)*(peerMemory+2*maxPrivate) + a.addresses.max*addressMemory + 4*len(a.ticks)
	if a.ring != nil {
		sum += a.ring.MemoryBound()
	}
	frames := 8 + int(o.SyncTimeout/(5*lockstep.Second))
	return sum + frames*(stateBytes+record.MaxConfig/16+protocol.MaxServerMessage)
}

// SourceLost is the reason of a [Audience.Hold] while the mirror has no connection to the match.
const SourceLost = "the mirror has lost the match and is reconnecting"

// A wait says why the match stands still or runs slower.
type wait struct {
	version uint64
	reason  string // "" if it does not
	seats   []byte
	since   lockstep.Time
	until   lockstep.Time // 0 if nobody knows
}

// Hold tells the spectators why the match stands still or runs slower, and nothing any more with an empty reason. since is the
// time for which it has done so; until, if it is not 0, the time that it may last.
func (a *Audience) Hold(now lockstep.Time, reason string, seats []byte, since, until lockstep.Time) {
	a.at(now)
	w := &a.hold
	reason = pack.Clip(reason, record.MaxNote)
	if reason == w.reason && slices.Equal(seats, w.seats) && until == 0 && w.until == 0 {
		return
	}
	*w = wait{version: w.version + 1, reason: reason, seats: slices.Clone(seats), since: a.now - since}
	if until > 0 {
		w.until = a.now + until
	}
	for _, p := range a.peers {
		if p.state != host.Connecting && p.state != host.Closed {
			a.mark(p)
		}
	}
}

// Held returns the reason of the last [Audience.Hold], or "".
func (a *Audience) Held() string { return a.hold.reason }

// appendWait appends what the match waits for, unless the peer knows it.
func (a *Audience) appendWait(p *peer, dst []byte) []byte {
	if p.told == a.hold.version || p.state == host.Connecting || p.state == host.Closed {
		return dst
	}
	p.told = a.hold.version
	w := &a.hold
	a.message = protocol.Message{Kind: protocol.KindHeld, Text: w.reason, Seats: w.seats, UntilMS: milliseconds(w.until - a.now)}
	if w.reason != "" {
		a.message.SinceMS = milliseconds(a.now - w.since)
	}
	return a.writer.Append(dst, &a.message)
}

// milliseconds returns a time in milliseconds, 0 for a negative one.
func milliseconds(t lockstep.Time) uint32 { return uint32(min(max(t, 0).Milliseconds(), 1<<32-1)) }
