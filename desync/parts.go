package desync

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

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
	switch last := len(all) - 1; last {
	case -1:
		return "nobody"
	case 0:
		return "player " + all[0]
	default:
		return "players " + strings.Join(all[:last], ", ") + " and " + all[last]
	}
}

// oneBit reports whether two values differ in a single bit.
func oneBit(a, b []byte) bool {
	n := 0
	for i := range a {
		if len(a) == len(b) {
			n += bits.OnesCount8(a[i] ^ b[i])
		}
	}
	return n == 1
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

// A Cost is the time that the re-simulation of a tick took.
type Cost struct {
	Tick   lockstep.Tick `json:"tick"`
	Micros int64         `json:"micros,string"`
}
