package desync

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// Options limit the cost of an explanation, and say where to find the game.
type Options struct {
	// Game returns the game of a header, or an error that says why there is none. If Game is nil, nothing is simulated.
	Game func(*lockstep.Header) (*lockstep.Game, error)

	// Path limits the fields, and the commands and changes that are listed for them, to those at or below it, as
	// [state.Schema.Lookup] takes it; "" is the whole state.
	Path string

	// Fields is the maximum number of fields that are listed; 0 means 200, and more than 100,000 mean 100,000.
	Fields int

	// Redact leaves out what people have written: names of players, and strings in states, commands and results.
	Redact bool

	// MaxTicks is the maximum number of ticks simulated to reach the desync; 0 means 100,000. If no keyframe is near
	// enough, nothing is simulated.
	MaxTicks int

	// Budget is the maximum time for trials, and the same again to find the commands that wrote the fields; 0 means 10 s.
	// Without Now, each simulated tick counts as 100 µs.
	Budget time.Duration

	// MaxReplay is the maximum size of the replay, in bytes; 0 means 256 MiB.
	MaxReplay int64

	// MaxStates is the maximum size of all states in the bundle together, in bytes; 0 means 512 MiB.
	MaxStates int

	// MaxMemory is the maximum size of the states kept during the re-simulation, in bytes; 0 means 64 MiB.
	MaxMemory int

	// Progress is called from time to time during trials with the time spent and the time in all; nil disables it.
	Progress func(spent, all time.Duration)

	// Apart lets a process that has computed nothing before do a job, by [ComputeApart], and returns its result: what New or another
	// match has left in this process cannot decide there. It bounds the time and the size of the result. Nil: nothing that this process
	// finds is proven.
	Apart func(job []byte) ([]byte, error)

	// Now is the clock that measures the time of trials. A verdict waits until it has gone on by a second, after which rules that read
	// a clock have another result. Nil: nothing waits, and nothing is proven.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	o.Fields = min(cmp.Or(max(o.Fields, 0), 200), maxListed)
	o.MaxTicks = cmp.Or(max(o.MaxTicks, 0), maxTicks)
	o.Budget = cmp.Or(max(o.Budget, 0), maxTrialsMS*time.Millisecond)
	o.MaxReplay = cmp.Or(max(o.MaxReplay, 0), maxReplay)
	o.MaxMemory = cmp.Or(max(o.MaxMemory, 0), maxKept)
	o.MaxStates = cmp.Or(max(o.MaxStates, 0), maxStates)
	return o
}

const (
	lookBack   = 256  // ticks before the desync whose states are looked at
	keptBefore = 8192 // ticks before these whose states are kept, too, if there is memory
	maxColumns = 96   // of the time line
)

// A Group is the players who reported one checksum. It is Right if the re-simulation gives the same checksum. It has as many votes
// as Players.
type Group struct {
	replay.BundleGroup
	Names []string `json:"names,omitempty"` // of the players, in their order, "" if one is not known; empty if none is
	Right bool     `json:"right,omitempty"`
}

func (g *Group) name(of func(lockstep.Player) string) {
	names := make([]string, len(g.Players))
	for i, p := range g.Players {
		names[i] = of(p)
	}
	if slices.ContainsFunc(names, func(name string) bool { return name != "" }) {
		g.Names = names
	}
}

// who returns "player 3 (ann)" or "players 1 and 3 (ann)".
func (g *Group) who() string {
	all := make([]string, len(g.Players))
	for i, p := range g.Players {
		all[i] = fmt.Sprint(p)
		if i < len(g.Names) && g.Names[i] != "" {
			all[i] += fmt.Sprintf(" (%s)", g.Names[i])
		}
	}
	switch len(all) {
	case 0:
		return "nobody"
	case 1:
		return "player " + all[0]
	}
	return "players " + words.List(all)
}

