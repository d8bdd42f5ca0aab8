// Package logbench measures the cost of the engine relative to the game that it runs.
// Each figure is a ratio of two sides that alternate within one run, over the same ticks
// of the same match: only a ratio means anything on another machine. go test -bench and
// samestep bench log run the same bodies.
//
//	for i := range logbench.Figures {
//		f := &logbench.Figures[i]
//		r, err := f.Measure(2 * time.Second)
//		fmt.Println(f.Name, r.Ratio(), f.Limit)
//	}
//
// [FiguresOf] makes the figures of any game. [Figures] are those with promised limits, of
// battles of the example game skirmish: bots command the armies of four players, which are
// mixed all over the map. The density is the same with 1,000 units as with 10,000.
package logbench
