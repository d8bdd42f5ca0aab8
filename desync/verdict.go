package desync

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Verdict names the party that computed the match wrong.
type Verdict struct {
	Party     Party             `json:"party"`
	Players   []lockstep.Player `json:"players"` // set for WrongPlayer, and for WrongKeyframe if players were wrong, too
	Text      string            `json:"text"`
	Simulated bool              `json:"simulated"` // the match was simulated again; if false, only the votes count
	Grade     Grade             `json:"grade"`
	Runs      int               `json:"runs,omitempty"`      // simulations of the ticks that decide, which all have one result without a Parting
	Apart     bool              `json:"apart,omitempty"`     // one of them in a process of its own, see [Options.Apart]
	NotApart  string            `json:"not_apart,omitempty"` // why none was
	Parting   *Parting          `json:"parting,omitempty"`   // of NoFixedResult

	// Advice is set if this build does not show who was wrong: it says which build does. With is the revision of that build, as
	// git knows it, or "". Only [Explain] sets them.
	Advice string `json:"advice,omitempty"`
	With   string `json:"explain_with,omitempty"`

	// Blames has the ticks at which each party was wrong, ordered by First. Only [Attribute] sets it.
	Blames []Blame `json:"-"`

	later bool // one of the Runs came a whole second after the others
}

// A Grade says how well a verdict is known.
type Grade string

// The grades.
const (
	// GradeProven: by the machines' own records, or by a simulation that came out the same every time, also a second later and in a process
	// of its own.
	GradeProven Grade = "proven"

	// GradeConsistent: nothing contradicts it, and nothing was simulated that could, or only at once, or in a process that had done other things before.
	GradeConsistent Grade = "consistent with"

	// GradeUnknown: the text says what is missing.
	GradeUnknown Grade = "unknown"

	// GradeUnfixed: the same computation had two results.
	GradeUnfixed Grade = "no fixed result"
)

// grade returns the grade of a verdict on a party.
func (v *Verdict) grade() Grade {
	switch {
	case v.Party == NoFixedResult:
		return GradeUnfixed
	case v.Party == WrongUnknown, v.Party == WrongBuild, v.Party == WrongUnclear:
		return GradeUnknown
	case !v.Simulated || !v.Apart || !v.later:
		return GradeConsistent
	}
	return GradeProven
}

// verdictOf returns the verdict for some blames. The first blame of a party other than a player decides. A keyframe does not
// excuse the players that were wrong as well.
func verdictOf(blames []Blame) *Verdict {
	v := &Verdict{Party: WrongUnknown, Players: []lockstep.Player{}, Simulated: true, Blames: blames}
	for i := range blames {
		b := &blames[i]
		switch {
		case b.Who == WrongPlayer:
			v.Players = append(v.Players, b.Player)
			if v.Party == WrongUnknown {
				v.Party = WrongPlayer
			}
		case v.Party == WrongKeyframe: // it came first
		case b.Who == WrongKeyframe:
			v.Party = WrongKeyframe
		default:
			v.Party, v.Players = b.Who, []lockstep.Player{}
			return v
		}
	}
	slices.Sort(v.Players)
	return v
}

// undecided reports whether neither side of the desync is known to be right.
func (v *Verdict) undecided() bool { return v.alien() || v.Party == WrongUnclear }

// alien reports whether what this build computes shows nothing of the match.
func (v *Verdict) alien() bool {
	return v.Party == WrongBuild || v.Party == NoFixedResult || v.Party == TwoBuilds
}

// A Blame names one party that was wrong, and the ticks.
type Blame struct {
	Who    Party           `json:"who"`
	Player lockstep.Player `json:"player"` // set for WrongPlayer
	Checks int             `json:"checks"` // number of checks at which it was wrong
	First  lockstep.Tick   `json:"first"`  // the first of these checks
	Last   lockstep.Tick   `json:"last"`

	// Healed is the first check after Last at which the party was not wrong; a player may also have reported nothing
	// there. It is 0 if the party was wrong until the end.
	Healed lockstep.Tick `json:"healed"`

	// Gone is the tick at which the player left, or lost its connection, before it healed. It is 0 if the player
	// stayed, or came back.
	Gone lockstep.Tick `json:"gone"`

	// Open means that the verification stopped at First: later checks are not known.
	Open bool `json:"open"`
}

