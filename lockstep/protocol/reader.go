package protocol

import (
	"fmt"
	"math"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Reader decodes messages. The zero Reader is ready. It belongs
// to one goroutine.
type Reader struct {
	r        pack.Reader
	sections []uint64
}

// IsRecord reports whether the message that b begins with is a record of the
// log, which a [record.Decoder] decodes.
func IsRecord(b []byte) bool {
	header := 1
	switch {
	case len(b) > 0 && b[0] == 0xdc:
		header = 3
	case len(b) > 0 && b[0] == 0xdd:
		header = 5
	}
	return len(b) > header && (b[header] < byte(KindAuth) || b[header] >= byte(record.FirstOptional))
}

// Read decodes the message that b begins with and returns the rest of b. The
// message shares memory with b and with the reader; it is valid until the next
// call. Errors wrap [record.ErrMalformed] or are [io.ErrUnexpectedEOF].
func (d *Reader) Read(m *Message, b []byte) ([]byte, error) {
	r := &d.r
	r.Reset(b)
	n := r.Array(1, 12)
	*m = Message{Kind: Kind(r.Uint(127))}
	want, known := d.values(m)
	if r.Err() == nil && (!known || n != 1+want) {
		r.Fail("message %d with %d values", m.Kind, n)
	}
	if err := r.Err(); err != nil {
		return b, fmt.Errorf("lockstep: message %d: %w", m.Kind, record.AsMalformed(err))
	}
	return b[r.Offset():], nil
}

// values reads what follows the kind and returns how many values that were.
func (d *Reader) values(m *Message) (n int, known bool) {
	r := &d.r
	switch m.Kind {
	case KindAuth:
		m.Auth = readAuth(r)
		return 11, true
	case KindCommand:
		m.Sequence = lockstep.Sequence(r.Uint(math.MaxUint32))
		m.Command = lockstep.Kind(r.Uint(math.MaxUint16))
		m.Bytes = r.Binary(MaxClientMessage)
		return 3, true
	case KindChecksum:
		m.Tick = readTick(r)
		m.Hash = r.Uint(math.MaxUint64)
		d.sections = d.sections[:0]
		for range r.Array(0, MaxSections) {
			d.sections = append(d.sections, r.Uint(math.MaxUint64))
		}
		m.Sections = d.sections
		return 3, true
	case KindState:
		m.Tick = readTick(r)
		readChunk(r, m)
		return 4, true
	case KindStateSyncRequest, KindLeave:
		return 0, true
	case KindPing:
		m.Nonce = r.Uint(math.MaxUint64)
		return 1, true
	case KindChat:
		m.Text = r.String(record.MaxNote)
		return 1, true
	case KindAck:
		m.Position = Position(r.Uint(math.MaxUint64))
		m.Tick = readTick(r)
		return 2, true
	}
	return d.serverValues(m)
}

func (d *Reader) serverValues(m *Message) (n int, known bool) {
	r := &d.r
	switch m.Kind {
	case KindWelcome:
		m.Welcome = readWelcome(r)
		return 10, true
	case KindStateSync:
		m.Position = Position(readRange(r, 1, math.MaxUint64))
		m.Tick = readTick(r)
		readChunk(r, m)
		return 5, true
	case KindCommandAccepted:
		m.Sequence = lockstep.Sequence(readRange(r, 1, math.MaxUint32))
		m.Tick = lockstep.Tick(readRange(r, 1, math.MaxUint32))
		return 2, true
	case KindCommandRejected:
		m.Sequence = lockstep.Sequence(r.Uint(math.MaxUint32))
		m.Reason = lockstep.Reason(r.Uint(math.MaxUint8))
		m.Text = r.String(record.MaxNote)
		return 3, true
	case KindStateRequest:
		m.Tick = readTick(r)
		return 1, true
	case KindDesyncReport:
		m.Tick = readTick(r)
		m.Player = readPlayer(r)
		if m.Agreed = readTick(r); r.Err() == nil && m.Agreed >= m.Tick {
			r.Fail("got an agreement at tick %d, want one before tick %d", m.Agreed, m.Tick)
		}
		m.Field = r.String(record.MaxName)
		return 4, true
	case KindPong:
		m.Nonce = r.Uint(math.MaxUint64)
		m.Tick = readTick(r)
		return 2, true
	case KindError:
		m.Code = uint8(r.Uint(math.MaxUint8))
		m.Text = r.String(record.MaxNote)
		m.Field = r.String(record.MaxName)
		return 3, true
	case KindClosing:
		m.Code = uint8(r.Uint(math.MaxUint8))
		m.Text = r.String(record.MaxNote)
		m.RetryMS = uint32(r.Uint(math.MaxUint32))
		return 3, true
	}
	return 0, false
}

func readAuth(r *pack.Reader) *Auth {
	return &Auth{
		Protocol:      uint32(r.Uint(math.MaxUint32)),
		Engine:        r.String(record.MaxName),
		Game:          r.String(record.MaxName),
		Build:         r.String(record.MaxName),
		StateSchema:   r.Uint(math.MaxUint64),
		CommandSchema: r.Uint(math.MaxUint64),
		SelfTest:      readSelfTest(r),
		Platform:      r.String(record.MaxName),
		Token:         r.String(maxToken),
		Session:       readSession(r),
		Position:      Position(r.Uint(math.MaxUint64)),
	}
}

func readSelfTest(r *pack.Reader) (t lockstep.SelfTest) {
	parts := t.Parts()
	r.Array(len(parts), len(parts))
	for _, p := range parts {
		*p.Sum = r.Uint(math.MaxUint64)
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
		LastSequence: lockstep.Sequence(r.Uint(math.MaxUint32)),
		AckEvery:     uint16(readRange(r, 1, math.MaxUint16)),
		InputDelay:   uint16(r.Uint(record.MaxInputDelay)),
		SpeedPercent: uint16(readRange(r, record.MinSpeed, record.MaxSpeed)),
	}
}

func readTick(r *pack.Reader) lockstep.Tick { return lockstep.Tick(r.Uint(math.MaxUint32)) }

func readPlayer(r *pack.Reader) lockstep.Player {
	p := lockstep.Player(r.Uint(math.MaxUint8))
	if p >= lockstep.MaxPlayers && p != lockstep.System {
		r.Fail("got player %d, want at most %d", p, lockstep.MaxPlayers-1)
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
	m.Total = uint32(r.Uint(lockstep.MaxStateSize + MaxServerMessage))
	m.Bytes = r.Binary(MaxChunk)
	if r.Err() == nil && uint64(m.Offset)+uint64(len(m.Bytes)) > uint64(m.Total) {
		r.Fail("got a chunk of %d bytes at %d of %d", len(m.Bytes), m.Offset, m.Total)
	}
}