// String returns the group as one line of text.
func (g Group) String() string {
	s := g.Checksum + "  "
	switch {
	case g.Referee && len(g.Players) == 0:
		s += "the referee"
	case g.Referee:
		s += "the referee, " + g.who()
	case len(g.Players) == 0:
		s += "agreed"
	default:
		s += g.who()
	}
	if g.Right {
		s += " (as simulated again)"
	}
	return s
}

// Reported is who reported what at the check of a tick. Groups are empty if nobody differed.
type Reported struct {
	Tick   lockstep.Tick `json:"groups_tick,omitempty"`
	Groups []Group       `json:"groups,omitempty"`
}

// reportedIn returns the groups of a bundle, with the names of the players.
func reportedIn(m *replay.Manifest) Reported {
	r := Reported{Tick: m.Tick}
	for _, g := range m.Groups {
		to := Group{BundleGroup: g}
		to.name(func(p lockstep.Player) string {
			i := slices.IndexFunc(m.Participants, func(o replay.BundleParticipant) bool { return o.Player == p })
			if i < 0 {
				return ""
			}
			return m.Participants[i].Name
		})
		r.Groups = append(r.Groups, to)
	}
	return r
}

// A Span is the ticks From to To, both included.
type Span struct {
	From lockstep.Tick `json:"from"`
	To   lockstep.Tick `json:"to"`
}

// Exact reports whether the span is one tick.
func (s Span) Exact() bool { return s.From == s.To }

// A Command is a command of the log, described as text.
type Command struct {
	Tick     lockstep.Tick     `json:"tick"`
	Player   lockstep.Player   `json:"player"`
	Sequence lockstep.Sequence `json:"sequence"`
	Text     string            `json:"text"`
}

func (c *Command) same(o *Command) bool { return c.Player == o.Player && c.Sequence == o.Sequence }

// A Program is one that computed the match: its build, and the sources that it says it was built from.
type Program struct {
	Who    string          `json:"who"`    // "recorder", "player" or "this": the program that explains the bundle
	Player lockstep.Player `json:"player"` // of "player"
	Build  string          `json:"build"`
	record.Sources
}

// The programs in Who.
const (
	programRecorder = "recorder"
	programPlayer   = "player"
	programThis     = "this"
)

func (p *Program) name() string {
	switch p.Who {
	case programRecorder:
		return "the recorder"
	case programPlayer:
		return fmt.Sprintf("player %d", p.Player)
	}
	return "this program"
}

func (p *Program) sources() string {
	if p.Module == "" {
		return "sources not known"
	}
	at := p.Checkout()
	switch {
	case at == "":
		return p.Module + ", revision not known"
	case p.Modified:
		return p.Module + " at " + p.ShortCheckout() + " with changed files"
	}
	return p.Module + " at " + p.ShortCheckout()
}

// same reports whether two programs are known to have the same sources.
func (p *Program) same(other *Program) bool {
	return p.Sources == other.Sources && p.Checkout() != "" && !p.Modified
}

// differs reports whether two programs are known to be of other builds, or of other sources of one module.
func (p *Program) differs(other *Program) bool {
	switch {
	case p.Build != "" && other.Build != "" && p.Build != other.Build:
		return true
	case p.Module == "" || p.Module != other.Module || p.Checkout() == "" || other.Checkout() == "":
		return false
	case p.Revision != "" && other.Revision != "":
		n := min(len(p.Revision), len(other.Revision)) // one may be shortened
		return p.Revision[:n] != other.Revision[:n] || p.Modified != other.Modified
	}
	return p.Version != "" && other.Version != "" && p.Version != other.Version
}

// String returns the program as one line of text.
func (p Program) String() string {
	s := p.name() + ": "
	if p.Build != "" {
		s += "build " + p.Build + ", "
	}
	return s + p.sources()
}

// players returns "player 3" or "players 1 and 3".
func players(list []lockstep.Player) string {
	g := Group{BundleGroup: replay.BundleGroup{Players: list}}
	return g.who()
}
