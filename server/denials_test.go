//go:build !js

package server_test

import (
	"bytes"
	"errors"
	"log/slog"
	"maps"
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
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A memory keeps bans and revocations for several servers, as a cluster does.
type memory struct {
	mu      sync.Mutex
	values  map[string][]byte
	saw     []func(string, []byte)
	gone    []func(string)
	failing bool
	deaf    bool              // Get fails
	refuses func(string) bool // keys that it never keeps; nil: none
	behind  time.Duration     // of its clock
	live    []lockstep.MatchID
}

var errMemory = errors.New("the memory does not answer")

func (m *memory) Put(key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failing || m.refuses != nil && m.refuses(key) {
		return errMemory
	}
	m.values[key] = value
	for _, saw := range m.saw {
		saw(key, value)
	}
	return nil
}

func (m *memory) Delete(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failing {
		return errMemory
	}
	delete(m.values, key)
	for _, gone := range m.gone {
		gone(key)
	}
	return nil
}

func (m *memory) Get(key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deaf {
		return nil, errMemory
	}
	return m.values[key], nil
}

func (m *memory) Sweep(stale func(string, []byte, time.Time, func(lockstep.MatchID) bool) bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(m.values)) {
		if stale(key, m.values[key], time.Now().Add(-m.behind), func(match lockstep.MatchID) bool { return slices.Contains(m.live, match) }) {
			delete(m.values, key)
			for _, gone := range m.gone {
				gone(key)
			}
		}
	}
	return nil
}

func (m *memory) Watch(saw func(string, []byte), gone func(string)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saw, m.gone = append(m.saw, saw), append(m.gone, gone)
	for _, key := range slices.Sorted(maps.Keys(m.values)) {
		saw(key, m.values[key])
	}
	return nil
}

// refused reports whether a token is refused or banned.
func (s *stage) refused(t *testing.T, token string) protocol.CloseCode {
	t.Helper()
	return s.raw(t, token, protocol.SessionToken{}, 0).end()
}

// Bans and revocations hold after a crash and a restart, until their time is over or an admin ends them, and leave nothing when the
// match is over. They are in a folder beside the replays, or wherever the program keeps them.
func TestDenialsSurvive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := filepath.Join(dir, "denials")
	for name, denials := range map[string]server.Denials{"folder": server.DenialsIn(dir), "elsewhere": &memory{values: map[string][]byte{}}} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				o := server.Options{KeepOpen: true, Denials: denials}
				first := newStage(t, setup{pipes: true, options: o})
				first.raw(t, ada, protocol.SessionToken{}, 0).live()
				for _, x := range [][2]string{
					{"/matches/duel/ban", `{"name":"ada","for":"1h","reason":"rude"}`},
					{"/matches/duel/ban", `{"address":"198.51.100.7"}`},
					{"/matches/duel/ban", `{"subject":"gone","for":"5s"}`},
					{"/revocations", `{"name":"press","for":"2h"}`},
					{"/revocations", `{"subject":"short","for":"5s"}`},
				} {
					if status, text := first.ask(t, "POST", x[0], ops, x[1]); status != http.StatusOK {
						t.Fatalf("%s %s: got %d %s", x[0], x[1], status, text)
					}
				}
				crashed := first.crash(t)
				time.Sleep(10 * time.Second)
				second := newStage(t, setup{pipes: true, options: o, interrupted: crashed})
				if code := second.refused(t, ada); code != protocol.CloseBanned {
					t.Errorf("the banned player after a restart: got code %d", code)
				}
				if code := second.refused(t, press); code != protocol.CloseRefused {
					t.Errorf("the revoked token after a restart: got code %d", code)
				}
				second.raw(t, bob, protocol.SessionToken{}, 0).live()
				_, bans := second.ask(t, "GET", "/matches/duel/bans", ops, "")
				_, revocations := second.ask(t, "GET", "/revocations", ops, "")
				if strings.Count(bans, `"subject"`) != 2 || !strings.Contains(bans, `"seconds":3590,"reason":"rude"`) || !strings.Contains(bans, `"address":"198.51.100.7/32","seconds":0`) {
					t.Errorf("got the bans %s", bans)
				}
				if strings.Count(revocations, `"subject"`) != 1 || !strings.Contains(revocations, `"name":"press"`) {
					t.Errorf("got the revocations %s", revocations)
				}
				if status, text := second.ask(t, "POST", "/matches/duel/unban", ops, `{"name":"ada"}`); status != http.StatusOK {
					t.Errorf("unban: got %d %s", status, text)
				}
				if status, text := second.ask(t, "DELETE", "/revocations", ops, `{"name":"press"}`); status != http.StatusOK {
					t.Errorf("unrevoke: got %d %s", status, text)
				}
				third := newStage(t, setup{pipes: true, options: o, interrupted: second.crash(t)})
				third.raw(t, ada, protocol.SessionToken{}, 0).live()
				third.raw(t, press, protocol.SessionToken{}, 0).live()
				if err := third.match.End(t.Context(), "enough"); err != nil {
					t.Fatal(err)
				}
				<-third.match.Done()
				third.stop()
				values := make(map[string][]byte)
				if m, ok := denials.(*memory); ok {
					values = m.values
				}
				if files, _ := os.ReadDir(folder); name == "folder" {
					for _, f := range files {
						values[f.Name()] = nil
					}
				}
				if keys, _ := kept(values); !slices.Equal(keys, []string{"revocation"}) { // the short one, see TestDenialsAreSwept
					t.Errorf("%q are left", keys)
				}
			})
		})
	}
}

