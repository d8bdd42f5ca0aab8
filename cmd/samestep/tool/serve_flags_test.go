//go:build !js

package tool

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// A flag without an effect is a mistake, and so is a value out of its range. The error says what was got and what is wanted.
func TestServeRefusesFlags(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(empty, []byte("# nobody yet\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for flags, want := range map[string]string{
		"--players 2 --set start=9":                                   "start: got 9 players, want at most 2, the seats without a bot",
		"--players 2 --set start=ready:9":                             "start: got 9 players, want at most 2",
		"--players 4 --bots 3 --set start=2":                          "start: got 2 players, want at most 1",
		"--set countdown=5s":                                          "countdown: got it without a start of ready, want it with ready or ready:N",
		"--set countdown=5s --set start=2":                            "countdown: got it without a start of ready",
		"--set start=ready --set countdown=-1s":                       "countdown: got -1s, want 0s to 10m0s",
		"--set start=ready --set countdown=11m":                       "countdown: got 11m0s, want 0s to 10m0s",
		"--set inactive=-5s":                                          "inactive: got -5s, want 0s to 24h0m0s",
		"--set inactive=0s --set inactive-then=remove":                "inactive-then: got remove with inactive 0",
		"--set await-players=-1s":                                     "await-players: got -1s, want at least 0s",
		"--set drain=-1s":                                             "drain: got -1s, want at least 0s",
		"--set idle=-1s":                                              "idle: got -1s, want at least 0s",
		"--set bundles=true --set replays=false":                      "bundles needs replays",
		"--set bundles=true":                                          "ok",
		"--set grace=0s":                                              "grace: got 0s, want 1ms to 24h0m0s",
		"--tokens " + empty:                                           "--tokens: got no token in " + empty + ", want at least one",
		"--matches 0 --set countdown=5s":                              "ok",
		"--set start=ready:2 --set countdown=5s --players 2":          "ok",
		"--players 2 --bots 2":                                        "ok",
		"--set grace=5s --set idle=0s --set inactive-then=remove":     "ok",
		"--guests 2 --tokens " + empty:                                "ok",
		"--set inactive=0s --set inactive-then=report --set drain=0s": "ok",
	} {
		code, out := checkServe(t, "", strings.Fields(flags)...)
		if ok := want == "ok"; ok != (code == console.ExitOK) || !ok && code != console.ExitUsage || !strings.Contains(out, want) {
			t.Errorf("%s: got exit code %d and %q, want %q", flags, code, out, want)
		}
	}
}

// policyOf returns the policies of a command line of serve.
func policyOf(t *testing.T, flags ...string) (p *serving.MatchPolicy) {
	t.Helper()
	serve := serving.ServeCommand()
	serve.Action = func(c *cli.Context) (err error) {
		if err = console.ReadSettings(c); err == nil {
			p, err = serving.NewMatchPolicy(c, games[0])
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
	spec, err := serving.RequestedMatch(strings.NewReader(body), games, false, policyOf(t, "--set", "grace=7s"))
	if err != nil {
		t.Fatal(err)
	}
	resumed := server.MatchSpec{Settings: spec.Settings, Game: spec.Game}
	if err := policyOf(t).Restore(&resumed, spec.Recorded); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*server.MatchSpec{&spec, &resumed} {
		if o := s.Host; !o.Start.Ready || o.Start.Countdown != 5*lockstep.Second || o.Grace != 7*lockstep.Second || s.Substitute == nil {
			t.Errorf("got %+v, substitutes %t, by %s", o.Start, s.Substitute != nil, spec.Recorded)
		}
	}
	without, err := serving.RequestedMatch(strings.NewReader(`{"name":"a","substitutes":false}`), games, false, policyOf(t, "--set", "substitutes=true"))
	if err != nil || without.Substitute != nil || without.Host.Start.Countdown != 0 || without.Host.Grace != 30*lockstep.Second {
		t.Errorf("got %+v, %v", without.Host, err)
	}
	for body, want := range map[string]string{
		`{"start":"9","players":2}`:                "start: got 9 players, want at most 2, the seats without a bot",
		`{"start":"ready:2","players":2,"bots":1}`: "start: got 2 players, want at most 1",
		`{"start":"ready","countdown":"5"}`:        `countdown: got "5", want 0s to 10m0s`,
		`{"start":"ready","countdown":"-5s"}`:      `countdown: got "-5s", want 0s to 10m0s`,
		`{"countdown":"5s"}`:                       "countdown: got it without a start of ready",
		`{"count_down":"5s"}`:                      `a match: unknown field "count_down", want name, game, players, scenario, units, bots, bot, start, countdown, substitutes, config, seed, tick_rate, tick_micros, from, seats`,
	} {
		if _, err := serving.RequestedMatch(strings.NewReader(body), games, false, policyOf(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
	if _, err := serving.RequestedMatch(strings.NewReader(`{"substitutes":true}`), games, false, policyOf(t, "--set", "relay=true")); err == nil || !strings.Contains(err.Error(), "want a referee") {
		t.Errorf("got %v", err)
	}
}

// A match keeps no limits of its creation, so a resumed one has those of the server, which can change while it runs.
func TestLimitsAreNoPolicies(t *testing.T) {
	spec, err := serving.RequestedMatch(strings.NewReader(`{"name":"a"}`), games, false, policyOf(t, "--set", "grace=7s", "--set", "max-spectators=5", "--set", "guest-seats=3", "--set", "guest-inactive=1m"))
	if err != nil {
		t.Fatal(err)
	}
	if o := spec.Host; !strings.Contains(spec.Recorded, "--grace") || o.MaxSpectators != 0 || o.GuestSeats != 0 || o.Inactive.Guests != 0 {
		t.Errorf("got the limits %+v in the match", o)
	}
	for _, s := range serving.LimitSettings() {
		name := s.Name()
		if strings.Contains(spec.Recorded, name) {
			t.Errorf("%s is among the policies %q", name, spec.Recorded)
		}
	}
}

// The fields that a request may have are listed in its description.
func TestFieldsOfRequestAreDescribed(t *testing.T) {
	openAPI, err := os.ReadFile("../../../server/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	_, schema, _ := strings.Cut(string(openAPI), `"NewMatch": {`)
	schema, _, _ = strings.Cut(schema, `"Player": {`)
	names := serving.FieldNames(reflect.TypeFor[serving.MatchRequest]())
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
