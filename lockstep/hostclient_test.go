package lockstep_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A cable is a connection between a Client and the party's Host, with a delay in
// each direction.
type cable struct {
	p       *party
	c       *lockstep.Client
	id      lockstep.PeerID // 0: none
	delay   lockstep.Time
	up      []parcel
	down    []parcel
	stalled bool // nothing passes, in either direction
	refused int
	events  map[string]int
	buf     []byte
}

type parcel struct {
	at lockstep.Time
	b  []byte
}

func (p *party) cable(o lockstep.ClientOptions, delay lockstep.Time) *cable {
	w := &cable{p: p, delay: delay, events: map[string]int{}}
	o.Events = func(e any) { w.events[fmt.Sprintf("%T", e)]++ }
	w.c = lockstep.NewClient(p.game, o)
	return w
}

// step moves what the client and the host have for each other.
func (w *cable) step() {
	p, c := w.p, w.c
	c.Advance(p.now)
	switch c.Stage() {
	case lockstep.StageDialing:
		id, ok := p.h.Connect(p.now)
		if !ok {
			w.refused++
			c.Disconnected(p.now, errors.New("no room"))
			break
		}
		w.id = id
		c.Connected(p.now)
	case lockstep.StageClosing:
		w.push(&w.up, c.Send(nil))
		w.flush(&w.up, 1<<62)
		w.cut(true)
	}
	if w.id == 0 {
		return
	}
	for {
		b := c.Send(nil)
		if len(b) == 0 {
			break
		}
		w.push(&w.up, b)
	}
	if !w.stalled {
		w.flush(&w.up, p.now)
		w.flush(&w.down, p.now)
	}
	if len(w.down) > 20 {
		return // as much as a socket takes
	}
	for w.id != 0 {
		w.buf = p.h.Send(w.id, w.buf[:0], 64<<10)
		if len(w.buf) == 0 {
			break
		}
		w.push(&w.down, w.buf)
	}
	if _, _, closed := p.h.Closed(w.id); closed {
		if !w.stalled {
			w.flush(&w.down, 1<<62)
		}
		w.cut(true)
	}
}

func (w *cable) push(queue *[]parcel, b []byte) {
	if len(b) > 0 {
		*queue = append(*queue, parcel{w.p.now + w.delay, append([]byte(nil), b...)})
	}
}

// flush delivers what is due.
func (w *cable) flush(queue *[]parcel, until lockstep.Time) {
	for len(*queue) > 0 && (*queue)[0].at <= until && w.id != 0 {
		b := (*queue)[0].b
		*queue = (*queue)[1:]
		if queue == &w.up {
			w.p.h.Receive(w.p.now, w.id, b)
		} else if err := w.c.Receive(w.p.now, b); err != nil {
			w.p.t.Errorf("the client refused what the host sent: %v", err)
		}
	}
}

// cut ends the connection; the host learns of it at once, or never.
func (w *cable) cut(told bool) {
	if w.id == 0 {
		return
	}
	if told {
		w.p.h.Disconnect(w.p.now, w.id)
	}
	w.id, w.up, w.down = 0, nil, nil
	w.c.Disconnected(w.p.now, nil)
}

// run lets time pass for a host and its clients.
func run(p *party, wires []*cable, d lockstep.Time) {
	for end := p.now + d; p.now < end; {
		p.now += 5 * lockstep.Millisecond
		p.h.Advance(p.now)
		p.ids = p.h.Dirty(p.ids[:0])
		for _, w := range wires {
			w.step()
		}
	}
	if err := p.h.CheckBounds(1 << 12); err != nil {
		p.t.Fatal(err)
	}
}

// same fails unless each client has the state that the log has of its tick, and
// is near the present.
func same(p *party, wires []*cable) {
	for i, w := range wires {
		if w.c.Stage() != lockstep.StageLive {
			p.t.Errorf("client %d is %v: %v, events %v", i, w.c.Stage(), w.c.Err(), w.events)
			continue
		}
		t := w.c.Tick()
		sum, ok := p.file.Sum(t)
		if !ok || t+40 < p.h.Now() || w.c.Simulation().Root() != sum.Root {
			p.t.Errorf("client %d is at tick %d of %d, with another state or none to compare (%t)", i, t, p.h.Now(), ok)
		}
	}
}

// The two halves of the package play together: clients with delays up to half a
// second, cut connections that the host learns of at once or by their silence,
// stalls, corrupted states. When the faults stop, all have the same state, and
// every command had one answer and ran once.
func TestHostAndClients(t *testing.T) {
	faults := map[string]int{}
	for seed := range 12 {
		d := dice(seed)
		d.roll(2)
		p := newParty(t, func(s *lockstep.Settings) { s.Players, s.CheckEvery = 4, 20 }, func(o *lockstep.HostOptions) {
			o.MaxSpectators = 4
			if seed%3 == 0 {
				o.Delay.Max, o.Slow.Percent = 12, 50
			}
		})
		p.file = p.game.NewFollower(lockstep.FollowerOptions{History: lockstep.HistoryOptions{EveryTick: true, Length: 1 << 14}})
		for _, record := range p.early {
			if err := p.file.Append(record); err != nil {
				t.Fatal(err)
			}
		}
		book := newBook(t, p)
		var wires []*cable
		for i := range 4 {
			o := lockstep.ClientOptions{Token: fmt.Sprint("p", i), Seed: uint64(seed*10 + i)}
			if i == 1 {
				o.Predict = 20
			}
			wires = append(wires, p.cable(o, lockstep.Time(d.roll(250))*lockstep.Millisecond))
		}
		wires = append(wires, p.cable(lockstep.ClientOptions{Token: "watch"}, 30*lockstep.Millisecond))
		submitted := 0
		for range 100 {
			run(p, wires, lockstep.Time(100+d.roll(400))*lockstep.Millisecond)
			w := wires[d.roll(len(wires))]
			if _, err := w.c.Submit(&earn{Coins: uint16(submitted)}); err == nil {
				submitted++
			}
			switch d.roll(12) {
			case 0:
				faults["cut"]++
				w.cut(true)
			case 1:
				faults["half open"]++
				w.cut(false)
			case 2:
				faults["stall"]++
				w.stalled = true
			case 3:
				if w != wires[4] { // who watches does not report
					faults["corrupt"]++
					_ = w.c.Corrupt("Die")
				}
			case 4:
				faults["delay"]++
				w.delay = lockstep.Time(d.roll(300)) * lockstep.Millisecond
			default:
				for _, w := range wires {
					w.stalled = w.stalled && d.roll(4) > 0
				}
			}
		}
		for _, w := range wires {
			w.stalled = false
		}
		run(p, wires, 60*lockstep.Second)
		same(p, wires)
		ran, receipts := 0, 0
		for key := range book.ran {
			if key[0] < 4 {
				ran++
			}
		}
		for _, w := range wires {
			receipts += w.events["lockstep.Receipt"]
		}
		rejected := 0
		for reason, n := range p.h.Stats().Rejected {
			if lockstep.Reason(reason) != lockstep.Accepted {
				rejected += int(n)
			}
		}
		if ran+rejected < submitted || receipts != submitted || submitted < 30 {
			t.Errorf("seed %d: %d commands submitted, %d answered, %d ran, %d rejected", seed, submitted, receipts, ran, rejected)
		}
	}
	for _, name := range []string{"cut", "half open", "stall", "corrupt", "delay"} {
		if faults[name] == 0 {
			t.Errorf("no %s", name)
		}
	}
	t.Logf("injected: %v", faults)
}
