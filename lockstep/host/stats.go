package host

import (
	"strconv"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Stats are a Host's counters since the match began, and its current sizes.
type Stats struct {
	PublicStats
	Ticks         uint64 `json:"ticks,string"`
	Commands      uint64 `json:"commands,string"`
	BytesIn       uint64 `json:"bytes_in,string"`
	BytesOut      uint64 `json:"bytes_out,string"`
	Reports       uint64 `json:"reports,string"`        // checksums from players
	Resimulated   uint64 `json:"retried,string"`        // ticks re-simulated because of reports; see Rates.Resimulations
	SyncKeyframes uint64 `json:"sync_keyframes,string"` // made to be sent; the log has others
	Syncs         uint64 `json:"syncs,string"`          // keyframes sent
	SyncBytes     uint64 `json:"sync_bytes,string"`     // of keyframes, as far as they were sent
	Resumes       uint64 `json:"resumes,string"`        // reconnects without a keyframe
	Views         uint64 `json:"views,string"`          // sent to viewers
	ViewBytes     uint64 `json:"view_bytes,string"`     // of them
	Datagrams     uint64 `json:"datagrams,string"`      // sent
	DatagramsLost uint64 `json:"datagrams_lost,string"` // of them, as far as players have said so
	RepeatBytes   uint64 `json:"repeat_bytes,string"`   // of records in datagrams after the first one with the record
	Offences      uint64 `json:"offences,string"`
	NoRoom        uint64 `json:"turned,string"` // connections refused for lack of room

	TwinTicks       uint64 `json:"twin_ticks,string"`       // of the referee's cold twins, see Options.Heavy
	TwinDifferences uint64 `json:"twin_differences,string"` // from them

	Rejected [lockstep.TooOften + 1]Counter      `json:"rejected"` // answers to commands, by Reason
	Closed   [protocol.CloseInactive + 1]Counter `json:"closed"`   // connections, by CloseCode

	RingRecords int `json:"ring_records"`
	Memory      int `json:"memory"`      // see Info.Memory
	StateBytes  int `json:"state_bytes"` // of the last keyframe in the log
}

// PublicStats are those of the [Stats] that anybody may know while the match runs. None of them counts messages, commands or
// records, and none is the size of something that follows from the state.
type PublicStats struct {
	Tick          lockstep.Tick   `json:"tick"`
	Skipped       uint64          `json:"skipped,string"` // ticks skipped after a stall
	Desyncs       uint64          `json:"desyncs,string"`
	Resyncs       uint64          `json:"resyncs,string"`        // keyframes sent because of one
	RefereeFaults uint64          `json:"referee_faults,string"` // times that the referee's own state was wrong
	Peers         [peerStates]int `json:"peers"`                 // by PeerState
	Players       int             `json:"players"`
	Spectators    int             `json:"spectators"`
	MaxLag        lockstep.Tick   `json:"max_lag"`      // of the live ones
	ByDatagrams   int             `json:"by_datagrams"` // live ones that datagrams bring the records now
	InputDelay    lockstep.Tick   `json:"input_delay"`
}

// Public returns what anybody may know. tick is the last one of which the reader may know.
func (s *Stats) Public(tick lockstep.Tick) PublicStats {
	p := s.PublicStats
	p.Tick = tick
	return p
}

// A Counter counts since the match began. In JSON it is text, as all 64-bit numbers are.
type Counter uint64

func (c Counter) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(c), 10), nil }

func (c *Counter) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 64)
	*c = Counter(n)
	return err
}

// A PeerState is the state of a connection.
//
//	              auth                  all chunks sent             acks near the present
//	Connecting ────────────► Syncing ────────────────► CatchingUp ────────────────► Live
//	    │  │                  ▲ │ ▲                       ▲ │ │                      │ │
//	    │  └ auth, resumed ───┼─┼─┼───────────────────────┘ │ │                      │ │
//	    │                     │ │ └── ring passed it by ────┘ │                      │ │
//	    │                     └─┼─── behind, desynced, or asked for a keyframe ──────┘ │
//	    ▼                       ▼                             ▼                        ▼
//	  Closed: refused, replaced, left, kicked, slow, silent, abusive, malformed, ended, or the socket is gone
type PeerState uint8

// The states of a connection.
const (
	Connecting PeerState = iota // auth has not arrived
	Syncing                     // receives a keyframe in chunks, or waits for one
	CatchingUp                  // receives records, but is still behind
	Live                        // keeps up with the match
	Closed                      // receives its last private messages, and is no longer read
	peerStates
)

func (s PeerState) String() string {
	return [...]string{"connecting", "syncing", "catching up", "live", "closed"}[s]
}
