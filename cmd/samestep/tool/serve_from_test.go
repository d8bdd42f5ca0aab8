//go:build unix && !solaris && !aix && !js

package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/lockstep"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// The whole story of a save, with the example game: a match is saved while it is played, and another server begins a match
// in it with the players in each other's seats. It is killed, goes on, and ends. Its replay verifies and names its parent.
func TestSaveAndServeFrom(t *testing.T) {
	testenv.Long(t) // the tests of saves of package server have each step
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	tokens := filepath.Join(home, "tokens")
	const list = "player 0 ann - ann-ann-ann-ann-ann\nplayer 1 bob - bob-bob-bob-bob-bob\nadmin - ops - ops-ops-ops-ops-ops-ops\n"
	if err := os.WriteFile(tokens, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	named := func(s *tooltest.Server) *tooltest.Server {
		s.Tokens["ann"], s.Tokens["ops"] = "ann-ann-ann-ann-ann", "ops-ops-ops-ops-ops-ops"
		return s
	}
	flags := []string{"--players", "2", "--config", oneTeam(t, 60), "--tick-rate", "50", "--tokens", tokens, "--resume", "--set", "await-players=100ms"} // bob never comes
	first := named(tooltest.Serve(t, append(flags, "--dir", home)...))
	if sum := playInTest(t, first, 50); sum.Seat != 0 {
		t.Fatalf("ann has seat %d", sum.Seat)
	}
	save := filepath.Join(home, "save.ssr")
	url := first.URL + "/matches/match-1"
	if _, errs := tooltest.Requires(t, console.ExitError, "save", url, save, "--token", "ann-ann-ann-ann-ann"); !strings.Contains(errs, "want the token of an admin") {
		t.Errorf("a player: %s", errs)
	}
	out, _ := tooltest.Requires(t, console.ExitOK, "save", url, save, "--token", "ops-ops-ops-ops-ops-ops", "--json")
	var saved struct{ Tick lockstep.Tick }
	if err := json.Unmarshal([]byte(out), &saved); err != nil || saved.Tick < 50 {
		t.Fatalf("got %s, %v", out, err)
	}
	if _, errs := tooltest.Requires(t, console.ExitError, "save", url, save, "--token", "ops-ops-ops-ops-ops-ops"); !strings.Contains(errs, "exists") {
		t.Errorf("over a file: %s", errs)
	}
	tooltest.Requires(t, console.ExitOK, "replay", "verify", save)

	at := saved.Tick - 10
	from := append(flags, "--dir", dir, "--from", fmt.Sprintf("%s@%d", save, at), "--set", "seat=1=ann")
	second := named(tooltest.Serve(t, from...))
	before := playInTest(t, second, saved.Tick)
	if before.Seat != 1 || before.Differing > 0 {
		t.Errorf("ann: %+v, want seat 1", before)
	}
	second.Kill()
	third := named(tooltest.Serve(t, from...))
	awaitResumed(t, third)
	live, _ := filepath.Glob(filepath.Join(dir, replays.LiveFolder, "match*.ssr"))
	if len(live) != 1 {
		t.Fatalf("got %v, want one live log", live)
	}
	followed := make(chan string)
	go func() {
		var out bytes.Buffer
		code := tooltest.Execute([]string{"replay", "verify", "--follow", live[0], "--parent", home}, &out, &out)
		followed <- fmt.Sprint(code, out.String())
	}()
	after := playInTest(t, third, before.Tick)
	if after.Seat != 1 || after.Differing > 0 {
		t.Errorf("ann came back: %+v, before %+v", after, before)
	}
	third.End(t, "ops-ops-ops-ops-ops-ops")
	if code := third.Stop(); code != console.ExitOK {
		t.Errorf("the server exited with %d: %s", code, third.Stderr.String())
	}
	if out := <-followed; out[0] != '0' || !tooltest.Says(out, "its first state is that of "+save) {
		t.Errorf("verify --follow: exit code %s", out)
	}
	replays, _ := filepath.Glob(filepath.Join(dir, "match*.ssr"))
	if len(replays) != 1 {
		t.Fatalf("got %v, want one replay", replays)
	}
	out, _ = tooltest.Requires(t, console.ExitOK, "replay", "info", replays[0])
	if !strings.Contains(out, fmt.Sprintf(`in the state after tick %d of "save"`, at)) || !strings.Contains(out, fmt.Sprintf("ticks after tick %d", at)) {
		t.Errorf("info: %s", out)
	}
	if out, _ = tooltest.Requires(t, console.ExitOK, "replay", "verify", replays[0]); !tooltest.Says(out, "not followed: its replay was not found") {
		t.Errorf("verify: %s", out)
	}
	if out, _ = tooltest.Requires(t, console.ExitOK, "replay", "verify", replays[0], "--parent", home); !tooltest.Says(out, "its first state is that of "+save) {
		t.Errorf("verify: %s", out)
	}
	out, _ = tooltest.Requires(t, console.ExitOK, "replay", "verify", "--json", "--parent", save, replays[0])
	if !strings.Contains(out, `"lineage": [`) || !strings.Contains(out, `"name": "save"`) {
		t.Errorf("verify: %s", out)
	}
	third = named(tooltest.Serve(t, append(from, "--from", replays[0])...)) // a grandchild
	if sum := playInTest(t, third, after.Tick); sum.Differing > 0 {
		t.Errorf("the third generation: %+v", sum)
	}
	third.End(t, "ops-ops-ops-ops-ops-ops")
	third.Stop()
	all, _ := filepath.Glob(filepath.Join(dir, "match*.ssr"))
	for _, path := range all {
		out, _ = tooltest.Requires(t, console.ExitOK, "replay", "verify", path, "--parent", save)
		if path != replays[0] && strings.Count(tooltest.OneLine(out), tooltest.OneLine("its first state is that of")) != 2 {
			t.Errorf("the third generation: %s", out)
		}
	}
	if len(all) != 2 {
		t.Errorf("got %v, want two replays", all)
	}
}

// Flags that are not those of the save are refused with the name of the field.
func TestServeFromRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := tooltest.CopyDemo(dir, "--seconds", "5", "--config", `{"Units":100}`, "--players", "2", "--seed", "3"); err != nil {
		t.Fatal(err)
	}
	save := filepath.Join(dir, "skirmish.ssr")
	for _, row := range []struct {
		flags []string
		code  int
		want  string
	}{
		{[]string{"--players", "200"}, console.ExitError, "setting players: got 200"},
		{[]string{"--tick-rate", "77"}, console.ExitError, "setting tick micros: got 12987"},
		{[]string{"--set", "seed=77"}, console.ExitError, "setting seed: got 77"},
		{[]string{"--config", `{"Units":77}`}, console.ExitError, "configuration Units"},
		{[]string{"--game", "minimal"}, console.ExitIdentity, "game"},
		{[]string{"--set", "seat=0"}, console.ExitUsage, `seat: got "0", want a seat and a player, such as 0=ann`},
		{[]string{"--set", "seat=0=bob", "--set", "seat=0=ann"}, console.ExitUsage, "seat: got seat 0 twice"},
		{[]string{"--set", "seat=0=bob", "--set", "seat=00=ann"}, console.ExitUsage, "seat: got seat 0 twice"},
		{[]string{"--set", "seat=0=nobody"}, console.ExitOK, `msg="nobody can take a seat: no token has the name or the subject of seat" match=match-1 seat=0 player=nobody`},
		{[]string{"--from", save + "@abc"}, console.ExitUsage, `--from: got "abc" after the @, want a tick such as 1200 or a time such as 20m`},
		{[]string{"--from", save + "@"}, console.ExitUsage, `--from: got "" after the @`},
		{[]string{"--set", "seat=99=ann"}, console.ExitUsage, `seat: got seat "99", want 0 to`},
		{[]string{"--set", "seat=0="}, console.ExitUsage, "seat: got no player for seat 0"},
		{[]string{"--bots", "200"}, console.ExitUsage, "--bots: got 200"},
		{[]string{"--from", save + "@9999999"}, console.ExitError, "tick 9999999: the replay has ticks 0 to"},
		{[]string{"--from", "none.ssr"}, console.ExitError, "no such file"},
		{[]string{"--from", ""}, console.ExitUsage, "seat: needs --from"},
		{[]string{}, console.ExitOK, "ok"},
	} {
		args := append([]string{"serve", "--check-config", "--dir", "", "--from", save + "@60"}, row.flags...)
		if row.want == "seat: needs --from" {
			args = append(args, "--set", "seat=0=ann")
		}
		if out, errs := tooltest.Requires(t, row.code, args...); !strings.Contains(out+errs, row.want) {
			t.Errorf("%q: got %s%s, want %s", row.flags, out, errs, row.want)
		}
	}
}

