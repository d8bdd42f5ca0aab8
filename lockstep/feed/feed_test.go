package feed_test

import (
	"bytes"
	"encoding/hex"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
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
	ID   int8 `feed:"id,every=3"`
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
	plan, err := feed.NewPlan(codec.Schema(), state.Tags(reflect.TypeFor[view](), "feed"))
	if err != nil {
		t.Fatal(err)
	}
	described, err := feed.ParsePlan(plan.AppendDescription(nil)) // without what only a sender needs
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		s, receivers := feed.NewSender(plan), []*feed.Receiver{feed.NewReceiver(plan), feed.NewReceiver(described), feed.NewReceiver(described)}
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
		rest := s.Number()
		if err := s.Set(codec.Append(nil, &v), budget); err != nil || s.Number() != rest {
			t.Errorf("seed %d: the same view again: got number %d after %d, %v", seed, s.Number(), rest, err)
		}
	}
}

// newSender returns a sender with a view of n units that have been seen.
func newSender(t testing.TB, n int) (*feed.Sender, *view) {
	t.Helper()
	plan, err := feed.NewPlan(codec.Schema(), state.Tags(reflect.TypeFor[view](), "feed"))
	if err != nil {
		t.Fatal(err)
	}
	s, v := feed.NewSender(plan), &view{Fog: make([]uint8, n)}
	for i := range n {
		v.Units = append(v.Units, unit{ID: uint32(i + 1), Pos: fixed.Vec2{X: fixed.Q(i) * fixed.One}})
	}
	set(t, s, v, 0)
	return s, v
}

func set(t testing.TB, s *feed.Sender, v *view, budget int) {
	t.Helper()
	if err := s.Set(codec.Append(nil, v), budget); err != nil {
		t.Fatal(err)
	}
}

// A delta keeps its budget, and no change waits for ever: those of low priority go first at last.
func TestBudget(t *testing.T) {
	const units, budget = 300, 100
	s, v := newSender(t, units)
	sent := make([]feed.Number, units) // the last view in which a unit's kind was sent
	for range 600 {
		was := s.AppendView(nil)
		for i := range v.Units {
			v.Units[i].Health++ // of priority 3
			v.Units[i].Kind++
		}
		set(t, s, v, budget)
		base, delta := s.Delta(s.Number() - 1)
		if base == 0 || len(delta) > budget {
			t.Fatalf("view %d: a delta of %d bytes, want at most %d", s.Number(), len(delta), budget)
		}
		var before, now view
		if err := codec.Decode(was, &before); err != nil {
			t.Fatal(err)
		}
		if err := codec.Decode(s.AppendView(nil), &now); err != nil {
			t.Fatal(err)
		}
		for i := range now.Units {
			if now.Units[i] != before.Units[i] {
				sent[i] = s.Number()
			}
		}
	}
	for i, n := range sent {
		if n+100 < s.Number() {
			t.Errorf("unit %d was sent last in view %d of %d", i, n, s.Number())
		}
	}
}

// A delta keeps its budget whatever bytes the ids take.
func TestBudgetOfSignedIDs(t *testing.T) {
	const budget = 64
	type list struct {
		List []struct {
			ID int64 `feed:"id"`
		}
	}
	codec := state.MustCompile[list]()
	plan, err := feed.NewPlan(codec.Schema(), state.Tags(reflect.TypeFor[list](), "feed"))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(50) {
		random, s, ids := rand.New(rand.NewPCG(seed, 3)), feed.NewSender(plan), map[int64]bool{}
		for range 40 {
			ids[random.Int64()>>random.IntN(64)*(1-2*random.Int64N(2))] = true
		}
		var v list
		for _, id := range slices.Sorted(maps.Keys(ids)) {
			v.List = append(v.List, struct {
				ID int64 `feed:"id"`
			}{id})
		}
		for n := 0; n < 40; n = int(s.Number()) {
			if err := s.Set(codec.Append(nil, &v), budget); err != nil {
				t.Fatal(err)
			}
			if _, delta := s.Delta(feed.Number(n)); len(delta) > budget {
				t.Fatalf("seed %d: view %d has %d bytes", seed, s.Number(), len(delta))
			}
			if int(s.Number()) == n {
				break
			}
		}
	}
}

// Every viewer of 100,000 elements is sent them within the budget, a part with each view.
func TestManyElements(t *testing.T) {
	s, v := newSender(t, 0)
	for i := range 100_000 {
		v.Units = append(v.Units, unit{ID: uint32(i + 1), Health: int16(i)})
	}
	for n := 1; ; n++ {
		number := s.Number()
		set(t, s, v, 64<<10)
		if s.Number() == number {
			break // all is sent
		}
		if _, delta := s.Delta(number); len(delta) > 64<<10 || n > 100 {
			t.Fatalf("view %d: %d bytes", n, len(delta))
		}
	}
	var got view
	if err := codec.Decode(s.AppendView(nil), &got); err != nil || len(got.Units) != len(v.Units) {
		t.Errorf("got %d units, %v", len(got.Units), err)
	}
}

