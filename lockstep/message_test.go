package lockstep_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/lockstep"
)

// One of each kind of message, with its largest and smallest values.
func messages() []lockstep.Message {
	session := lockstep.SessionToken{1, 2, 3}
	return []lockstep.Message{
		{Kind: lockstep.MessageAuth, Auth: &lockstep.Auth{
			Protocol: 1, Engine: "e", Game: "g", Build: "b", StateSchema: math.MaxUint64, CommandSchema: 1,
			SelfTest: lockstep.SelfTest{Integers: 1, Layout: 200, Checksums: math.MaxUint64, Game: 5},
			Platform: "linux/amd64", Token: "secret", Session: session, Position: 77,
		}},
		{Kind: lockstep.MessageAuth, Auth: &lockstep.Auth{}},
		{Kind: lockstep.MessageCommand, Sequence: math.MaxUint32, Command: 7, Bytes: []byte{0x90}},
		{Kind: lockstep.MessageChecksum, Tick: 20, Root: math.MaxUint64, Sections: []uint64{1, 2}},
		{Kind: lockstep.MessageState, Tick: 20, Offset: 3, Total: 5, Bytes: []byte{1, 2}},
		{Kind: lockstep.MessageStateSyncRequest},
		{Kind: lockstep.MessagePing, Nonce: 9},
		{Kind: lockstep.MessageChat, Text: "hi"},
		{Kind: lockstep.MessageLeave},
		{Kind: lockstep.MessageAck, Position: 1 << 40, Tick: 8},
		{Kind: lockstep.MessageWelcome, Welcome: &lockstep.Welcome{
			Seat: 3, Role: lockstep.Seated, Session: session, Tick: 9, Position: 10, Resumed: true, LastSequence: 4, AckEvery: 10, InputDelay: 3, SpeedPercent: 100,
		}},
		{Kind: lockstep.MessageStateSync, Position: 3, Tick: 4, Total: 2, Bytes: []byte{1, 2}},
		{Kind: lockstep.MessageCommandAccepted, Sequence: 1, Tick: 2},
		{Kind: lockstep.MessageCommandRejected, Sequence: 1, Reason: lockstep.Refused, Text: "no"},
		{Kind: lockstep.MessageStateRequest, Tick: 100},
		{Kind: lockstep.MessageDesyncReport, Tick: 100, Player: 2, Agreed: 80, Field: "Units"},
		{Kind: lockstep.MessagePong, Nonce: 1, Tick: 2},
		{Kind: lockstep.MessageError, Code: 2, Text: "got x, want y", Field: "build"},
		{Kind: lockstep.MessageClosing, Code: 8, Text: "bye", RetryMS: 500},
	}
}

func TestMessagesRoundTrip(t *testing.T) {
	var w lockstep.MessageWriter
	var r lockstep.MessageReader
	for _, want := range messages() {
		b := w.Append(nil, &want)
		if lockstep.IsRecord(b) {
			t.Errorf("message %d is taken for a record", want.Kind)
		}
		var got lockstep.Message
		rest, err := r.Read(&got, append(b, 0x91))
		if err != nil || len(rest) != 1 {
			t.Fatalf("message %d: got %v and %d bytes left, want 1", want.Kind, err, len(rest))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("message %d differs (-want +got):\n%s", want.Kind, diff)
		}
		for cut := range b {
			if _, err := r.Read(&got, b[:cut]); err == nil {
				t.Errorf("message %d cut to %d bytes is accepted", want.Kind, cut)
			}
		}
	}
}

// What is accepted is written back the same.
func FuzzMessage(f *testing.F) {
	var w lockstep.MessageWriter
	for _, m := range messages() {
		f.Add(w.Append(nil, &m))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r lockstep.MessageReader
		var m lockstep.Message
		rest, err := r.Read(&m, b)
		if err != nil {
			return
		}
		read := b[:len(b)-len(rest)]
		if again := w.Append(nil, &m); !bytes.Equal(again, read) {
			t.Errorf("read %x, wrote %x", read, again)
		}
	})
}

func TestIsRecord(t *testing.T) {
	var e lockstep.Encoder
	h := e.Header(&lockstep.Header{Settings: lockstep.DefaultSettings(1)})
	for name, b := range map[string][]byte{"header": h, "unknown optional": {0x92, 100, 0xc4, 0}} {
		if !lockstep.IsRecord(b) {
			t.Errorf("%s is not taken for a record", name)
		}
	}
	for name, b := range map[string][]byte{"nothing": {}, "half": {0xdc, 0}, "ping": {0x92, 37, 0}} {
		if lockstep.IsRecord(b) {
			t.Errorf("%s is taken for a record", name)
		}
	}
}
