package record

import (
	"fmt"
	"reflect"
	"slices"
)

// The commands of [System]. They reach Step like any other command, as pointers to these types. A game may ignore them.
type (
	// Joined: from the next tick on Player can command.
	Joined struct{ Player Player }

	// Left: Player has given up the seat for good.
	Left struct{ Player Player }

	// Lost: Player's connection is gone and may come back.
	Lost struct{ Player Player }

	// TakenOver: a bot plays for Player from the next tick on. A later Joined gives the seat back.
	TakenOver struct{ Player Player }

	// Paused: no tick follows until the match is resumed. Player asked for it.
	Paused struct{ Player Player }

	// Resumed: the match goes on. Player asked for it.
	Resumed struct{ Player Player }

	// SpeedSet: from here on the match runs at Percent of its tick rate.
	SpeedSet struct{ Percent uint16 }

	// InputDelaySet: from here on a command runs Ticks after it is received.
	InputDelaySet struct{ Ticks uint16 }
)

// Kinds of the commands of System, numbered separately from the game's. The numbers are part of the log.
const (
	kindJoined        CommandKind = 1
	kindLeft          CommandKind = 2
	kindLost          CommandKind = 3
	kindTakenOver     CommandKind = 4
	kindPaused        CommandKind = 5
	kindResumed       CommandKind = 6
	kindSpeedSet      CommandKind = 7
	kindInputDelaySet CommandKind = 8
)

var systemKinds, systemTypes, systemDescriptions = mustCompileKinds(
	Type[Joined](kindJoined, "joined"),
	Type[Left](kindLeft, "left"),
	Type[Lost](kindLost, "lost"),
	Type[TakenOver](kindTakenOver, "taken over"),
	Type[Paused](kindPaused, "paused"),
	Type[Resumed](kindResumed, "resumed"),
	Type[SpeedSet](kindSpeedSet, "speed set"),
	Type[InputDelaySet](kindInputDelaySet, "input delay set"),
)

// SystemValue returns the value of a command of [System], such as a *Joined. It needs no game. The error wraps
// [ErrUnknownKind] or [ErrMalformed].
func SystemValue(c *Command) (any, error) {
	e := systemKinds[c.Kind]
	if c.Player != System || e == nil {
		return nil, fmt.Errorf("lockstep: %w %d of player %d, want one of the system", ErrUnknownKind, c.Kind, c.Player)
	}
	//samestep:allow unseen one of Type in this package
	v, err := e.newPool().decode(c.Payload)
	if err != nil {
		return nil, fmt.Errorf("lockstep: %s: %w", e.Name, malformed{err})
	}
	return v, nil
}

// SystemDescriptions returns the commands of [System], described as in a header.
func SystemDescriptions() []CommandDescription { return slices.Clone(systemDescriptions) }

func mustCompileKinds(types ...CommandType) (map[CommandKind]*kindEntry, map[reflect.Type]*kindEntry, []CommandDescription) {
	k, err := CompileKinds(types)
	if err != nil {
		panic(err) // the types are above
	}
	return k.byKind, k.byType, k.Descriptions()
}
