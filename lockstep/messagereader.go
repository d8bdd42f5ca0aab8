package lockstep

import (
	"fmt"
	"math"

	"github.com/seed-49bee653/samestep/internal/pack"
)

// A MessageReader decodes messages. The zero MessageReader is ready. It belongs
// to one goroutine.
type MessageReader struct {
	r        pack.Reader
	sections []uint64
}

// IsRecord reports whether the message that b begins with is a record of the
// log, which a [Decoder] decodes.
func IsRecord(b []byte) bool {
	header := 1
	switch {
	case len(b) > 0 && b[0] == 0xdc:
		header = 3
	case len(b) > 0 && b[0] == 0xdd:
		header = 5
	}
	return len(b) > header && (b[header] < byte(MessageAuth) || b[header] >= byte(FirstOptional))
}

// Read decodes the message that b begins with and returns the rest of b. The
// message shares memory with b and with the reader; it is valid until the next
// call. Errors wrap [ErrMalformed] or are [io.ErrUnexpectedEOF].
func (d *MessageReader) Read(m *Message, b []byte) ([]byte, error) {
	r := &d.r
	r.Reset(b)
	n := r.Array(1, 12)
	*m = Message{Kind: MessageKind(r.Uint(127))}
	want, known := d.values(m)
	if r.Err() == nil && (!known || n != 1+want) {
		r.Fail("message %d with %d values", m.Kind, n)
	}
	if err := r.Err(); err != nil {
		return b, fmt.Errorf("lockstep: message %d: %w", m.Kind, malformed(err))
	}
	return b[r.Offset():], nil
}

// values reads what follows the kind and returns how many values that were.
func (d *MessageReader) values(m *Message) (n int, known bool) {
	r := &d.r
	switch m.Kind {
	case MessageAuth:
		m.Auth = readAuth(r)
		return 11, true
	case MessageCommand:
		m.Sequence = Sequence(r.Uint(math.MaxUint32))
		m.Command = Kind(r.Uint(math.MaxUint16))
		m.Bytes = r.Binary(MaxClientMessage)
		return 3, true
	case MessageChecksum:
		m.Tick = readTick(r)
		m.Root = r.Uint(math.MaxUint64)
		d.sections = d.sections[:0]
		for range r.Array(0, maxSections) {
			d.sections = append(d.sections, r.Uint(math.MaxUint64))
		}
		m.Sections = d.sections
		return 3, true
	case MessageState:
		m.Tick = readTick(r)
		readChunk(r, m)
		return 4, true
	case MessageStateSyncRequest, MessageLeave:
		return 0, true
	case MessagePing:
		m.Nonce = r.Uint(math.MaxUint64)
		return 1, true
	case MessageChat:
		m.Text = r.String(MaxNote)
		return 1, true
	case MessageAck:
		m.Position = Position(r.Uint(math.MaxUint64))
		m.Tick = readTick(r)
		return 2, true
	}
	return d.serverValues(m)
}

func (d *MessageReader) serverValues(m *Message) (n int, known bool) {
	r := &d.r
	switch m.Kind {
	case MessageWelcome:
		m.Welcome = readWelcome(r)
		return 10, true
	case MessageStateSync:
		m.Position = Position(readRange(r, 1, math.MaxUint64))
		m.Tick = readTick(r)
		readChunk(r, m)
		return 5, true
	case MessageCommandAccepted:
		m.Sequence = Sequence(readRange(r, 1, math.MaxUint32))
		m.Tick = Tick(readRange(r, 1, math.MaxUint32))
		return 2, true
	case MessageCommandRejected:
		m.Sequence = Sequence(r.Uint(math.MaxUint32))
		m.Reason = Reason(r.Uint(math.MaxUint8))
		m.Text = r.String(MaxNote)
		return 3, true
	case MessageStateRequest:
		m.Tick = readTick(r)
		return 1, true
	case MessageDesyncReport:
		m.Tick = readTick(r)
		m.Player = readPlayer(r)
		if m.Agreed = readTick(r); r.Err() == nil && m.Agreed >= m.Tick {
			r.Fail("got an agreement at tick %d, want one before tick %d", m.Agreed, m.Tick)
		}
		m.Field = r.String(maxName)
		return 4, true
	case MessagePong:
		m.Nonce = r.Uint(math.MaxUint64)
		m.Tick = readTick(r)
		return 2, true
	case MessageError:
		m.Code = uint8(r.Uint(math.MaxUint8))
		m.Text = r.String(MaxNote)
		m.Field = r.String(maxName)
		return 3, true
	case MessageClosing:
		m.Code = uint8(r.Uint(math.MaxUint8))
		m.Text = r.String(MaxNote)
		m.RetryMS = uint32(r.Uint(math.MaxUint32))
		return 3, true
	}
	return 0, false
}

