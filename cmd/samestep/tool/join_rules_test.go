//go:build !js

package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// fetchedModules returns the modules that the user's cache has from servers.
func fetchedModules(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(gameset.FetchedIn(gameset.StoreOfUser()), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	return names
}

// A player joins a match of a game that its program has never seen: the server sends the rules, once.
func TestJoinFetchesRules(t *testing.T) {
	testenv.Long(t) // TestFetchedRulesAreChecked fetches rules, too
	tooltest.InEmptyCache(t)
	b, _ := tooltest.Pebbles(t)
	file := filepath.Join(t.TempDir(), "pebbles.wasm")
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
	s := tooltest.Serve(t, "--rules", file, "--game", "pebbles", "--players", "2", "--bots", "1", "--set", "base-path=/game/", "--dir", t.TempDir(), "--tick-rate", "100")
	page := s.URL + "matches/match-1"
	status, err := tooltest.Status(t, page)
	if err != nil || status.Rules != tooltest.SumOf(b) {
		t.Fatalf("the status has the module %q, %v, want %s", status.Rules, err, tooltest.SumOf(b))
	}
	join := func(long string) string {
		t.Helper()
		var out, errs bytes.Buffer
		token := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(token, []byte(s.Tokens["player-0"]), 0o600); err != nil {
			t.Fatal(err)
		}
		code := tooltest.Execute([]string{"join", page, "--token", "@" + token, "--time", long, "--json"}, &out, &errs)
		var sum tooltest.Summary
		if err := json.Unmarshal(out.Bytes(), &sum); err != nil || code != console.ExitOK || long == "2s" && sum.Agreed == 0 || sum.Differing > 0 || sum.Seat != 0 {
			t.Fatalf("join exited with %d, %v: %s%s", code, err, &out, &errs)
		}
		return errs.String()
	}
	want := fmt.Sprintf("got the rules of pebbles build %s from %srules/%s.wasm", status.Build, s.URL, tooltest.SumOf(b))
	if said := join("2s"); !strings.Contains(said, want) {
		t.Errorf("join said %q, want %q", said, want)
	}
	if got := fetchedModules(t); len(got) != 1 || got[0] != tooltest.SumOf(b)+".wasm" {
		t.Errorf("the cache has %q, want the module", got)
	}
	if said := join("1s"); strings.Contains(said, "got the rules") {
		t.Errorf("the second join fetched them again: %s", said)
	}

	// Nothing else is at that path.
	for path, status := range map[string]int{
		"rules/" + tooltest.SumOf(b) + ".wasm": 200, "rules/" + tooltest.SumOf(b): 404, "rules/" + strings.Repeat("0", 64) + ".wasm": 404, "rules/": 404, "rules/..%2f..%2fetc%2fpasswd": 404,
		"../rules/" + tooltest.SumOf(b) + ".wasm": 404,
	} {
		answer, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if answer.Body.Close(); err != nil || answer.StatusCode != status || status == 200 && !bytes.Equal(body, b) {
			t.Errorf("%s: got %s with %d bytes, %v, want %d", path, answer.Status, len(body), err, status)
		}
		if immutable := strings.Contains(answer.Header.Get("Cache-Control"), "immutable"); immutable != (status == 200) {
			t.Errorf("%s: got Cache-Control %q", path, answer.Header.Get("Cache-Control"))
		}
	}
}

// For a replay, the modules that the user has added come before those of servers, which may name any game.
func TestFetchedRulesComeLast(t *testing.T) {
	tooltest.InEmptyCache(t)
	ours, _ := tooltest.Pebbles(t)
	theirs := append(bytes.Clone(ours), 0, 2, 1, 'x') // the same with a custom section
	write := func(dir string, b []byte) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, tooltest.SumOf(b)+".wasm"), b, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	found := func() string {
		t.Helper()
		app := cli.NewApp()
		app.ErrWriter = io.Discard
		m, err := gameset.NewModuleSet(cli.NewContext(app, flag.NewFlagSet("", flag.ContinueOnError), nil), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, err := m.Find(func(g *gameset.Playable) bool { return g.Name() == "pebbles" })
		if err != nil {
			t.Fatal(err)
		}
		if g == nil {
			return ""
		}
		return g.Module.Sum
	}
	write(gameset.FetchedIn(gameset.StoreOfUser()), theirs)
	if got := found(); got != tooltest.SumOf(theirs) {
		t.Errorf("without a module of the user, got %q, want %s", got, tooltest.SumOf(theirs))
	}
	write(gameset.StoreOfUser(), ours)
	if got := found(); got != tooltest.SumOf(ours) {
		t.Errorf("got %q, want %s, which the user has added", got, tooltest.SumOf(ours))
	}
}
