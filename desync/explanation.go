package desync

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// An Explanation is everything that was found out about a desync. Its Notes say what could not be found out.
type Explanation struct {
	Title       string            `json:"title"` // the answer in one line, such as "Units[ID=34].Health 4000 → 4001 at tick 301, player 3"
	Match       string            `json:"match"`
	Game        string            `json:"game"`
	Build       string            `json:"build"`
	Recorder    string            `json:"recorder"`      // the platform that wrote the replay
	Machine     string            `json:"machine"`       // the platform that explains it
	TickRate    uint16            `json:"tick_rate"`     // ticks per second
	Tick        lockstep.Tick     `json:"tick"`          // the check that found the desync
	Agreed      lockstep.Tick     `json:"agreed"`        // the last check at which the player agreed
	Began       lockstep.Tick     `json:"began"`         // the tick of the last state sent to the player; 0 if not known
	Player      lockstep.Player   `json:"player"`        // the player that differed; unset on a tie
	Tie         bool              `json:"tie,omitempty"` // there was no referee and no majority
	Section     string            `json:"section"`       // the first section that differed
	Groups      []Group           `json:"groups"`
	Who         []Participant     `json:"participants"`
	Columns     []Column          `json:"columns"` // the time line of the participants' cells
	Verdict     Verdict           `json:"verdict"`
	Programs    []Program         `json:"programs"`        // that recorded the match, that differed, and this one if it has the game
	Fingerprint Fingerprint       `json:"fingerprint"`     // equal for equal causes
	Panic       *replay.Panic     `json:"panic,omitempty"` // of the rules, which the bundle is about; nil of a desync
	Ending      *Ending           `json:"ending"`          // nil if the rules of this build end the match as the log does
	Again       *Again            `json:"resimulation"`    // nil if the player's machine was not asked to compute the ticks again
	First       Span              `json:"first_divergent_tick"`
	Compared    lockstep.Tick     `json:"compared_tick"`    // the tick of the states in Fields and Places
	Fields      state.Differences `json:"fields"`           // A is the right side, as far as known, and B the wrong one
	Places      state.Places      `json:"places"`           // the same, grouped
	Rivals      []string          `json:"rivals,omitempty"` // fields of the schema from which about as much follows as from the first of Fields: which was first is unknown
	Shown       *Shown            `json:"shown"`            // where a viewer of the bundle shows a difference; nil if the bundle has no state that differs
	Cause       *Cause            `json:"cause"`            // nil if no trial ends in the wrong state
	Trials      int               `json:"trials"`           // ticks simulated for trials
	Tried       []Tried           `json:"tried"`            // by family; empty without trials
	Changes     []Change          `json:"changes"`          // the last changes of the first fields that differ
	Commands    []Touch           `json:"commands"`         // of the first divergent ticks
	Streams     []Stream          `json:"streams"`          // generators in the state
	Draws       []Draws           `json:"draws"`            // of generators that are not in the state
	Traits      []Trait           `json:"traits"`
	Costs       []Cost            `json:"costs,omitempty"`
	Notes       []string          `json:"notes"`              // what could not be found out, and why
	Redacted    bool              `json:"redacted,omitempty"` // without what people have written

	lacksGame bool // this program has not the game's code

	// What the caller of Explain adds.
	Bundle string     `json:"bundle,omitempty"` // the name of the file
	Line   *Line      `json:"line_of_code"`     // nil if it was not looked for; see SetLine
	Steps  []NextStep `json:"steps"`            // how to look further
	Viewer string     `json:"viewer,omitempty"` // the address of the match in a viewer

	good lockstep.Tick // the last tick at which the sides were equal
	path string        // of the fields

	top       *state.Place // what differs first, of the whole state; nil if that is not known
	differing int          // number of fields of the whole state that differ
}

// An Again is what the machine of the player that differed has computed when the server asked it to compute the ticks
// again. It is judged here from the state hashes that the machine sent: they are its claims.
type Again struct {
	From    lockstep.Tick `json:"from"` // from the state of this tick on
	To      lockstep.Tick `json:"to"`
	Runs    int           `json:"runs"`
	Outcome string        `json:"outcome"`           // as [protocol.Outcome.String] has it
	First   lockstep.Tick `json:"first,omitempty"`   // the first tick at which it differed again; 0 for none
	Section string        `json:"section,omitempty"` // the first section that differed then, if known
	Phase   string        `json:"phase,omitempty"`   // the part of Step in which it began to differ then, if the rules mark parts
	Altered lockstep.Tick `json:"altered,omitempty"` // the first tick at which it had differed at first, if known

	outcome protocol.Outcome
	means   string // what the outcome means; "" if the rules have no fixed result, which may have any
	player  lockstep.Player
}

// Shown is where a viewer of the bundle first shows the two sides beside each other with a difference: it has the states that the
// player sent, and simulates only from them. The desync may have begun earlier.
type Shown struct {
	Tick  lockstep.Tick `json:"tick"`
	Field string        `json:"field"` // the first field that differs then, such as "Units[ID=17].Health"
}

// unfix replaces the verdict: the rules have no fixed result, so that nothing that was simulated shows anything.
func (e *Explanation) unfix(p *Parting, runs int) {
	if !e.Verdict.undecided() { // the sides were one of the bundle and the simulation
		e.Fields, e.Places = state.Differences{}, state.Places{}
	}
	e.Verdict = p.unfixed(runs)
	e.Cause, e.Trials, e.Tried, e.Changes, e.Draws = nil, 0, []Tried{}, []Change{}, []Draws{}
	if e.Again != nil {
		e.Again.means = ""
	}
	for i := range e.Who {
		e.Who[i].Differs = !e.Tie && e.mismatches(e.Who[i].Player)
	}
}

// mismatches reports whether a player has not the agreed checksum, that of the first group. On a tie there is none.
func (e *Explanation) mismatches(p lockstep.Player) bool {
	i := slices.IndexFunc(e.Groups, func(g Group) bool { return slices.Contains(g.Players, p) })
	return i > 0 || i == 0 && e.Tie
}
