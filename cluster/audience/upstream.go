package audience

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// ErrClosed is wrapped by the error of an [Upstream] whose server does not want it back.
var ErrClosed = errors.New("audience: the server has closed the connection")

// A Stage is what the owner of an [Upstream] does.
type Stage uint8

// The stages of an Upstream.
const (
	Dial    Stage = iota // open a connection, and call Connected or Disconnected
	Connect              // pass messages on, and call Disconnected when the connection is lost or Receive has an error
	Wait                 // call Advance at the time of Next
	Over                 // close the connection: the match is over, or Err says why not
)

// Times of an [Upstream].
const (
	pingEvery    = 2 * lockstep.Second
	patience     = 10 * lockstep.Second // silence after which it hangs up
	syncPatience = 60 * lockstep.Second // time for the first chunk, and for each further one
	firstBackoff = 200 * lockstep.Millisecond
	lastBackoff  = 5 * lockstep.Second
)

// UpstreamOptions configure an [Upstream].
type UpstreamOptions struct {
	Auth     protocol.Auth // the identity that the server publishes, and a token
	MaxState int           // bytes of a keyframe: 64 MiB
	Seed     uint64        // of the jitter of reconnects
}

// An Upstream is a source that watches a match of a server, or of another mirror, as a client without a game. It reconnects by
// itself, and continues from the keyframe that it gets.
type Upstream struct {
	to      *Audience
	options UpstreamOptions
	stage   Stage
	err     error

	now      lockstep.Time
	next     lockstep.Time // with Wait: when to dial
	attempts int           // since the last welcome
	random   uint64
	after    lockstep.Time // that the server asks for before the next attempt

	greeted   bool // auth is sent
	welcome   bool // it has arrived
	streaming bool
	dec       *record.Decoder
	position  protocol.Position // of the next record
	assembly  assembly
	reader    protocol.Reader
	message   protocol.Message
	writer    protocol.Writer
	out       []byte

	heard    lockstep.Time
	progress lockstep.Time // of a state_sync
	pingAt   lockstep.Time
	nonce    uint64
	ackEvery lockstep.Tick
	acked    lockstep.Tick
	ackAt    lockstep.Time
	unacked  int           // records
	present  lockstep.Tick // of the server, as it has said
}

// NewUpstream returns an Upstream that gives its records to an Audience.
func NewUpstream(to *Audience, o UpstreamOptions) *Upstream {
	or(&o.MaxState, 64<<20)
	return &Upstream{to: to, options: o, random: o.Seed | 1, next: never, dec: new(record.Decoder)}
}

// Stage returns what to do now.
func (u *Upstream) Stage() Stage { return u.stage }

// Err returns why the Upstream is over, and nil if the match has ended.
func (u *Upstream) Err() error { return u.err }

// Lag returns how many ticks the server has, as it has said, that have not arrived.
func (u *Upstream) Lag() lockstep.Tick { return u.present - min(u.present, u.dec.Tick()) }

// Progress returns a number that changes with each record, and whether the server has ticks, as it has said, that have not arrived in a
// stream that has begun.
func (u *Upstream) Progress() (at uint64, behind bool) {
	return uint64(u.position), u.stage == Connect && u.streaming && u.Lag() > 0
}

// Next returns when to call Advance, unless another method is called before.
func (u *Upstream) Next() lockstep.Time { return u.next }

func (u *Upstream) at(now lockstep.Time) { u.now = max(u.now, now) }

// Connected says that a connection is open.
func (u *Upstream) Connected(now lockstep.Time) {
	u.at(now)
	u.stage, u.heard, u.progress, u.pingAt, u.next = Connect, u.now, u.now, u.now+pingEvery, u.now+pingEvery
	u.greeted, u.welcome, u.streaming, u.assembly, u.unacked, u.out = false, false, false, assembly{}, 0, u.out[:0]
}

// Disconnected says that the connection could not be opened, or is lost.
func (u *Upstream) Disconnected(now lockstep.Time) {
	u.at(now)
	if u.stage == Over {
		return
	}
	if u.to.Ended() {
		u.stage = Over
		return
	}
	u.to.Hold(u.now, SourceLost, nil, 0, 0)
	wait := min(firstBackoff<<min(u.attempts, 5), lastBackoff)
	u.random = u.random*6364136223846793005 + 1442695040888963407
	wait += lockstep.Time(u.random>>33) % (wait/5 + 1)
	u.attempts++
	u.stage, u.next, u.after = Wait, u.now+max(wait, u.after), 0
}