// An element whose id has a rate is gone in a view whose number is a multiple of it. At the edge of what is seen it costs nothing.
func TestGoneLater(t *testing.T) {
	type edge struct {
		List []struct {
			ID uint8 `feed:"id,every=5"`
			At uint8
		}
	}
	codec := state.MustCompile[edge]()
	plan, err := feed.NewPlan(codec.Schema(), state.Tags(reflect.TypeFor[edge](), "feed"))
	if err != nil {
		t.Fatal(err)
	}
	s := feed.NewSender(plan)
	set := func(all ...uint8) (sent edge, delta []byte) {
		t.Helper()
		var v edge
		for i := 0; i < len(all); i += 2 {
			v.List = append(v.List, struct {
				ID uint8 `feed:"id,every=5"`
				At uint8
			}{all[i], all[i+1]})
		}
		number := s.Number()
		if err := s.Set(codec.Append(nil, &v), 0); err != nil {
			t.Fatal(err)
		}
		if err := codec.Decode(s.AppendView(nil), &sent); err != nil {
			t.Fatal(err)
		}
		_, delta = s.Delta(number)
		return sent, delta
	}
	set(1, 10, 2, 10)
	if sent, delta := set(1, 11); len(sent.List) != 2 || sent.List[0].At != 11 || sent.List[1].At != 10 || len(delta) != 7 {
		t.Errorf("it has gone: got %v, %x", sent, delta)
	}
	if sent, delta := set(1, 11, 2, 10); len(sent.List) != 2 || len(delta) != 4 {
		t.Errorf("it has come back: got %v, %x", sent, delta)
	}
	for s.Number() < 4 {
		if sent, _ := set(1, 11); len(sent.List) != 2 {
			t.Errorf("view %d: got %v", s.Number(), sent)
		}
	}
	if sent, _ := set(1, 11); s.Number() != 5 || len(sent.List) != 1 {
		t.Errorf("view %d: got %v", s.Number(), sent)
	}
	if set(1, 11); s.Number() != 5 {
		t.Errorf("nothing waits, and there is a view %d", s.Number())
	}
}

// If what waits to be removed does not fit beside what is new, it is removed before its time.
func TestTooLargeWithWhatWaits(t *testing.T) {
	type large struct {
		List []struct {
			ID   uint64 `feed:"id,every=100"`
			Rest [63]uint64
		}
	}
	codec := state.MustCompile[large]()
	plan, err := feed.NewPlan(codec.Schema(), state.Tags(reflect.TypeFor[large](), "feed"))
	if err != nil {
		t.Fatal(err)
	}
	s, r := feed.NewSender(plan), feed.NewReceiver(plan)
	const count = feed.MaxViewBytes/512 - 1
	for first := range uint64(3) {
		var v large
		v.List = append(v.List, make([]struct {
			ID   uint64 `feed:"id,every=100"`
			Rest [63]uint64
		}, count)...)
		for i := range v.List {
			v.List[i].ID = first*count + uint64(i)
		}
		view := codec.Append(nil, &v)
		if err := s.Set(view, 0); err != nil {
			t.Fatal(err)
		}
		base, delta := s.Delta(r.Number())
		if err := r.Apply(s.Number(), base, delta); err != nil || !bytes.Equal(r.AppendView(nil), view) {
			t.Errorf("view %d: another one was sent, %v", s.Number(), err)
		}
	}
}

