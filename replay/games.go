package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
)

// ForeignEngine is the engine in the header of an imported match, which cannot be simulated.
const ForeignEngine = "foreign"

// ForeignBuild and ForeignPlatform are in the header of an imported match whose build and platform are not known.
const (
	ForeignBuild    = "imported"
	ForeignPlatform = "unknown"
)

// ForeignTorn is the reason of the end of an imported match whose recording has no end. Some commands of its last tick may be
// missing.
const ForeignTorn = "torn"

// Games are the games whose matches a program can simulate, such as two builds of one game.
type Games []*lockstep.Game

// OfFile is Of for the match in a file.
func (g Games) OfFile(f *File) (*lockstep.Game, error) {
	h, err := f.Header()
	if err != nil {
		return nil, err
	}
	return g.Of(h)
}

// Of returns the game of a match: the one with the identity in the header. Without one, the error names the match's game,
// and wraps a [*lockstep.IdentityError] of the game with the same name, or else one with the names of all.
func (g Games) Of(h *lockstep.Header) (*lockstep.Game, error) {
	var reason error = &lockstep.IdentityError{Field: "game", Got: h.Game, Want: "none"}
	known := false // by name
	for i, one := range g {
		err := one.CheckIdentity(h)
		if err == nil {
			return one, nil
		}
		if i == 0 || one.Name() == h.Game {
			reason, known = err, known || one.Name() == h.Game
		}
	}
	if e := (*lockstep.IdentityError)(nil); errors.As(reason, &e) && e.Field == "game" && len(g) > 0 {
		reason = &lockstep.IdentityError{Field: e.Field, Got: e.Got, Want: g.names()}
	}
	if h.Engine == lockstep.Engine {
		reason = fmt.Errorf("%w; use a program with game %.128q, build %.128q, state schema %s", reason, h.Game, h.Build, checksum.FormatHash(xxhash.Sum64(h.StateSchema)))
		if !known {
			reason = fmt.Errorf("%w: its own, or a module of its rules", reason)
		}
	}
	return nil, reason
}

// names returns the names of the games, such as "chess or duel". Builds of one game have one name.
func (g Games) names() string {
	var names []string
	for _, one := range g {
		if !slices.Contains(names, one.Name()) {
			names = append(names, one.Name())
		}
	}
	return strings.Join(names, " or ")
}
