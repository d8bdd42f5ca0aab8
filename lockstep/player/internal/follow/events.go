package follow

import "github.com/seed-49bee653/samestep/lockstep"

// The events of a [Run]. Others are [Mismatch] and [Explained].
type (
	// Desynced: this client's state is not the match's. Only the first mismatch in a row makes an event. If the client
	// finds it, by a checksum in the stream, Got and Want are set; if the server reports it, Agreed and Section are
	// set. End says how the end of the match by its rules differs; it is "" for a state.
	Desynced struct {
		Tick      lockstep.Tick
		Got, Want uint64
		Agreed    lockstep.Tick // the last tick at which both agreed
		Section   string        // the first one that differs; may be empty
		End       string
	}

	// Healed: after a desync the client's state is the match's again.
	Healed struct{ Tick lockstep.Tick }
)
