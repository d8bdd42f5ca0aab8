//go:build !js

package serving

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// matchSpecs returns the matches of --matches.
func matchSpecs(c *cli.Context, g *gameset.Playable) ([]server.MatchSpec, error) {
	if err := console.CheckSettings(c); err != nil {
		return nil, err
	}
	override, err := g.Override(c)
	if err != nil {
		return nil, err
	}
	if g, err = g.InScenario(c); err != nil {
		return nil, err
	}
	players, err := g.Seats(c, 0, override)
	if err != nil {
		return nil, err
	}
	var specs []server.MatchSpec
	seed := c.Uint64("seed")
	for i := range c.Uint("matches") {
		spec, err := MatchSpec(g, MatchRequest{
			Name: fmt.Sprintf("match-%d", i+1), Players: uint8(players),
			TickMicros: periodOf(c), Seed: seed, Config: override,
		})
		if err != nil {
			return nil, err
		}
		setCompat(g, c, &spec.Settings)
		specs = append(specs, spec)
		if seed != 0 {
			seed++
		}
	}
	return specs, nil
}

// The limits of a match's settings.
const (
	maxTickRate   = 1000
	minTickMicros = 1000
	maxTickMicros = 60_000_000
)

// checkPeriod checks --tick-rate.
func checkPeriod(c *cli.Context, name string) error {
	if periodOf(c) == 0 {
		return console.Usagef("%s: got %q, want 1 to %d ticks per second, or a time of %v to %v for each", console.Spelled(c, name), c.String(name), maxTickRate,
			minTickMicros*time.Microsecond, maxTickMicros*time.Microsecond)
	}
	return nil
}

// periodOf returns the period that --tick-rate says, or 0.
func periodOf(c *cli.Context) uint32 {
	text := c.String("tick-rate")
	if rate, err := strconv.ParseUint(text, 10, 16); err == nil && rate >= 1 && rate <= maxTickRate {
		return lockstep.TickPeriod(uint16(rate))
	}
	if d, err := time.ParseDuration(text); err == nil && d >= minTickMicros*time.Microsecond && d <= maxTickMicros*time.Microsecond && d%time.Microsecond == 0 {
		return uint32(d.Microseconds())
	}
	return 0
}

// A MatchRequest is the body of a request to create a match.
type MatchRequest struct {
	Name       string `json:"name"`
	Game       string `json:"game"` // "" is the server's first
	Players    uint8  `json:"players"`
	Scenario   string `json:"scenario"` // "" is a usual match
	Units      uint16 `json:"units"`    // 0: as many as in a usual match
	TickMicros uint32 `json:"-"`        // see RequestedMatch; 0: that of the match it begins in
	Seed       uint64 `json:"-"`
	Bots       uint8  `json:"bots"`
	requestedPolicy

	Config json.RawMessage `json:"config"` // fields that differ from the usual configuration
}

// MatchSpec returns the match that a request asks for.
func MatchSpec(g *gameset.Playable, r MatchRequest) (server.MatchSpec, error) {
	if r.Scenario != "" && r.Units > 0 {
		return server.MatchSpec{}, gameset.ErrBoth
	}
	g, err := g.In(r.Scenario)
	if err != nil {
		return server.MatchSpec{}, err
	}
	config, err := g.Configure(r.Players, r.Units, r.Config)
	if err != nil {
		return server.MatchSpec{}, err
	}
	settings := lockstep.DefaultSettings(r.Players)
	settings.Seed, settings.TickMicros = r.Seed, r.TickMicros
	settings.CheckEvery, settings.KeyframeEvery = settings.TickRate(), 60*uint32(settings.TickRate())
	return server.MatchSpec{Name: r.Name, Game: g.Game, Settings: settings, Config: config}, nil
}

