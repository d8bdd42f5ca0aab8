package simulate

import (
	"hash/fnv"
	"math/rand/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A Plan is all that one run depends on beside the game: a seed expanded to who
// plays, over what, and what goes wrong when. The same Plan gives the same run,
// whoever made it.
type Plan struct {
	Seed     uint64            `json:"seed,string"` // of the random streams
	Settings lockstep.Settings `json:"settings"`
	Chaos    lockstep.Time     `json:"chaos"` // how long faults begin
	Heal     lockstep.Time     `json:"heal"`  // how long none is left
	Host     HostPlan          `json:"host"`
	Disk     DiskPlan          `json:"disk"`
	Machines []MachinePlan     `json:"machines"`
	Faults   []Fault           `json:"faults"` // by time
}

// A HostPlan is what varies of [host.Options].
type HostPlan struct {
	InputDelay lockstep.Tick     `json:"input_delay"`
	Lag        lockstep.Tick     `json:"lag"`
	Grace      lockstep.Time     `json:"grace"`
	Keyframes  lockstep.Time     `json:"keyframes"`            // between two for joiners
	SyncBytes  int               `json:"sync_bytes,omitempty"` // of a keyframe, in the time of a tick
	Ring       int               `json:"ring,omitempty"`       // records
	Wait       lockstep.Time     `json:"wait,omitempty"`
	Slow       uint16            `json:"slow,omitempty"`
	MaxDelay   lockstep.Tick     `json:"max_delay,omitempty"`
	Leave      bool              `json:"leave,omitempty"`
	Desync     host.DesyncPolicy `json:"desync,omitempty"`

	SpectatorDelay lockstep.Tick `json:"spectator_delay,omitempty"`
	Relay          bool          `json:"relay,omitempty"`

	Limits        bool `json:"limits,omitempty"`         // the default Rates, but for
	KeyframeBytes int  `json:"keyframe_bytes,omitempty"` // Rates.Keyframes, a second and at once, and
	NoteBytes     int  `json:"note_bytes,omitempty"`     // MaxNoteBytes
}

// A DiskPlan says how the log is written.
type DiskPlan struct {
	EachFrame  bool          `json:"each_frame"`      // sync before a frame is told, replay.SyncFrame
	Await      bool          `json:"await,omitempty"` // sync beside the match, and tell nobody of what is not synced: HostOptions.AwaitCommit
	FlushTicks uint32        `json:"flush_ticks"`
	SyncEvery  lockstep.Time `json:"sync_every"` // without EachFrame
	SyncTime   lockstep.Time `json:"sync_time"`  // that one takes
}

// A MachinePlan is one client.
type MachinePlan struct {
	Spectator   bool          `json:"spectator,omitempty"`
	Liar        bool          `json:"liar,omitempty"`   // may do anything, and nothing is promised to it
	Absent      bool          `json:"absent,omitempty"` // it never comes
	JoinAt      lockstep.Time `json:"join_at,omitempty"`
	Predict     lockstep.Tick `json:"predict,omitempty"`
	Interpolate bool          `json:"interpolate,omitempty"`
	Backlog     int           `json:"backlog"`         // ClientOptions.MaxBacklog
	Every       lockstep.Time `json:"every,omitempty"` // mean time between commands
	Up          Link          `json:"up"`
	Down        Link          `json:"down"`
}

// A Link is one direction of a connection.
type Link struct {
	Delay  lockstep.Time `json:"delay"`
	Jitter lockstep.Time `json:"jitter,omitempty"`
	Loss   uint32        `json:"loss,omitempty"` // of a million packets; a lost one is sent again
	Rate   int64         `json:"rate,omitempty"` // bytes a second; 0: no limit
}

// A Fault is one thing that goes wrong. What its numbers mean depends on its
// Kind; see the table of kinds.
type Fault struct {
	ID   int           `json:"id"` // seeds what is random about it
	At   lockstep.Time `json:"at"` // from the run's beginning
	Kind string        `json:"kind"`
	Who  int           `json:"who"` // machine
	For  lockstep.Time `json:"for,omitempty"`
	N    int64         `json:"n,omitempty"`
}

// stream returns the random numbers of one purpose. Streams of other purposes
// give the same numbers whether it is used or not.
func stream(seed uint64, purpose string, who int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(seed, h.Sum64()+uint64(who)*0x9e3779b97f4a7c15))
}

// span returns a random time from low to high.
func span(r *rand.Rand, low, high lockstep.Time) lockstep.Time {
	return low + lockstep.Time(r.Int64N(int64(high-low)+1))
}
