//go:build !js

package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A guest is a running join of a foreign game.
type guest struct {
	code    int
	summary tooltest.Summary
	output  string
	done    chan struct{}
}

// join lets a bot or a spectator join a match until the match ends.
func (f *foreign) join(url string, flags ...string) *guest {
	g := &guest{done: make(chan struct{})}
	go func() {
		defer close(g.done)
		var out, errs bytes.Buffer
		g.code = tooltest.Process(f.t.Context(), f.program, slices.Concat([]string{"join", url, "--json"}, f.rules[0], flags), &out, &errs)
		g.output = out.String() + errs.String()
		if err := json.Unmarshal(out.Bytes(), &g.summary); err != nil {
			g.output += err.Error()
		}
	}()
	return g
}

// ended waits for the end of the match, and requires that the guest was there after the crash, too.
func (g *guest) ended(t *testing.T, code, seat, desyncs int, after uint64) {
	t.Helper()
	<-g.done
	s := &g.summary
	if g.code != code || s.Seat != seat || (seat >= 0) != (s.Accepted > 0) || s.Desyncs != desyncs || s.Healed != desyncs || s.Agreed == 0 || (desyncs == 0) != (s.Differing == 0) {
		t.Errorf("seat %d: got exit code %d, want %d, and %s", seat, g.code, code, g.output)
	}
	if s.Losses == 0 || s.Resumed+s.Synced == 0 || uint64(s.Tick) <= after || s.Ended == "" {
		t.Errorf("seat %d: want a lost connection, and the end of the match after tick %d, got %s", seat, after, g.output)
	}
}

// until waits until the match of a URL is as wanted.
func (f *foreign) until(url, what string, yes func(v *server.Status) bool) *server.Status {
	f.t.Helper()
	var v *server.Status
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if v, err = tooltest.Status(f.t, url); err == nil && yes(v) {
			return v
		}
	}
	f.t.Fatalf("never: %s; the last view is %+v, error %v", what, v, err)
	return nil
}

// end ends a match as an admin.
func (f *foreign) end(url, token string) {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodDelete, url, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode >= 300 {
		f.t.Errorf("DELETE %s: got %s", url, answer.Status)
	}
}

// live plays a match of two bots before a spectator. One bot corrupts its state, then the server is killed and started
// again, and all three come back by themselves. The server's file has the whole match.
func (f *foreign) live(t *testing.T) {
	f.t = t
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	const ann, bob, operator = "ann-ann-ann-ann-ann", "bob-bob-bob-bob-bob", "operator-operator-operator"
	if err := errors.Join(
		os.WriteFile(in("tokens"), []byte("player 0 ann - "+ann+"\nplayer 1 bob - "+bob+"\nadmin - operator - "+operator+"\n"), 0o600),
		os.WriteFile(in("ann"), []byte(ann), 0o600), os.WriteFile(in("bob"), []byte(bob), 0o600),
		os.WriteFile(in("match.json"), []byte(`{"Gold": 1000}`), 0o600), // more than two bots find
	); err != nil {
		t.Fatal(err)
	}
	flags := []string{
		"--players", "2", "--tick-rate", "100", "--config", in("match.json"), "--dir", dir, "--tokens", in("tokens"),
		"--set", "anonymous-spectators=true", "--durability", "frame", "--resume",
	}
	first := tooltest.ServeFrom(t, f.program, slices.Concat(flags, f.rules[0])...)
	url := first.URL + "/matches/match-1"
	guests := []*guest{f.join(url, "--token", "@"+in("ann")), f.join(url, "--token", "@"+in("bob"), "--corrupt", "30"), f.join(url, "--spectate")}
	everybody := func(v *server.Status) bool { return v.Stats.Players == 2 && v.Stats.Spectators == 1 }
	f.until(url, "a desync is healed", func(v *server.Status) bool { return everybody(v) && v.Stats.Resyncs == 1 && v.Tick > 100 })
	f.until(url, "the evidence is written", func(*server.Status) bool {
		bundles, _ := filepath.Glob(filepath.Join(dir, "*-desync-*.zip"))
		return len(bundles) == 1 && answered(t, bundles[0])
	})
	f.run(console.ExitOK, "replay watch --once "+url, "match-1 tick ")
	first.Kill()

	second := tooltest.ServeFrom(t, f.program, append(slices.Concat(flags, f.rules[1]), "--listen", strings.TrimPrefix(first.URL, "http://"))...)
	resumed := f.until(url, "the match is resumed", func(*server.Status) bool { return true })
	crash := uint64(resumed.Tick)
	if f.rules[1] != nil { // the module of the match's own build, of the folder
		if status, body, _ := tooltest.Fetch(t, second.URL+"/rules/"+resumed.Rules+gameset.ModuleExtension); status != http.StatusOK || tooltest.SumOf([]byte(body)) != resumed.Rules || resumed.Build != "1" {
			t.Errorf("the rules of build %s: got %d with %d bytes, want 200 with the module %q", resumed.Build, status, len(body), resumed.Rules)
		}
	}
	f.until(url, "all are back", func(v *server.Status) bool { return everybody(v) && uint64(v.Tick) > crash+50 })
	f.end(url, operator)
	guests[0].ended(t, console.ExitOK, 0, 0, crash)
	guests[1].ended(t, console.ExitDesync, 1, 1, crash)
	guests[2].ended(t, console.ExitOK, -1, 0, crash)
	if code := second.Stop(); code != console.ExitOK {
		t.Errorf("the server exited with %d: %s", code, &second.Stderr)
	}

	files, _ := filepath.Glob(filepath.Join(dir, "match-1-*.ssr"))
	bundles, _ := filepath.Glob(filepath.Join(dir, "*-desync-*.zip"))
	if len(files) != 1 || len(bundles) != 1 {
		t.Fatalf("got replays %v and bundles %v, want one of each", files, bundles)
	}
	f.run(console.ExitOK, "replay verify "+files[0])
	f.run(console.ExitOK, fmt.Sprintf("replay seek %s --tick %d", files[0], crash+10), "agrees with the file")
	f.run(console.ExitDesync, "desync explain "+bundles[0], "THE PLAYER", "Diggers[")
	f.run(console.ExitOK, "replay dump "+bundles[0], "mismatch")
}

// answered reports whether a bundle has the player's states: a server writes it before, too.
func answered(t *testing.T, path string) bool {
	b, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	return slices.ContainsFunc(b.Bundle().Manifest.Exhibits, func(x replay.BundleExhibit) bool { return x.Player != "" })
}
