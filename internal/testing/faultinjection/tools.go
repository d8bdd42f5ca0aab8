package faultinjection

import (
	"errors"
	"io"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
)

// A toolset is the examined tools. A test replaces them with broken ones.
type toolset struct {
	Verify    func(*replay.Reader, *lockstep.Game, replay.VerifyOptions) (*replay.Verification, error)
	Attribute func(*replay.Reader, *lockstep.Game, *replay.Verification, replay.SimulateOptions) *desync.Verdict
	Recover   func(*replay.Writer, *replay.Reader) (*replay.Recovery, error)
	Compare   func(a, b *replay.Reader) (*bisect.Comparison, error)
	Bisect    func(a, b *replay.Reader, g *lockstep.Game, o bisect.Options) (*bisect.Bisection, error)
	Explain   func(*replay.Bundle, desync.Options) (*desync.Explanation, error)
	Diverged  func(a, b *lockstep.Follower, limit int) (lockstep.Divergence, bool)
	Desync    func([]coordinator.DesyncReport) []coordinator.DesyncReport // the coordinator's reports
}

// realTools returns the tools that users have.
func realTools() toolset {
	return toolset{
		Verify:    replay.Verify,
		Attribute: desync.Attribute,
		Recover:   replay.Recover,
		Compare:   bisect.Compare,
		Bisect:    bisect.Replays,
		Explain:   desync.Explain,
		Diverged:  lockstep.Diverged,
		Desync:    func(r []coordinator.DesyncReport) []coordinator.DesyncReport { return r },
	}
}

// verdict returns the results of Verify and Attribute as a clue.
func verdict(v *desync.Verdict, err error) clue {
	var (
		differs  *lockstep.DesyncError
		damage   *replay.DamageError
		identity *lockstep.IdentityError
	)
	switch {
	case errors.As(err, &differs):
		return clue{What: "desync", Tick: differs.Tick, Who: blamed(v)}
	case errors.As(err, &damage) && errors.Is(err, io.ErrUnexpectedEOF):
		return clue{What: "cut short", Tick: damage.Tick, Byte: damage.Offset}
	case errors.As(err, &damage):
		return clue{What: "corrupt", Tick: damage.Tick, Byte: damage.Offset}
	case errors.As(err, &identity):
		return clue{What: "other game", Field: identity.Field}
	case err != nil:
		return clue{What: err.Error()}
	case len(v.Blames) > 0:
		return clue{What: "players differed", Tick: v.Blames[0].First, Who: blamed(v)}
	}
	return clue{What: "true"}
}

// blamed returns the party that a verdict blames first.
func blamed(v *desync.Verdict) string {
	if len(v.Blames) == 0 {
		return ""
	}
	if b := &v.Blames[0]; b.Who == desync.WrongPlayer {
		return player(b.Player)
	}
	return "the " + string(v.Blames[0].Who)
}

// bisection returns the result of Bisect as a clue.
func bisection(b *bisect.Bisection, err error) clue {
	if err != nil {
		return clue{What: err.Error()}
	}
	c := clue{What: "desync", Tick: b.Tick}
	if !b.Exact {
		c.After = b.Agreed
	}
	switch b.Cause {
	case bisect.OriginCommands:
		c.Who = "the commands"
	case bisect.OriginGames:
		c.Who = "the rules"
	case bisect.OriginA:
		c.Who = "the first"
	case bisect.OriginB:
		c.Who = "the second"
	}
	if len(b.Fields.List) > 0 && b.FieldsTick == b.Tick {
		c.Field, c.Fields = b.Fields.List[0].First.Path, b.Fields.Total
	}
	return c
}
