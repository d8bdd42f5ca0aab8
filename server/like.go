package server

import (
	"bytes"
	"errors"
	"fmt"
)

// ErrNoMatch is returned for the ID of a match that the server does not know.
var ErrNoMatch = errors.New("server: no match of that ID is known here: it ended long ago, or on another server")

// Like returns the spec of a match like another one: of the same game, with the same settings, seed and configuration, and with what
// MatchSpec.Again adds. It has no name. id is that of a [View], of a match that this server runs, or of one of the last that
// have left it; otherwise the error wraps [ErrNoMatch]. A match that began in a state of another one is taken as if it had begun itself.
func (s *Server) Like(id string) (MatchSpec, error) {
	how, ok := s.registry.makingOf(id)
	if !ok {
		return MatchSpec{}, fmt.Errorf("%w: got %.64q", ErrNoMatch, id)
	}
	var text bytes.Buffer
	if err := how.game.ConfigSchema().DumpJSON(&text, how.header.Config); err != nil {
		return MatchSpec{}, err
	}
	config, err := how.game.ReadConfig(text.Bytes(), nil)
	if err != nil {
		return MatchSpec{}, err
	}
	spec := MatchSpec{Game: how.game, Settings: how.header.Settings, Config: config, BotKind: how.kind}
	spec.Settings.Relay = false // Host says so
	if how.again != nil {
		how.again(&spec)
	}
	return spec, nil
}

// errSeed refuses a match of which its maker would know what the others may not see.
var errSeed = errors.New("a match: the server hides the seeds of its matches: want no seed, or the token of an admin")

// errSecret refuses a match with the seed of one that hides it.
var errSecret = errors.New("a match: the other one is not over here, and hides its seed: ask with the token of an admin, or when it is over at the server that has it")
