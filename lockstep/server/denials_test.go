//go:build !js

package server_test

import (
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

	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/server"
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
	folder := filepath.Join(t.TempDir(), "denials")
	for name, denials := range map[string]server.Denials{"folder": server.DenialsIn(folder), "elsewhere": &memory{values: map[string][]byte{}}} {
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
				left, err := os.ReadDir(folder)
				if m, ok := denials.(*memory); ok && len(m.values) > 0 || len(left) > 0 {
					t.Errorf("%d files are left: %v", len(left), err)
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

// Bans that cannot be read at a restart are not overwritten, and hold as soon as they can be. Nothing is left of a match that is over, also
// if its bans have expired before the restart.
func TestDenialsUnread(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		shared := &memory{values: map[string][]byte{}}
		o := server.Options{KeepOpen: true, Denials: shared}
		first := newStage(t, setup{pipes: true, options: o})
		player := first.raw(t, bob, protocol.SessionToken{}, 0).live()
		first.ask(t, "POST", "/matches/duel/ban", ops, `{"name":"ada","for":"1h"}`)
		_ = player
		shared.is(func() { shared.deaf = true })
		second := newStage(t, setup{pipes: true, options: o, interrupted: first.crash(t)})
		if status, text := second.ask(t, "POST", "/matches/duel/ban", ops, `{"name":"cid"}`); status != 507 {
			t.Errorf("a ban while the others cannot be read: got %d %s", status, text)
		}
		kept := func() (text string) {
			shared.is(func() {
				for key, value := range shared.values {
					if strings.HasPrefix(key, "bans-") {
						text += string(value)
					}
				}
			})
			return text
		}
		if text := kept(); !strings.Contains(text, "ada") {
			t.Errorf("the bans of before are lost: %q", text)
		}
		shared.is(func() { shared.deaf = false })
		time.Sleep(5 * time.Second)
		if code := second.refused(t, ada); code != protocol.CloseBanned {
			t.Errorf("the banned player when they can be read: got code %d", code)
		}
		if text := kept(); !strings.Contains(text, "ada") || !strings.Contains(text, "cid") {
			t.Errorf("got %q, want both bans", text)
		}
		if status, text := second.ask(t, "POST", "/matches/duel/unban", ops, `{"name":"cid"}`); status != 200 {
			t.Errorf("unban: got %d %s", status, text)
		}
		crashed := second.crash(t)
		time.Sleep(2 * time.Hour)
		third := newStage(t, setup{pipes: true, options: o, interrupted: crashed})
		if err := third.match.End(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		<-third.match.Done()
		third.stop()
		if text := kept(); text != "" {
			t.Errorf("%q is left", text)
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
