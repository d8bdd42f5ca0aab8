//go:build !js

package tool

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// matchSpecs returns the matches of --matches.
func matchSpecs(c *cli.Context, g *playable) ([]server.MatchSpec, error) {
	if err := cmp.Or(between[uint](c, "players", 1, lockstep.MaxPlayers), g.checkUnits(c, 0, 60000),
		between[uint](c, "matches", 0, 100000), between[uint](c, "tick-rate", 1, 1000)); err != nil {
		return nil, err
	}
	override, err := g.override(c)
	if err != nil {
		return nil, err
	}
	players, err := g.seats(c, c.Uint("units"), override)
	if err != nil {
		return nil, err
	}
	var specs []server.MatchSpec
	seed := c.Uint64("seed")
	for i := range c.Uint("matches") {
		spec, err := matchSpec(g, matchRequest{
			Name: fmt.Sprintf("match-%d", i+1), Players: uint8(players), Units: uint16(c.Uint("units")),
			TickRate: uint16(c.Uint("tick-rate")), Seed: seed, Config: override,
		})
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
		if seed != 0 {
			seed++
		}
	}
	return specs, nil
}

// A matchRequest is the body of a request to create a match.
type matchRequest struct {
	Name     string `json:"name"`
	Players  uint8  `json:"players"`
	Units    uint16 `json:"units"` // 0: as many as in a usual match
	TickRate uint16 `json:"tick_rate"`
	Seed     uint64 `json:"-"` // see requestedMatch
	Bots     uint8  `json:"bots"`

	Config json.RawMessage `json:"config"` // fields that differ from the usual configuration
}

func matchSpec(g *playable, r matchRequest) (server.MatchSpec, error) {
	config, err := g.configure(r.Players, r.Units, r.Config)
	if err != nil {
		return server.MatchSpec{}, err
	}
	settings := lockstep.DefaultSettings(r.Players)
	settings.Seed, settings.TickRate, settings.CheckEvery = r.Seed, r.TickRate, max(1, r.TickRate)
	settings.KeyframeEvery = 60 * uint32(r.TickRate)
	return server.MatchSpec{Name: r.Name, Game: g.Game, Settings: settings, Config: config}, nil
}

// requestedMatch parses the body of a request to create a match.
func requestedMatch(body io.Reader, g *playable, guests bool, bots *botHost) (server.MatchSpec, error) {
	r := struct {
		matchRequest
		Seed json.Number `json:"seed"` // a number, or text as in views
	}{matchRequest{Players: 4, TickRate: 20}, "0"}
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	err := d.Decode(&r)
	if err == nil {
		r.matchRequest.Seed, err = strconv.ParseUint(r.Seed.String(), 10, 64)
	}
	if err != nil {
		return server.MatchSpec{}, fmt.Errorf("a match: %w", err)
	}
	if err := r.check(guests); err != nil {
		return server.MatchSpec{}, err
	}
	spec, err := matchSpec(g, r.matchRequest)
	if err != nil {
		return server.MatchSpec{}, fmt.Errorf("a match: %w", err)
	}
	bots.fill(&spec, uint(r.Bots))
	return spec, nil
}

// Limits of matches that are created over HTTP on a server that is open to guests.
const (
	guestUnits    = 3000
	guestTickRate = 30
)

// check refuses matches that would cost a server for guests too much, and bots without a seat.
func (r *matchRequest) check(guests bool) error {
	switch {
	case len(r.Config) > 0 && guests:
		return errors.New("a match: a server for guests takes no configuration")
	case r.Bots > r.Players:
		return fmt.Errorf("a match: got %d bots, want at most %d, the players", r.Bots, r.Players)
	case guests && (r.Units > guestUnits || r.TickRate > guestTickRate):
		return fmt.Errorf("a match: got %d units at %d ticks a second, want at most %d at %d", r.Units, r.TickRate, guestUnits, guestTickRate)
	}
	return nil
}
