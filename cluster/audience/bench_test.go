package audience_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A crowd is an Audience with many live spectators who acknowledge each second, fed with frames of two commands.
type crowd struct {
	tb   testing.TB
	a    *audience.Audience
	now  lockstep.Time
	dec  record.Decoder
	enc  record.Encoder
	at   protocol.Position
	tick lockstep.Tick
	ids  []host.PeerID
	load []byte
	kind lockstep.Kind
	out  []byte
	in   []byte
	w    protocol.Writer
	m    protocol.Message
	sent int
}

func newCrowd(tb testing.TB, spectators int, o audience.Options) *crowd {
	w := newWorld(tb, 0, host.Options{})
	o.MaxSpectators, o.MaxConnecting = spectators, spectators
	c := &crowd{tb: tb, at: 1}
	var err error
	if c.a, err = audience.New(o); err != nil {
		tb.Fatal(err)
	}
	c.kind, c.load = testgame.Encode(tb, w.game, &testgame.Press{Lamp: 1})
	w.pass(10 * lockstep.Millisecond)
	log := audience.NewLog(c.a)
	for _, b := range w.log[:3] { // header, first state, and who may see them
		if err := log.Append(0, b); err != nil {
			tb.Fatal(err)
		}
		r, _, err := c.dec.Decode(b)
		if err != nil {
			tb.Fatal(err)
		}
		c.enc.Record(r)
	}
	c.a.Live(0)
	auth := testgame.Message(&protocol.Message{Kind: protocol.KindAuth, Auth: protocol.NewAuth(w.game)})
	for i := range spectators {
		id, ok := c.a.Connect(c.now, fmt.Sprint(i/8))
		if !ok {
			tb.Fatal("no room")
		}
		c.a.Receive(c.now, id, auth)
		c.ids = append(c.ids, id)
	}
	c.drain()
	for range 100 {
		c.step()
	}
	if x := c.a.Stats(); x.Spectators != spectators || x.Strikes > 0 || x.Offences > 0 {
		tb.Fatalf("got %+v", x)
	}
	return c
}

// step is one tick: a frame comes, all spectators get it, and a twentieth of them acknowledges.
func (c *crowd) step() {
	c.tick++
	c.now += 50 * lockstep.Millisecond
	f := lockstep.Frame{Tick: c.tick}
	for p := range lockstep.Player(2) {
		f.Commands = append(f.Commands, lockstep.Command{Tick: c.tick, Player: p, Sequence: lockstep.Sequence(c.tick), Kind: c.kind, Payload: c.load})
	}
	r := record.Record{Kind: record.KindFrame, Tick: c.tick}
	if err := c.a.Append(c.now, c.at, c.tick, c.enc.Frame(&f), &r); err != nil {
		c.tb.Fatal(err)
	}
	c.at++
	c.a.Advance(c.now)
	c.drain()
	c.m = protocol.Message{Kind: protocol.KindAck, Position: c.at - protocol.Position(c.a.Delay()), Tick: c.a.Now()}
	if c.a.Delay() > 0 && c.tick < c.a.Delay() {
		return
	}
	c.in = c.w.Append(c.in[:0], &c.m)
	for i := int(c.tick) % 20; i < len(c.ids); i += 20 {
		c.a.Receive(c.now, c.ids[i], c.in)
	}
}

func (c *crowd) drain() {
	for r := c.a.Ready(); len(r.Peers) > 0; r = c.a.Ready() {
		for _, id := range r.Peers {
			for {
				c.out = c.a.Send(id, c.out[:0])
				if c.sent += len(c.out); len(c.out) == 0 {
					break
				}
			}
		}
	}
}

// BenchmarkAudience is one tick of a match with many spectators, without sockets: a frame of two commands for each, and an ack of
// a twentieth of them. The figures are for each spectator and tick.
//
//	go test -run '^$' -bench Audience -benchmem ./cluster/audience
func BenchmarkAudience(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		for _, delay := range []lockstep.Tick{0, 40} {
			b.Run(fmt.Sprintf("spectators=%d/delay=%d", n, delay), func(b *testing.B) {
				c := newCrowd(b, n, audience.Options{Delay: delay})
				c.sent = 0
				b.ReportAllocs()
				steps := 0
				for b.Loop() {
					c.step()
					steps++
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)/float64(steps), "ns/spectator/tick")
				b.ReportMetric(float64(c.sent)/float64(n)/float64(steps), "B/spectator/tick")
				b.ReportMetric(float64(c.a.Memory())/float64(n), "mem-B/spectator")
			})
		}
	}
}

// A tick allocates nothing, however many spectators there are: the frame of the benchmark itself is all.
func TestAudienceAllocatesNothing(t *testing.T) {
	few, many := newCrowd(t, 10, audience.Options{}), newCrowd(t, 1000, audience.Options{})
	least := testing.AllocsPerRun(100, few.step)
	if got := testing.AllocsPerRun(100, many.step); got > least {
		t.Errorf("got %v allocations a tick with 1000 spectators, %v with 10", got, least)
	}
}
