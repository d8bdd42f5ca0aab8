//go:build !js

package server_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// A graveyard is a folder of interrupted matches, which servers resume one after the other. The process of a server ends where the next
// one begins with a copy of the folder: what the server does later, nobody sees.
type graveyard struct {
	dir     string
	end     chan struct{} // closed when the test is over; until then the poisoned match stays in its tick
	mended  atomic.Bool   // the poisoned match ends no process any more
	reached chan string   // the name of a match whose tick would end the process
	from    lockstep.Tick // of which tick the poisoned match ends the process
	panics  bool          // the poisoned match panics instead
	disk    *frozenDisk   // which has what the servers write; nil for one that never freezes
	cluster server.Replicator
}

// A slowFile is a file of a folder on a disk that can freeze.
type slowFile struct {
	*os.File
	disk *frozenDisk
}

func (f slowFile) Write(p []byte) (int, error) {
	f.disk.answer()
	return f.File.Write(p)
}

func (f slowFile) Sync() error {
	f.disk.answer()
	return f.File.Sync()
}

// bury returns a graveyard with logs of these names. The match of a name that begins with "bad" ends the process.
func bury(t *testing.T, log []byte, file string, names ...string) *graveyard {
	t.Helper()
	g := &graveyard{dir: t.TempDir(), from: 60, end: make(chan struct{}), reached: make(chan string, 1)}
	if err := os.Mkdir(filepath.Join(g.dir, "live"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(g.dir, "live", name+strings.TrimPrefix(file, "duel")), log, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// start begins a server in a copy of the folder.
func (g *graveyard) start(t *testing.T) (*stage, chan recovered) {
	t.Helper()
	next := t.TempDir()
	if err := os.Mkdir(filepath.Join(next, "live"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"ssr", "tries"} {
		found, _ := filepath.Glob(filepath.Join(g.dir, "live", "*."+kind))
		for _, path := range found {
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(filepath.Join(next, "live", filepath.Base(path)), b, 0o600)
			}
			if err != nil && !(kind == "tries" && errors.Is(err, fs.ErrNotExist)) { // the match has run for long enough by now
				t.Fatal(err)
			}
		}
	}
	g.dir = next
	s := &stage{dir: next, log: &logWriter{}, game: lockstep.MustGame(minimal.Rules())}
	tokens, err := server.ReadTokens(strings.NewReader(tokenList))
	if err == nil {
		s.server, err = server.New(server.Options{Dir: s.dir, Authorizer: tokens, AllowedHosts: []string{"server"}, KeepOpen: true, Limits: server.Limits{IdleMatch: -1}, Replicator: g.cluster, Log: slog.New(slog.NewTextHandler(s.log, nil))})
	}
	if err != nil {
		t.Fatal(err)
	}
	if g.disk != nil {
		s.server.SetNewFile(func(path string) (server.File, error) {
			f, err := os.Create(path)
			return slowFile{f, g.disk}, err
		})
	}
	paths, err := server.LiveLogs(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []server.Interrupted
	for _, path := range paths {
		all = append(all, server.Interrupted{Path: path, Spec: server.MatchSpec{Game: g.game(server.MatchOfLog(path))}})
	}
	results := make(chan recovered, 2*len(all))
	s.server.Recover(all, func(one server.Interrupted, m *server.Match, err error) { results <- recovered{one.Path, m, err} })
	s.listen(t, true)
	return s, results
}

// game returns the game of a match.
func (g *graveyard) game(name string) *lockstep.Game {
	rules := minimal.Rules()
	step := rules.Step
	rules.Step = func(w *minimal.World, c *minimal.Config, turn *lockstep.Turn) {
		if strings.HasPrefix(name, "bad") && !g.mended.Load() && turn.Tick >= g.from {
			if g.panics {
				panic("of the test")
			}
			select {
			case g.reached <- name:
			default: // nobody waits for it
			}
			<-g.end
		}
		step(w, c, turn)
	}
	return lockstep.MustGame(rules)
}

// setAside lets a server find the log of a match that was set aside.
func (s *stage) setAside(t *testing.T, name string) {
	t.Helper()
	log, file := interruptedDuel(t)
	path := filepath.Join(s.dir, "live", name+strings.TrimPrefix(file, "duel"))
	if err := errors.Join(os.WriteFile(path, log, 0o600), os.WriteFile(strings.TrimSuffix(path, ".ssr")+".tries", []byte(`{"suspect":true,"deaths":2}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	one := server.Interrupted{Path: path, Spec: server.MatchSpec{Game: lockstep.MustGame(minimal.Rules())}}
	s.server.Recover([]server.Interrupted{one}, func(server.Interrupted, *server.Match, error) {})
}

// state returns the state of a match in the list, and why it failed.
func (s *stage) state(t *testing.T, name string) (state, failure string) {
	t.Helper()
	var list []server.Status
	if _, body := s.ask(t, "GET", "/matches", "", ""); json.Unmarshal([]byte(body), &list) != nil {
		t.Fatal(body)
	}
	for _, v := range list {
		if v.Name == name {
			return v.State, v.Failure
		}
	}
	return "", ""
}

// A match that ends its process is set aside after three of them. The others go on, first those that nobody suspects.
func TestPoisonIsSetAside(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, file := interruptedDuel(t)
		g := bury(t, log, file, "bad", "good-1", "good-2", "good-3")
		defer close(g.end)
		for deaths := range 3 {
			s, _ := g.start(t)
			<-g.reached
			if text := s.log.String(); !strings.Contains(text, `msg="match is being resumed" match=bad`) {
				t.Errorf("the log names no match: %s", text)
			}
			if deaths > 0 {
				for _, name := range []string{"good-1", "good-2", "good-3"} {
					if state, _ := s.state(t, name); deaths == 2 && state != "playing" {
						t.Errorf("start %d: %s is %s while the suspect is tried", deaths, name, state)
					}
				}
				if text := s.log.String(); !strings.Contains(text, `msg="match is being resumed" match=bad `) || !strings.Contains(text, "alone=true") {
					t.Errorf("the suspect is not tried alone: %s", text)
				}
			}
		}
		s, results := g.start(t)
		for range 4 {
			got := <-results
			if cannot := server.CheckLog(got.path, s.game); errors.Is(cannot, server.ErrSetAside) != strings.Contains(got.path, "bad") {
				t.Errorf("%s: a check says %v", got.path, cannot)
			}
			if bad := strings.Contains(got.path, "bad"); bad != errors.Is(got.err, server.ErrSetAside) || !bad && got.err != nil {
				t.Fatalf("%s: got %v", got.path, got.err)
			}
		}
		if state, why := s.state(t, "bad"); state != "failed" || !strings.Contains(why, "set aside") {
			t.Errorf("got the state %s, %q", state, why)
		}
		if _, body := get(s.server, "/metrics"); !strings.Contains(body, `samestep_matches{state="failed"} 1`) {
			t.Errorf("the metrics know no failed match: %s", body)
		}
		if text := s.log.String(); !strings.Contains(text, `level=ERROR msg="match not resumed" match=bad `) {
			t.Errorf("the log names no match: %s", text)
		}
		for _, x := range []struct {
			path   string
			status int
		}{{"/matches/good-1/retry", 409}, {"/matches/bad/pause", 503}, {"/matches/none/retry", 409}} {
			if status, body := s.ask(t, "POST", x.path, ops, ""); status != x.status {
				t.Errorf("%s: got %d %s", x.path, status, body)
			}
		}
		g.mended.Store(true)
		if status, body := s.ask(t, "POST", "/matches/bad/retry", ops, ""); status != 200 || !strings.Contains(body, `"recovering"`) {
			t.Fatalf("retry: got %d %s", status, body)
		}
		if got := <-results; got.err != nil {
			t.Error(got.err)
		}
		time.Sleep(5 * time.Second)
		if state, _ := s.state(t, "bad"); state != "playing" {
			t.Errorf("got the state %s", state)
		}
		if notes := s.files(t, "live/*.tries*"); len(notes) > 0 {
			t.Errorf("the notes %v stay", notes)
		}
	})
}

// A match whose rules loop is given up, and the others go on. At the next start that counts as a death.
func TestHungMatchIsGivenUp(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, file := interruptedDuel(t)
		g := bury(t, log, file, "bad", "good")
		defer close(g.end)
		for _, want := range []error{server.ErrHung, server.ErrHung, server.ErrHung, server.ErrSetAside} {
			s, results := g.start(t)
			for range 2 {
				if got := <-results; strings.Contains(got.path, "bad") != (got.err != nil) || got.err != nil && !errors.Is(got.err, want) {
					t.Errorf("%s: got %v, want %v", got.path, got.err, want)
				}
			}
			if state, _ := s.state(t, "bad"); state != "failed" {
				t.Errorf("got the state %s", state)
			}
			time.Sleep(5 * time.Second)
		}
	})
}

// A match whose rules loop after it was resumed, beyond the end of its log, is seen, and set aside as one that hangs in its log.
func TestHangBeyondTheLog(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, file := interruptedDuel(t)
		g := bury(t, log, file, "bad", "good")
		g.from = 150
		defer close(g.end)
		for range 3 {
			s, results := g.start(t)
			for range 2 {
				if got := <-results; got.err != nil {
					t.Errorf("%s: got %v", got.path, got.err)
				}
			}
			time.Sleep(time.Minute)
			if state, why := s.state(t, "bad"); state != "failed" || !strings.Contains(why, "next tick") {
				t.Errorf("got the state %s, %q", state, why)
			}
			if _, body := s.ask(t, "GET", "/matches/bad", ops, ""); !strings.Contains(body, `"state":"failed"`) {
				t.Errorf("an admin is told %s", body)
			}
			if status, body := s.ask(t, "POST", "/matches/bad/pause", ops, ""); status != 503 {
				t.Errorf("a pause: got %d %s", status, body)
			}
			if n := s.metric(t, `samestep_matches{state="failed"}`); n != 1 {
				t.Errorf("the metrics have %v failed matches", n)
			}
			if len(s.lines("level=ERROR", "the match hangs", "match=bad", "after_tick=149")) != 1 {
				t.Errorf("not one line names the match and the tick:\n%s", s.log)
			}
			if state, why := s.state(t, "good"); state != "playing" {
				t.Errorf("the other match is %s, %q", state, why)
			}
		}
		if _, results := g.start(t); !slices.ContainsFunc([]recovered{<-results, <-results}, func(r recovered) bool { return errors.Is(r.err, server.ErrSetAside) }) {
			t.Error("it is not set aside")
		}
	})
}

// A panic of the rules in a match that runs is counted, and logged with its stack.
func TestPanicWhilePlaying(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, file := interruptedDuel(t)
		g := bury(t, log, file, "bad")
		g.from, g.panics = 200, true
		defer close(g.end)
		s, results := g.start(t)
		if got := <-results; got.err != nil {
			t.Fatal(got.err)
		}
		time.Sleep(20 * time.Second)
		if n := s.metric(t, "samestep_panics_total"); n != 1 {
			t.Errorf("%v panics are counted", n)
		}
		if len(s.lines("level=ERROR", "msg=panic", "match=bad", "stack=")) != 1 {
			t.Errorf("not one line has the stack:\n%s", s.log)
		}
	})
}

// A disk that does not answer while a match is resumed says nothing against the match: it is resumed when the disk is back.
func TestResumeOnAFrozenDisk(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, file := interruptedDuel(t)
		g := bury(t, log, file, "good")
		defer close(g.end)
		g.disk = newFrozenDisk()
		g.disk.freeze()
		defer g.disk.thaw()
		s, results := g.start(t)
		time.Sleep(5 * time.Minute)
		if state, why := s.state(t, "good"); state != "recovering" {
			t.Errorf("on a frozen disk it is %s: %s", state, why)
		}
		if len(s.lines("level=WARN", "waiting for the disk", "match=good")) != 1 {
			t.Errorf("not one line says what it waits for:\n%s", s.log)
		}
		g.disk.thaw()
		if got := <-results; got.err != nil {
			t.Error(got.err)
		}
		time.Sleep(5 * time.Second)
		if notes := s.files(t, "live/*.tries*"); len(notes) > 0 {
			t.Errorf("the notes %v stay", notes)
		}
	})
}

// In a cluster another server may have a disk that answers. The match is released once, without blame.
func TestTakeoverOnAFrozenDisk(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, file := interruptedDuel(t)
		g, r := bury(t, log, file, "good"), &memoryReplicator{}
		defer close(g.end)
		g.disk, g.cluster = newFrozenDisk(), r
		g.disk.freeze()
		defer g.disk.thaw()
		_, results := g.start(t)
		if got := <-results; got.err == nil || errors.Is(got.err, server.ErrHung) {
			t.Errorf("got %v, want a disk that does not answer", got.err)
		}
		g.disk.thaw()
		time.Sleep(5 * time.Second)
		if got := r.ended(); got != "released" {
			t.Errorf("the log is %q, want released, once", got)
		}
	})
}

// In a cluster a match whose rules loop while it runs is released, so that it fails when others have tried, too.
func TestHungMatchIsReleased(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, file := interruptedDuel(t)
		g, r := bury(t, log, file, "bad"), &memoryReplicator{}
		defer close(g.end)
		g.from, g.cluster = 200, r
		_, results := g.start(t)
		if got := <-results; got.err != nil {
			t.Fatal(got.err)
		}
		if got := r.ended(); got != "" {
			t.Errorf("the log of a match that runs is %q", got)
		}
		time.Sleep(time.Minute)
		if got := r.ended(); got != "released" {
			t.Errorf("the log is %q, want released, once", got)
		}
	})
}

// A stop in order, at any time, is no death.
func TestStopIsNoDeath(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, file := interruptedDuel(t)
		g := bury(t, log, file, "one", "two")
		for i := range 5 {
			s, _ := g.start(t)
			time.Sleep(time.Duration(i) * time.Second)
			s.stop()
			if notes := s.files(t, "live/*.tries*"); len(notes) > 0 {
				t.Errorf("the notes %v stay", notes)
			}
		}
	})
}

// A game that panics while its log is played is counted.
func TestResumePanics(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, file := interruptedDuel(t)
		s, results := recovering(t, map[string][]byte{file: log}, func(*minimal.World, lockstep.Tick) { panic("of the test") })
		if got := <-results; got.err == nil {
			t.Error("it is resumed")
		}
		if _, body := get(s.server, "/metrics"); !strings.Contains(body, "\nsamestep_panics_total 1\n") {
			t.Error("the panic is not counted")
		}
	})
}
