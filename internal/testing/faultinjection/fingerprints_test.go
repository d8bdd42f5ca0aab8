//go:build woven

package faultinjection

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A mistake has the same fingerprint in matches of other seeds, and two mistakes mostly have two. TestRuleBugs builds this test.
func TestWovenFingerprints(t *testing.T) {
	const seeds = 3
	bugs, equal := 0, 0
	kinds := map[string]bool{}
	for _, s := range []struct {
		*Subject
		bug func(number int) *lockstep.Game
	}{
		{rts(), func(n int) *lockstep.Game { return mistaken(skirmish.Rules(), skirmish.SelectMutant, n) }},
		{boxes(), func(n int) *lockstep.Game { return mistaken(platforms.Rules(), platforms.SelectMutant, n) }},
	} {
		if err := s.measure(1); err != nil {
			t.Fatal(err)
		}
		for i, m := range ruleBugs(t) {
			if !strings.HasPrefix(m.Func, "examples/"+s.Game.Name()+".") {
				continue
			}
			found := map[desync.Fingerprint]int{}
			for seed := range uint64(seeds) {
				f, err := s.fingerprint(seed+1, bug{m.Name, s.bug(i + 1)})
				if err == nil {
					found[f]++
					kinds[f.ID] = true
				} else if !errors.Is(err, errNoPlace) {
					t.Fatal(err)
				}
			}
			switch len(found) {
			case 0: // without a consequence in these matches
				continue
			case 1:
				equal++
			default:
				t.Logf("%s: %v", m.Name, found)
			}
			bugs++
		}
	}
	t.Logf("figures: %d of %d rule bugs have one fingerprint with %d seeds, and all %d fingerprints", equal, bugs, seeds, len(kinds))
	if bugs < 30 || 10*equal < 9*bugs || 2*len(kinds) < bugs {
		t.Error("want nine of ten, and half as many fingerprints as bugs")
	}
}

// fingerprint returns the fingerprint of the desync of a bug.
func (s *Subject) fingerprint(seed uint64, b bug) (desync.Fingerprint, error) {
	d := &drill{subject: s, seed: seed, dice: rand.New(rand.NewPCG(seed, 5)), tools: realTools(), result: &Result{}}
	m, _, err := d.playBug(b)
	if err != nil {
		return desync.Fingerprint{}, err
	}
	evidence, err := m.computeAgain(b.Game)
	if err != nil {
		return desync.Fingerprint{}, err
	}
	if evidence == nil {
		evidence = m.evidence()
	}
	e, err := m.explained(d.tools, evidence)
	if err != nil {
		return desync.Fingerprint{}, err
	}
	return e.Fingerprint, nil
}
