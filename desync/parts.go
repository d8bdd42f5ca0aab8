package desync

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A Group is the players who reported one checksum. It is Right if the re-simulation gives the same checksum. It has as many votes
// as Players.
type Group struct {
	replay.BundleGroup
	Names []string `json:"names,omitempty"` // of the players, in their order, "" if one is not known; empty if none is
	Right bool     `json:"right,omitempty"`
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

// name sets the names.
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

// same reports whether two commands are one.
func (c *Command) same(o *Command) bool { return c.Player == o.Player && c.Sequence == o.Sequence }

// A Cost is the time that the re-simulation of a tick took.
type Cost struct {
	Tick   lockstep.Tick `json:"tick"`
	Micros int64         `json:"micros,string"`
}
