// Package logbench measures what the engine costs beside the game that it runs.
// Every figure is a ratio of two sides that take turns within one run, over the
// same ticks of the same match: only that means anything on another machine.
// go test -bench and the command use the same bodies.
//
//	for i := range logbench.Figures {
//		f := &logbench.Figures[i]
//		r, err := f.Measure(2 * time.Second)
//		fmt.Println(f.Name, r.Ratio(), f.Limit)
//	}
//
// The match is a battle of the example game skirmish: the armies of four
// players stand mixed all over the map, as dense with 1,000 units as with
// 10,000, and bots command them.
package logbench
