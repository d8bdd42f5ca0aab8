package skirmish

import (
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
	testenv.Long(t)
	game := lockstep.MustGame(Rules())
	plan, err := feed.NewPlan(game.ViewSchema(), game.ViewType())
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
	for tick := uint32(2); tick < 1200; tick += 2 {
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
