package feed_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/state"
)

// A view has a field of each sort.
type view struct {
	Tick  uint32
	Money uint16
	Won   bool
	Home  fixed.Vec2 `feed:"quantize=1/16"`
	Units []unit
	Fog   []uint8
	Seen  [8]bool
	Deals struct {
		Open []deal
	}
}

type unit struct {
	ID     uint32     `feed:"id"`
	Pos    fixed.Vec2 `feed:"quantize=1/16"`
	Health int16      `feed:"priority=3"`
	Kind   uint8
	Alive  bool
	Slow   uint8 `feed:"every=4"`
}

type deal struct {
	ID   int8 `feed:"id"`
	With int64
}

var codec = state.MustCompile[view]()

// change changes a view at random.
func change(r *rand.Rand, v *view) {
	v.Tick++
	place := func() fixed.Vec2 { return fixed.Vec2{X: fixed.Q(r.Int64N(1 << 38)), Y: -fixed.Q(r.Int64N(1 << 38))} }
	if r.IntN(4) == 0 {
		v.Money, v.Won, v.Home = uint16(r.Uint32()), r.IntN(2) == 0, place()
	}
	v.Seen[r.IntN(8)] = r.IntN(2) == 0
	for i := range v.Units {
		switch u := &v.Units[i]; r.IntN(6) {
		case 0:
			u.Pos = u.Pos.Add(fixed.Vec2{X: fixed.One / 8, Y: fixed.One / 3})
		case 1:
			u.Health, u.Alive, u.Slow = int16(r.Uint32()), !u.Alive, u.Slow+1
		}
	}
	if n := len(v.Units); n > 0 && r.IntN(3) == 0 {
		i := r.IntN(n)
		v.Units = append(v.Units[:i:i], v.Units[i+1:]...)
	}
	for range r.IntN(3) {
		v.Units = insert(v.Units, unit{ID: r.Uint32() % 500, Pos: place(), Kind: uint8(r.Uint32())}, func(u unit) int64 { return int64(u.ID) })
	}
	if r.IntN(5) == 0 {
		v.Deals.Open = insert(v.Deals.Open, deal{int8(r.Uint32()), r.Int64() - r.Int64()}, func(d deal) int64 { return int64(d.ID) })
	}
	if len(v.Deals.Open) > 9 {
		v.Deals.Open = v.Deals.Open[3:]
	}
	if r.IntN(4) == 0 {
		v.Fog = make([]uint8, r.IntN(40))
	}
	for i := range v.Fog {
		if r.IntN(8) == 0 {
			v.Fog[i]++
		}
	}
}

func insert[E any](list []E, e E, id func(E) int64) (out []E) {
	put := false
	for _, x := range list {
		if id(x) == id(e) {
			return list
		}
		if !put && id(x) > id(e) {
			out, put = append(out, e), true
		}
		out = append(out, x)
	}
	if !put {
		out = append(out, e)
	}
	return out
}

// Any sequence of losses and acknowledgements ends in the view of the sender, with any budget.
func TestLosses(t *testing.T) {
	plan, err := feed.NewPlan(codec.Schema(), reflect.TypeFor[view]())
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		s, receivers := feed.NewSender(plan), []*feed.Receiver{feed.NewReceiver(plan), feed.NewReceiver(plan), feed.NewReceiver(plan)}
		acked := make([]feed.Number, len(receivers))
		var v view
		budget := int(seed%4) * 40
		for range 300 {
			change(r, &v)
			if err := s.Set(codec.Append(nil, &v), budget); err != nil {
				t.Fatal(err)
			}
			for i, to := range receivers {
				if r.IntN(1+3*i) > 0 {
					continue // lost
				}
				base, delta := s.Delta(acked[i])
				if err := to.Apply(s.Number(), base, delta); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if got, want := to.AppendView(nil), s.AppendView(nil); !bytes.Equal(got, want) {
					d, err := codec.Schema().Diff(got, want, 3)
					t.Fatalf("seed %d: view %d from %d: %v, %v", seed, s.Number(), base, d, err)
				}
				if r.IntN(3) > 0 {
					acked[i] = to.Number()
				}
			}
		}
		for range 400 { // without changes, what waits is sent
			if err := s.Set(codec.Append(nil, &v), budget); err != nil {
				t.Fatal(err)
			}
		}
		quantized := feed.NewSender(plan)
		if err := quantized.Set(codec.Append(nil, &v), 0); err != nil {
			t.Fatal(err)
		}
		if d, err := codec.Schema().Diff(s.AppendView(nil), quantized.AppendView(nil), 3); err != nil || d.Total > 0 {
			t.Errorf("seed %d: at rest: %v, %v", seed, d, err)
		}
		if base, delta := s.Delta(s.Number() - 1); base == 0 || len(delta) > 12 {
			t.Errorf("seed %d: a view at rest takes %d bytes against %d", seed, len(delta), base)
		}
	}
}
