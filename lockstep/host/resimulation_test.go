package host

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// newCountingHost hosts a match of players and spectators whose game counts its steps, and returns the connections by
// their order.
func newCountingHost(t *testing.T, players, spectators int, steps *int, asks bool) (*Host, []PeerID) {
	type W struct{ N uint32 }
	g := lockstep.MustGame(lockstep.Rules[W, W]{
		Name: "counting", Build: "1",
		New:  func(*W, *lockstep.Settings, *W) error { return nil },
		Step: func(w *W, _ *W, _ *lockstep.Turn) { w.N++; *steps++ },
	})
	s := lockstep.DefaultSettings(uint8(players))
	s.CheckEvery = 20
	header, err := g.NewHeader(lockstep.MatchID{}, s, &W{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(g, header, Options{
		AnonymousSpectators: true, Desync: LogDesynced, Evidence: asks,
		Random:    func(b []byte) { b[0]++ },
		Authorize: func(token string) (Grant, error) { return Grant{Role: protocol.Seated, Seat: AnySeat}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	var ids []PeerID
	for i := range players + spectators {
		id, _ := h.Connect(0, "")
		a := protocol.NewAuth(g)
		if asks {
			a.Capabilities = []string{protocol.Resimulate}
		}
		if i < players {
			a.Token = string(rune('a' + i))
		}
		h.Receive(0, id, h.peers.writer.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: a}))
		ids = append(ids, id)
	}
	return h, ids
}

// lie lets the host run for some seconds. Some connections agree with some checksums without simulating anything, and
// lie about the others: the first of them about every other one.
func lie(h *Host, seconds int, ids []PeerID) {
	var w protocol.Writer
	for until := h.now + lockstep.Time(seconds)*lockstep.Second; h.Ready().Next <= until; {
		before := h.Now()
		h.Advance(h.Ready().Next)
		for r := h.Ready(); !r.Empty(); r = h.Ready() {
			h.Persisted(h.now, r.Position)
			for _, id := range r.Peers {
				for b := h.Send(id, nil, 1<<16); len(b) > 0; b = h.Send(id, nil, 1<<16) {
					if slices.Contains(ids, id) {
						answer(h, id, b)
					}
				}
			}
		}
		t := h.Now()
		for i, id := range ids {
			p := h.peers.find(id)
			p.link.Heard(h.now) // it answers pings
			h.Receive(h.now, id, w.Append(nil, &protocol.Message{Kind: protocol.KindAck, Position: p.stream.High, Tick: t}))
			if t == before || t%20 != 0 {
				continue
			}
			k, _ := h.c.Check(t)
			hash := k.Hash
			if n := int(t / 20); n%(2+i/2) == i/2 {
				hash += uint64(1 + i)
			}
			h.Receive(h.now, id, w.Append(nil, &protocol.Message{Kind: protocol.KindChecksum, Tick: t, Hash: hash}))
		}
	}
}

// answer answers all requests, so that the referee compares all ticks: with the right checksums, and without a state.
func answer(h *Host, id PeerID, b []byte) {
	var r protocol.Reader
	var w protocol.Writer
	var m protocol.Message
	for len(b) > 0 && !protocol.IsRecord(b) {
		rest, err := r.Read(&m, b)
		if err != nil {
			panic(err) // our own messages
		}
		b = rest
		switch {
		case m.Kind == protocol.KindStateRequest, m.Kind == protocol.KindResimulate && m.State:
			h.Receive(h.now, id, w.Append(nil, &protocol.Message{Kind: protocol.KindState, Tick: m.Tick}))
		case m.Kind == protocol.KindResimulate:
			for t := m.From + 1; t <= m.Tick; t++ {
				var sum checksum.Sum
				_ = checksum.OfBytes(&sum, h.game.StateSchema(), binary.LittleEndian.AppendUint32(nil, uint32(t)))
				h.Receive(h.now, id, w.Append(nil, &protocol.Message{Kind: protocol.KindResimulated, Tick: t, Hash: sum.Hash}))
			}
		}
	}
}

// Liars that echo every other checksum cannot make the referee re-simulate without limit: spectators cause no
// re-simulation, and players have a budget, each and together. If they are asked to compute the ticks again, and answer,
// they have as much again.
func TestResimulationsAreBounded(t *testing.T) {
	const seconds = 36
	for _, row := range []struct {
		name                string
		players, spectators int
		asks                bool
		most                int
	}{
		{"spectators", 1, 40, false, 0},
		{"a player", 1, 0, false, 8*20 + seconds},
		{"players", 16, 0, false, 2 * (8*20 + seconds)},
		{"spectators who answer", 1, 40, true, 0},
		{"a player who answers", 1, 0, true, 2 * (8*20 + seconds)},
		{"players who answer", 16, 0, true, 4 * (8*20 + seconds)},
	} {
		steps := 0
		h, ids := newCountingHost(t, row.players, row.spectators, &steps, row.asks)
		begin := steps
		liars := ids
		if row.spectators > 0 {
			liars = ids[row.players:]
		}
		lie(h, seconds, liars)
		again := steps - begin - int(h.Now())
		if h.Now() < 700 || again > row.most || again < row.most/2 {
			t.Errorf("%s: %d ticks were computed again in %d, want at most %d", row.name, again, h.Now(), row.most)
		}
		if row.spectators == 0 && h.stats.Desyncs == 0 {
			t.Errorf("%s: no lie was found", row.name)
		}
	}
}
