package lockstep

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/pack"
)

// A MessageWriter encodes messages. The zero MessageWriter is ready. It belongs
// to one goroutine.
type MessageWriter struct{ w pack.Writer }

// Append appends a message to dst.
func (e *MessageWriter) Append(dst []byte, m *Message) []byte {
	w := &e.w
	w.Begin(dst)
	begin := func(values int) {
		w.Array(1 + values)
		w.Uint(uint64(m.Kind))
	}
	switch m.Kind {
	case MessageAuth:
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
	case MessageCommand:
		begin(3)
		w.Uint(uint64(m.Sequence))
		w.Uint(uint64(m.Command))
		w.Binary(m.Bytes)
	case MessageChecksum:
		begin(3)
		w.Uint(uint64(m.Tick))
		w.Uint(m.Root)
		w.Array(len(m.Sections))
		for _, s := range m.Sections {
			w.Uint(s)
		}
	case MessageState:
		begin(4)
		w.Uint(uint64(m.Tick))
		writeChunk(w, m)
	case MessageStateSyncRequest, MessageLeave:
		begin(0)
	case MessagePing:
		begin(1)
		w.Uint(m.Nonce)
	case MessageChat:
		begin(1)
		w.String(clip(m.Text, MaxNote))
	case MessageAck:
		begin(2)
		w.Uint(uint64(m.Position))
		w.Uint(uint64(m.Tick))
	default:
		e.appendServer(m, begin)
	}
	return w.Bytes()
}

func (e *MessageWriter) appendServer(m *Message, begin func(int)) {
	w := &e.w
	switch m.Kind {
	case MessageWelcome:
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
	case MessageStateSync:
		begin(5)
		w.Uint(uint64(m.Position))
		w.Uint(uint64(m.Tick))
		writeChunk(w, m)
	case MessageCommandAccepted:
		begin(2)
		w.Uint(uint64(m.Sequence))
		w.Uint(uint64(m.Tick))
	case MessageCommandRejected:
		begin(3)
		w.Uint(uint64(m.Sequence))
		w.Uint(uint64(m.Reason))
		w.String(clip(m.Text, MaxNote))
	case MessageStateRequest:
		begin(1)
		w.Uint(uint64(m.Tick))
	case MessageDesyncReport:
		begin(4)
		w.Uint(uint64(m.Tick))
		w.Uint(uint64(m.Player))
		w.Uint(uint64(m.Agreed))
		w.String(clip(m.Field, maxName))
	case MessagePong:
		begin(2)
		w.Uint(m.Nonce)
		w.Uint(uint64(m.Tick))
	case MessageError:
		begin(3)
		w.Uint(uint64(m.Code))
		w.String(clip(m.Text, MaxNote))
		w.String(clip(m.Field, maxName))
	case MessageClosing:
		begin(3)
		w.Uint(uint64(m.Code))
		w.String(clip(m.Text, MaxNote))
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

func writeSelfTest(w *pack.Writer, t *SelfTest) {
	parts := t.parts()
	w.Array(len(parts))
	for _, p := range parts {
		w.Uint(*p.sum)
	}
}
