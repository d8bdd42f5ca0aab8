// Package recorder writes what one machine sees of a match on any engine: commands, sums of states, whole states and notes, as
// lines of JSON that samestep replay reads (docs/spec/recordings.md). Recordings of several machines are compared to find the first
// tick and the first field that differ.
//
//	r, err := recorder.Create("player0.jsonl", recorder.Header{
//		Title: "Pong", TickRate: 60, Players: 2, By: 0,
//		Sections: []string{"Ball", "Paddles"},
//		State:    schema, // see Schema
//	})
//	…
//	r.Command(tick, player, kind, payload) // changes the state of this tick into that of the next
//	step()
//	r.Sum(tick+1, 0, hash, ballHash, paddlesHash)
//	if r.Wanted(tick + 1) { // SAMESTEP_DUMP=77,78
//		r.State(tick+1, 0, bytes) // see Schema
//	}
//	// or, with a Schema: r.Observe(tick+1, 0, schema, &world)
//	…
//	r.End(tick)
//	err = r.Close()
//
// A game that rolls back records a tick once all its commands are known.
//
// Each call appends whole lines to a buffer. The buffer is written when the ticks advance ([Recorder.FlushEvery]), after
// a state, and when it is full, so a game that crashes loses only the latest ticks. The first error stays: all later calls do
// nothing, and [Recorder.Err] and [Recorder.Close] return it. A call of a tick does not allocate.
//
// The package imports only the standard library, so that a game on another engine links nothing else of ours. The folders
// c and python have the same recorder in these languages. The same calls write the same bytes, and fail with the same errors.
package recorder
