package faultinjection

import (
	"errors"
	"io"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// Tools are what is examined. A test puts blind ones in their place.
type Tools struct {
	Verify   func(*replay.Reader, *lockstep.Game, replay.VerifyOptions) (*replay.Verdict, error)
	Recover  func(*replay.Writer, *replay.Reader) (*replay.Recovery, error)
	Compare  func(a, b *replay.Reader) (*replay.Comparison, error)
	Bisect   func(a, b *replay.Reader, g *lockstep.Game, o replay.BisectOptions) (*replay.Bisection, error)
	Explain  func(*replay.Bundle, desync.Options) (*desync.Explanation, error)
	Diverged func(a, b *lockstep.Follower, limit int) (lockstep.Divergence, bool)
	Desync   func([]lockstep.DesyncReport) []lockstep.DesyncReport // what the coordinator told
}

// RealTools are the ones that users have.
func RealTools() Tools {
	return Tools{
		Verify:   replay.Verify,
		Recover:  replay.Recover,
		Compare:  replay.Compare,
		Bisect:   replay.Bisect,
		Explain:  desync.Explain,
		Diverged: lockstep.Diverged,
		Desync:   func(r []lockstep.DesyncReport) []lockstep.DesyncReport { return r },
	}
}

// verdict puts what Verify says into a clue.
func verdict(v *replay.Verdict, err error) Clue {
	var (
		desync   *lockstep.DesyncError
		damage   *replay.DamageError
		identity *lockstep.IdentityError
	)
	switch {
	case errors.As(err, &desync):
		return Clue{What: "desync", Tick: desync.Tick, Who: blamed(v)}
	case errors.As(err, &damage) && errors.Is(err, io.ErrUnexpectedEOF):
		return Clue{What: "cut short", Tick: damage.Tick, Byte: damage.Offset}
	case errors.As(err, &damage):
		return Clue{What: "corrupt", Tick: damage.Tick, Byte: damage.Offset}
	case errors.As(err, &identity):
		return Clue{What: "other game", Field: identity.Field}
	case err != nil:
		return Clue{What: err.Error()}
	case len(v.Blames) > 0:
		return Clue{What: "players differed", Tick: v.Blames[0].First, Who: blamed(v)}
	}
	return Clue{What: "true"}
}

// blamed returns whom a verdict blames first.
func blamed(v *replay.Verdict) string {
	if len(v.Blames) == 0 {
		return ""
	}
	if b := &v.Blames[0]; b.Who == replay.CulpritPlayer {
		return player(b.Player)
	}
	return "the " + string(v.Blames[0].Who)
}

// bisection puts what Bisect says into a clue.
func bisection(b *replay.Bisection, err error) Clue {
	if err != nil {
		return Clue{What: err.Error()}
	}
	c := Clue{What: "desync", Tick: b.Tick}
	if !b.Exact {
		c.After = b.Agreed
	}
	switch b.Cause {
	case replay.Commands:
		c.Who = "the commands"
	case replay.Games:
		c.Who = "the rules"
	case replay.WrongA:
		c.Who = "the first"
	case replay.WrongB:
		c.Who = "the second"
	}
	if len(b.Fields.List) > 0 && b.FieldsTick == b.Tick {
		c.Field, c.Fields = b.Fields.List[0].First.Path, b.Fields.Total
	}
	return c
}
