package simulate

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A seeing is a function that makes views of the drones.
type seeing func(*drones, *dronesConfig, lockstep.Viewer, *dronesView) error

// A viewer that sees too much, or something else than the match, is found.
func TestControlsOfViews(t *testing.T) {
	for _, c := range []struct {
		name     string
		text     string // "": nothing is wrong
		see      seeing // nil: that of the drones
		budget   int
		sabotage func(t *testing.T, w *world)
	}{
		{name: "nothing"},
		{name: "nothing, with a budget", budget: 100},
		{name: "a hidden element", text: "sees another view of tick", see: seeAll},
		{name: "a hidden element, with a budget", text: "which the rules show team:0 at no tick since", budget: 100, see: seeAll},
		{name: "an element that is gone", text: "sees another view of tick", see: remember()},
		{name: "an element that is gone, with a budget", text: "at no tick since", budget: 1000, see: remember()},
		{name: "elements that wait for ever", text: "at no tick since", budget: 1000, see: starve()},
		{name: "no view", text: "was told of an error", see: func(*drones, *dronesConfig, lockstep.Viewer, *dronesView) error {
			return errors.New("nothing to see")
		}},
		{name: "a view of another viewer", text: "as team:0, want as team:1", sabotage: func(t *testing.T, w *world) {
			w.machines[0].seat = 1
		}},
		{name: "a view of a wrong tick", text: "sees another view of tick", sabotage: func(t *testing.T, w *world) {
			changeView(t, w, func(m *protocol.Message) { m.Tick-- })
		}},
		{name: "a view of a tick to come", text: "and the log ends at tick", sabotage: func(t *testing.T, w *world) {
			changeView(t, w, func(m *protocol.Message) { m.Tick += 100 })
		}},
		{name: "a frame", text: "was sent a record of kind 3", sabotage: func(t *testing.T, w *world) {
			h := w.oracle.now().records
			i := slices.IndexFunc(h, func(b []byte) bool { return kindOf(b) == recordFrame })
			w.machines[0].wire.down.send(w.now, h[i], &w.spare)
		}},
		{name: "a request for a state", text: "was sent a message of kind 52", sabotage: func(t *testing.T, w *world) {
			var x protocol.Writer
			w.machines[0].wire.down.send(w.now, x.Append(nil, &protocol.Message{Kind: protocol.KindStateRequest, Tick: 1}), &w.spare)
		}},
		{name: "the last view", text: "has ended at tick", sabotage: func(t *testing.T, w *world) {
			w.finish()
			w.oracle.hashes = append(w.oracle.hashes, 0)
			w.seenAll()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "an element that is gone, with a budget" { // the elements that wait for ever show the same in half the time
				testenv.Long(t)
			}
			s := Drones(64)
			if c.see != nil {
				s.Game = lockstep.MustGame(dronesRules(c.see))
			}
			o := Options{Subject: s, Clients: 3, Length: 60 * sec, Calm: true}
			o.fill()
			p := Expand(o, 2)
			p.Host.Views, p.Host.SpectatorDelay, p.Host.Relay, p.Disk.EachFrame = &ViewsPlan{Budget: c.budget}, 0, false, true
			for i := range p.Machines {
				p.Machines[i].Views, p.Machines[i].JoinAt = i%2 == 0, 0
				p.Machines[i].Up, p.Machines[i].Down = Link{Delay: 30 * ms}, Link{Delay: 30 * ms}
			}
			w, err := newWorld(s, p)
			if err != nil {
				t.Fatal(err)
			}
			w.protect(func() {
				w.until(w.start + 15*sec)
				if c.sabotage != nil {
					c.sabotage(t, w)
				}
				w.until(w.start + p.Chaos)
				if w.violation == nil {
					w.finish()
				}
			})
			if v := w.violation; c.text == "" && v != nil || c.text != "" && (v == nil || !strings.Contains(v.Text, c.text)) {
				t.Errorf("got %v, want %q", v, c.text)
			}
			if c.text == "" && w.Counts["views compared"] == 0 {
				t.Error("no view was compared")
			}
		})
	}
}

// seeAll shows everybody what spectators see.
func seeAll(w *drones, c *dronesConfig, _ lockstep.Viewer, v *dronesView) error {
	return seeDrones(w, c, lockstep.Viewer{}, v)
}

// remember returns a view in which an element that was seen stays.
func remember() seeing {
	seen := map[lockstep.Viewer]map[uint16]droneSeen{}
	return func(w *drones, c *dronesConfig, viewer lockstep.Viewer, v *dronesView) error {
		if err := seeDrones(w, c, viewer, v); err != nil || w.Online&1 == 0 {
			return err
		}
		if seen[viewer] == nil {
			seen[viewer] = map[uint16]droneSeen{}
		}
		for _, d := range v.Drones {
			seen[viewer][d.ID] = d
		}
		v.Drones = v.Drones[:0]
		for _, id := range slices.Sorted(maps.Keys(seen[viewer])) {
			v.Drones = append(v.Drones, seen[viewer][id])
		}
		return nil
	}
}

// starve returns a view in which the first elements never change.
func starve() seeing {
	first := map[uint16]droneSeen{}
	return func(w *drones, c *dronesConfig, viewer lockstep.Viewer, v *dronesView) error {
		err := seeDrones(w, c, viewer, v)
		for i := range v.Drones {
			d := &v.Drones[i]
			if old, ok := first[d.ID]; ok && d.ID < 8 {
				*d = old
			}
			first[d.ID] = *d
		}
		return err
	}
}

// changeView changes the next view that is on its way to a client.
func changeView(t *testing.T, w *world, f func(*protocol.Message)) {
	for range 1000 {
		w.until(w.now + 5*ms)
		down := &w.machines[0].wire.down
		for i := down.head; i < len(down.queue); i++ {
			a := &down.queue[i]
			var r protocol.Reader
			var m protocol.Message
			if protocol.IsRecord(a.b) {
				continue
			}
			if rest, err := r.Read(&m, a.b); err != nil || len(rest) > 0 || m.Kind != protocol.KindViewDelta || m.Total == 0 {
				continue
			}
			f(&m)
			var x protocol.Writer
			a.b = x.Append(nil, &m)
			return
		}
	}
	t.Fatal("no view is on its way")
}