// A revocation holds on all servers that share their denials, at once, and ends on all. One that cannot be stored says so.
func TestDenialsAreShared(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		shared := &memory{values: map[string][]byte{}}
		a := newStage(t, setup{pipes: true, options: server.Options{KeepOpen: true, Denials: shared}})
		b := newStage(t, setup{pipes: true, options: server.Options{KeepOpen: true, Denials: shared}})
		player := b.raw(t, ada, protocol.SessionToken{}, 0).live()
		if status, text := a.ask(t, "POST", "/revocations", ops, `{"name":"ada"}`); status != http.StatusOK {
			t.Fatalf("got %d %s", status, text)
		}
		if code := player.end(); code != protocol.CloseBanned {
			t.Errorf("a player on the other server: got code %d", code)
		}
		if code := b.refused(t, ada); code != protocol.CloseRefused {
			t.Errorf("its token there: got code %d", code)
		}
		a.ask(t, "DELETE", "/revocations", ops, `{"name":"ada"}`)
		b.raw(t, ada, protocol.SessionToken{}, 0).live()

		shared.mu.Lock()
		shared.failing = true
		shared.mu.Unlock()
		for _, path := range []string{"/revocations", "/matches/duel/ban"} {
			if status, text := a.ask(t, "POST", path, ops, `{"name":"press"}`); status != http.StatusInsufficientStorage || !strings.Contains(text, "could not be stored") {
				t.Errorf("%s that cannot be stored: got %d %s", path, status, text)
			}
		}
		shared.mu.Lock()
		shared.failing = false
		shared.mu.Unlock()
		time.Sleep(5 * time.Second)
		shared.mu.Lock()
		if len(shared.values) != 2 {
			t.Errorf("got %d values later, want 2", len(shared.values))
		}
		shared.mu.Unlock()
	})
}

// is changes how the memory behaves.
func (m *memory) is(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

// An admin's call says whether its own ban or revocation is kept, and not others: one that is never kept, or failed before.
func TestDenialsFailApart(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		shared := &memory{values: map[string][]byte{}}
		s := newStage(t, setup{pipes: true, options: server.Options{KeepOpen: true, Denials: shared}})
		post := func(path, body string, want int) {
			t.Helper()
			if status, text := s.ask(t, "POST", path, ops, body); status != want {
				t.Errorf("%s %s: got %d %s, want %d", path, body, status, text, want)
			}
		}
		shared.is(func() { shared.failing = true })
		post("/revocations", `{"name":"press"}`, 507)
		shared.is(func() { shared.failing = false })
		post("/revocations", `{"subject":"x"}`, 200)
		shared.is(func() { shared.refuses = func(key string) bool { return strings.HasPrefix(key, "bans-") } })
		post("/matches/duel/ban", `{"name":"ada"}`, 507)
		post("/revocations", `{"subject":"y"}`, 200)
		post("/matches/duel/ban", `{"name":"bob"}`, 507)
		shared.is(func() { shared.refuses = nil })
		post("/matches/duel/ban", `{"subject":"z"}`, 200)
	})
}

// kept returns the keys of what is kept, without their hashes, and all values.
func kept(values map[string][]byte) (keys []string, text string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		keys = append(keys, key[:strings.Index(key, "-")])
		text += string(values[key])
	}
	return keys, text
}

