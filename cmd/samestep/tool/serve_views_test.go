//go:build !js

package tool

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A feedLine is a line of replay feed and of join --feed.
type feedLine struct {
	Tick   lockstep.Tick
	Viewer string
	Bytes  int
	View   json.RawMessage
}

// A coach sees the views of its team, from before the match begins, and the same views come from the replay. Nobody gets anything else.
func TestServeViews(t *testing.T) {
	testenv.Long(t) // the tests of views of package server have no processes
	t.Parallel()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.txt")
	const list = "player 0 ada - ada-ada-ada-ada-ada\nplayer 1 bob - bob-bob-bob-bob-bob\nspectator team:1 coach - coach-coach-coach\nadmin - ops - ops-ops-ops-ops-ops\n"
	if err := os.WriteFile(tokens, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	s := tooltest.Serve(t, "--players", "2", "--config", `{"Units":60}`, "--dir", dir, "--tokens", tokens, "--set", "players-see=views")
	feed := func(token string, flags ...string) (lines []feedLine, code int) {
		var out, errs bytes.Buffer
		code = tooltest.Execute(append([]string{"join", s.URL + "/matches/match-1", "--token", token, "--json"}, flags...), &out, &errs)
		for line := range strings.Lines(out.String()) {
			var l feedLine
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Errorf("%s: %v in %q", token, err, line)
			}
			lines = append(lines, l)
		}
		return lines, code
	}
	if lines, code := feed("coach-coach-coach", "--feed", "--time", "300ms"); code != console.ExitOK || len(lines) != 1 || lines[0].Viewer != "team:1" || lines[0].Tick != 0 {
		t.Errorf("before the match: exited with %d, %d views", code, len(lines))
	}
	var players sync.WaitGroup
	for name, viewer := range map[string]string{"ada-ada-ada-ada-ada": "team:0", "bob-bob-bob-bob-bob": "team:1"} {
		players.Go(func() {
			if lines, code := feed(name, "--feed", "--time", "2500ms"); code != console.ExitOK || len(lines) < 10 || lines[9].Viewer != viewer {
				t.Errorf("%s: exited with %d, %d views", name, code, len(lines))
			}
		})
	}
	if _, code := feed("ada-ada-ada-ada-ada"); code != console.ExitUsage {
		t.Errorf("without --feed: exited with %d, want %d", code, console.ExitUsage)
	}
	seen, code := feed("coach-coach-coach", "--feed", "--time", "2s")
	if players.Wait(); code != console.ExitOK || len(seen) < 10 {
		t.Fatalf("the coach exited with %d, %d views", code, len(seen))
	}
	s.End(t, "ops-ops-ops-ops-ops")
	s.Stop()
	files, _ := filepath.Glob(filepath.Join(dir, "*.ssr"))
	if len(files) != 1 {
		t.Fatalf("got files %v", files)
	}
	last := seen[len(seen)-1]
	var out, errs bytes.Buffer
	code = tooltest.Execute([]string{"replay", "feed", files[0], "--viewer", "team:1", "--every", "1", "--json"}, &out, &errs)
	again := feedLine{}
	for line := range strings.Lines(out.String()) {
		if err := json.Unmarshal([]byte(line), &again); err != nil || again.Tick == last.Tick {
			break
		}
	}
	var live, replayed struct{ Units json.RawMessage } // all of it that each view has
	if json.Unmarshal(last.View, &live) != nil || json.Unmarshal(again.View, &replayed) != nil || len(live.Units) < 1000 || !bytes.Equal(live.Units, replayed.Units) {
		t.Errorf("tick %d: the replay shows others at tick %d, exits with %d: %s\n%s\n%s", last.Tick, again.Tick, code, errs.String(), live.Units, replayed.Units)
	}
}
