//go:build unix

package clustertool_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cluster"
	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/fleet"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// poisonCoins is the number of coins of a match that ends its process in tick 60, in the program of the tests.
const poisonCoins = 13

// deadly returns rules whose matches with poisonCoins overflow the stack, which no program survives.
func deadly(r lockstep.Rules[minimal.World, minimal.Config]) lockstep.Rules[minimal.World, minimal.Config] {
	step := r.Step
	r.Step = func(w *minimal.World, c *minimal.Config, turn *lockstep.Turn) {
		if c.Coins == poisonCoins && turn.Tick >= 60 {
			debug.SetMaxStack(1 << 20)
			overflow = deeper(0)
		}
		step(w, c, turn)
	}
	return r
}

var overflow int // so that the calls have a use

func deeper(n int) int {
	if n < 0 {
		return 0
	}
	return deeper(n+1) + n
}

// poisoned is the configuration of a match that ends its process.
var poisoned = minimal.Config{Size: 50, Coins: poisonCoins}

// A server with --resume that one match ends is well again after its fourth start, with all other matches, and names that match.
func TestCrashLoop(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	dir := t.TempDir()
	tokens(t, dir)
	log := filepath.Join(dir, "server.log")
	address := freeAddress(t)
	start := func() *fleet.Process {
		p, err := fleet.Run(t.Context(), dir, "server", "listening on ", []string{
			program(t), "serve", "--game", "minimal", "--resume", "--matches", "0", "--listen", address, "--dir", filepath.Join(dir, "data"), "--tokens", filepath.Join(dir, "tokens.txt"), "--set", "web=false", "--set", "await-players=0s",
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		return p
	}
	ask := func(method, path, body string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer ops-ops-ops-ops-ops-ops")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
	p := start()
	names := []string{"bad", "good-1", "good-2", "good-3"}
	for _, name := range names {
		config := minimal.Config{Size: 50, Coins: 500}
		if name == "bad" {
			config = poisoned
		}
		body, err := json.Marshal(map[string]any{"name": name, "players": 2, "start": "now", "config": config})
		if err != nil {
			t.Fatal(err)
		}
		if answer := ask("POST", "/matches", string(body)); answer.StatusCode != http.StatusCreated {
			t.Fatal(answer.Status)
		}
	}
	deaths := 0
	states := map[string]string{}
	for states["bad"] != "failed" {
		select {
		case <-p.Ended():
			deaths++
			if deaths > 4 {
				text, _ := os.ReadFile(log)
				t.Fatalf("%d deaths: %s", deaths, text[max(0, len(text)-4000):])
			}
			p = start()
		case <-time.After(200 * time.Millisecond):
			answer, err := http.Get("http://" + address + "/matches")
			if err != nil {
				continue // it has just ended
			}
			var list []server.Status
			err = json.NewDecoder(answer.Body).Decode(&list)
			answer.Body.Close()
			if err != nil {
				continue
			}
			for _, v := range list {
				states[v.Name] = v.State
			}
		}
	}
	text, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(text), "stack overflow") || !strings.Contains(string(text), `msg="match not resumed" match=bad `) {
		t.Errorf("the log names no match: %v, %s", err, text[max(0, len(text)-4000):])
	}
	for _, name := range names[1:] {
		await(t, name+" plays", func() bool {
			var v server.Status
			return json.NewDecoder(ask("GET", "/matches/"+name, "").Body).Decode(&v) == nil && v.State == "playing" && v.Tick > 60
		})
	}
	if answer := ask("POST", "/matches/bad/retry", ""); answer.StatusCode != http.StatusOK {
		t.Errorf("retry: got %s", answer.Status)
	}
	p.Wait() // it ends the process again
	start()
	await(t, "it is set aside again", func() bool {
		var v server.Status
		return json.NewDecoder(ask("GET", "/matches/bad", "").Body).Decode(&v) == nil && v.State == "failed"
	})
	t.Logf("%d deaths until the match was set aside", deaths)
}

// A match that ends the servers of a cluster has failed after at most three more, and none of nine others has.
func TestPoisonOfThree(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	f, err := fleet.Start(t.Context(), fleet.Options{Dir: t.TempDir(), Nodes: 1, Servers: 3, Program: program(t), Game: "minimal", Flags: []string{"--set", "await-players=0s"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	for i := range 9 {
		if err := f.Create(t.Context(), f.Servers[i%3], fmt.Sprint("good-", i), 2); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.CreateWith(t.Context(), f.Servers[0], "bad", 2, poisoned); err != nil {
		t.Fatal(err)
	}
	deaths, began := 0, time.Now()
	entries := func() map[string]cluster.Match {
		all := map[string]cluster.Match{}
		_, matches, err := cluster.Read(t.Context(), f.Conn)
		if err != nil {
			return nil
		}
		for _, m := range matches {
			all[m.Name] = m
		}
		return all
	}
	for entries()["bad"].State != ownership.Failed {
		if time.Since(began) > 3*time.Minute {
			t.Fatalf("%d deaths: %+v", deaths, entries()["bad"])
		}
		for _, s := range f.Servers {
			select {
			case <-s.Ended():
				deaths++
			default:
			}
		}
		if err := f.RestartEnded(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	took := time.Since(began)
	await(t, "all others play, beyond suspicion", func() bool {
		all := entries()
		for name, m := range all {
			if name != "bad" && (m.State != ownership.Playing || m.Tries.Suspect || m.Tries.Trying) {
				return false
			}
		}
		return len(all) == 10
	})
	if deaths > 4 {
		t.Errorf("%d servers died", deaths)
	}
	t.Logf("%d servers died until the match had failed, %v after its creation; all others played again after %v", deaths, took.Round(time.Second), time.Since(began).Round(time.Second))
}
