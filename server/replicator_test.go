//go:build !js

package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// A memoryReplicator keeps the logs of matches in memory. It can be away, and can be taken over.
type memoryReplicator struct {
	mu      sync.Mutex
	changed sync.Cond // of away and err, with mu
	opened  int
	records int // that are stored
	queued  []func()
	added   int
	first   [][]byte // records: the first four
	away    bool
	err     error
	ends    []string // release or drop, of each log
}

var _ server.Replicator = (*memoryReplicator)(nil)

func (r *memoryReplicator) Check() error { return nil }

func (r *memoryReplicator) Open(string, *lockstep.Header) (server.ReplicatedLog, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened++
	return r, nil
}

func (r *memoryReplicator) Append(b []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.added++; r.added <= 4 {
		r.first = append(r.first, bytes.Clone(b))
	}
	return nil
}

// beginning returns the first four records.
func (r *memoryReplicator) beginning() [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.first)
}

func (r *memoryReplicator) Commit(done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queued = append(r.queued, done)
	r.store()
}

// store stores what is queued, unless it is away. The mutex is held.
func (r *memoryReplicator) store() {
	if r.away || r.err != nil {
		return
	}
	r.records = r.added
	for _, done := range r.queued {
		go done()
	}
	r.queued = nil
}

func (r *memoryReplicator) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Flush waits while the log is away.
func (r *memoryReplicator) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.changed.L = &r.mu; r.away && r.err == nil; r.changed.Wait() {
	}
	return r.err
}

func (r *memoryReplicator) Release(error) { r.end("released") }

func (r *memoryReplicator) Drop() { r.end("dropped") }

func (r *memoryReplicator) end(how string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = append(r.ends, how)
}

// set changes the replicator, and stores what is queued if it may.
func (r *memoryReplicator) set(away bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away, r.err = away, err
	r.changed.Broadcast()
	r.store()
}

func (r *memoryReplicator) ended() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.ends, ", ")
}

// While the replicated log is away, nobody sees a tick, and after a second the match is held with the reason. Then all
// goes on.
func TestReplicatorAway(t *testing.T) {
	t.Parallel()
	r := &memoryReplicator{}
	inBubble(t, setup{options: server.Options{Replicator: r}}, func(t *testing.T, s *stage) {
		c := s.join(t, ada, wander)
		time.Sleep(2 * time.Second)
		r.set(true, nil)
		seen := c.tick()
		time.Sleep(5 * time.Second)
		if got := c.tick(); got > seen+1 {
			t.Errorf("the player saw tick %d while the log was away since %d", got, seen)
		}
		if v := s.match.Status(); v.State != "held" || v.Held != "the replicated log does not answer" {
			t.Errorf("got state %q, held %q", v.State, v.Held)
		}
		r.set(false, nil)
		time.Sleep(2 * time.Second)
		if got := c.tick(); got < seen+20 {
			t.Errorf("the player is at tick %d, two seconds after tick %d", got, seen)
		}
		held := told[player.Held](c)
		if n := len(held); n < 2 || held[n-2].Reason != "the replicated log does not answer" || held[n-1].Reason != "" {
			t.Errorf("the player was told %+v", held)
		}
	})
}

// A match whose log another server has stops, its clients are told to come back soon, and its file is removed.
func TestReplicatorLost(t *testing.T) {
	t.Parallel()
	r := &memoryReplicator{}
	inBubble(t, setup{options: server.Options{Replicator: r}}, func(t *testing.T, s *stage) {
		c := s.join(t, ada, wander)
		time.Sleep(2 * time.Second)
		r.set(false, fmt.Errorf("%w: test", server.ErrNotOwner))
		<-s.match.Done()
		if closing := told[player.ServerClosing](c); len(closing) != 1 || closing[0].Code != protocol.CloseShutdown || closing[0].RetryAfter != 100*lockstep.Millisecond {
			t.Errorf("the player was told %+v", closing)
		}
		if got := r.ended(); got != "released" {
			t.Errorf("the log was %s", got)
		}
		if files, _ := filepath.Glob(filepath.Join(s.dir, "live", "*")); len(files) > 0 {
			t.Errorf("left behind: %q", files)
		}
	})
}

