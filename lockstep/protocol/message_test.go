package protocol_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// One of each kind of message, with its largest and smallest values.
func messages() []protocol.Message {
	session := protocol.SessionToken{1, 2, 3}
	return []protocol.Message{
		{Kind: protocol.KindAuth, Auth: &protocol.Auth{
			Protocol: 1, Engine: "e", Game: "g", Build: "b", StateSchema: math.MaxUint64, CommandSchema: 1,
			SelfTest: lockstep.SelfTest{Integers: 1, Layout: 200, Checksums: math.MaxUint64, Game: 5},
			Platform: "linux/amd64", Token: "secret", Session: session, Position: 77,
		}},
		{Kind: protocol.KindAuth, Auth: &protocol.Auth{}},
		{Kind: protocol.KindCommand, Sequence: math.MaxUint32, Command: 7, Bytes: []byte{7}},
		{Kind: protocol.KindChecksum, Tick: 20, Hash: math.MaxUint64, Sections: []uint64{1, 2}},
		{Kind: protocol.KindState, Tick: 20, Offset: 3, Total: 5, Bytes: []byte{1, 2}},
		{Kind: protocol.KindStateSyncRequest},
		{Kind: protocol.KindPing, Nonce: 9},
		{Kind: protocol.KindChat, Text: "hi"},
		{Kind: protocol.KindLeave},
		{Kind: protocol.KindAck, Position: 1 << 40, Tick: 8},
		{Kind: protocol.KindWelcome, Welcome: &protocol.Welcome{
			Seat: 3, Role: protocol.Seated, Session: session, Tick: 9, Position: 10, Resumed: true, LastSequence: 4, AckEvery: 10, InputDelay: 3, SpeedPercent: 100,
		}},
		{Kind: protocol.KindStateSync, Position: 3, Tick: 4, Total: 2, Bytes: []byte{1, 2}},
		{Kind: protocol.KindCommandAccepted, Sequence: 1, Tick: 2},
		{Kind: protocol.KindCommandRejected, Sequence: 1, Reason: lockstep.Refused, Text: "no"},
		{Kind: protocol.KindStateRequest, Tick: 100},
		{Kind: protocol.KindDesyncReport, Tick: 100, Player: 2, Agreed: 80, Field: "Units"},
		{Kind: protocol.KindPong, Nonce: 1, Tick: 2},
		{Kind: protocol.KindReady, Ready: true},
		{Kind: protocol.KindResimulated, Tick: 81, First: math.MaxUint64, Hash: 1, Sections: []uint64{3, 4}},
		{Kind: protocol.KindPhases, Tick: 81, Names: []string{"move", "combat"}, Sections: []uint64{3, math.MaxUint64}},
		{Kind: protocol.KindPanicked, Tick: 81, Field: "Step", Text: "unlucky", Stack: "goroutine 1\n"},
		{Kind: protocol.KindFlightRequest, Tick: 81},
		{Kind: protocol.KindPackedSync, Position: 9, Tick: 8, Offset: 1, Total: protocol.MaxPiece, Bytes: []byte{1, 2}},
		{Kind: protocol.KindFlight, Tick: 81, Offset: 1, Total: protocol.MaxFlight, Bytes: []byte{1, 2}},
		{Kind: protocol.KindResimulate, From: 80, Tick: 100, State: true},
		{Kind: protocol.KindViewSync, Text: "team:1", Players: 4, Every: 2, Period: 50_000, Bytes: []byte{1, 2}},
		{Kind: protocol.KindViewDelta, View: 9, Base: 8, Tick: 40, Offset: 1, Total: 4, Bytes: []byte{1, 2, 3}},
		{Kind: protocol.KindViewAck, View: 1<<63 - 1, Tick: 40},
		{Kind: protocol.KindHeld, Text: "the match begins", Seats: []byte{0, 7, 249}, SinceMS: 5, UntilMS: 3000},
		{Kind: protocol.KindError, Code: 2, Text: "got x, want y", Field: "build"},
		{Kind: protocol.KindClosing, Code: 8, Text: "bye", RetryMS: 500},
	}
}

func TestMessagesRoundTrip(t *testing.T) {
	var w protocol.Writer
	var r protocol.Reader
	left := map[protocol.Kind]bool{}
	for k := range protocol.Kind(255) {
		left[k] = !strings.HasPrefix(k.String(), "kind ")
	}
	for _, want := range messages() {
		delete(left, want.Kind)
		b := w.Append(nil, &want)
		if protocol.IsRecord(b) {
			t.Errorf("message %d is taken for a record", want.Kind)
		}
		var got protocol.Message
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
	for k, described := range left {
		if described {
			t.Errorf("no message of kind %s is tested", k)
		}
	}
}

// Accepted bytes are written back the same.
func FuzzMessage(f *testing.F) {
	var w protocol.Writer
	for _, m := range messages() {
		f.Add(w.Append(nil, &m))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r protocol.Reader
		var m protocol.Message
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
	var e record.Encoder
	h := e.Header(&lockstep.Header{Settings: lockstep.DefaultSettings(1)})
	for name, b := range map[string][]byte{"header": h, "unknown optional": {0x92, 100, 0xc4, 0}} {
		if !protocol.IsRecord(b) {
			t.Errorf("%s is not taken for a record", name)
		}
	}
	for name, b := range map[string][]byte{"nothing": {}, "half": {0xdc, 0}, "ping": {0x92, 37, 0}} {
		if protocol.IsRecord(b) {
			t.Errorf("%s is taken for a record", name)
		}
	}
}