// A match whose bans cannot be read stays recovering: nobody is admitted to it, other matches go on, and the server is not ready. When they
// can be read, it goes on with its bans, and loses none.
func TestDenialsUnread(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, name := interruptedDuel(t)
		key := "bans-" + matchOf(t, log).String()
		shared := &memory{values: map[string][]byte{key: []byte(`[{"name":"ada","until":"2000-01-01T02:00:00Z"}]`)}, deaf: true}
		s, results := recoveringWith(t, map[string][]byte{name: log}, func(*minimal.World, lockstep.Tick) {}, shared)
		time.Sleep(5 * time.Second)
		s.turnedAway(t)
		if status, text := s.ask(t, "GET", "/readyz", "", ""); status != http.StatusServiceUnavailable || !strings.Contains(text, "the bans of 1 matches cannot be read") {
			t.Errorf("readyz: got %d %s", status, text)
		}
		if text := s.log.String(); strings.Count(text, "nobody is admitted") != 1 || !strings.Contains(text, key) || !strings.Contains(text, errMemory.Error()) {
			t.Errorf("the log does not say once what cannot be read where: %s", text)
		}
		shared.is(func() { shared.deaf = false })
		got := <-results
		if got.err != nil {
			t.Fatal(got.err)
		}
		s.match = got.match
		if code := s.refused(t, ada); code != protocol.CloseBanned {
			t.Errorf("the banned player when they can be read: got code %d", code)
		}
		s.raw(t, bob, protocol.SessionToken{}, 0).live()
		if status, text := s.ask(t, "GET", "/readyz", "", ""); status != http.StatusOK {
			t.Errorf("readyz later: got %d %s", status, text)
		}
		if status, text := s.ask(t, "POST", "/matches/duel/ban", ops, `{"name":"cid"}`); status != 200 {
			t.Errorf("ban: got %d %s", status, text)
		}
		shared.is(func() {
			if _, text := kept(shared.values); !strings.Contains(text, "ada") || !strings.Contains(text, "cid") {
				t.Errorf("got %q, want both bans", text)
			}
		})
		if err := s.match.End(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		<-s.match.Done()
		s.stop()
		if len(shared.values) > 0 {
			t.Errorf("%q is left", shared.values)
		}
	})
}

// A server that waits for bans can be shut down.
func TestShutdownWhileDenialsUnread(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, name := interruptedDuel(t)
		s, results := recoveringWith(t, map[string][]byte{name: log}, func(*minimal.World, lockstep.Tick) {}, &memory{deaf: true})
		began := time.Now()
		s.stop()
		if got := <-results; !errors.Is(got.err, server.ErrShutdown) || time.Since(began) > 5*time.Second {
			t.Errorf("got %v after %v, want %v within 5 s", got.err, time.Since(began), server.ErrShutdown)
		}
	})
}

// matchOf returns the ID in a log.
func matchOf(t *testing.T, log []byte) lockstep.MatchID {
	t.Helper()
	r, err := replay.NewReader(bytes.NewReader(log), int64(len(log)))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	return rec.Header.Match
}

// Bans and revocations that make no sense end the recovery of their match, or the start of the server: both would admit somebody who
// is denied. The error says where they are and what to do.
func TestDenialsDamaged(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		log, name := interruptedDuel(t)
		key := "bans-" + matchOf(t, log).String()
		for _, value := range []string{`[{"name":`, `[{"reason":"nobody"}]`, ""} {
			s, results := recoveringWith(t, map[string][]byte{name: log}, func(*minimal.World, lockstep.Tick) {}, &memory{values: map[string][]byte{key: []byte(value)}})
			if got := <-results; got.err == nil || !strings.Contains(got.err.Error(), key) || !strings.Contains(got.err.Error(), "repair or remove") {
				t.Errorf("the bans %q: got %v", value, got.err)
			}
			if _, match := s.ask(t, "GET", "/matches/duel", "", ""); !strings.Contains(match, `"state":"failed"`) {
				t.Errorf("the bans %q: got %s, want a match that has failed", value, match)
			}
			s.stop()
		}
	})
	revocation := "revocation-00000000000000000000000000000000"
	for _, value := range []string{`{"name":`, `{}`, `{"name":"ada"}`, ""} {
		dir := t.TempDir()
		path := filepath.Join(dir, "denials", revocation+".json")
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(value), 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := server.New(server.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "repair or remove") {
			t.Errorf("the revocation %q: got %v", value, err)
		}
	}
	if _, err := server.New(server.Options{Denials: &memory{values: map[string][]byte{"other-key": []byte("?")}}}); err != nil {
		t.Errorf("a value that is no revocation: got %v", err)
	}
}

// What has the name of a revocation and is no regular file is not read as if there were none.
func TestDenialsIrregular(t *testing.T) {
	name := filepath.Join("denials", "revocation-00000000000000000000000000000000.json")
	for what, put := range map[string]func(path string) error{
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":   func(path string) error { return os.Symlink("elsewhere.json", path) },
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := put(path); err != nil {
			t.Log(err) // not every user of Windows may make links
			continue
		}
		if _, err := server.New(server.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: got %v, want that it is none of the files", what, err)
		}
	}
}

