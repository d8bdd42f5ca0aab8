package views

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

type world struct{ N uint32 }

// newRoom returns the views of a game that shows everybody a number.
func newRoom(t *testing.T) (*Views, *room) {
	g := lockstep.MustGame(lockstep.Rules[world, world]{
		Name: "number", Build: "1",
		New:  func(*world, *lockstep.Settings, *world) error { return nil },
		Step: func(*world, *world, *lockstep.Turn) {},
		View: lockstep.View(func(w *world, _ *world, _ lockstep.Viewer, v *world) error { v.N = w.N; return nil }, nil),
	})
	s := lockstep.DefaultSettings(2)
	v, err := New(g, &s, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	return v, &room{v: v}
}

// A room makes views of which each differs from the one before.
type room struct {
	v     *Views
	w     protocol.Writer
	tick  lockstep.Tick
	calls int
}

func (r *room) AppendView(dst []byte, _ lockstep.Viewer) ([]byte, error) {
	r.calls++
	return append(dst, byte(r.tick), byte(r.tick>>8), 0, 0), nil
}

func (r *room) pass(of lockstep.Viewer, all ...*Viewing) {
	r.tick++
	for _, x := range all {
		r.v.Follow(x, of)
	}
	r.v.Make(r.tick, r)
}

func (r *room) send(x *Viewing) (views int) {
	dst, open := r.v.Open(x, nil, &r.w, 0, 1<<16)
	if !open {
		return 0
	}
	_, views, _ = x.AppendDeltas(dst, &r.w, 1<<16, 10)
	return views
}

// A viewer without acks is sent a few views. An ack of what was not sent is refused, and a good one makes room.
func TestAcks(t *testing.T) {
	_, r := newRoom(t)
	x := NewViewing(2)
	if !x.Begin() || x.Begin() || r.send(x) != 0 {
		t.Error("a view is sent before it is made")
	}
	sent := 0
	for range 3 * maxUnacked {
		r.pass(lockstep.Viewer{}, x)
		sent += r.send(x)
	}
	if sent != maxUnacked || x.Due(10) || x.Complete(r.tick) {
		t.Errorf("got %d views without an ack, want %d", sent, maxUnacked)
	}
	if x.Ack(maxUnacked+1, 1) || x.Ack(1, maxUnacked+1) || x.Due(10) {
		t.Error("an ack of what was not sent is taken")
	}
	if !x.Ack(maxUnacked, maxUnacked) || !x.Ack(1, 1) || r.send(x) != 1 || !x.Complete(r.tick) || x.Due(10) {
		t.Error("an ack makes no room")
	}
}

// Connections that see alike share a series. One that nobody follows is dropped, and a connection with another viewer begins anew.
func TestFollow(t *testing.T) {
	v, r := newRoom(t)
	a, b := NewViewing(2), NewViewing(2)
	one, two := lockstep.Viewer{As: lockstep.AsPlayer}, lockstep.Viewer{As: lockstep.AsPlayer, Number: 1}
	r.pass(one, a, b)
	if r.calls != 1 || len(v.list) != 1 || r.send(a) != 1 || r.send(b) != 1 {
		t.Errorf("got %d views, %d series", r.calls, len(v.list))
	}
	v.Follow(b, two)
	if r.pass(one, a); r.calls != 3 || len(v.list) != 2 || b.told || !a.told {
		t.Errorf("got %d views, %d series, told %t and %t", r.calls, len(v.list), a.told, b.told)
	}
	if r.pass(two, b); len(v.list) != 1 {
		t.Errorf("got %d series", len(v.list))
	}
	if r.pass(two); len(v.list) != 0 || v.Memory() > 8 {
		t.Errorf("got %d series, %d bytes", len(v.list), v.Memory())
	}
}

// Views come as often as the policy says, at once if players get no records, and else half a tick later.
func TestRounds(t *testing.T) {
	v, r := newRoom(t)
	x := NewViewing(2)
	if r.pass(lockstep.Viewer{}, x); v.Begin(2, false) || !v.Begin(2, true) || !v.Begin(3, false) {
		t.Error("views come too often or too seldom")
	}
	if due, _ := v.Await(0, 50, false); !due {
		t.Error("views wait for nobody")
	}
	if due, at := v.Await(100, 50, true); due || at != 125 {
		t.Errorf("got %t, %d", due, at)
	}
	if due, at := v.Await(110, 50, true); due || at != never {
		t.Errorf("put off twice: %t, %d", due, at)
	}
	if due, at := v.Due(110); due || at != 125 {
		t.Errorf("early: got %t, %d", due, at)
	}
	if due, _ := v.Due(125); !due {
		t.Error("views that were put off are not made")
	}
	if due, at := v.Due(200); due || at != never {
		t.Errorf("due again: %t, %d", due, at)
	}
	var none *Views
	if due, _ := none.Due(200); due || none.Memory() != 0 || none.Bound(9) != 0 {
		t.Error("a match without views has some")
	}
}
