//go:build !js

package serving

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

func playable[S, C any](t *testing.T, rules lockstep.Rules[S, C]) *gameset.Playable {
	t.Helper()
	g, err := gameset.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// policyOf returns the policies of a command line of serve.
func policyOf(t *testing.T, flags ...string) (p *MatchPolicy) {
	t.Helper()
	serve := ServeCommand()
	serve.Action = func(c *cli.Context) (err error) {
		if err = console.ReadSettings(c); err == nil {
			p, err = newMatchPolicy(c, playable(t, skirmish.Rules()))
		}
		return err
	}
	app := &cli.App{Commands: []*cli.Command{serve}}
	if err := app.Run(append([]string{"samestep", "serve"}, flags...)); err != nil {
		t.Fatal(err)
	}
	return p
}

// A request for a match has policies of its own, which the match keeps when another server resumes it.
func TestPoliciesOfRequest(t *testing.T) {
	const body = `{"name":"a","players":2,"start":"ready","countdown":"5s","substitutes":true}`
	spec, err := RequestedMatch(strings.NewReader(body), gameset.List{playable(t, skirmish.Rules())}, false, policyOf(t, "--set", "grace=7s"))
	if err != nil {
		t.Fatal(err)
	}
	resumed := server.MatchSpec{Settings: spec.Settings, Game: spec.Game}
	if err := policyOf(t).restore(&resumed, spec.Recorded); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*server.MatchSpec{&spec, &resumed} {
		if o := s.Host; !o.Start.Ready || o.Start.Countdown != 5*lockstep.Second || o.Grace != 7*lockstep.Second || s.Substitute == nil {
			t.Errorf("got %+v, substitutes %t, by %s", o.Start, s.Substitute != nil, spec.Recorded)
		}
	}
	without, err := RequestedMatch(strings.NewReader(`{"name":"a","substitutes":false}`), gameset.List{playable(t, skirmish.Rules())}, false, policyOf(t, "--set", "substitutes=true"))
	if err != nil || without.Substitute != nil || without.Host.Start.Countdown != 0 || without.Host.Grace != 0 {
		t.Errorf("got %+v, %v", without.Host, err)
	}
	for body, want := range map[string]string{
		`{"start":"9","players":2}`:                "start: got 9 players, want at most 2, the seats without a bot",
		`{"start":"ready:2","players":2,"bots":1}`: "start: got 2 players, want at most 1",
		`{"start":"ready","countdown":"5"}`:        `countdown: got "5", want 0s to 10m0s`,
		`{"start":"ready","countdown":"-5s"}`:      `countdown: got "-5s", want 0s to 10m0s`,
		`{"countdown":"5s"}`:                       "countdown: needs a start of ready",
		`{"count_down":"5s"}`:                      `a match: unknown field "count_down", want name, game, players, scenario, units, bots, bot, start, countdown, substitutes, config, seed, tick_rate, tick_micros, from, seats`,
	} {
		if _, err := RequestedMatch(strings.NewReader(body), gameset.List{playable(t, skirmish.Rules())}, false, policyOf(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
	if _, err := RequestedMatch(strings.NewReader(`{"substitutes":true}`), gameset.List{playable(t, skirmish.Rules())}, false, policyOf(t, "--set", "relay=true")); err == nil || !strings.Contains(err.Error(), "state of a referee") {
		t.Errorf("got %v", err)
	}
}

// A match keeps no limits of its creation, so a resumed one has those of the server, which can change while it runs.
func TestLimitsAreNoPolicies(t *testing.T) {
	spec, err := RequestedMatch(strings.NewReader(`{"name":"a"}`), gameset.List{playable(t, skirmish.Rules())}, false, policyOf(t, "--set", "grace=7s", "--set", "max-spectators=5", "--set", "guest-seats=3", "--set", "guest-inactive=1m"))
	if err != nil {
		t.Fatal(err)
	}
	if o := spec.Host; !strings.Contains(spec.Recorded, "--grace") || o.MaxSpectators != 0 || o.GuestSeats != 0 || o.Inactive.Guests != 0 {
		t.Errorf("got the limits %+v in the match", o)
	}
	for _, s := range limitSettings() {
		name := s.Name()
		if strings.Contains(spec.Recorded, name) {
			t.Errorf("%s is among the policies %q", name, spec.Recorded)
		}
	}
}

// The fields that a request may have are listed in its description.
func TestFieldsOfRequestAreDescribed(t *testing.T) {
	openAPI, err := os.ReadFile("../../../../../server/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	_, schema, _ := strings.Cut(string(openAPI), `"NewMatch": {`)
	schema, _, _ = strings.Cut(schema, `"Player": {`)
	names := fieldNames(reflect.TypeFor[MatchRequest]())
	if len(names) < 8 {
		t.Errorf("got fields %q", names)
	}
	for _, name := range names {
		if !strings.Contains(schema, `"`+name+`": {`) {
			t.Errorf("field %s is not in openapi.json", name)
		}
	}
}

// Where players see views only, nobody else watches unless the operator says so.
func TestWhoWatchesViews(t *testing.T) {
	for flags, want := range map[string]bool{
		"--guests=4": true, "--guests=4 --set players-see=views": false, "--set players-see=views --set anonymous-spectators=true": true,
	} {
		p := policyOf(t, strings.Fields(flags)...)
		if got := p.Host.AnonymousSpectators; got != want || p.Host.Views.Only != strings.Contains(flags, "views") {
			t.Errorf("%s: everybody may watch: %t, views only: %t", flags, got, p.Host.Views.Only)
		}
	}
}

// Without a flag, a command of a game of slow ticks runs in the next one, and a match has the period of its game unless a request says
// another. Its views are as many bytes a second as in any match.
func TestPeriodOfGame(t *testing.T) {
	slow := playable(t, skirmish.Rules())
	slow.Tick = 2_000_000
	const bytes = "view-bytes=1000"
	for _, c := range []struct {
		flags  []string
		body   string
		tick   uint32
		delay  lockstep.Tick
		budget int
		frames uint32 // from one keyframe to the next
	}{
		{nil, `{"name":"a"}`, 2_000_000, 1, 2000, 30},
		{nil, `{"name":"a","tick_rate":20}`, 50_000, 2, 100, 1200},
		{nil, `{"name":"a","tick_micros":500000}`, 500_000, 1, 500, 120},
		{nil, `{"name":"a","tick_micros":499999}`, 499_999, 2, 499, 120},
		{nil, `{"name":"a","tick_micros":60000000}`, 60_000_000, 1, 60_000, 1},
		{[]string{"--set", "input-delay=3"}, `{"name":"a"}`, 2_000_000, 3, 2000, 30},
		{[]string{"--set", "input-delay=auto"}, `{"name":"a"}`, 2_000_000, 0, 2000, 30},
	} {
		spec, err := RequestedMatch(strings.NewReader(c.body), gameset.List{slow}, false, policyOf(t, append(c.flags, "--set", bytes)...))
		if err != nil {
			t.Fatal(err)
		}
		s, h := spec.Settings, spec.Host
		if s.TickMicros != c.tick || h.InputDelay != c.delay || h.Views.Budget != c.budget || s.KeyframeEvery != c.frames {
			t.Errorf("%s %q: got a period of %d us, an input delay of %d, views of %d bytes, a keyframe in %d ticks; want %d, %d, %d, %d",
				c.body, c.flags, s.TickMicros, h.InputDelay, h.Views.Budget, s.KeyframeEvery, c.tick, c.delay, c.budget, c.frames)
		}
	}
}
