package simulate

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Another first state, other seats and another tick are found.
func TestControlOfSaves(t *testing.T) {
	o := Options{Subject: Drones(16), Clients: 3, Length: 60 * sec, Calm: true}
	o.fill()
	w, err := newWorld(o.Subject, Expand(o, 2))
	if err != nil {
		t.Fatal(err)
	}
	w.protect(func() {
		w.until(w.start + w.plan.Chaos)
		w.finish()
	})
	if w.violation != nil || w.Counts["match begun in a state of the file"] != saves {
		t.Fatalf("got %v, %v", w.violation, w.Counts)
	}
	s := &saved{w: w, parent: w.server.disk.now.data, tick: w.oracle.tick() / 2, random: rand.New(rand.NewPCG(1, 1))}
	if err := s.play(); err != nil {
		t.Fatal(err)
	}
	r, err := s.reader(s.file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	parent, err := s.reader(s.parent)
	if err != nil {
		t.Fatal(err)
	}
	seats, err := summary(parent, s.tick)
	if err != nil || len(seats) == 0 {
		t.Fatalf("got %v, %v", seats, err)
	}
	for want, change := range map[string]func(map[lockstep.Player]string, []byte) (map[lockstep.Player]string, []byte){
		"another state": func(seats map[lockstep.Player]string, b []byte) (map[lockstep.Player]string, []byte) {
			return seats, b[1:]
		},
		"says of the seats": func(seats map[lockstep.Player]string, b []byte) (map[lockstep.Player]string, []byte) {
			return map[lockstep.Player]string{7: "lost"}, b
		},
	} {
		first, err := s.firstState()
		if err != nil {
			t.Fatal(err)
		}
		all, b := change(seats, first)
		if err := s.compare(r, all, b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