// A Party is a possible source of a desync.
type Party string

// The parties. The table in docs/desync.md shows how a check determines the party.
const (
	// WrongPlayer: the checksum that a player reported is not the simulation's.
	WrongPlayer Party = "player"

	// WrongReferee: the agreed checksum is not the simulation's, and more than half of the seats reported the
	// simulation's. At least one seat is enough if the referee has admitted its mistake.
	WrongReferee Party = "referee"

	// WrongBuild: the agreed checksum is not the simulation's, and fewer than half of the seats reported the
	// simulation's; or there is no agreed checksum, and no seat reported the simulation's; or a keyframe is not the
	// simulation's, and no later check exists. This build may differ, or the file was edited.
	WrongBuild Party = "build"

	// WrongKeyframe: a keyframe is not the simulation's, though the checksum of its tick or of the next check is.
	WrongKeyframe Party = "keyframe"

	// WrongUnclear: the agreed checksum is not the simulation's, and exactly half of the seats reported the simulation's.
	WrongUnclear Party = "unclear"

	// WrongUnknown: no party is known to be wrong.
	WrongUnknown Party = "unknown"

	// NoFixedResult: this build computes the same ticks otherwise each time, so that nobody is accused. See [Parting].
	NoFixedResult Party = "no fixed result"

	// TwoBuilds: the sides that differ are programs that are known to differ, and none is on two sides.
	TwoBuilds Party = "two builds"
)

// A Parting is where rules have no fixed result: the same tick, computed again, ended in another state.
type Parting struct {
	Tick  lockstep.Tick `json:"tick"`
	Field string        `json:"field,omitempty"` // the first that differs, such as "Units[17].Pos.X"; "" if none is known
	Way   Way           `json:"way"`
}

// A Way is how two computations that ended in different states came to the tick.
type Way string

// The ways.
const (
	// WayAgain: both in the same way.
	WayAgain Way = "again"

	// WayRestored: one came from the ticks before, the other was restored just before the tick.
	WayRestored Way = "restored"

	// WayNew: both were restored just before the tick, one in the place of a state that New had made.
	WayNew Way = "new"

	// WayApart: both were restored just before the tick, one in a process that had computed nothing else.
	WayApart Way = "apart"

	// WayWhole: both came from the ticks before, whose states were not compared.
	WayWhole Way = "whole"

	// WayMachine: both on the machine of the player of a bundle, which says so itself.
	WayMachine Way = "machine"
)

// RulesPanicked: the rules panicked, so nobody has another state.
const RulesPanicked Party = "rules"

// A check is everything known about one checked tick.
type check struct {
	tick       lockstep.Tick
	tie        bool   // there is no agreed checksum
	agreed     uint64 // on a tie, the simulation's own
	own        uint64 // the simulation's
	mismatches []mismatch
	seats      int
	admitted   bool // the referee admitted that it was wrong
}

// sides returns the players whose mismatching checksum is the simulation's, and those whose is not.
func (c *check) sides() (right, wrong []lockstep.Player) {
	for _, m := range c.mismatches {
		if m.hash == c.own {
			right = append(right, m.player)
		} else {
			wrong = append(wrong, m.player)
		}
	}
	return right, wrong
}

// party returns the wrong party, or "" if only players were wrong. A minority that agrees with this build does not show
// that the referee was wrong: these players may have the same build.
func (c *check) party() Party {
	right, _ := c.sides()
	switch n := len(right); {
	case c.tie && n == 0:
		return WrongBuild
	case c.tie || c.own == c.agreed:
		return ""
	case 2*n > c.seats || n > 0 && c.admitted:
		return WrongReferee
	case n > 0 && 2*n == c.seats:
		return WrongUnclear
	}
	return WrongBuild
}

// A mismatch is the checksum of one player that was not the agreed one.
type mismatch struct {
	tick   lockstep.Tick
	player lockstep.Player
	hash   uint64
}
