package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
)

// ErrNoMatch is returned for the ID of a match that the server does not know.
var ErrNoMatch = errors.New("server: no match of that ID is known here: it ended long ago, or on another server")

// The latest matches that have left the server, of which the server knows how they were made.
const (
	maxPast      = 256
	maxPastBytes = 4 << 20 // of their configurations
)

// A making is how a match was made.
type making struct {
	game   *lockstep.Game // without the server's assets
	header *lockstep.Header
	kind   string // of the bots
	again  func(*MatchSpec)

	disclosed disclosure.Policy
	over      bool // otherwise it runs, here or at another server, or can be resumed
}

func (m *Match) making() making {
	v := m.view.Load()
	return making{m.game, m.header, m.spec.BotKind, m.spec.Again, v.disclosed, v.over}
}

// Like returns the spec of a match like another one: of the same game, with the same settings, seed and configuration, and with what
// MatchSpec.Again adds. It has no name. id is that of a [View], of a match that this server runs, or of one of the last that
// have left it; otherwise the error wraps [ErrNoMatch]. A match that began in a state of another one is taken as if it had begun itself.
func (s *Server) Like(id string) (MatchSpec, error) {
	how, ok := s.makingOf(id)
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

// specOf returns the spec of the match that the body of a request asks for: like another one, which may have another name and
// nothing else, or what Options.NewMatch makes of it. Who may not know the seed of the new match does not choose it either, and a
// copy of a match that is over gets another one.
func (s *Server) specOf(body []byte, who disclosure.Reader) (MatchSpec, error) {
	var r struct{ Name, Like string }
	if json.Unmarshal(body, &r) != nil || r.Like == "" {
		spec, err := s.options.NewMatch(bytes.NewReader(body))
		if err == nil && spec.Settings.Seed != 0 && s.hidesSeed(&spec, who) {
			err = errSeed
		}
		return spec, err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return MatchSpec{}, fmt.Errorf("a match: want name and like alone: %w", err)
	}
	if how, ok := s.makingOf(r.Like); ok && !how.over && how.disclosed.Records(who) != nil {
		return MatchSpec{}, errSecret
	}
	spec, err := s.Like(r.Like)
	if err != nil {
		return MatchSpec{}, fmt.Errorf("a match: %w", err)
	}
	if spec.Name = r.Name; s.hidesSeed(&spec, who) {
		spec.Settings.Seed = 0
	}
	return spec, nil
}

// hidesSeed reports whether a new match will hide its seed from r.
func (s *Server) hidesSeed(spec *MatchSpec, r disclosure.Reader) bool {
	return cmp.Or(spec.Host, &s.options.Host).Disclosure().Records(r) != nil
}

// errSeed refuses a match of which its maker would know what the others may not see.
var errSeed = errors.New("a match: the server hides the seeds of its matches: want no seed, or the token of an admin")

// errSecret refuses a match with the seed of one that hides it.
var errSecret = errors.New("a match: the other one is not over here, and hides its seed: ask with the token of an admin, or when it is over at the server that has it")

func (s *Server) makingOf(id string) (making, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.matches { // a map: at most one has the ID
		if m != nil && m.header.Match.String() == id {
			return m.making(), true
		}
	}
	for _, how := range s.past { // at most one, too
		if how.header.Match.String() == id {
			return how, true
		}
	}
	return making{}, false
}

// keepPast keeps how a match that leaves the server was made. The caller holds the lock.
func (s *Server) keepPast(how making) {
	s.past = slices.DeleteFunc(s.past, func(p making) bool { return p.header.Match == how.header.Match }) // of the time before it was resumed
	s.past = append(s.past, how)
	size := 0
	for i := len(s.past) - 1; i >= 0; i-- {
		if size += len(s.past[i].header.Config); size > maxPastBytes || len(s.past)-i > maxPast {
			s.past = append([]making(nil), s.past[i+1:]...)
			return
		}
	}
}
