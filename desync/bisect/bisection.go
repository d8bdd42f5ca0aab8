package bisect

import (
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A Bisection says where two replays of one match begin to differ, or a replay and reports of its match.
type Bisection struct {
	// Tick is the first tick whose states are known to differ. Agreed is the last tick before it whose states are known
	// to be equal; if Known is false, there is none. Exact means that the states differ at Tick and at no tick before.
	Tick   lockstep.Tick `json:"tick"`
	Agreed lockstep.Tick `json:"agreed"`
	Known  bool          `json:"known"`
	Exact  bool          `json:"exact"`

	// Cause is where the difference comes from.
	Cause Origin `json:"cause"`

	// Frame is the first tick whose commands differ, or nil. Commands describes them; only [Files] and
	// [File] set it.
	Frame    *FrameDifference `json:"-"`
	Commands *FrameText       `json:"-"`

	// EditedA and EditedB mean, where the Cause is OriginCommands, that a side's own commands do not give its next
	// checksum: its commands were edited, but not its checksums.
	EditedA bool `json:"edited_a"`
	EditedB bool `json:"edited_b"`

	// Parting is set if the Cause is OriginUnfixed.
	Parting *desync.Parting `json:"parting,omitempty"`

	// Section is the first section of the state that differs at Tick, if that is known.
	Section string `json:"section,omitempty"`

	// Fields has the differences between the states of tick FieldsTick, which is Tick. If the other side's state of
	// Tick is not known, FieldsTick is the tick of its next keyframe. Total is 0 without a keyframe. If one side is the
	// simulation's, the fields are in the order of cause, as in an [Explanation], and the paths are those of that side.
	Fields     state.Places  `json:"fields"`
	FieldsTick lockstep.Tick `json:"fields_tick"`

	// All has each of the fields, up to 100,000.
	All state.Differences `json:"differences"`

	// Reconstructed means that the other side's state of Tick is not known, and a hash search found Fields: one field
	// of the simulated state, changed in one bit or by its difference at the next keyframe, so that the state has
	// exactly the other side's checksum.
	Reconstructed bool `json:"reconstructed"`

	// Simulated is the number of simulated ticks.
	Simulated int `json:"simulated"`

	// Compared is the number of ticks of which both have a checksum, or the simulation gives one. A and B are how far the replays go;
	// nil for reports, and for what another build makes of the commands.
	Compared int   `json:"compared"`
	A        *Side `json:"a,omitempty"`
	B        *Side `json:"b,omitempty"`

	// Same says that nothing differs, up to tick Agreed. SameStates says that no state differs, only commands.
	Same       bool `json:"-"`
	SameStates bool `json:"-"`

	// Damage says where a replay becomes unreadable; nothing after it was compared. It is nil if both are whole.
	Damage *replay.DamageError `json:"-"`

	// Took is the time of the bisection, if the caller has measured it.
	Took time.Duration `json:"-"`

	// Err is the Damage, or the error of [Files]; nil without either. JSON ends with its text.
	Err error `json:"-"`

	second  string // what B is, in a text
	path    string // of the fields
	noGame  error  // why the match could not be simulated
	limit   int    // of lines of fields
	refused bool   // nothing was compared, because of Err
}

// An Origin is where two copies of a match begin to differ: in their commands, in a game, or in one of the copies.
type Origin string

// The origins. A and B are the two copies; the simulation is that of A's frames with the game at hand.
const (
	// OriginCommands: the frames differ.
	OriginCommands Origin = "commands"

	// OriginGames: the frames are the same, and the given games for A and for B compute different states from them.
	OriginGames Origin = "games"

	// OriginA and OriginB: only this side differs from the simulation.
	OriginA Origin = "a"
	OriginB Origin = "b"

	// OriginBoth: both sides differ from the simulation.
	OriginBoth Origin = "both"

	// OriginStart: the first keyframes differ.
	OriginStart Origin = "beginning"

	// OriginUnfixed: the simulation comes out otherwise each time, so it shows nothing.
	OriginUnfixed Origin = "no fixed result"

	// OriginUnknown: the match was not simulated, because the game is not available or another game computed both
	// sides.
	OriginUnknown Origin = "unknown"
)

// Options are the options of [Replays] and [Reports].
type Options struct {
	replay.SimulateOptions

	// Other is the game that computed B's states; nil means the same as A's. Use it to compare two versions of a game.
	Other *lockstep.Game

	// MaxSearch is the maximum number of bytes hashed to find a single inverted bit, where the other side has only a
	// checksum; 0 means [DefaultMaxSearch], and a negative number disables the search. For each bit of a section, the
	// search hashes half of the section.
	MaxSearch int64

	// Limit is the maximum number of lines of fields in a text, and of commands of a side; 0 means 20, and a negative
	// number none.
	Limit int

	// Path limits the fields to those at or below it, as [state.Schema.Lookup] takes it; "" is the whole state. The error wraps
	// [state.ErrPath] if the states do not have it.
	Path string

	// Now is the clock that measures the time in which the order of the fields is found; nil: each simulated tick counts as 100 µs.
	Now func() time.Time

	// Apart computes the ticks that decide in a process of its own, see [desync.Options.Apart].
	Apart func(job []byte) ([]byte, error)

	// SearchProgress is called by one goroutine at a time, with the bytes hashed so far and in all; nil disables it.
	SearchProgress func(done, all int64)
}

// DefaultMaxSearch is the default of [Options.MaxSearch], in bytes. It is enough for a state of 1,500 units, and
// takes seconds.
const DefaultMaxSearch = 64 << 30
