//go:build !js

package serving

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

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
			TickMicros: cmp.Or(periodOf(c), g.Period()), Seed: seed, Config: override,
		})
		if err != nil {
			return nil, err
		}
		if c.Bool("compat") {
			usual := g.Compat.Usual
			if !c.IsSet("tick-rate") {
				spec.Settings.TickMicros = usual.TickMicros
			}
			spec.Settings.CheckEvery, spec.Settings.KeyframeEvery = usual.CheckEvery, usual.KeyframeEvery
		}
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

// periodOf returns the period that --tick-rate says, or 0 for none and for what is wrong.
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
	settings.CheckEvery, settings.KeyframeEvery = settings.TickRate(), max(1, (60_000_000+r.TickMicros/2)/r.TickMicros)
	return server.MatchSpec{Name: r.Name, Game: g.Game, Settings: settings, Config: config}, nil
}

// RequestedMatch parses the body of a request to create a match of one of the games.
func RequestedMatch(body io.Reader, games gameset.List, guests bool, policy *MatchPolicy) (server.MatchSpec, error) {
	r := struct {
		MatchRequest
		Seed       json.Number `json:"seed"`        // a number, or text as in views
		TickRate   *uint16     `json:"tick_rate"`   // ticks a second; without both, the game's
		TickMicros *uint32     `json:"tick_micros"` // from one tick to the next

		From  string            `json:"from"`  // see parseOriginName
		Seats map[string]string `json:"seats"` // see seatsFrom
	}{MatchRequest: MatchRequest{Players: policy.Players}, Seed: "0"}
	var text bytes.Buffer
	d := json.NewDecoder(io.TeeReader(body, &text))
	d.DisallowUnknownFields()
	err := d.Decode(&r)
	if err != nil && strings.HasPrefix(err.Error(), "json: unknown field ") {
		err = fmt.Errorf("%s, want %s", strings.TrimPrefix(err.Error(), "json: "), strings.Join(fieldNames(reflect.TypeOf(r)), ", "))
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
		spec, err := requestedFrom(&text, r.MatchRequest, r.From, r.Seats, games, guests, policy)
		if err != nil {
			err = fmt.Errorf("a match: %w", err)
		}
		return spec, err
	}
	g := games[0]
	if r.Game != "" {
		if g, err = games.Named(r.Game); err != nil {
			return server.MatchSpec{}, fmt.Errorf("a match: %w", err)
		}
	}
	r.MatchRequest.TickMicros = cmp.Or(r.MatchRequest.TickMicros, g.Period())
	if err := r.check(guests); err != nil {
		return server.MatchSpec{}, err
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

// fieldNames returns the names in JSON of the fields of a struct type.
func fieldNames(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("json"); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

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
	rate := (&lockstep.Settings{TickMicros: r.TickMicros}).TickRate()
	switch {
	case len(r.Config) > 0 && guests:
		return errors.New("a match: a server for guests takes no configuration")
	case r.Bots > r.Players:
		return fmt.Errorf("a match: got %d bots, want at most %d, the players", r.Bots, r.Players)
	case guests && (r.Units > guestUnits || rate > guestTickRate):
		return fmt.Errorf("a match: got %d units at %d ticks a second, want at most %d at %d", r.Units, rate, guestUnits, guestTickRate)
	}
	return nil
}

// An originName is a replay, and a place in it where a match begins: REPLAY, REPLAY@1200 or REPLAY@20m.
type originName struct {
	replay string
	tick   lockstep.Tick // replay.WholeMatch for the last one
	time   time.Duration // in place of tick, if it is not 0
	wrong  error         // what follows the last @ names no place, unless the file has that name
}

// parseOriginName reads the value of --from, or of the field from in a request. A name may have an @ of its own.
func parseOriginName(text string) originName {
	i := strings.LastIndexByte(text, '@')
	if i < 0 {
		return originName{replay: text, tick: replay.WholeMatch}
	}
	if n, err := strconv.ParseUint(text[i+1:], 10, 32); err == nil && n < uint64(replay.WholeMatch) {
		return originName{replay: text[:i], tick: lockstep.Tick(n)}
	}
	if d, err := time.ParseDuration(text[i+1:]); err == nil && d > 0 {
		return originName{replay: text[:i], time: d}
	}
	return originName{
		replay: text, tick: replay.WholeMatch,
		wrong: fmt.Errorf("got %.64q after the @, want a tick such as 1200 or a time such as 20m", text[i+1:]),
	}
}

// read reads the origin from a replay. It returns the game that fits the replay, too.
func (n originName) read(r *replay.Reader, games gameset.List, o replay.SimulateOptions) (*replay.Origin, *gameset.Playable, error) {
	first, err := r.Reopen()
	if err != nil {
		return nil, nil, err
	}
	rec, err := first.Next()
	if err != nil {
		return nil, nil, err
	}
	rules, err := r.Rules()
	if err != nil && !replay.ClassOf(err).Early() {
		return nil, nil, err
	}
	g, err := games.OfLog(rec.Header, rules)
	if own, ownErr := games.Of(rec.Header); err != nil && ownErr == nil && own.Module == nil {
		g, err = own, nil // the program's own of this build, as for the other verbs
	}
	if err != nil {
		return nil, nil, err
	}
	tick := n.tick
	if n.time > 0 {
		tick = lockstep.Tick(min(rec.Header.Settings.TicksIn(n.time.Microseconds()), int64(record.MaxTick)))
	}
	from, err := replay.ReadOrigin(r, g.Game, matchIn(n.replay, rec.Header), tick, o)
	return from, g, err
}

// matchIn returns the name of a match from that of its file, such as duel from duel-9d40d492.ssr or duel-9d40d492-1200.ssr.
func matchIn(path string, h *lockstep.Header) string {
	base := filepath.Base(path)
	if name, _, ok := strings.Cut(base, "-"+h.Match.String()[:8]); ok && name != "" {
		return name
	}
	name := strings.TrimSuffix(base, filepath.Ext(base))
	if record.CheckName("name", name) != nil {
		return h.Match.String()
	}
	return name
}

func startingSpecs(c *cli.Context, games gameset.List) ([]server.MatchSpec, *gameset.Playable, error) {
	if c.String("from") == "" {
		if c.IsSet("seat") {
			return nil, nil, console.Wrongf(c, "seat", "needs --from")
		}
		specs, err := matchSpecs(c, games[0])
		return specs, games[0], err
	}
	if err := console.Between[uint](c, "matches", 0, 100000); err != nil {
		return nil, nil, err
	}
	name := parseOriginName(c.String("from"))
	f, err := replay.Open(name.replay)
	if name.wrong != nil && errors.Is(err, fs.ErrNotExist) {
		return nil, nil, console.Wrongf(c, "from", "%v", name.wrong)
	} else if err != nil {
		return nil, nil, fmt.Errorf("--from: %w", err)
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		return nil, nil, gameset.OfFile(name.replay, err)
	}
	bar := console.NewProgress(c.App.ErrWriter, 0, "ticks")
	from, g, err := name.read(r, games, replay.SimulateOptions{Progress: func(done, all lockstep.Tick) { bar.SetOf(int64(done), int64(all)) }})
	bar.Done()
	if err != nil {
		return nil, nil, gameset.OfFile(name.replay, err)
	}
	players, err := seatFlags(c, from)
	if err != nil {
		return nil, nil, err
	}
	request := MatchRequest{Seed: c.Uint64("seed")}
	if request.Config, err = g.Override(c); err != nil {
		return nil, nil, err
	}
	if err := console.CheckSettings(c); err != nil {
		return nil, nil, err
	}
	if c.IsSet("players") {
		request.Players = uint8(min(c.Uint("players"), lockstep.MaxPlayers))
	}
	if c.IsSet("tick-rate") {
		request.TickMicros = periodOf(c)
	}
	spec, err := specFrom(g, from, request) // the flags must agree with the match
	if err != nil {
		return nil, nil, err
	}
	spec.Players = players
	var specs []server.MatchSpec
	for i := range c.Uint("matches") {
		spec.Name = fmt.Sprintf("match-%d", i+1)
		specs = append(specs, spec)
	}
	return specs, g, nil
}

// specFrom returns a match that begins in a state. The request's fields that are not zero must be those of the match with that state.
func specFrom(g *gameset.Playable, from *replay.Origin, r MatchRequest) (server.MatchSpec, error) {
	spec := server.MatchSpec{Name: r.Name, Game: g.Game, Settings: from.Header.Settings, From: from}
	s := &spec.Settings
	s.Relay = false
	if r.Players > 0 {
		s.Players = r.Players
	}
	if r.Seed > 0 {
		s.Seed = r.Seed
	}
	if r.TickMicros > 0 {
		s.TickMicros = r.TickMicros
	}
	asked := *from.Header
	asked.Settings = *s
	if err := coordinator.CheckOrigin(&asked, from.Header); err != nil {
		return spec, err
	}
	if len(r.Config) == 0 && r.Units == 0 && r.Scenario == "" {
		return spec, nil
	}
	g, err := g.In(r.Scenario)
	if err != nil {
		return spec, err
	}
	if spec.Config, err = g.Configure(s.Players, r.Units, r.Config); err != nil {
		return spec, err
	}
	h, err := g.NewHeader(asked.Match, *s, spec.Config)
	if err != nil {
		return spec, err
	}
	return spec, coordinator.CheckOrigin(h, from.Header)
}

func seatFlags(c *cli.Context, from *replay.Origin) ([]string, error) {
	seats := make(map[string]string)
	for _, text := range c.StringSlice("seat") {
		seat, who, ok := strings.Cut(text, "=")
		if _, twice := seats[seat]; twice {
			return nil, console.Wrongf(c, "seat", "got seat %s twice, want each seat once", seat)
		}
		if !ok {
			return nil, console.Wrongf(c, "seat", "got %q, want a seat and a player, such as 0=ann", text)
		}
		seats[seat] = who
	}
	players, err := seatsFrom(seats, from)
	if err != nil {
		return nil, console.Wrongf(c, "seat", "%v", err)
	}
	return players, nil
}

// seatsFrom returns the only players who may take seats, by seat.
func seatsFrom(seats map[string]string, from *replay.Origin) ([]string, error) {
	if len(seats) == 0 {
		return nil, nil
	}
	players := make([]string, from.Header.Settings.Players)
	for text, who := range seats {
		seat, err := strconv.ParseUint(text, 10, 8)
		switch {
		case err != nil || seat >= uint64(len(players)):
			return nil, fmt.Errorf("got seat %.32q, want 0 to %d", text, len(players)-1)
		case who == "":
			return nil, fmt.Errorf("got no player for seat %d, want a name or a subject", seat)
		case players[seat] != "": // such as 0 and 00
			return nil, fmt.Errorf("got seat %d twice, want each seat once", seat)
		}
		players[seat] = who
	}
	return players, nil
}

// requestedFrom returns the match of a request, in JSON and parsed, that begins in a state of a replay on the server.
func requestedFrom(text io.Reader, r MatchRequest, from string, seats map[string]string, games gameset.List, guests bool, policy *MatchPolicy) (none server.MatchSpec, err error) {
	switch {
	case guests:
		return none, errors.New("a server for guests takes no from")
	case from == "":
		return none, errors.New("seats needs from")
	case policy.openReplay == nil:
		return none, errors.New("got from, but this server has no replays")
	}
	var given map[string]json.RawMessage
	if err := json.NewDecoder(text).Decode(&given); err != nil {
		return none, err
	}
	if given["players"] == nil { // it has a default that is not the save's
		r.Players = 0
	}
	if r.Game != "" {
		if _, err := games.Named(r.Game); err != nil {
			return none, err
		}
		games = games.Builds(r.Game)
	}
	spec, g, err := saved(r, from, games, policy)
	if err != nil {
		return none, fmt.Errorf("from %.256s: %w", from, err)
	}
	if int(r.Bots) > int(spec.Settings.Players) {
		return none, fmt.Errorf("got %d bots, want at most %d, the players", r.Bots, spec.Settings.Players)
	}
	if spec.Players, err = seatsFrom(seats, spec.From); err != nil {
		return none, fmt.Errorf("seats: %w", err)
	}
	return spec, policy.Of(g).applyTo(&spec, &r.requestedPolicy, r.Bots)
}

// saved opens a replay of the server, and returns the match that a request begins in it.
func saved(r MatchRequest, from string, games gameset.List, policy *MatchPolicy) (spec server.MatchSpec, g *gameset.Playable, err error) {
	name := parseOriginName(from)
	f, err := policy.openReplay(policy.Ctx, name.replay)
	if err != nil {
		if name.wrong != nil && errors.Is(err, fs.ErrNotExist) {
			err = name.wrong
		}
		return spec, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return spec, nil, err
	}
	reader, err := replay.NewReader(f, info.Size())
	if err != nil {
		return spec, nil, err
	}
	origin, g, err := name.read(reader, games, replay.SimulateOptions{})
	if err == nil {
		spec, err = specFrom(g, origin, r)
	}
	return spec, g, err
}
