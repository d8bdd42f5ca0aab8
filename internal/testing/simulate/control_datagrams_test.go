package simulate

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Each check of datagrams finds its violation, and without one there is none.
func TestControlsOfDatagrams(t *testing.T) {
	o := Options{Subject: Drones(16), Clients: 3, Length: 60 * sec, Calm: true}
	o.fill()
	for _, c := range []struct {
		name, invariant, text string
		sabotage              func(t *testing.T, w *world, on *scatter)
	}{
		{name: "nothing", sabotage: func(*testing.T, *world, *scatter) {}},
		{"a record that has arrived", "I22", "and all records of tick", func(_ *testing.T, w *world, _ *scatter) {
			wire := w.machines[0].wire
			for at := wire.next(); at < len(w.oracle.now().records); at++ {
				wire.path.early[at] = true
			}
			w.machines[0].arrived()
		}},
		{"a record on its way", "I4", "a datagram with another record", func(t *testing.T, w *world, on *scatter) {
			var r datagram.Reader
			var d datagram.ToPlayer
			for i := range on.queue {
				if r.ToPlayer(&d, on.queue[i].b) == nil && len(d.Records) > 0 {
					d.Records[0].Bytes = []byte{0x93, 5, 0, 7}
					var out datagram.Writer
					on.queue[i].b = out.ToPlayer(nil, &d)
					return
				}
			}
			t.Fatal("no record is on its way")
		}},
		{"a datagram on its way", "I4", "a datagram that is none", func(_ *testing.T, _ *world, on *scatter) {
			on.queue[0].b = []byte("garbage")
		}},
		{"a record that is too early for a spectator", "I12", "was sent a datagram with a record of tick", func(_ *testing.T, w *world, on *scatter) {
			wire := w.machines[3].wire
			var out datagram.Writer
			at := len(w.oracle.now().records) - 1
			w.barrier.sentDatagram(w, wire, out.ToPlayer(nil, &datagram.ToPlayer{
				Head:    datagram.Head{Number: 1},
				Records: []datagram.Record{{Position: 1, Bytes: []byte{0x93, 5, 0, 7}}},
			}))
			if w.violation != nil {
				return
			}
			w.barrier.sentDatagram(w, wire, out.ToPlayer(nil, &datagram.ToPlayer{
				Head:    datagram.Head{Number: 1},
				Records: []datagram.Record{{Position: protocol.Position(at), Bytes: []byte{0x93, 5, 0, 7}}},
			}))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Expand(o, 2)
			for i := range p.Machines {
				m := &p.Machines[i]
				m.Up, m.Down, m.JoinAt, m.Datagrams = Link{Delay: 30 * ms}, Link{Delay: 30 * ms}, 0, &DatagramPlan{}
			}
			p.Host.SpectatorDelay, p.Disk.EachFrame, p.Host.Wait = 30, true, 0
			w, err := newWorld(o.Subject, p)
			if err != nil {
				t.Fatal(err)
			}
			w.protect(func() {
				w.until(w.start + 20*sec)
				on := &w.machines[0].wire.path.down
				for len(on.queue) == 0 {
					w.until(w.now + ms)
				}
				c.sabotage(t, w, on)
				w.until(w.start + p.Chaos)
				if w.violation == nil {
					w.finish()
				}
			})
			v := w.violation
			if c.invariant == "" && v == nil && w.Counts["datagram to a client"] > 1000 {
				return
			}
			if v == nil || v.Invariant != c.invariant || !strings.Contains(v.Text, c.text) {
				t.Errorf("got %v, want a violation of %q: %s; %d datagrams", v, c.invariant, c.text, w.Counts["datagram to a client"])
			}
		})
	}
}
