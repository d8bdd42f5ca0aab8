//go:build !js

package server_test

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// Scenario 39: a server continues the match of a crashed one from its file. Players return to their seats with
// their tokens, and the replay is one match from the beginning to the end.
func TestResume(t *testing.T) {
	t.Parallel()
	many := minimal.Config{Size: 50, Coins: 500} // some are taken soon
	for _, d := range []replay.Durability{replay.SyncInterval, replay.SyncFrame} {
		t.Run(d.String(), func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				first := newStage(t, setup{pipes: true, options: server.Options{Durability: d}, config: many})
				a, b := first.join(t, ada, wander), first.join(t, bob, wander)
				eventually(t, "it plays", func() bool { return a.tick() > 45 && b.tick() > 45 })
				crashed := first.crash(t)
				var seen atomic.Uint32 // the first tick with an event on the second server
				observer := func(_ *server.Match, tick lockstep.Tick, _ any) { seen.CompareAndSwap(0, uint32(tick)) }
				second := newStage(t, setup{pipes: true, options: server.Options{Durability: d, KeepOpen: true, Observer: observer}, interrupted: crashed})
				before := second.match.Status().Tick
				if before < 20 {
					t.Fatalf("it continues after tick %d", before)
				}
				a, b = second.join(t, ada, wander), second.join(t, bob, wander)
				eventually(t, "it continues", func() bool { return a.tick() > before+45 && b.tick() > before+45 && a.status().Agreed > 2 })
				second.agree(t, a, b)
				eventually(t, "the observer sees an event", func() bool { return seen.Load() > 0 })
				if first := lockstep.Tick(seen.Load()); first <= before {
					t.Errorf("the observer got an event of tick %d, which is in the log up to tick %d", first, before)
				}
				if err := second.match.End(t.Context(), "enough"); err != nil {
					t.Fatal(err)
				}
				<-second.match.Done()
				file, err := os.Open(second.match.ReplayPath())
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close()
				info, _ := file.Stat()
				r, err := replay.NewReader(file, info.Size())
				if err != nil {
					t.Fatal(err)
				}
				v, err := replay.Verify(r, second.game, replay.VerifyOptions{})
				if err != nil || !v.Ended || v.Ticks < before+45 || v.Commands < 10 {
					t.Errorf("%+v, %v", v, err)
				}
				if files := second.files(t, "*"); len(files) != 1 {
					t.Errorf("got %v, want one file", files)
				}
			})
		})
	}
}

// crash returns the replay that a crash of the server would leave, in a folder of its own.
func (s *stage) crash(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(s.match.ReplayPath())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(s.match.ReplayPath()))
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A replay that cannot be resumed is refused and not changed.
func TestResumeRefused(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		s := newStage(t, setup{pipes: true, options: server.Options{KeepOpen: true}, host: host.Options{InputDelay: 1}})
		a := s.join(t, ada, wander)
		eventually(t, "it plays", func() bool { return a.tick() > 45 })
		crashed := s.crash(t)
		whole, err := os.ReadFile(crashed)
		if err != nil {
			t.Fatal(err)
		}
		spec := server.MatchSpec{Game: s.game}
		dir := filepath.Dir(crashed)
		file := func(name string, b []byte) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			return path
		}
		damaged := append([]byte{}, whole...)
		damaged[len(damaged)-20] ^= 1
		unknown := append(append([]byte{}, whole...), 1, 3, 0x92, 8, 7) // a batch with a record of a newer program
		sum := xxhash.Sum64(unknown[len(whole)-8:])
		unknown = binary.LittleEndian.AppendUint64(unknown, sum)
		for _, row := range []struct {
			name, path string
			want       error
		}{
			{"a running match", s.match.ReplayPath(), replay.ErrLocked},
			{"a match of the same name", crashed, server.ErrExists},
			{"another name", file("duel.ssr", whole), server.ErrName},
			{"damage", file("x"+filepath.Base(crashed), damaged), server.ErrDamaged},
			{"a newer program", file("y"+filepath.Base(crashed), unknown), replay.ErrUnsupported},
			{"no replay", file("text.ssr", []byte("text")), replay.ErrFormat},
			{"nothing", filepath.Join(dir, "none.ssr"), fs.ErrNotExist},
		} {
			if _, err := s.server.Resume(row.path, spec); !errors.Is(err, row.want) || errors.Is(err, server.ErrDamaged) != (row.want == server.ErrDamaged) {
				t.Errorf("%s: got %v, want %v", row.name, err, row.want)
			}
		}
		text, err := os.Open(filepath.Join(dir, "text.ssr"))
		if err != nil {
			t.Fatal(err)
		}
		defer text.Close()
		if locked, err := replay.Locked(text); locked || err != nil {
			t.Errorf("a file that was refused is still locked: %v, %v", locked, err)
		}
		if err := s.match.End(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		select {
		case <-s.match.Done():
		case <-time.After(patience):
			t.Fatal("it does not end")
		}
		if _, err := s.server.Resume(s.match.ReplayPath(), spec); !errors.Is(err, server.ErrNotInterrupted) {
			t.Errorf("a match that has ended: got %v", err)
		}
		if b, err := os.ReadFile(crashed); err != nil || string(b) != string(whole) {
			t.Errorf("what was refused is changed: %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	})
}