func readAuth(r *pack.Reader) *Auth {
	return &Auth{
		Protocol:      uint32(r.Uint(math.MaxUint32)),
		Engine:        r.String(maxName),
		Game:          r.String(maxName),
		Build:         r.String(maxName),
		StateSchema:   r.Uint(math.MaxUint64),
		CommandSchema: r.Uint(math.MaxUint64),
		SelfTest:      readSelfTest(r),
		Platform:      r.String(maxName),
		Token:         r.String(maxToken),
		Session:       readSession(r),
		Position:      Position(r.Uint(math.MaxUint64)),
	}
}

func readSelfTest(r *pack.Reader) (t SelfTest) {
	parts := t.parts()
	r.Array(len(parts), len(parts))
	for _, p := range parts {
		*p.sum = r.Uint(math.MaxUint64)
	}
	return t
}

func readWelcome(r *pack.Reader) *Welcome {
	return &Welcome{
		Seat:         readPlayer(r),
		Role:         Role(r.Uint(uint64(roleCount - 1))),
		Session:      readSession(r),
		Tick:         readTick(r),
		Position:     Position(r.Uint(math.MaxUint64)),
		Resumed:      r.Bool(),
		LastSequence: Sequence(r.Uint(math.MaxUint32)),
		AckEvery:     uint16(readRange(r, 1, math.MaxUint16)),
		InputDelay:   uint16(r.Uint(MaxInputDelay)),
		SpeedPercent: uint16(readRange(r, minSpeed, maxSpeed)),
	}
}

func readTick(r *pack.Reader) Tick { return Tick(r.Uint(math.MaxUint32)) }

func readPlayer(r *pack.Reader) Player {
	p := Player(r.Uint(math.MaxUint8))
	if p >= MaxPlayers && p != System {
		r.Fail("got player %d, want at most %d", p, MaxPlayers-1)
	}
	return p
}

// readRange reads a number from low to high.
func readRange(r *pack.Reader, low, high uint64) uint64 {
	n := r.Uint(high)
	if r.Err() == nil && n < low {
		r.Fail("got %d, want %d to %d", n, low, high)
	}
	return n
}

func readSession(r *pack.Reader) (s SessionToken) {
	switch p := r.Binary(len(s)); len(p) {
	case 0:
	case len(s):
		if copy(s[:], p); s == (SessionToken{}) {
			r.Fail("got a session of zeros")
		}
	default:
		r.Fail("got a session of %d bytes, want %d", len(p), len(s))
	}
	return s
}

func readChunk(r *pack.Reader, m *Message) {
	m.Offset = uint32(r.Uint(math.MaxUint32))
	m.Total = uint32(r.Uint(MaxStateSize + MaxServerMessage))
	m.Bytes = r.Binary(MaxChunk)
	if r.Err() == nil && uint64(m.Offset)+uint64(len(m.Bytes)) > uint64(m.Total) {
		r.Fail("got a chunk of %d bytes at %d of %d", len(m.Bytes), m.Offset, m.Total)
	}
}