// RequestedMatch parses the body of a request to create a match of one of the games.
func RequestedMatch(body io.Reader, games gameset.List, guests bool, policy *MatchPolicy) (server.MatchSpec, error) {
	r := struct {
		MatchRequest
		Seed       json.Number `json:"seed"`        // a number, or text as in views
		TickRate   *uint16     `json:"tick_rate"`   // ticks a second; without both, 20
		TickMicros *uint32     `json:"tick_micros"` // from one tick to the next

		From  string            `json:"from"`  // see parseOriginName
		Seats map[string]string `json:"seats"` // see seatsFrom
	}{MatchRequest: MatchRequest{Players: policy.Players}, Seed: "0"}
	var text bytes.Buffer
	d := json.NewDecoder(io.TeeReader(body, &text))
	d.DisallowUnknownFields()
	err := d.Decode(&r)
	if unknown, ok := unknownField(err); ok {
		err = fmt.Errorf("unknown field %q, want %s", unknown, strings.Join(FieldNames(reflect.TypeOf(r)), ", "))
	}
	if err == nil {
		err = r.setPeriod(r.TickRate, r.TickMicros)
	}
	if err == nil {
		r.MatchRequest.Seed, err = strconv.ParseUint(r.Seed.String(), 10, 64)
	}
	if err != nil {
		return server.MatchSpec{}, fmt.Errorf("a match: %w", err)
	}
	if r.From != "" || r.Seats != nil {
		return requestedSave(&text, r.MatchRequest, r.From, r.Seats, games, guests, policy)
	}
	if err := r.check(guests); err != nil {
		return server.MatchSpec{}, err
	}
	g := games[0]
	if r.Game != "" {
		if g, err = games.Named(r.Game); err != nil {
			return server.MatchSpec{}, fmt.Errorf("a match: %w", err)
		}
	}
	spec, err := MatchSpec(g, r.MatchRequest)
	if err == nil {
		err = policy.Of(g).applyTo(&spec, &r.requestedPolicy, r.Bots)
	}
	if err != nil {
		return server.MatchSpec{}, fmt.Errorf("a match: %w", err)
	}
	return spec, nil
}

// unknownField returns the field that an error of the decoder does not know.
func unknownField(err error) (name string, ok bool) {
	if err == nil {
		return "", false
	}
	quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field ")
	if name, err = strconv.Unquote(quoted); err != nil {
		return "", false
	}
	return name, ok
}

// FieldNames returns the names in JSON of the fields of a struct type.
func FieldNames(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("json"); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// setPeriod takes a rate, a period or neither.
func (r *MatchRequest) setPeriod(rate *uint16, micros *uint32) error {
	switch {
	case rate != nil && micros != nil:
		return fmt.Errorf("got tick_rate %d and tick_micros %d, want one of them", *rate, *micros)
	case micros != nil && (*micros < minTickMicros || *micros > maxTickMicros):
		return fmt.Errorf("tick_micros: got %d, want %d to %d", *micros, minTickMicros, maxTickMicros)
	case micros != nil:
		r.TickMicros = *micros
	case rate != nil && (*rate < 1 || *rate > maxTickRate):
		return fmt.Errorf("tick_rate: got %d, want 1 to %d", *rate, maxTickRate)
	case rate != nil:
		r.TickMicros = lockstep.TickPeriod(*rate)
	default:
		r.TickMicros = lockstep.TickPeriod(20)
	}
	return nil
}

// Limits of matches that are created over HTTP on a server that is open to guests.
const (
	guestUnits    = 3000
	guestTickRate = 30
)

// check refuses matches that would cost a server for guests too much, and bots without a seat.
func (r *MatchRequest) check(guests bool) error {
	switch {
	case len(r.Config) > 0 && guests:
		return errors.New("a match: a server for guests takes no configuration")
	case r.Bots > r.Players:
		return fmt.Errorf("a match: got %d bots, want at most %d, the players", r.Bots, r.Players)
	case guests && (r.Units > guestUnits || r.rate() > guestTickRate):
		return fmt.Errorf("a match: got %d units at %d ticks a second, want at most %d at %d", r.Units, r.rate(), guestUnits, guestTickRate)
	}
	return nil
}

// rate returns the ticks in a second, rounded.
func (r *MatchRequest) rate() uint16 {
	s := lockstep.Settings{TickMicros: r.TickMicros}
	return s.TickRate()
}