// Bytes that are no view are refused, and change nothing.
func TestRefusedViews(t *testing.T) {
	s, v := newSender(t, 3)
	was := s.AppendView(nil)
	for want, change := range map[string]func(*view){
		"feed: Units[1].ID: got 1 after 3, want ascending ids":       func(v *view) { v.Units[0].ID, v.Units[1].ID = 3, 1 },
		"feed: Units[1].ID: got 1 after 1, want ascending ids":       func(v *view) { v.Units[1].ID = 1 },
		"feed: Deals.Open[1].ID: got -3 after 2, want ascending ids": func(v *view) { v.Deals.Open = []deal{{ID: 2}, {ID: -3}} },
	} {
		bad := *v
		bad.Units = append([]unit(nil), v.Units...)
		change(&bad)
		if err := s.Set(codec.Append(nil, &bad), 0); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := s.Set([]byte{1, 2}, 0); err == nil {
		t.Error("two bytes were taken as a view")
	}
	if err := s.Set(make([]byte, feed.MaxViewBytes+1), 0); err == nil {
		t.Error("a view that is too large was taken")
	}
	if got := s.AppendView(nil); !bytes.Equal(got, was) || s.Number() != 1 {
		t.Errorf("the view has changed, and its number is %d", s.Number())
	}
	set(t, s, v, 0)
	if s.Number() > 2 {
		t.Errorf("got number %d", s.Number())
	}
}

// Each id of a type is sent: the first one of a list as a number, signed as zigzag, and others by their gaps.
func TestIDs(t *testing.T) {
	for _, row := range []struct {
		name  string
		delta []byte
		want  string
	}{
		{"int8", deltaOf[int8](t, -128, -127, -1, 0, 127), "00 00 00 05 ff01 00 00 00 7d 00 00 00 7e 00"},
		{"int8 -1", deltaOf[int8](t, -1), "00 00 00 01 01 00"},
		{"int8 63", deltaOf[int8](t, 63), "00 00 00 01 7e 00"},
		{"int8 -64", deltaOf[int8](t, -64), "00 00 00 01 7f 00"},
		{"int64", deltaOf[int64](t, math.MinInt64, math.MaxInt64), "00 00 00 02 ffffffffffffffffff01 00 feffffffffffffffff01 00"},
		{"int64 0", deltaOf[int64](t, 0, math.MaxInt64), "00 00 00 02 00 00 feffffffffffffff7f 00"},
		{"uint8", deltaOf[uint8](t, 0, 255), "00 00 00 02 00 00 fe01 00"},
		{"uint64", deltaOf[uint64](t, 0, 1, math.MaxUint64), "00 00 00 03 00 00 00 00 fdffffffffffffffff01 00"},
		{"uint64 alone", deltaOf[uint64](t, math.MaxUint64), "00 00 00 01 ffffffffffffffffff01 00"},
	} {
		if got := hex.EncodeToString(row.delta); got != strings.ReplaceAll(row.want, " ", "") {
			t.Errorf("%s: got %s, want %s", row.name, got, row.want)
		}
	}
}

// deltaOf returns the delta of a list with the ids, which a receiver reads again.
func deltaOf[I int8 | int64 | uint8 | uint64](t *testing.T, ids ...I) []byte {
	type list struct {
		List []struct {
			ID I `feed:"id"`
		}
	}
	codec := state.MustCompile[list]()
	plan, err := feed.NewPlan(codec.Schema(), state.Tags(reflect.TypeFor[list](), "feed"))
	if err != nil {
		t.Fatal(err)
	}
	var v list
	for _, id := range ids {
		v.List = append(v.List, struct {
			ID I `feed:"id"`
		}{id})
	}
	b := codec.Append(nil, &v)
	s, r := feed.NewSender(plan), feed.NewReceiver(plan)
	if err := s.Set(b, 0); err != nil {
		t.Fatal(err)
	}
	_, delta := s.Delta(0)
	if err := r.Apply(s.Number(), 0, delta); err != nil || !bytes.Equal(r.AppendView(nil), b) {
		t.Errorf("%v: got %x, %v", ids, r.AppendView(nil), err)
	}
	return delta
}

// A sender and a receiver allocate nothing once their memory has grown.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, budget := range []int{0, 500} {
		s, v := newSender(t, 200)
		plan, _ := feed.NewPlan(codec.Schema(), state.Tags(reflect.TypeFor[view](), "feed"))
		r, view := feed.NewReceiver(plan), []byte(nil)
		step := func() {
			v.Tick++
			for i := range v.Units {
				v.Units[i].Pos.X += fixed.One / 8
				v.Units[i].Health++
			}
			view = codec.Append(view[:0], v)
			if err := s.Set(view, budget); err != nil {
				t.Fatal(err)
			}
			base, delta := s.Delta(r.Number())
			if err := r.Apply(s.Number(), base, delta); err != nil {
				t.Fatal(err)
			}
			view = r.AppendView(view[:0])
		}
		for range 40 {
			step()
		}
		if n := testing.AllocsPerRun(50, step); n != 0 {
			t.Errorf("budget %d: %.1f allocations for a view", budget, n)
		}
	}
}

// The largest difference of a view of bytes is within the limit, though it is larger than the view.
func TestLargestDelta(t *testing.T) {
	s, v := newSender(t, 0)
	v.Fog = make([]uint8, 1<<20)
	for i := range v.Fog {
		v.Fog[i] = 0x80 | uint8(i)
	}
	set(t, s, v, 0)
	_, delta := s.Delta(0)
	if most := len(delta) / len(v.Fog) * feed.MaxViewBytes; len(delta) <= len(v.Fog) || most > feed.MaxDeltaBytes {
		t.Errorf("got %d bytes for %d, so %d for the largest view", len(delta), len(v.Fog), most)
	}
}