// Advance runs the timers.
func (u *Upstream) Advance(now lockstep.Time) {
	u.at(now)
	switch {
	case u.stage == Wait && u.now >= u.next:
		u.stage, u.next = Dial, never
	case u.stage != Connect:
	case u.now >= u.heard+patience, !u.streaming && u.now >= u.progress+syncPatience:
		u.Disconnected(u.now)
	case u.now >= u.pingAt:
		u.pingAt = u.now + pingEvery
		u.next = u.pingAt
		if u.greeted {
			u.nonce++
			u.send(&protocol.Message{Kind: protocol.KindPing, Nonce: u.nonce})
			u.ack(u.unacked > 0)
		}
	}
}

func (u *Upstream) send(m *protocol.Message) { u.out = u.writer.Append(u.out, m) }

// Send appends the next bytes for the server as one WebSocket message, or nothing.
func (u *Upstream) Send(dst []byte) []byte {
	if u.stage != Connect {
		return dst
	}
	if !u.greeted {
		u.greeted = true
		u.send(&protocol.Message{Kind: protocol.KindAuth, Auth: &u.options.Auth})
	}
	dst = append(dst, u.out...)
	u.out = u.out[:0]
	return dst
}

// Receive takes one WebSocket message. After an error the owner hangs up, and calls Disconnected.
func (u *Upstream) Receive(now lockstep.Time, b []byte) error {
	u.at(now)
	u.heard = u.now
	if len(b) == 0 || len(b) > protocol.MaxServerMessage {
		return fmt.Errorf("audience: %w: got a message of %d bytes, want 1 to %d", record.ErrMalformed, len(b), protocol.MaxServerMessage)
	}
	for len(b) > 0 && u.stage == Connect {
		var err error
		if protocol.IsRecord(b) {
			b, err = u.record(b)
		} else if b, err = u.reader.Read(&u.message, b); err == nil {
			err = u.dispatch(&u.message)
		}
		if err != nil {
			u.streaming = false
			return err
		}
	}
	u.ack(u.unacked >= 32 || u.unacked > 0 && u.now >= u.ackAt+lockstep.Second)
	return nil
}

// record takes the record that b begins with.
func (u *Upstream) record(b []byte) (rest []byte, err error) {
	if !u.streaming {
		return b, fmt.Errorf("audience: %w: a record before the state", record.ErrOutOfPlace)
	}
	r, rest, err := u.dec.Decode(b)
	if err == nil && (r.Kind == record.KindKeyframe || r.Kind == record.KindHeader) {
		err = fmt.Errorf("audience: %w: a record of kind %d in the stream", record.ErrOutOfPlace, r.Kind)
	}
	if err == nil {
		err = u.to.Append(u.now, u.position, u.dec.Tick(), b[:len(b)-len(rest)], r)
	}
	if err != nil {
		return b, err
	}
	u.position++
	u.unacked++
	if u.dec.Tick() >= u.acked+u.ackEvery {
		u.ack(true)
	}
	return rest, nil
}

// ack acknowledges the records so far.
func (u *Upstream) ack(due bool) {
	if !due || !u.streaming {
		return
	}
	u.acked, u.ackAt, u.unacked = u.dec.Tick(), u.now, 0
	u.send(&protocol.Message{Kind: protocol.KindAck, Position: u.position, Tick: u.dec.Tick()})
}

// dispatch takes a message that is not a record.
func (u *Upstream) dispatch(m *protocol.Message) error {
	switch {
	case m.Kind == protocol.KindWelcome && !u.welcome:
		u.welcome, u.attempts, u.progress = true, 0, u.now
		u.ackEvery, u.present = lockstep.Tick(m.Welcome.AckEvery), m.Welcome.Tick
		u.to.Pace(m.Welcome.SpeedPercent, m.Welcome.InputDelay)
		u.to.Hold(u.now, "", nil, 0, 0)
		return nil
	case m.Kind == protocol.KindPing:
		u.send(&protocol.Message{Kind: protocol.KindPong, Nonce: m.Nonce, Tick: u.dec.Tick()})
		return nil
	case m.Kind == protocol.KindError && m.Code == uint8(protocol.ErrorRole) && m.Field == "views":
		u.err = fmt.Errorf("audience: %w", disclosure.ErrViews)
		return nil
	case m.Kind == protocol.KindError:
		u.err = fmt.Errorf("%w: %v: %s", ErrClosed, protocol.ErrorCode(m.Code), m.Text)
		return nil
	case m.Kind == protocol.KindClosing:
		u.closing(m)
		return nil
	case !u.welcome:
		return fmt.Errorf("audience: %w: message %v before the welcome", record.ErrOutOfPlace, m.Kind)
	}
	switch m.Kind {
	case protocol.KindStateSync:
		return u.chunk(m)
	case protocol.KindStateRequest:
		u.send(&protocol.Message{Kind: protocol.KindState, Tick: m.Tick})
	case protocol.KindHeld:
		u.to.Hold(u.now, m.Text, m.Seats, lockstep.Time(m.SinceMS)*lockstep.Millisecond, lockstep.Time(m.UntilMS)*lockstep.Millisecond)
	case protocol.KindPong:
		u.present = m.Tick
	case protocol.KindDesyncReport:
	default:
		return fmt.Errorf("audience: %w: message %v of a server", record.ErrOutOfPlace, m.Kind)
	}
	return nil
}

