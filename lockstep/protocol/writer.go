package protocol

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Writer encodes messages. The zero Writer is ready. It belongs
// to one goroutine.
type Writer struct{ w pack.Writer }

// Append appends a message to dst.
func (e *Writer) Append(dst []byte, m *Message) []byte {
	w := &e.w
	w.Begin(dst)
	begin := func(values int) {
		w.Array(1 + values)
		w.Uint(uint64(m.Kind))
	}
	switch m.Kind {
	case KindAuth:
		begin(11)
		w.Uint(uint64(m.Auth.Protocol))
		w.String(m.Auth.Engine)
		w.String(m.Auth.Game)
		w.String(m.Auth.Build)
		w.Uint(m.Auth.StateSchema)
		w.Uint(m.Auth.CommandSchema)
		writeSelfTest(w, &m.Auth.SelfTest)
		w.String(m.Auth.Platform)
		w.String(m.Auth.Token)
		writeSession(w, m.Auth.Session)
		w.Uint(uint64(m.Auth.Position))
	case KindCommand:
		begin(3)
		w.Uint(uint64(m.Sequence))
		w.Uint(uint64(m.Command))
		w.Binary(m.Bytes)
	case KindChecksum:
		begin(3)
		w.Uint(uint64(m.Tick))
		w.Uint(m.Hash)
		w.Array(len(m.Sections))
		for _, s := range m.Sections {
			w.Uint(s)
		}
	case KindState:
		begin(4)
		w.Uint(uint64(m.Tick))
		writeChunk(w, m)
	case KindStateSyncRequest, KindLeave:
		begin(0)
	case KindPing:
		begin(1)
		w.Uint(m.Nonce)
	case KindChat:
		begin(1)
		w.String(pack.Clip(m.Text, record.MaxNote))
	case KindAck:
		begin(2)
		w.Uint(uint64(m.Position))
		w.Uint(uint64(m.Tick))
	default:
		e.appendServer(m, begin)
	}
	return w.Bytes()
}

func (e *Writer) appendServer(m *Message, begin func(int)) {
	w := &e.w
	switch m.Kind {
	case KindWelcome:
		begin(10)
		w.Uint(uint64(m.Welcome.Seat))
		w.Uint(uint64(m.Welcome.Role))
		writeSession(w, m.Welcome.Session)
		w.Uint(uint64(m.Welcome.Tick))
		w.Uint(uint64(m.Welcome.Position))
		w.Bool(m.Welcome.Resumed)
		w.Uint(uint64(m.Welcome.LastSequence))
		w.Uint(uint64(m.Welcome.AckEvery))
		w.Uint(uint64(m.Welcome.InputDelay))
		w.Uint(uint64(m.Welcome.SpeedPercent))
	case KindStateSync:
		begin(5)
		w.Uint(uint64(m.Position))
		w.Uint(uint64(m.Tick))
		writeChunk(w, m)
	case KindCommandAccepted:
		begin(2)
		w.Uint(uint64(m.Sequence))
		w.Uint(uint64(m.Tick))
	case KindCommandRejected:
		begin(3)
		w.Uint(uint64(m.Sequence))
		w.Uint(uint64(m.Reason))
		w.String(pack.Clip(m.Text, record.MaxNote))
	case KindStateRequest:
		begin(1)
		w.Uint(uint64(m.Tick))
	case KindDesyncReport:
		begin(4)
		w.Uint(uint64(m.Tick))
		w.Uint(uint64(m.Player))
		w.Uint(uint64(m.Agreed))
		w.String(pack.Clip(m.Field, record.MaxName))
	case KindPong:
		begin(2)
		w.Uint(m.Nonce)
		w.Uint(uint64(m.Tick))
	case KindError:
		begin(3)
		w.Uint(uint64(m.Code))
		w.String(pack.Clip(m.Text, record.MaxNote))
		w.String(pack.Clip(m.Field, record.MaxName))
	case KindClosing:
		begin(3)
		w.Uint(uint64(m.Code))
		w.String(pack.Clip(m.Text, record.MaxNote))
		w.Uint(uint64(m.RetryMS))
	default:
		panic(fmt.Sprintf("lockstep: no message of kind %d", m.Kind)) // the kinds are constants of this package
	}
}

// writeSession writes a session token; the zero one is none.
func writeSession(w *pack.Writer, s SessionToken) {
	if s == (SessionToken{}) {
		w.Binary(nil)
		return
	}
	w.Binary(s[:])
}

func writeChunk(w *pack.Writer, m *Message) {
	w.Uint(uint64(m.Offset))
	w.Uint(uint64(m.Total))
	w.Binary(m.Bytes)
}

func writeSelfTest(w *pack.Writer, t *lockstep.SelfTest) {
	parts := t.Parts()
	w.Array(len(parts))
	for _, p := range parts {
		w.Uint(*p.Sum)
	}
}
