package flight

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A record that says as much as its bytes can say needs little memory.
func TestHostileRecords(t *testing.T) {
	var names []string
	for i := range MaxPhases {
		names = append(names, fmt.Sprintf("%030d", i))
	}
	var streams []Draws
	for _, name := range names[:50] {
		streams = append(streams, Draws{name, 1})
	}
	for _, row := range []struct {
		name  string
		ticks record.Tick
		tick  func(t record.Tick) Tick
	}{
		{"the same phases again", MaxTicks, func(record.Tick) Tick { return Tick{Phases: names} }},
		{"other phases each time", 900, func(t record.Tick) Tick { return Tick{Phases: names[:MaxPhases-t%2]} }},
		{"draws", 570, func(record.Tick) Tick { return Tick{Draws: []Drawn{{Streams: streams}}} }},
	} {
		r := &Record{Prints: MaxPrints}
		for n := range row.ticks {
			x := row.tick(n)
			x.Tick, x.Prints = n+1, make([]uint16, MaxPrints)
			r.Ticks = append(r.Ticks, x)
		}
		b := r.Append(nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := Parse(b)
		runtime.ReadMemStats(&after)
		if err != nil || len(r.Ticks) != int(row.ticks) {
			t.Fatalf("%s: %d bytes: %v", row.name, len(b), err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n < 400_000 || n > 64*MaxBytes {
			t.Errorf("%s: %d bytes took %d bytes of memory, want at most %d", row.name, len(b), n, 64*MaxBytes)
		}
	}
}