// chunk takes a part of a keyframe.
func (u *Upstream) chunk(m *protocol.Message) error {
	u.progress = u.now
	k, err := u.assembly.add(m, u.options.MaxState)
	if k == nil {
		return err
	}
	h, dec, err := k.open()
	if err != nil {
		return err
	}
	if err := u.to.Resync(u.now, h, k); errors.Is(err, ErrOtherMatch) {
		u.over(err)
		return nil
	} else if err != nil {
		return err
	}
	u.dec, u.position, u.streaming = dec, k.Position, true
	u.to.Live(u.now)
	u.ack(true)
	return nil
}

// closing takes the server's reason for the end of the connection.
func (u *Upstream) closing(m *protocol.Message) {
	code := protocol.CloseCode(m.Code)
	u.after = lockstep.Time(m.RetryMS) * lockstep.Millisecond
	switch {
	case u.to.Ended():
		u.stage, u.err = Over, nil
	case code == protocol.CloseEnded: // the record that says so did not come
		u.to.Close(u.now, protocol.CloseEnded, m.Text, 0)
		u.stage, u.err = Over, nil
	case u.after == 0:
		if u.err == nil {
			u.err = fmt.Errorf("%w: %v: %s", ErrClosed, code, m.Text)
		}
		u.over(u.err)
	default:
		u.Disconnected(u.now)
	}
}

// over gives the match up: the spectators may come back, and then find out what is there. With [disclosure.ErrViews] the owner tells
// them.
func (u *Upstream) over(err error) {
	if u.stage, u.err = Over, err; errors.Is(err, disclosure.ErrViews) {
		return
	}
	u.to.Close(u.now, protocol.CloseBusy, "the mirror cannot watch the match", 5*lockstep.Second)
}

// A Fetch gets one keyframe over a connection of its own, for [Audience.Offer]: the stream of an [Upstream] goes on meanwhile,
// because a server skips records where it sends a keyframe.
type Fetch struct {
	options  UpstreamOptions
	reader   protocol.Reader
	message  protocol.Message
	assembly assembly
}

// NewFetch returns a Fetch.
func NewFetch(o UpstreamOptions) *Fetch {
	or(&o.MaxState, 64<<20)
	return &Fetch{options: o}
}

// Send returns the only message to the server.
func (f *Fetch) Send() []byte {
	var w protocol.Writer
	return w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: &f.options.Auth})
}

// Receive takes one WebSocket message, and returns the keyframe when it is complete.
func (f *Fetch) Receive(b []byte) (*lockstep.Header, *Keyframe, error) {
	if len(b) == 0 || len(b) > protocol.MaxServerMessage {
		return nil, nil, fmt.Errorf("audience: %w: got a message of %d bytes, want 1 to %d", record.ErrMalformed, len(b), protocol.MaxServerMessage)
	}
	m := &f.message
	for len(b) > 0 {
		rest, err := f.reader.Read(m, b)
		if err != nil {
			return nil, nil, err
		}
		b = rest
		switch m.Kind {
		case protocol.KindError, protocol.KindClosing:
			return nil, nil, fmt.Errorf("%w: %s", ErrClosed, m.Text)
		case protocol.KindStateSync:
			k, err := f.assembly.add(m, f.options.MaxState)
			if err != nil || k == nil {
				if err != nil {
					return nil, nil, err
				}
				continue
			}
			h, _, err := k.open()
			return h, k, err
		}
	}
	return nil, nil, nil
}
