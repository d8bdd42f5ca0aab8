package watch

import (
	"cmp"
	"slices"
	"sort"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Differing is a check of a recording of another engine at which the players' checksums differ.
type Differing struct {
	Tick   lockstep.Tick `json:"tick"`
	Groups []Reporters   `json:"groups"` // the largest first
}

// Reporters are the players who reported one checksum, as replay verify --json has them.
type Reporters struct {
	Checksum string            `json:"checksum"`
	Players  []lockstep.Player `json:"players"`
}

// Differing returns the last check up to the present tick of a recording of another engine, if the players' checksums differ at it,
// or nil.
func (v *Viewer) Differing() *Differing {
	if v.recorded == nil {
		return nil
	}
	past := sort.Search(len(v.mismatches), func(i int) bool { return v.mismatches[i].Tick > v.at })
	if past == 0 {
		return nil
	}
	d := &Differing{Tick: v.mismatches[past-1].Tick}
	if i := sort.Search(len(v.checks), func(i int) bool { return v.checks[i].tick > v.at }); i > 0 && v.checks[i-1].tick > d.Tick {
		return nil
	}
	var silent [256]bool
	for _, s := range v.silences {
		if s.tick <= d.Tick {
			silent[s.player] = s.silent
		}
	}
	agreed, ok := v.checkAt(d.Tick)
	for p := range lockstep.Player(v.header.Settings.Players) {
		hash, reported := agreed, ok && !silent[p]
		for i := past - 1; i >= 0 && v.mismatches[i].Tick == d.Tick; i-- {
			if m := &v.mismatches[i]; m.Player == p {
				hash, reported = m.hash, true
			}
		}
		if reported {
			d.add(checksum.FormatHash(hash), p)
		}
	}
	slices.SortStableFunc(d.Groups, func(a, b Reporters) int { return cmp.Compare(len(b.Players), len(a.Players)) })
	return d
}

// add puts a player into its group.
func (d *Differing) add(sum string, p lockstep.Player) {
	i := slices.IndexFunc(d.Groups, func(g Reporters) bool { return g.Checksum == sum })
	if i < 0 {
		i = len(d.Groups)
		d.Groups = append(d.Groups, Reporters{Checksum: sum})
	}
	d.Groups[i].Players = append(d.Groups[i].Players, p)
}
