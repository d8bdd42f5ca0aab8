//go:build !js

package tool

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A maker of bots that panics ends neither the server nor a match: the seat is free, and the log has the stack.
func TestServeBadBots(t *testing.T) {
	t.Parallel()
	for name, maker := range map[string]func(lockstep.Player, uint64) lockstep.Bot{
		"the bot panicked: unlucky":                     func(lockstep.Player, uint64) lockstep.Bot { panic("unlucky") },
		"the bot panicked: there is none for this seat": func(lockstep.Player, uint64) lockstep.Bot { return nil },
	} {
		dir := t.TempDir()
		tokens, config := filepath.Join(dir, "tokens"), filepath.Join(dir, "config.json")
		for path, text := range map[string]string{tokens: "admin - ops - ops-ops-ops-ops-ops-ops\nplayer 0 ann - ann-ann-ann-ann-ann\n", config: `{"Size":20,"Coins":9}`} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, w := io.Pipe()
		var errs bytes.Buffer
		code := make(chan int, 1)
		go func() {
			args := []string{"mygame", "serve", "--listen", "127.0.0.1:0", "--players", "2", "--bots", "1", "--set", "start=now", "--set", "web=false", "--dir", dir, "--tokens", tokens, "--config", config}
			code <- Run(ctx, args, w, &errs, New(minimal.Rules(), Bot(maker)))
			w.Close()
		}()
		s := &tooltest.Server{}
		for lines := bufio.NewScanner(r); s.URL == "" && lines.Scan(); {
			s.URL, _ = strings.CutPrefix(lines.Text(), "listening on ")
		}
		go io.Copy(io.Discard, r)
		if s.URL == "" {
			t.Fatalf("%s: it exited with %d: %s", name, <-code, errs.String())
		}
		if status, answer := s.Do(t, http.MethodPost, "/matches", "ops-ops-ops-ops-ops-ops", `{"name":"again","players":2,"bots":1,"config":{"Size":20,"Coins":9}}`); status != http.StatusCreated {
			t.Errorf("%s: got %d %s", name, status, answer)
		}
		for _, match := range []string{"match-1", "again"} {
			waitForNobody(t, s.URL+"/matches/"+match)
		}
		cancel()
		if got := <-code; got != console.ExitOK {
			t.Errorf("%s: it exited with %d: %s", name, got, errs.String())
		}
		for _, match := range []string{"match-1", "again"} {
			if text := errs.String(); !regexp.MustCompile(`match=`+match+` id=\w+ tick=1 subject=connection event=failed`).MatchString(text) || !strings.Contains(text, name) || strings.Count(text, "stack=") != 2 {
				t.Errorf("%s: got the log %s", name, text)
			}
		}
	}
}

// waitForNobody waits until no seat of a match is taken.
func waitForNobody(t *testing.T, url string) {
	t.Helper()
	text := ""
	for deadline := time.Now().Add(time.Minute); !strings.Contains(text, `"players":[]`); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: %s", url, text)
		}
		answer, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		text = string(b)
	}
}
