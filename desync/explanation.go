package desync

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// An Explanation is everything that was found out about a desync. Its Notes say what could not be found out.
type Explanation struct {
	Title       string             `json:"title"` // the answer in one line, such as "Units[ID=34].Health 4000 → 4001 at tick 301, player 3"
	Match       string             `json:"match"`
	Game        string             `json:"game"`
	Build       string             `json:"build"`
	Recorder    string             `json:"recorder"`      // the platform that wrote the replay
	Machine     string             `json:"machine"`       // the platform that explains it
	Tick        lockstep.Tick      `json:"tick"`          // the check that found the desync
	Agreed      lockstep.Tick      `json:"agreed"`        // the last check at which the player agreed
	Began       lockstep.Tick      `json:"began"`         // the tick of the last state sent to the player; 0 if not known
	Player      lockstep.Player    `json:"player"`        // the player that differed; unset on a tie
	Tie         bool               `json:"tie,omitempty"` // there was no referee and no majority
	Section     string             `json:"section"`       // the first section that differed
	Groups      []Group            `json:"groups"`
	Who         []Participant      `json:"participants"`
	Columns     []Column           `json:"columns"` // the time line of the participants' cells
	Verdict     Verdict            `json:"verdict"`
	Programs    []Program          `json:"programs"`        // that recorded the match, that differed, and this one if it has the game
	Fingerprint Fingerprint        `json:"fingerprint"`     // equal for equal causes
	Panic       *replay.Panic      `json:"panic,omitempty"` // of the rules, which the bundle is about; nil of a desync
	Ending      *Ending            `json:"ending"`          // nil if the rules of this build end the match as the log does
	Again       *Again             `json:"resimulation"`    // nil if the player's machine was not asked to compute the ticks again
	Twin        *replay.BundleTwin `json:"twin,omitempty"`  // what the heavy mode saw; nil of another bundle
	Flight      *Flight            `json:"flight"`          // nil if the bundle has no records of last ticks
	First       Span               `json:"first_divergent_tick"`
	Compared    lockstep.Tick      `json:"compared_tick"`    // the tick of the states in Fields and Places
	Fields      state.Differences  `json:"fields"`           // A is the right side, as far as known, and B the wrong one
	Places      state.Places       `json:"places"`           // the same, grouped
	Rivals      []string           `json:"rivals,omitempty"` // fields of the schema from which about as much follows as from the first of Fields: which was first is unknown
	Shown       *Shown             `json:"shown"`            // where a viewer of the bundle shows a difference; nil if the bundle has no state that differs
	Cause       *Cause             `json:"cause"`            // nil if no trial ends in the wrong state
	Trials      int                `json:"trials"`           // ticks simulated for trials
	Tried       []Tried            `json:"tried"`            // by family; empty without trials
	Changes     []Change           `json:"changes"`          // the last changes of the first fields that differ
	Commands    []Touch            `json:"commands"`         // of the first divergent ticks
	Streams     []Stream           `json:"streams"`          // generators in the state
	Draws       []Draws            `json:"draws"`            // of generators that are not in the state
	Traits      []Trait            `json:"traits"`
	Notes       []string           `json:"notes"`              // what could not be found out, and why
	Redacted    bool               `json:"redacted,omitempty"` // without what people have written

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

// mismatches reports whether a player has not the agreed checksum, that of the first group. On a tie there is none.
func (e *Explanation) mismatches(p lockstep.Player) bool {
	i := slices.IndexFunc(e.Groups, func(g Group) bool { return slices.Contains(g.Players, p) })
	return i > 0 || i == 0 && e.Tie
}

// An Ending says how the end of the match by this build's rules differs from the end in the log.
type Ending struct {
	Tick lockstep.Tick   `json:"tick"`
	Text string          `json:"text"`
	Ours json.RawMessage `json:"ours,omitempty"` // the result of this build's rules, by their schema; empty without one
	Log  json.RawMessage `json:"log,omitempty"`  // the result in the log
}

func (e *Ending) lines() []string {
	if e == nil {
		return nil
	}
	lines := []string{fmt.Sprintf("at tick %d, by the rules of this build: %s", e.Tick, e.Text)}
	for _, side := range []struct {
		name   string
		result json.RawMessage
	}{{"this build", e.Ours}, {"the log", e.Log}} {
		if len(side.result) > 0 {
			lines = append(lines, fmt.Sprintf("the result of %s: %s", side.name, side.result))
		}
	}
	return lines
}

// A Line is the line of code at which two sides begin to compute different states, as samestep desync line finds it.
type Line struct {
	File    string          `json:"file"` // relative to the module; "" for a function of a module of rules that does not tell it
	Number  int             `json:"line"`
	Func    string          `json:"func"`
	Tick    lockstep.Tick   `json:"tick"`              // at which the two sides begin to differ; 0 if they do not
	Phase   string          `json:"phase,omitempty"`   // the part of Step, if the rules mark parts
	Source  string          `json:"source"`            // the line itself, on side B if it is there; "" if only the function is known
	OnA     string          `json:"on_a,omitempty"`    // the same line on side A, if that has another text
	Because string          `json:"because"`           // values are those of A | B
	Doubt   string          `json:"doubt,omitempty"`   // why this is not the line of this desync; "" if nothing contradicts it
	Sides   []string        `json:"sides,omitempty"`   // what A and B are
	Text    []string        `json:"text"`              // all of the result, line by line
	Result  json.RawMessage `json:"details,omitempty"` // the same for programs; empty in a redacted report

	// Parting is set if both sides are one version, which has computed the tick otherwise: the proof that it has no fixed result.
	Parting *Parting `json:"-"`
}

// A NextStep is a command with which a reader of the report goes on.
type NextStep struct {
	Why     string `json:"why"`
	Command string `json:"command"`
	Next    bool   `json:"-"` // the text has it, too
}

// quoted matches a string in a text, up to the end if it has none.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*("|$)`)

// masked replaces the strings in a text. The name of a field in a line of JSON stays: a colon without a space follows it.
func masked(text string) string {
	var b strings.Builder
	done := 0
	for _, at := range quoted.FindAllStringIndex(text, -1) {
		if rest := text[at[1]:]; len(rest) > 1 && rest[0] == ':' && rest[1] != ' ' {
			continue
		}
		b.WriteString(text[done:at[0]] + `"…"`)
		done = at[1]
	}
	return b.String() + text[done:]
}

// redact removes what people have written: names of players, and strings in states, commands and results.
func (e *Explanation) redact() {
	e.Redacted = true
	for i := range e.Who {
		e.Who[i].Name = ""
	}
	for i := range e.Groups {
		e.Groups[i].Names = nil
	}
	for i := range e.Fields.List {
		mask(&e.Fields.List[i].A, &e.Fields.List[i].B)
	}
	for i := range e.Places.List {
		mask(&e.Places.List[i].First.A, &e.Places.List[i].First.B)
	}
	if e.top != nil {
		mask(&e.top.First.A, &e.top.First.B)
	}
	e.Cause.redact()
	for i := range e.Changes {
		c := &e.Changes[i]
		mask(&c.Before, &c.After)
		c.Command.redact()
	}
	for i := range e.Commands {
		e.Commands[i].Command.redact()
	}
	if e.Ending != nil {
		mask(&e.Ending.Text)
		for _, result := range []*json.RawMessage{&e.Ending.Ours, &e.Ending.Log} {
			*result = json.RawMessage(masked(string(*result)))
		}
	}
	if p := e.Panic; p != nil { // a stack has folders of the machine that built the program
		mask(&p.Text, &p.Here)
		p.Stack = strings.Join(append(functionsOf(p.Stack), ""), "\n")
	}
	if e.Twin != nil {
		mask(&e.Twin.Warm, &e.Twin.Cold)
	}
	for i := range e.Notes {
		mask(&e.Notes[i])
	}
}

func (c *Cause) redact() {
	if c == nil {
		return
	}
	mask(&c.Text, &c.Right, &c.Wrong)
	c.Command.redact()
	for _, other := range c.Others {
		other.redact()
	}
}

func (c *Command) redact() {
	if c != nil {
		mask(&c.Text)
	}
}

func mask(texts ...*string) {
	for _, t := range texts {
		*t = masked(*t)
	}
}

// differs says what differs first, and when.
func (e *Explanation) differs() string {
	since := fmt.Sprintf("one of the ticks %d to %d", e.First.From, e.First.To)
	if e.First.Exact() {
		since = fmt.Sprintf("tick %d", e.First.To)
	}
	switch {
	case e.top == nil && e.First.Exact():
		return e.what() + " at " + since
	case e.top == nil:
		return e.what() + " in " + since
	case e.First == Span{e.Compared, e.Compared}:
		return e.what() + " at " + since
	}
	return fmt.Sprintf("%s at tick %d, since %s", e.what(), e.Compared, since)
}

// what names what differs first.
func (e *Explanation) what() string { return diff.PlaceText(e.top, e.differing, e.Section) }

func (e *Explanation) report() string {
	if e.Panic != nil {
		m := replay.Manifest{Player: e.Player}
		return fmt.Sprintf("the rules panicked %s in %s of tick %d", m.Where(), e.Panic.Where, e.Tick)
	}
	if e.Twin != nil {
		return e.twinReport()
	}
	s := fmt.Sprintf("at the check of tick %d", e.Tick)
	if e.Tie {
		s += ": no majority"
	} else {
		s += fmt.Sprintf(": %s differs", e.name(e.Player))
	}
	if e.Section != "" {
		s += " in " + e.Section
	}
	if e.Agreed > 0 {
		s += fmt.Sprintf(", last agreed at tick %d", e.Agreed)
	}
	if e.Began > e.Agreed {
		s += fmt.Sprintf(", was sent the state of tick %d", e.Began)
	}
	return s
}

// name returns a player's number and name.
func (e *Explanation) name(p lockstep.Player) string {
	for i := range e.Who {
		if e.Who[i].Player == p && e.Who[i].Name != "" {
			return fmt.Sprintf("player %d (%s)", p, e.Who[i].Name)
		}
	}
	return fmt.Sprintf("player %d", p)
}

// values says whose are the two values of a field.
func (e *Explanation) values() string {
	if e.Twin != nil {
		return "warm → cold"
	}
	if e.Verdict.undecided() && !e.Tie {
		agreed := "the referee"
		if len(e.Groups) > 0 && len(e.Groups[0].Players) > 0 && !e.Groups[0].Referee { // relay mode has none
			agreed = e.Groups[0].who()
		}
		return fmt.Sprintf("%s → player %d", agreed, e.Player)
	}
	return "right → wrong"
}

// A Trait is something that all clients that differ have in common.
type Trait struct {
	Name   string `json:"name"` // "build", "platform", "sources", "joined", "lost"
	Value  string `json:"value"`
	Differ int    `json:"differ"` // clients that differ
	Others int    `json:"others"` // clients that do not differ, but have the trait
	All    int    `json:"all"`    // clients that do not differ
}

// traitsOf returns the traits that all differing clients share, if there are others.
func traitsOf(all []Participant) []Trait {
	traits := []Trait{}
	at := slices.IndexFunc(all, func(p Participant) bool { return p.Differs })
	if at < 0 || !slices.ContainsFunc(all, func(p Participant) bool { return !p.Differs }) {
		return traits
	}
	for _, x := range []struct {
		name string
		of   func(*Participant) string
	}{
		{"build", func(p *Participant) string { return p.Build }},
		{"platform", func(p *Participant) string { return p.Platform }},
		{"sources", func(p *Participant) string { return p.Sources }},
		{"joined", func(p *Participant) string {
			if p.Joined == 0 {
				return ""
			}
			return fmt.Sprintf("at tick %d", p.Joined)
		}},
		{"lost its connection", func(p *Participant) string {
			if p.Lost == 0 {
				return "never"
			}
			return "before"
		}},
	} {
		t, first, shared := Trait{Name: x.name}, x.of(&all[at]), true
		for i := range all {
			switch same := x.of(&all[i]) == first; {
			case all[i].Differs:
				t.Differ++
				shared = shared && same
			case same:
				t.Others++
				fallthrough
			case x.of(&all[i]) != "":
				t.All++
			}
		}
		if t.Value = first; first != "" && shared {
			traits = append(traits, t)
		}
	}
	return traits
}

// Telling reports whether there are clients that do not differ, and none of them has the trait.
func (t Trait) Telling() bool { return t.Others == 0 && t.All > 0 }

// String returns the trait as one line of text.
func (t Trait) String() string {
	have := "have"
	if t.Others == 1 {
		have = "has"
	}
	switch {
	case t.All == 0:
		return fmt.Sprintf("%s %s; that of no other player is known", t.Name, t.Value)
	case t.All == 1 && t.Telling():
		return fmt.Sprintf("%s %s, unlike the other player", t.Name, t.Value)
	case t.All == 1:
		return fmt.Sprintf("%s %s, the same as the other player", t.Name, t.Value)
	case t.Telling():
		return fmt.Sprintf("%s %s, which none of the %d others has", t.Name, t.Value, t.All)
	}
	return fmt.Sprintf("%s %s, as %s %d of the %d others", t.Name, t.Value, have, t.Others, t.All)
}
