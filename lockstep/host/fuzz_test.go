package host_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A tape gives numbers from bytes, and then zeros.
type tape []byte

func (f *tape) byte() byte {
	if len(*f) == 0 {
		return 0
	}
	b := (*f)[0]
	*f = (*f)[1:]
	return b
}

func (f *tape) take(n int) []byte {
	n = min(n, len(*f))
	b := (*f)[:n]
	*f = (*f)[n:]
	return b
}

func (f *tape) number() uint64 {
	var b [8]byte
	copy(b[:], f.take(1+int(f.byte()%8)))
	return binary.LittleEndian.Uint64(b[:])
}

// A mob is a set of connections to a host that send anything.
type mob struct {
	p   *party
	ids []host.PeerID
	w   protocol.Writer
	r   protocol.Reader
}

func (m *mob) pick(f *tape) host.PeerID {
	if len(m.ids) == 0 {
		return 7
	}
	return m.ids[int(f.byte())%len(m.ids)]
}

// step does one thing.
func (m *mob) step(f *tape) {
	p := m.p
	switch f.byte() % 9 {
	case 0:
		if id, ok := p.h.Connect(p.now, ""); ok {
			m.ids = append(m.ids, id)
		}
	case 1, 2:
		auth := *protocol.NewAuth(p.game)
		auth.Token = [...]string{"p0", "p1", "watch", "any-x", "nobody", ""}[f.byte()%6]
		auth.Session = protocol.SessionToken{f.byte()}
		if auth.Position = protocol.Position(f.byte()); auth.Position%2 == 1 {
			auth.Capabilities = []string{protocol.Resimulate}
		}
		p.h.Receive(p.now, m.pick(f), m.w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: &auth}))
	case 3:
		p.h.Receive(p.now, m.pick(f), append([]byte(nil), f.take(int(f.byte()))...))
	case 4:
		p.h.Receive(p.now, m.pick(f), m.message(f))
	case 5:
		i := int(f.byte())
		if i < len(m.ids) {
			p.h.Disconnect(p.now, m.ids[i])
			m.ids = append(m.ids[:i], m.ids[i+1:]...)
		}
	case 6, 7:
		p.now += lockstep.Time(f.byte()) * 40 * lockstep.Millisecond
		p.h.Advance(p.now)
	case 8:
		m.admin(f)
	}
}

// message returns a well-formed message with any values.
func (m *mob) message(f *tape) []byte {
	kinds := []protocol.Kind{
		protocol.KindCommand, protocol.KindChecksum, protocol.KindState, protocol.KindStateSyncRequest,
		protocol.KindPing, protocol.KindPong, protocol.KindChat, protocol.KindLeave, protocol.KindAck, protocol.KindReady, protocol.KindError, protocol.KindResimulated,
	}
	msg := protocol.Message{
		Kind: kinds[int(f.byte())%len(kinds)], Tick: lockstep.Tick(f.number()), Position: protocol.Position(f.number()),
		Sequence: lockstep.Sequence(f.byte()), Command: lockstep.Kind(f.byte() % 8), Hash: f.number(), Nonce: f.number(),
		Text: string([]rune{rune(f.byte()), 0x20ac}),
	}
	msg.Bytes = f.take(int(f.byte() % 16))
	msg.Total = uint32(len(msg.Bytes)) + uint32(f.byte()%3)
	return m.w.Append(nil, &msg)
}

func (m *mob) admin(f *tape) {
	h, now := m.p.h, m.p.now
	switch f.byte() % 12 {
	case 0:
		h.Admin().Kick(now, m.pick(f), "x")
	case 1:
		_, _ = h.Admin().Remove(now, lockstep.Player(f.byte()%3), "x")
	case 2:
		_ = h.Admin().Pause(now, lockstep.Player(f.byte()%3))
	case 3:
		_ = h.Admin().Resume(now, lockstep.Player(f.byte()%3))
	case 4:
		_ = h.Admin().SetSpeed(now, uint16(f.number()))
	case 5:
		_ = h.Admin().SetInputDelay(now, lockstep.Tick(f.byte()))
	case 6:
		if f.byte() == 200 {
			_ = h.Admin().End(now, "x")
		}
	case 7:
		if f.byte() == 200 {
			h.Admin().Shutdown(now, lockstep.Second)
		}
	case 8:
		_, _ = h.Bans().AddPlayer(now, lockstep.Player(f.byte()%3), now+lockstep.Time(f.byte())*lockstep.Millisecond, "x")
	case 9:
		_, _ = h.Bans().AddPeer(now, m.pick(f), now+lockstep.Time(f.byte())*lockstep.Millisecond, "x")
	case 10:
		_, _ = h.Bans().Add(now, host.Ban{Subject: "p0", Until: now + lockstep.Time(f.byte())*lockstep.Millisecond})
	}
}

// drain reads what the host sends, and fails if a client could not.
func (m *mob) drain() {
	p := m.p
	p.take()
	ids := p.ids
	p.ids = nil
	for i, id := range ids {
		if i%3 == 2 {
			continue // does not read
		}
		for {
			p.buf = p.h.Send(id, p.buf[:0], 0)
			if len(p.buf) == 0 {
				break
			}
			for b := p.buf; len(b) > 0 && !protocol.IsRecord(b); { // records come last
				var msg protocol.Message
				rest, err := m.r.Read(&msg, b)
				if err != nil {
					p.t.Fatal(err)
				}
				b = rest
			}
		}
	}
}

// FuzzHost lets connections send anything at any time. The host does not panic, its state stays consistent, and its log
// gives the referee's state.
func FuzzHost(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 0, 0, 6, 20, 6, 20, 4, 0, 0, 0, 0, 1, 1, 1})
	f.Add([]byte{0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 6, 50, 4, 0, 8, 0, 0, 0, 0, 0, 5, 0, 6, 250, 7, 250, 6, 250})
	for seed := range 6 {
		d := dice(seed)
		b := make([]byte, 600)
		for i := range b {
			b[i] = byte(d.roll(256))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4000 {
			return
		}
		in := tape(data)
		relay := in.byte()&1 == 1
		p := newParty(t, nil, func(o *host.Options) {
			o.Relay = relay
			o.Lag, o.RingRecords = 40, 100
			o.MaxSpectators, o.MaxConnecting = 3, 3
			o.Delay.Max, o.Slow.Percent, o.Wait.Bound = 6, 50, lockstep.Second
		})
		m := &mob{p: p}
		for len(in) > 0 {
			m.step(&in)
			m.drain()
			if err := p.h.Info().CheckBounds(1 << 16); err != nil {
				t.Fatal(err)
			}
		}
		r := p.h.Referee()
		if err := p.h.Err(); err != nil && !errors.Is(err, coordinator.ErrEnded) {
			return // the bank survives all but a crash command, which no connection sends; a panic ends the match
		}
		if r != nil && (r.Tick() != p.file.Tick() || r.Simulation().Hash() != p.file.Simulation().Hash()) {
			t.Errorf("the log is at tick %d, the referee at %d, or their states differ", p.file.Tick(), r.Tick())
		}
	})
}
