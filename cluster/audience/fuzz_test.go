package audience_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// seeds are messages and records of both sides, and of a log.
func seeds(f *testing.F) {
	auth := protocol.NewAuth(lockstep.MustGame(testgame.LampRules))
	for _, m := range []protocol.Message{
		{Kind: protocol.KindAuth, Auth: auth}, {Kind: protocol.KindAck, Position: 3, Tick: 2}, {Kind: protocol.KindPing, Nonce: 9},
		{Kind: protocol.KindChecksum, Tick: 10, Hash: 5}, {Kind: protocol.KindStateSyncRequest}, {Kind: protocol.KindLeave},
		{Kind: protocol.KindHeld, Text: "x", Seats: []byte{0}}, {Kind: protocol.KindClosing, Code: 8, RetryMS: 5},
		{Kind: protocol.KindStateSync, Position: 9, Tick: 8, Total: 4, Bytes: []byte{1, 2, 3}},
		{Kind: protocol.KindWelcome, Welcome: &protocol.Welcome{Seat: lockstep.System, AckEvery: 1, SpeedPercent: 100}},
	} {
		f.Add(testgame.Message(&m), uint16(7))
	}
	w := newWorld(f, 20, host.Options{})
	w.pass(2 * lockstep.Second)
	var whole []byte
	for _, b := range w.log {
		f.Add(b, uint16(0))
		whole = append(whole, b...)
	}
	f.Add(whole, uint16(100))
}

// pieces cuts fuzzed bytes into messages.
func pieces(b []byte, at uint16) [][]byte {
	n := int(at)
	if n == 0 || n >= len(b) {
		return [][]byte{b}
	}
	return append([][]byte{b[:n]}, pieces(b[n:], at)...)
}

// Whatever a connection sends, it harms only itself: nothing panics, the bounds hold, and an honest spectator sees the match.
func FuzzReceive(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte, at uint16) {
		w := newWorld(t, 20, host.Options{})
		r := w.mirror("a", "log", audience.Options{MaxSpectators: 4, MaxConnecting: 2, RingRecords: 64})
		honest := w.viewer("honest", r)
		w.pass(1200 * lockstep.Millisecond)
		for _, greeted := range []bool{false, true} {
			id, ok := r.a.Connect(w.now, "bad")
			if !ok {
				t.Fatal("no room")
			}
			if greeted {
				r.a.Receive(w.now, id, testgame.Message(&protocol.Message{Kind: protocol.KindAuth, Auth: protocol.NewAuth(w.game)}))
			}
			for _, p := range pieces(b, max(at, uint16(len(b)/32))) {
				r.a.Receive(w.now, id, p)
				r.a.Ready()
				r.a.Send(id, nil)
				if err := r.a.CheckBounds(1 << 10); err != nil {
					t.Fatal(err)
				}
			}
			w.pass(100 * lockstep.Millisecond)
			r.a.Disconnect(w.now, id)
		}
		w.pass(200 * lockstep.Millisecond)
		if honest.c.Stage() != player.StageLive || honest.c.Tick()+3 < w.owner.Now() {
			t.Errorf("%s", w.state(honest))
		}
	})
}

// Whatever a server sends, an Upstream, a Fetch and a Log return an error at most, and take bounded memory.
func FuzzSource(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte, at uint16) {
		w := newWorld(t, 20, host.Options{})
		o := audience.UpstreamOptions{Auth: *protocol.AuthOf(w.header), MaxState: 1 << 16}
		begin := func() *audience.Audience {
			a, err := audience.New(audience.Options{RingRecords: 64})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		for _, ahead := range []bool{false, true} {
			r := w.mirror("up", "owner", audience.Options{RingRecords: 64, Delay: 5})
			if ahead {
				w.pass(300 * lockstep.Millisecond)
			} else {
				r.up = audience.NewUpstream(r.a, o)
				r.up.Connected(w.now)
				r.up.Send(nil)
			}
			for _, p := range pieces(b, max(at, uint16(len(b)/32))) {
				if r.up.Receive(w.now, p) != nil {
					break
				}
				r.up.Send(nil)
			}
			if err := r.a.CheckBounds(1 << 17); err != nil {
				t.Fatal(err)
			}
			w.mirrors = nil
		}
		fetch := audience.NewFetch(o)
		for _, p := range pieces(b, max(at, uint16(len(b)/32))) {
			if _, _, err := fetch.Receive(p); err != nil {
				break
			}
		}
		a := begin()
		log := audience.NewLog(a)
		for _, p := range pieces(b, max(at, uint16(len(b)/32))) {
			if log.Append(0, p) != nil {
				break
			}
		}
		if err := a.CheckBounds(1 << 17); err != nil {
			t.Fatal(err)
		}
	})
}
