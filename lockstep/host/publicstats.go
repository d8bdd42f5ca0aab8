package host

import "github.com/seed-49bee653/samestep/lockstep"

// PublicStats are those of the [Stats] that anybody may know while the match runs. None of them counts messages, commands or
// records, and none is the size of something that follows from the state.
type PublicStats struct {
	Tick          lockstep.Tick   `json:"tick"`
	Skipped       uint64          `json:"skipped,string"`
	Desyncs       uint64          `json:"desyncs,string"`
	Resyncs       uint64          `json:"resyncs,string"`
	RefereeFaults uint64          `json:"referee_faults,string"`
	Peers         [peerStates]int `json:"peers"`
	Players       int             `json:"players"`
	Spectators    int             `json:"spectators"`
	MaxLag        lockstep.Tick   `json:"max_lag"`
	ByDatagrams   int             `json:"by_datagrams"`
	InputDelay    lockstep.Tick   `json:"input_delay"`
}

// Public returns what anybody may know. tick is the last one of which the reader may know.
func (s *Stats) Public(tick lockstep.Tick) PublicStats {
	return PublicStats{
		Tick: tick, Skipped: s.Skipped, Desyncs: s.Desyncs, Resyncs: s.Resyncs, RefereeFaults: s.RefereeFaults, Peers: s.Peers,
		Players: s.Players, Spectators: s.Spectators, MaxLag: s.MaxLag, ByDatagrams: s.ByDatagrams, InputDelay: s.InputDelay,
	}
}