// What is over is deleted by a running server, some time later: expired bans and revocations, and bans of a match that is gone. All else
// stays. The clock of the store counts, so a server that is ahead deletes nothing that others need.
func TestDenialsAreSwept(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"folder", "elsewhere", "elsewhere, with a clock that is behind"} {
		t.Run(where, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				o := server.Options{KeepOpen: true, Limits: server.Limits{IdleMatch: -1}}
				m := &memory{values: map[string][]byte{}}
				if where != "folder" {
					o.Denials = m
				}
				if strings.Contains(where, "behind") {
					m.behind = time.Hour
				}
				s := newStage(t, setup{pipes: true, options: o, settings: slowly})
				s.do(t, func(h *host.Host) { m.is(func() { m.live = append(m.live, h.Header().Match) }) })
				left := func() []string {
					values := make(map[string][]byte)
					if where != "folder" {
						m.is(func() { values = maps.Clone(m.values) })
					}
					files, _ := os.ReadDir(filepath.Join(s.dir, "denials"))
					for _, f := range files {
						values[f.Name()] = nil
					}
					keys, _ := kept(values)
					return keys
				}
				s.ask(t, "POST", "/matches/duel/pause", ops, "")
				store := o.Denials
				if store == nil {
					store = server.DenialsIn(s.dir)
				}
				for key, value := range map[string]string{
					"bans-0123456789abcdef0123456789abcdef": `[{"name":"eve"}]`, "bans-none": `[]`, "revocation-torn": `{"name":`, "other-key": "",
				} {
					if err := store.Put(key, []byte(value)); err != nil {
						t.Fatal(err)
					}
				}
				for _, x := range [][2]string{
					{"/matches/duel/ban", `{"name":"eve","for":"1m"}`}, {"/revocations", `{"name":"short","for":"1m"}`}, {"/revocations", `{"name":"long","for":"2h"}`}, {"/revocations", `{"name":"for ever"}`},
				} {
					if status, text := s.ask(t, "POST", x[0], ops, x[1]); status != http.StatusOK {
						t.Fatalf("%s %s: got %d %s", x[0], x[1], status, text)
					}
				}
				expect := func(after time.Duration, want ...string) {
					t.Helper()
					time.Sleep(after)
					if got := left(); !slices.Equal(got, want) {
						t.Errorf("after %v more: got %q, want %q", after, got, want)
					}
				}
				expect(0, "bans", "bans", "bans", "other", "revocation", "revocation", "revocation", "revocation")
				expect(server.SweepEvery+time.Second, "bans", "bans", "other", "revocation", "revocation", "revocation", "revocation")
				if m.behind > 0 {
					expect(m.behind-server.SweepEvery, "bans", "bans", "other", "revocation", "revocation", "revocation", "revocation")
				}
				expect(2*server.SweepEvery, "bans", "other", "revocation", "revocation", "revocation")
				expect(2*time.Hour, "bans", "other", "revocation", "revocation")
			})
		})
	}
}

// A revocation that is not kept yet holds on when the expired one that it replaces is deleted.
func TestSweepSparesANewRevocation(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		shared := &memory{values: map[string][]byte{}}
		s := newStage(t, setup{pipes: true, options: server.Options{KeepOpen: true, Limits: server.Limits{IdleMatch: -1}, Denials: shared}, settings: slowly})
		s.ask(t, "POST", "/matches/duel/pause", ops, "")
		s.ask(t, "POST", "/revocations", ops, `{"name":"ada","for":"1m"}`)
		time.Sleep(server.StaleAfter + 2*time.Minute)
		if code := s.refused(t, ada); code == protocol.CloseRefused {
			t.Error("the token is refused after the time of its revocation")
		}
		shared.is(func() { shared.refuses = func(string) bool { return true } })
		if status, text := s.ask(t, "POST", "/revocations", ops, `{"name":"ada","for":"1h"}`); status != http.StatusInsufficientStorage {
			t.Errorf("a revocation that is not kept: got %d %s", status, text)
		}
		time.Sleep(server.SweepEvery)
		shared.is(func() {
			if len(shared.values) > 0 {
				t.Errorf("%q is left", shared.values)
			}
		})
		if code := s.refused(t, ada); code != protocol.CloseRefused {
			t.Errorf("the token: got code %d, want that it is refused", code)
		}
	})
}

// Without denials of its own, a server keeps them in its folder.
func TestDenialsInDir(t *testing.T) {
	dir := t.TempDir()
	for round := range 2 {
		s, err := server.New(server.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(s.Revocations()); n != round {
			t.Errorf("round %d: got %d revocations", round, n)
		}
		if _, err := s.Revoke(t.Context(), server.Revocation{Subject: "jwt ada"}); err != nil {
			t.Error(err)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
