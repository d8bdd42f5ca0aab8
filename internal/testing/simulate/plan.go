package simulate

import (
	"hash/fnv"
	"math/rand/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A Plan determines a run of a game: the players, their links, and each fault with
// its time. The same Plan gives the same run.
type Plan struct {
	Seed     uint64            `json:"seed,string"` // of the random streams
	Settings lockstep.Settings `json:"settings"`
	Chaos    lockstep.Time     `json:"chaos"` // faults start during this time
	Heal     lockstep.Time     `json:"heal"`  // without faults, after Chaos
	Host     HostPlan          `json:"host"`
	Disk     DiskPlan          `json:"disk"`
	Cluster  *ClusterPlan      `json:"cluster,omitempty"` // several servers, of which one has the match
	Machines []MachinePlan     `json:"machines"`
	Faults   []Fault           `json:"faults"` // by time
}

// A HostPlan is what varies of [host.Options].
type HostPlan struct {
	InputDelay lockstep.Tick     `json:"input_delay"`
	Lag        lockstep.Tick     `json:"lag"`
	Grace      lockstep.Time     `json:"grace"`
	Keyframes  lockstep.Time     `json:"keyframes"`            // interval of keyframes for joiners
	SyncBytes  int               `json:"sync_bytes,omitempty"` // of a keyframe, per tick
	Ring       int               `json:"ring,omitempty"`       // records
	Wait       lockstep.Time     `json:"wait,omitempty"`
	Slow       uint16            `json:"slow,omitempty"`
	MaxDelay   lockstep.Tick     `json:"max_delay,omitempty"`
	Leave      bool              `json:"leave,omitempty"`
	Desync     host.DesyncPolicy `json:"desync,omitempty"`

	Substitute bool `json:"substitute,omitempty"` // bots play the seats that are taken over

	Inactive       lockstep.Time `json:"inactive,omitempty"`        // without a command, until the connection ends, and the seat
	RemoveInactive bool          `json:"remove_inactive,omitempty"` // is given up instead of taken over

	SpectatorDelay lockstep.Tick `json:"spectator_delay,omitempty"`
	Relay          bool          `json:"relay,omitempty"`

	Views *ViewsPlan `json:"views,omitempty"` // of the viewers among the machines
	Lobby *LobbyPlan `json:"lobby,omitempty"`
	Bots  int        `json:"bots,omitempty"` // the last seats are bots of the server

	Limits        bool `json:"limits,omitempty"`         // the default Rates, except
	KeyframeBytes int  `json:"keyframe_bytes,omitempty"` // Rates.Keyframes, per second and as a burst, and
	NoteBytes     int  `json:"note_bytes,omitempty"`     // MaxNoteBytes
}

// A DiskPlan selects how the log is written.
type DiskPlan struct {
	EachFrame  bool          `json:"each_frame"`      // sync before a frame is sent: replay.SyncFrame
	Await      bool          `json:"await,omitempty"` // sync concurrently, and send only synced records: host.Persisted
	FlushTicks uint32        `json:"flush_ticks"`
	SyncEvery  lockstep.Time `json:"sync_every"` // without EachFrame
	SyncTime   lockstep.Time `json:"sync_time"`  // duration of a sync
}

// A MachinePlan is one client.
type MachinePlan struct {
	Spectator   bool          `json:"spectator,omitempty"`
	Liar        bool          `json:"liar,omitempty"`   // it may do anything
	Absent      bool          `json:"absent,omitempty"` // it never connects
	JoinAt      lockstep.Time `json:"join_at,omitempty"`
	Predict     lockstep.Tick `json:"predict,omitempty"`
	Interpolate bool          `json:"interpolate,omitempty"`
	Backlog     int           `json:"backlog"`         // player.Options.MaxBacklog
	Every       lockstep.Time `json:"every,omitempty"` // mean time between commands
	Views       bool          `json:"views,omitempty"` // it sees views of the match
	Ready       lockstep.Time `json:"ready,omitempty"` // time in a lobby until the player is ready
	Up          Link          `json:"up"`
	Down        Link          `json:"down"`
	Datagrams   *DatagramPlan `json:"datagrams,omitempty"` // nil: none
}

// A Link is one direction of a connection.
type Link struct {
	Delay  lockstep.Time `json:"delay"`
	Jitter lockstep.Time `json:"jitter,omitempty"`
	Loss   uint32        `json:"loss,omitempty"` // packets per million; a lost one is sent again
	Rate   int64         `json:"rate,omitempty"` // bytes per second; 0: no limit
}

// A Fault is one fault. The meaning of its numbers depends on its Kind; see the table
// of kinds.
type Fault struct {
	ID   int           `json:"id"` // seeds its random numbers
	At   lockstep.Time `json:"at"` // since the start of the run
	Kind string        `json:"kind"`
	Who  int           `json:"who"` // machine
	For  lockstep.Time `json:"for,omitempty"`
	N    int64         `json:"n,omitempty"`
}

// stream returns the random numbers of one purpose. They do not depend on the use of
// other streams.
func stream(seed uint64, purpose string, who int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(seed, h.Sum64()+uint64(who)*0x9e3779b97f4a7c15))
}

// between returns a random time from low to high.
func between(r *rand.Rand, low, high lockstep.Time) lockstep.Time {
	return low + lockstep.Time(r.Int64N(int64(high-low)+1))
}