// An admin begins a match in a replay of the server over HTTP.
func TestPostFrom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := tooltest.Serve(t, "--players", "2", "--config", `{"Units":60}`, "--tick-rate", "50", "--dir", dir, "--matches", "1")
	s.Tokens["ann"] = s.Tokens["player-0"]
	playInTest(t, s, 30)
	s.End(t, s.Tokens["admin"])
	var parent string
	for deadline := time.Now().Add(time.Minute); parent == ""; time.Sleep(20 * time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(dir, "match-1*.ssr")); len(found) == 1 {
			parent = filepath.Base(found[0])
		}
		if time.Now().After(deadline) {
			t.Fatal("the match has no replay")
		}
	}
	for _, row := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"name":"again","from":"` + parent + `@25","seats":{"1":"player-0"},"bots":1}`, 400, "a bot has seat 1"},
		{`{"name":"again","from":"` + parent + `@25","seats":{"1":"player-0"}}`, 201, `"tick":26`},
		{`{"name":"time","from":"` + parent + `@400ms","bots":1}`, 201, `"players":2`},
		{`{"name":"x","from":"` + parent + `@25","players":3}`, 400, "setting players: got 3, want 2"},
		{`{"name":"x","from":"` + parent + `@25","seed":9}`, 400, "setting seed: got 9, want 1"},
		{`{"name":"x","from":"` + parent + `@25","tick_rate":20}`, 400, "setting tick micros: got 50000, want 20000"},
		{`{"name":"x","from":"` + parent + `@25","game":"minimal"}`, 400, "game"},
		{`{"name":"x","from":"` + parent + `@25","bots":3}`, 400, "got 3 bots, want at most 2"},
		{`{"name":"x","from":"` + parent + `@25","seats":{"2":"ann"}}`, 400, `got seat \"2\", want 0 to 1`},
		{`{"name":"x","from":"` + parent + `@99999"}`, 400, "the replay has ticks 0 to"},
		{`{"name":"x","from":"none-01234567.ssr"}`, 404, "no_replay"},
		{`{"name":"x","from":"` + parent + `@5x"}`, 400, `got \"5x\" after the @, want a tick`},
		{`{"name":"x","from":"../` + parent + `"}`, 404, "no_replay"},
		{`{"name":"x","seats":{"0":"ann"}}`, 400, "seats needs from"},
	} {
		if status, answer := s.Do(t, http.MethodPost, "/matches", s.Tokens["admin"], row.body); status != row.status || !strings.Contains(answer, row.want) {
			t.Errorf("%s: got %d %s, want %d %s", row.body, status, answer, row.status, row.want)
		}
	}
	if status, answer := s.Do(t, http.MethodPost, "/matches", s.Tokens["player-0"], `{"name":"x","from":"`+parent+`"}`); status != http.StatusForbidden {
		t.Errorf("a player: got %d %s", status, answer)
	}
	if code := s.Stop(); code != console.ExitOK {
		t.Errorf("the server exited with %d: %s", code, s.Stderr.String())
	}
}

// A server for guests begins no match in a replay for them.
func TestPostFromForGuests(t *testing.T) {
	policy := &serving.MatchPolicy{Game: games[0], Players: 4}
	for body, want := range map[string]string{
		`{"name":"x","from":"a.ssr"}`: "a match: a server for guests takes no from",
		`{"name":"x","seats":{}}`:     "a match: a server for guests takes no from",
	} {
		if _, err := serving.RequestedMatch(strings.NewReader(body), games, true, policy); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
	if _, err := serving.RequestedMatch(strings.NewReader(`{"name":"x","from":"a.ssr"}`), games, false, policy); err == nil || !strings.Contains(err.Error(), "no replays") {
		t.Errorf("got %v", err)
	}
}