// The log of a match that is over is not needed any more, when the replay is complete.
func TestReplicatorOver(t *testing.T) {
	t.Parallel()
	r := &memoryReplicator{}
	inBubble(t, setup{options: server.Options{Replicator: r}}, func(t *testing.T, s *stage) {
		time.Sleep(2 * time.Second)
		if err := s.match.End(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		<-s.match.Done()
		if got := r.ended(); got != "dropped" {
			t.Errorf("the log was %s", got)
		}
		if _, err := os.Stat(s.match.ReplayPath()); err != nil {
			t.Error(err)
		}
	})
}

// A match of which the store did not take the end goes on elsewhere: nobody has seen the end.
func TestReplicatorLostAtTheEnd(t *testing.T) {
	t.Parallel()
	r := &memoryReplicator{}
	inBubble(t, setup{options: server.Options{Replicator: r}}, func(t *testing.T, s *stage) {
		time.Sleep(2 * time.Second)
		r.set(true, nil)
		time.AfterFunc(100*time.Millisecond, func() { r.set(true, server.ErrNotOwner) })
		if err := s.match.End(t.Context(), "enough"); !errors.Is(err, server.ErrStorage) {
			t.Errorf("got %v, want %v", err, server.ErrStorage)
		}
		<-s.match.Done()
		if got := r.ended(); got != "released" {
			t.Errorf("the log was %s", got)
		}
		if files, _ := filepath.Glob(filepath.Join(s.dir, "*.ssr")); len(files) > 0 {
			t.Errorf("a replay of a match that goes on elsewhere: %q", files)
		}
	})
}

// What only the log gets, such as an admin's pause, is stored although no tick comes after it.
func TestReplicatorStoresNotes(t *testing.T) {
	t.Parallel()
	r := &memoryReplicator{}
	inBubble(t, setup{options: server.Options{Replicator: r}}, func(t *testing.T, s *stage) {
		time.Sleep(time.Second)
		if status, text := s.ask(t, http.MethodPost, "/matches/duel/pause", ops, ""); status != http.StatusOK {
			t.Fatal(status, text)
		}
		time.Sleep(3 * time.Second)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.records != r.added {
			t.Errorf("%d of %d records are stored", r.records, r.added)
		}
	})
}

// Without a folder there is no file to be sealed at the end.
func TestReplicatorNeedsDir(t *testing.T) {
	if _, err := server.New(server.Options{Replicator: &memoryReplicator{}}); err == nil || !strings.Contains(err.Error(), "Dir") {
		t.Errorf("got %v", err)
	}
}

// A replicator that stores nothing anywhere, to show its calls.
type shownReplicator struct{}

func (shownReplicator) Check() error { return nil }

func (shownReplicator) Open(name string, h *lockstep.Header) (server.ReplicatedLog, error) {
	fmt.Println("open", name)
	return shownLog{}, nil
}

type shownLog struct{}

func (shownLog) Append([]byte) error { return nil }
func (shownLog) Commit(done func())  { done() }
func (shownLog) Err() error          { return nil }
func (shownLog) Flush() error        { return nil }
func (shownLog) Release(error)       { fmt.Println("another server may continue the match") }
func (shownLog) Drop()               { fmt.Println("the match is over") }

func ExampleReplicator() {
	dir, err := os.MkdirTemp("", "matches")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := server.New(server.Options{Dir: dir, Replicator: shownReplicator{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	m, err := s.Create(server.MatchSpec{Name: "duel", Game: lockstep.MustGame(minimal.Rules()), Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 9, Coins: 9}})
	if err != nil {
		log.Fatal(err)
	}
	m.Suspend()
	<-m.Done()
	if err := s.Shutdown(context.Background()); err != nil {
		log.Fatal(err)
	}
	var _ server.ReplicatedLog = shownLog{}
	// Output:
	// open duel
	// another server may continue the match
}
