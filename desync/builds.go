package desync

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

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

// twoBuilds returns the verdict that the sides of a bundle are different programs, which explains all of it, or nil: each program
// is known to differ from each on the other sides, and none on its own side. A machine that was right when it computed
// the ticks again contradicts it, and so does this program, nil if it has not simulated the match, if its checksum is not that
// of the side with the same sources.
func twoBuilds(h *lockstep.Header, m *replay.Manifest, this *Program, checksum string) *Verdict {
	if a := m.Resimulation; a != nil && a.Outcome == protocol.RightThisTime.String() || len(m.Groups) < 2 {
		return nil
	}
	sides := make([][]Program, len(m.Groups))
	for i := range m.Groups {
		if sides[i] = programsOf(h, m, &m.Groups[i]); len(sides[i]) == 0 {
			return nil
		}
		if this != nil && this.same(&sides[i][0]) && checksum != m.Groups[i].Checksum {
			return nil
		}
	}
	for i, side := range sides {
		for k := range side {
			for j, other := range sides {
				if slices.ContainsFunc(other, func(o Program) bool { return o.differs(&side[k]) != (i != j) }) {
					return nil
				}
			}
		}
	}
	var texts []string
	for i := range sides {
		texts = append(texts, sideText(&m.Groups[i])+" "+builtText(&sides[i][0]))
	}
	return disagree(this != nil, texts...)
}

// otherBuild returns the verdict that the program which recorded a match, and another of whose results some differ, are different
// programs; nil unless that is known.
func otherBuild(h *lockstep.Header, this *Program) *Verdict {
	recorder := Program{Build: h.Build, Sources: record.ParseSources(h.Sources)}
	if !recorder.differs(this) {
		return nil
	}
	return disagree(true, "the recorder "+builtText(&recorder), "this program "+builtText(this))
}

func disagree(simulated bool, sides ...string) *Verdict {
	return &Verdict{
		Party: TwoBuilds, Players: []lockstep.Player{}, Grade: GradeConsistent, Simulated: simulated, Blames: []Blame{},
		Text: "the programs differ as the checksums do, so each may be right by its own rules: " + strings.Join(sides, "; "),
	}
}

// programsOf returns the programs of a group. There is none if one is not known.
func programsOf(h *lockstep.Header, m *replay.Manifest, g *replay.BundleGroup) (all []Program) {
	if g.Referee {
		all = append(all, Program{Build: h.Build, Sources: record.ParseSources(h.Sources)})
	}
	for _, player := range g.Players {
		i := slices.IndexFunc(m.Participants, func(p replay.BundleParticipant) bool { return p.Player == player })
		if i < 0 {
			return nil
		}
		p := &m.Participants[i]
		all = append(all, Program{Player: player, Build: p.Build, Sources: record.ParseSources(p.Sources)})
	}
	return all
}

// sideText names the machines of a group.
func sideText(g *replay.BundleGroup) string {
	switch {
	case !g.Referee:
		return players(g.Players)
	case len(g.Players) == 0:
		return "the referee"
	}
	return "the referee and " + players(g.Players)
}

// builtText says what a program was built from.
func builtText(p *Program) string {
	if p.Checkout() == "" {
		return "with build " + p.Build
	}
	return fmt.Sprintf("with build %s, %s", p.Build, p.sources())
}
