package protocol

import (
	"cmp"
	"fmt"
	"math"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Reader decodes messages. The zero Reader is ready. It belongs to one goroutine.
type Reader struct {
	r        pack.Reader
	sections []uint64
	names    []string
}

// maxValues is the number of values, with the kind, of the message that has most: auth.
const maxValues = 13

// IsRecord reports whether the message that b begins with is a record of the log, which a [record.Decoder] decodes.
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

// Read decodes the message that b begins with and returns the rest of b. The message shares memory with b and with the
// reader; it is valid until the next call. Errors wrap [record.ErrMalformed] or are [io.ErrUnexpectedEOF].
func (d *Reader) Read(m *Message, b []byte) ([]byte, error) {
	r := &d.r
	r.Reset(b)
	n := r.Array(1, maxValues)
	*m = Message{Kind: Kind(r.Uint(127))}
	known := describe(m.Kind)
	if known != nil {
		d.values(m, known.fields)
	}
	if r.Err() == nil && (known == nil || n != 1+len(known.fields)) {
		r.Fail("message %d with %d values", m.Kind, n)
	}
	if err := r.Err(); err != nil {
		return b, fmt.Errorf("lockstep: message %d: %w", m.Kind, record.AsMalformed(err))
	}
	return b[r.Offset():], nil
}

func (d *Reader) values(m *Message, fields []field) {
	switch m.Kind {
	case KindAuth:
		m.Auth = new(Auth)
	case KindWelcome:
		m.Welcome = new(Welcome)
	}
	for i := range fields {
		fields[i].read(d, m)
	}
}

// A Writer encodes messages. The zero Writer is ready. It belongs to one goroutine.
type Writer struct{ w pack.Writer }

// Append appends a message to dst.
func (e *Writer) Append(dst []byte, m *Message) []byte {
	d := describe(m.Kind)
	if d == nil {
		panic(fmt.Sprintf("lockstep: no message of kind %d", m.Kind)) // the kinds are constants of this package
	}
	w := &e.w
	w.Begin(dst)
	w.Array(1 + len(d.fields))
	w.Uint(uint64(m.Kind))
	for i := range d.fields {
		d.fields[i].write(w, m)
	}
	return w.Bytes()
}

type field struct {
	name      string
	at        func(*Message) any   // a pointer to where it stands in a Message; its type says how it is written
	low, high uint64               // limits of a number, or of the length of anything else; high 0: of its type
	clip      bool                 // the writer cuts a text to the limit
	check     func(*Message) error // a rule beyond the limits, or nil
	note      string               // for docs/spec/live.md, after the type and the limits
}

func (f *field) read(d *Reader, m *Message) {
	r := &d.r
	switch p := f.at(m).(type) {
	case *uint8:
		*p = uint8(f.number(r, math.MaxUint8))
	case *uint16:
		*p = uint16(f.number(r, math.MaxUint16))
	case *uint32:
		*p = uint32(f.number(r, math.MaxUint32))
	case *uint64:
		*p = f.number(r, math.MaxUint64)
	case *bool:
		*p = r.Bool()
	case *string:
		*p = r.String(int(f.high))
	case *[]byte:
		*p = r.Binary(int(cmp.Or(f.high, MaxServerMessage))) // as much as any message has
	case *[]uint64:
		d.sections = d.sections[:0]
		for range r.Array(0, int(f.high)) {
			d.sections = append(d.sections, r.Uint(math.MaxUint64))
		}
		*p = d.sections
	case *[]string:
		d.names = d.names[:0]
		for range r.Array(0, int(f.high)) {
			d.names = append(d.names, r.String(record.MaxName))
		}
		*p = d.names
	case *lockstep.Player:
		*p = lockstep.Player(r.Uint(math.MaxUint8))
		if *p >= lockstep.MaxPlayers && *p != lockstep.System {
			r.Fail("got player %d, want at most %d", *p, lockstep.MaxPlayers-1)
		}
	case *SessionToken:
		readSession(r, p)
	case *lockstep.SelfTest:
		parts := p.Parts()
		r.Array(len(parts), len(parts))
		for _, part := range parts {
			*part.Sum = r.Uint(math.MaxUint64)
		}
	}
	if f.check != nil && r.Err() == nil {
		if err := f.check(m); err != nil {
			r.Fail("%v", err)
		}
	}
}

func (f *field) number(r *pack.Reader, max uint64) uint64 {
	if f.high > 0 {
		max = f.high
	}
	n := r.Uint(max)
	if n < f.low && r.Err() == nil {
		r.Fail("got %d, want %d to %d", n, f.low, max)
	}
	return n
}

func readSession(r *pack.Reader, s *SessionToken) {
	switch p := r.Binary(len(s)); len(p) {
	case 0:
	case len(s):
		if copy(s[:], p); *s == (SessionToken{}) {
			r.Fail("got a session of zeros")
		}
	default:
		r.Fail("got a session of %d bytes, want %d", len(p), len(s))
	}
}

func (f *field) write(w *pack.Writer, m *Message) {
	switch p := f.at(m).(type) {
	case *uint8:
		w.Uint(uint64(*p))
	case *uint16:
		w.Uint(uint64(*p))
	case *uint32:
		w.Uint(uint64(*p))
	case *uint64:
		w.Uint(*p)
	case *bool:
		w.Bool(*p)
	case *string:
		if f.clip {
			w.String(pack.Clip(*p, int(f.high)))
		} else {
			w.String(*p)
		}
	case *[]byte:
		w.Binary(*p)
	case *[]uint64:
		w.Array(len(*p))
		for _, n := range *p {
			w.Uint(n)
		}
	case *[]string:
		w.Array(len(*p))
		for _, s := range *p {
			w.String(pack.Clip(s, record.MaxName))
		}
	case *lockstep.Player:
		w.Uint(uint64(*p))
	case *SessionToken:
		if *p == (SessionToken{}) {
			w.Binary(nil)
		} else {
			w.Binary(p[:])
		}
	case *lockstep.SelfTest:
		parts := p.Parts()
		w.Array(len(parts))
		for _, part := range parts {
			w.Uint(*part.Sum)
		}
	}
}

// A side is an end of a connection, or both of them.
type side uint8

const (
	client side = 1 << iota
	server
)

// A description describes one kind of message: its sender and its values. Reader, Writer, [Kind.String] and the tables
// of docs/spec/live.md come from it.
type description struct {
	name   string
	sender side
	fields []field // in order
}

// descriptions has each kind of message at the place of its number. After a change here, run go test
// ./lockstep/protocol -run TestTablesOnPage -rewrite.
var descriptions = [256]description{
	KindAuth: {"auth", client, []field{
		{name: "protocol", at: func(m *Message) any { return &m.Auth.Protocol }},
		{name: "engine", high: record.MaxName, at: func(m *Message) any { return &m.Auth.Engine }},
		{name: "game", high: record.MaxName, at: func(m *Message) any { return &m.Auth.Game }},
		{name: "build", high: record.MaxName, at: func(m *Message) any { return &m.Auth.Build }},
		{name: "state schema", at: func(m *Message) any { return &m.Auth.StateSchema }},
		{name: "command schema", at: func(m *Message) any { return &m.Auth.CommandSchema }},
		{name: "self-test", at: func(m *Message) any { return &m.Auth.SelfTest }},
		{name: "platform", high: record.MaxName, at: func(m *Message) any { return &m.Auth.Platform }},
		{name: "token", high: maxToken, at: func(m *Message) any { return &m.Auth.Token }},
		{name: "session", at: func(m *Message) any { return &m.Auth.Session }},
		{name: "position", at: func(m *Message) any { return (*uint64)(&m.Auth.Position) }},
		{name: "capabilities", high: maxCapabilities, check: checkCapabilities, at: func(m *Message) any { return &m.Auth.Capabilities }},
	}},
	KindCommand: {"command", client, []field{
		{name: "sequence", at: sequence},
		{name: "kind", at: func(m *Message) any { return (*uint16)(&m.Command) }},
		{name: "payload", at: payload},
	}},
	KindChecksum: {"checksum", client, []field{
		{name: "tick", at: tick},
		{name: "state hash", at: func(m *Message) any { return &m.Hash }},
		{name: "sections", high: MaxSections, at: func(m *Message) any { return &m.Sections }},
	}},
	KindState:            {"state", client, []field{{name: "tick", at: tick}, offset, total, chunk}},
	KindStateSyncRequest: {"state_sync_request", client, nil},
	KindPing:             {"ping", client | server, []field{{name: "nonce", at: nonce}}},
	KindChat:             {"chat", client, []field{{name: "text", high: record.MaxNote, at: text, clip: true}}},
	KindLeave:            {"leave", client, []field{{name: "reason", high: record.MaxNote, at: text, clip: true}}},
	KindAck:              {"ack", client, []field{{name: "position", at: position}, {name: "tick", at: tick}}},
	KindReady:            {"ready", client, []field{{name: "ready", at: func(m *Message) any { return &m.Ready }}}},
	KindResimulated: {"resimulated", client, []field{
		{name: "tick", at: tick},
		{name: "first hash", at: func(m *Message) any { return &m.First }},
		{name: "state hash", at: func(m *Message) any { return &m.Hash }},
		{name: "sections", high: MaxSections, at: func(m *Message) any { return &m.Sections }},
	}},
	KindPhases: {"phases", client, []field{
		{name: "tick", at: tick},
		{name: "names", high: MaxPhases, at: func(m *Message) any { return &m.Names }},
		{name: "state hashes", high: MaxPhases, at: func(m *Message) any { return &m.Sections }, check: checkPhases, note: ", as many"},
	}},

	KindViewAck: {"view_ack", client, []field{view, {name: "tick", at: tick}}},
	KindPanicked: {"panicked", client, []field{
		{name: "tick", at: tick},
		{name: "where", high: record.MaxName, at: fieldText, clip: true},
		{name: "text", high: record.MaxNote, at: text, clip: true},
		{name: "stack", high: record.MaxStack, at: func(m *Message) any { return &m.Stack }, clip: true},
	}},

	KindWelcome: {"welcome", server, []field{
		{name: "seat", at: func(m *Message) any { return &m.Welcome.Seat }, note: " for a spectator"},
		{name: "role", high: uint64(roleCount - 1), at: func(m *Message) any { return (*uint8)(&m.Welcome.Role) }, note: ": 0 spectator, 1 player, 2 admin"},
		{name: "session", at: func(m *Message) any { return &m.Welcome.Session }, note: "; none for a spectator"},
		{name: "tick", at: func(m *Message) any { return (*uint32)(&m.Welcome.Tick) }},
		{name: "position", at: func(m *Message) any { return (*uint64)(&m.Welcome.Position) }},
		{name: "resumed", at: func(m *Message) any { return &m.Welcome.Resumed }},
		{name: "last sequence", at: func(m *Message) any { return (*uint32)(&m.Welcome.LastSequence) }},
		{name: "ack every", low: 1, at: func(m *Message) any { return &m.Welcome.AckEvery }},
		{name: "input delay", high: record.MaxInputDelay, at: func(m *Message) any { return &m.Welcome.InputDelay }},
		{name: "speed", low: record.MinSpeed, high: record.MaxSpeed, at: func(m *Message) any { return &m.Welcome.SpeedPercent }},
	}},
	KindStateSync:       {"state_sync", server, []field{{name: "position", low: 1, at: position}, {name: "tick", at: tick}, offset, total, chunk}},
	KindCommandAccepted: {"command_accepted", server, []field{{name: "sequence", low: 1, at: sequence}, {name: "tick", low: 1, at: tick}}},
	KindCommandRejected: {"command_rejected", server, []field{
		{name: "sequence", at: sequence},
		{name: "reason", at: func(m *Message) any { return (*uint8)(&m.Reason) }},
		{name: "detail", high: record.MaxNote, at: text, clip: true},
	}},
	KindStateRequest: {"state_request", server, []field{{name: "tick", at: tick}}},
	KindDesyncReport: {"desync_report", server, []field{
		{name: "tick", at: tick},
		{name: "player", at: func(m *Message) any { return &m.Player }},
		{name: "last agreed tick", at: func(m *Message) any { return (*uint32)(&m.Agreed) }, check: checkAgreed, note: ", less than tick; 0 for none"},
		{name: "section", high: record.MaxName, at: fieldText, clip: true},
	}},
	KindPong: {"pong", client | server, []field{{name: "nonce", at: nonce}, {name: "tick", at: tick}}},
	KindError: {"error", server, []field{
		{name: "code", at: code}, {name: "text", high: record.MaxNote, at: text, clip: true}, {name: "field", high: record.MaxName, at: fieldText, clip: true},
	}},
	KindClosing: {"closing", server, []field{
		{name: "code", at: code}, {name: "text", high: record.MaxNote, at: text, clip: true},
		{name: "retry after", at: func(m *Message) any { return &m.RetryMS }, note: ", milliseconds"},
	}},
	KindHeld: {"held", server, []field{
		{name: "reason", high: record.MaxNote, at: text, clip: true},
		{name: "seats", high: lockstep.MaxPlayers, at: func(m *Message) any { return &m.Seats }, check: checkSeats, note: ", a seat in each byte, ascending"},
		{name: "since", at: func(m *Message) any { return &m.SinceMS }, note: ", milliseconds ago"},
		{name: "until", at: func(m *Message) any { return &m.UntilMS }, note: ", milliseconds from now on; 0 if nobody knows"},
	}},
	KindResimulate: {"resimulate", server, []field{
		{name: "from", at: func(m *Message) any { return (*uint32)(&m.From) }},
		{name: "to", low: 1, at: tick, check: checkFrom, note: ", above from"},
		{name: "state", at: func(m *Message) any { return &m.State }},
	}},
	KindViewSync: {"view_sync", server, []field{
		{name: "viewer", high: record.MaxName, at: text},
		{name: "seats", low: 1, high: lockstep.MaxPlayers, at: func(m *Message) any { return &m.Players }},
		{name: "every", low: 1, at: func(m *Message) any { return &m.Every }, note: ", ticks from one view to the next"},
		{name: "period", low: 1, at: func(m *Message) any { return &m.Period }, note: ", microseconds of a tick at full speed"},
		{name: "plan", high: MaxPlan, at: payload},
	}},
	KindViewDelta: {"view_delta", server, []field{
		view, {name: "base", at: func(m *Message) any { return &m.Base }, check: checkBase, note: ", at most view; 0 for the view of zeros"},
		{name: "tick", at: tick}, offset, {name: "total", high: MaxDelta, at: ofTotal}, chunk,
	}},
}

// needs names the capability that a client must have to get a message of a kind, or to answer with one.
var needs = map[Kind]string{
	KindResimulate: Resimulate, KindResimulated: Resimulate, KindPhases: Resimulate, KindViewSync: Views, KindViewDelta: Views, KindViewAck: Views,
}

// Fields of several kinds of messages.
var (
	offset = field{name: "offset", at: func(m *Message) any { return &m.Offset }}
	total  = field{name: "total", high: lockstep.MaxStateSize + MaxServerMessage, at: ofTotal}
	chunk  = field{name: "chunk", high: MaxChunk, at: payload, check: checkChunk}
	view   = field{name: "view", low: 1, high: 1<<63 - 1, at: func(m *Message) any { return &m.View }}
)

func tick(m *Message) any      { return (*uint32)(&m.Tick) }
func sequence(m *Message) any  { return (*uint32)(&m.Sequence) }
func position(m *Message) any  { return (*uint64)(&m.Position) }
func nonce(m *Message) any     { return &m.Nonce }
func code(m *Message) any      { return &m.Code }
func text(m *Message) any      { return &m.Text }
func fieldText(m *Message) any { return &m.Field }
func payload(m *Message) any   { return &m.Bytes }
func ofTotal(m *Message) any   { return &m.Total }

func checkChunk(m *Message) error {
	if uint64(m.Offset)+uint64(len(m.Bytes)) > uint64(m.Total) {
		return fmt.Errorf("got a chunk of %d bytes at %d of %d", len(m.Bytes), m.Offset, m.Total)
	}
	return nil
}

func checkBase(m *Message) error {
	if m.Base > m.View {
		return fmt.Errorf("got view %d from view %d", m.View, m.Base)
	}
	return nil
}

func checkAgreed(m *Message) error {
	if m.Agreed >= m.Tick {
		return fmt.Errorf("got an agreement at tick %d, want one before tick %d", m.Agreed, m.Tick)
	}
	return nil
}

func checkFrom(m *Message) error {
	if m.From >= m.Tick {
		return fmt.Errorf("got ticks from %d to %d to compute again", m.From, m.Tick)
	}
	return nil
}

func checkPhases(m *Message) error {
	if len(m.Sections) != len(m.Names) {
		return fmt.Errorf("got %d state hashes of %d phases", len(m.Sections), len(m.Names))
	}
	return nil
}

func checkSeats(m *Message) error {
	for i, seat := range m.Seats {
		if seat >= lockstep.MaxPlayers || i > 0 && seat <= m.Seats[i-1] {
			return fmt.Errorf("got seat %d at place %d, want seats below %d, ascending", seat, i, lockstep.MaxPlayers)
		}
	}
	return nil
}

func describe(k Kind) *description {
	if d := &descriptions[k]; d.name != "" {
		return d
	}
	return nil
}

// String returns the kind's name as in docs/spec/live.md.
func (k Kind) String() string {
	if d := describe(k); d != nil {
		return d.name
	}
	return fmt.Sprintf("kind %d", uint8(k))
}
