package locksteptest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/internal/testing/reach"
	"github.com/seed-49bee653/samestep/internal/words"
)

type (
	// Reached says what some matches of one game did, so that a verdict on them says what it is worth.
	Reached = reach.Reached

	// Accepted is how many commands of a kind were accepted.
	Accepted = reach.Accepted
)

// ErrThin reports a match that proves too little: more than 80 % of its commands were refused or changed nothing. The error
// tells for each kind how many were refused and why, and the last tick with a command that changed something.
//
// Where bots play (Options.Play), refused commands do not count: bots carry the match, and random commands are added.
//
// A match that its rules end in its first fifth proves too little as well, and so does one of rules with views in which the phase
// answers compared none to a command of some kind. Matches of Options.Orders and Options.Choices, and others with
// less than 20 commands, are never thin.
var ErrThin = errors.New("the match proves too little")

// Check returns [ErrThin] if matches have reached less than the floor. They are those of a verdict together, or one alone. Of their
// options it needs Play, Weights and AllowThin.
func (f Floor) Check(r *Reached, o *Options, together bool) error {
	all := f.of(together).misses(r, o)
	if len(all) == 0 || o.AllowThin != "" {
		return nil
	}
	cure := "let bots play (Play)"
	if o.Play != nil {
		cure = "let the bots do more (Play)"
	}
	return fmt.Errorf("locksteptest: %w: %s\n\treached: %s\n%s, let more players play, play longer (Ticks: %d) if the rules do not end the match before, ask for less (Floor), or say why that is enough (AllowThin)",
		ErrThin, strings.Join(all, "; "), r, cure, 5*r.Longest)
}

// misses returns in words what is below the floor, or nothing.
func (f Floor) misses(r *Reached, o *Options) (all []string) {
	if int(r.Longest) < f.Ticks {
		all = append(all, fmt.Sprintf("got a match of %d ticks, want %d", r.Longest, f.Ticks))
	}
	var none []string
	asked := 0
	for _, k := range r.Accepted {
		if weight, ok := o.Weights[k.Kind]; ok && weight == 0 {
			continue
		}
		if asked++; k.N == 0 {
			none = append(none, k.Kind)
		}
	}
	switch {
	case f.Kinds >= 0 && r.Commands() == 0 && (asked > 0 || o.Play != nil && len(r.Accepted) > 0):
		all = append(all, "no command was accepted")
	case 100*(asked-len(none)) < f.Kinds*asked:
		all = append(all, fmt.Sprintf("commands of %d of %s were accepted, want %d %%: not %s", asked-len(none), words.Count(asked, "kind"), f.Kinds, reach.Names(none)))
	}
	if changed := r.Fields - len(r.Still); 100*changed < f.Fields*r.Fields {
		all = append(all, fmt.Sprintf("%d of %s of the state changed, want %d %%: not %s", changed, words.Count(r.Fields, "field"), f.Fields, reach.Names(r.Still)))
	}
	return all
}
