package skirmish

import (
	"fmt"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/state"
)

// The bytes of views as differences, beside full views in MessagePack and a general difference of those.
func TestViewBytes(t *testing.T) {
	testenv.Night(t)
	game := lockstep.MustGame(Rules())
	plan, err := feed.NewPlan(game.ViewSchema(), game.ViewTags())
	if err != nil {
		t.Fatal(err)
	}
	config := Defaults(8, 1000)
	c := newContest(t, 3, config, Normal, Normal, Normal, Normal, Normal, Normal, Normal, Normal)
	codec := state.MustCompile[View]()
	var senders [8]*feed.Sender
	var last [8][]byte
	for p := range senders {
		senders[p] = feed.NewSender(plan)
	}
	full, general, deltas, units, views := 0, 0, 0, 0, 0
	for tick := uint32(2); tick < 1200; tick += 2 { // 10 views a second
		c.play(tick)
		for p, s := range senders {
			var v View
			if err := see(c.w, nil, lockstep.Viewer{As: lockstep.AsPlayer, Number: uint8(p)}, &v); err != nil {
				t.Fatal(err)
			}
			b := codec.Append(nil, &v)
			if err := s.Set(b, 0); err != nil {
				t.Fatal(err)
			}
			_, delta := s.Delta(s.Number() - 1)
			packed, err := msgpack.Marshal(&v)
			if err != nil {
				t.Fatal(err)
			}
			if last[p] != nil {
				e, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(1, last[p]), zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault))
				if err != nil {
					t.Fatal(err)
				}
				full, general, deltas = full+len(packed), general+len(e.EncodeAll(packed, nil)), deltas+len(delta)
				units, views = units+len(v.Units), views+1
			}
			last[p] = packed
		}
	}
	t.Logf("%d views of %.0f units: full %.0f bytes, general difference %.0f, ours %.0f: 1/%.1f and %.2f", views, float64(units)/float64(views),
		float64(full)/float64(views), float64(general)/float64(views), float64(deltas)/float64(views), float64(full)/float64(deltas), float64(deltas)/float64(general))
}

// BenchmarkView makes and sends a view of a match of 1,000 units to each of 8 players and to 8 more viewers of their teams,
// as a server does at every second tick. It reports the time for each viewer and view.
func BenchmarkView(b *testing.B) {
	game := lockstep.MustGame(Rules())
	plan, err := feed.NewPlan(game.ViewSchema(), game.ViewTags())
	if err != nil {
		b.Fatal(err)
	}
	config := Defaults(8, 1000)
	c := newContest(b, 3, config, Normal, Normal, Normal, Normal, Normal, Normal, Normal, Normal)
	c.play(400)
	codec := state.MustCompile[View]()
	const views = 100
	var bytes [views][8][]byte
	var v View
	for i := range views {
		c.play(400 + 2*uint32(i))
		for p := range bytes[i] {
			if err := see(c.w, nil, lockstep.Viewer{As: lockstep.AsPlayer, Number: uint8(p)}, &v); err != nil {
				b.Fatal(err)
			}
			bytes[i][p] = codec.Append(nil, &v)
		}
	}
	b.Run("make", func(b *testing.B) {
		var dst []byte
		for i := 0; b.Loop(); i++ {
			if err := see(c.w, nil, lockstep.Viewer{As: lockstep.AsPlayer, Number: uint8(i % 8)}, &v); err != nil {
				b.Fatal(err)
			}
			dst = codec.Append(dst[:0], &v)
		}
	})
	for _, viewers := range []int{1, 4} {
		b.Run(fmt.Sprintf("send to a team of %d", viewers), func(b *testing.B) {
			var senders [8]*feed.Sender
			for p := range senders {
				senders[p] = feed.NewSender(plan)
			}
			n := 0
			for i := 0; b.Loop(); i++ {
				for p, s := range senders {
					if err := s.Set(bytes[i%views][p], 0); err != nil {
						b.Fatal(err)
					}
					for range viewers {
						_, delta := s.Delta(s.Number() - 1)
						n += len(delta)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*8*viewers), "ns/view")
			b.ReportMetric(float64(n)/float64(b.N*8*viewers), "bytes/view")
		})
	}
}

// Who looks at a match by views allocates nothing for each of them.
func TestKnowAllocatesNothing(t *testing.T) {
	config := Defaults(2, 200)
	c := newContest(t, 3, config, Normal, Normal)
	var v View
	var w World
	tick := uint32(1)
	step := func() {
		if tick++; tick%2 == 0 {
			c.play(tick)
		}
		if err := see(c.w, nil, lockstep.Viewer{As: lockstep.AsTeam}, &v); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		step()
		w.Know(&v, lockstep.Tick(tick))
	}
	if n := testing.AllocsPerRun(50, func() { w.Know(&v, lockstep.Tick(tick)) }); n != 0 {
		t.Errorf("%.1f allocations for a view", n)
	}
}

// Whatever a view has, knowing it does not panic.
func TestKnowHostileView(t *testing.T) {
	for _, v := range []View{
		{},
		{Size: 65535, Team: 255},
		{Size: 64, Rock: make([]uint64, 1000), Visible: make([]uint64, 3), Explored: []uint64{1}},
		{Size: 3, Players: []Seat{{Team: 255}}, Team: Observers, Visible: make([]uint64, 9)},
		{Size: 64, Units: []Seen{{ID: 7, Owner: 200, Kind: 77, Task: 99}, {ID: 1<<32 - 1}}, Crystals: []Deposit{{ID: 65535}}, Places: []Place{{ID: 255, Kind: 200, Holder: 99}}},
	} {
		var w World
		for range 2 {
			w.Know(&v, 5)
			w.Know(&View{}, 6)
		}
		w.Know(&v, 7)
		if len(w.Players) != len(v.Players) || len(w.Fog) > MaxPlayers {
			t.Errorf("%+v: got %d players and %d teams", v, len(w.Players), len(w.Fog))
		}
	}
}
