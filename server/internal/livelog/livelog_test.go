//go:build !js

package livelog

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A disk is a file that may answer late, or be full.
type disk struct {
	slow atomic.Int64
	full atomic.Bool
}

func (d *disk) Write(p []byte) (int, error) {
	if d.full.Load() {
		return 0, syscall.ENOSPC
	}
	return len(p), d.Sync()
}

func (d *disk) Sync() error {
	time.Sleep(time.Duration(d.slow.Load()))
	return nil
}

func (d *disk) Close() error { return nil }

// A replica stores nothing, and says when it has done so.
type replica struct {
	done     func()
	err      error
	released []error
}

func (r *replica) Append([]byte) error { return r.err }
func (r *replica) Commit(done func())  { r.done = done }
func (r *replica) Err() error          { return r.err }
func (r *replica) Flush() error        { return r.err }
func (r *replica) Release(why error)   { r.released = append(r.released, why) }
func (r *replica) Drop()               {}

// begun opens a log with a header.
func begun(t *testing.T, l *Log, path string, f File, d replay.Durability) {
	t.Helper()
	h, err := lockstep.MustGame(testgame.LampRules).NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		t.Fatal(err)
	}
	l.Open(path, f, false, d)
	var e record.Encoder
	if err = l.Append(e.Header(h)); err == nil {
		err = l.WriteBehind()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A disk that is late by more than a second holds the match until it answers, and so does a full one.
func TestHeld(t *testing.T) {
	for _, c := range []struct {
		name string
		slow time.Duration
		full bool
		wait time.Duration
		want string
	}{
		{"fast", 0, false, 5 * time.Second, ""},
		{"late", 3 * time.Second, false, 900 * time.Millisecond, ""},
		{"slow", 3 * time.Second, false, 1100 * time.Millisecond, HeldBySlowDisk},
		{"slow, and answers", 3 * time.Second, false, 4 * time.Second, ""},
		{"full", 0, true, time.Second, HeldByFullDisk},
	} {
		synctest.Test(t, func(t *testing.T) {
			var l Log
			var f disk
			begun(t, &l, "", &f, replay.SyncInterval)
			synctest.Wait() // until it has the header
			f.slow.Store(int64(c.slow))
			f.full.Store(c.full)
			l.Remember(0, record.EventClaim, "x")
			if err := l.Flush(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(c.wait)
			l.Maintain(time.Now())
			if l.Held() != c.want {
				t.Errorf("%s: got %q, want %q", c.name, l.Held(), c.want)
			}
			if got := l.Wake(time.Now(), time.Minute); got > lookAgain && c.want != "" {
				t.Errorf("%s: got %v until it looks again", c.name, got)
			}
			f.full.Store(false)
			l.Close()
		})
	}
}

// Clients of a log that is waited for see a position once it is safe, and once only.
func TestSafe(t *testing.T) {
	for _, replicated := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var l Log
			r := &replica{}
			var f disk
			if replicated {
				l.Replicate("", r)
			} else {
				f.slow.Store(int64(time.Second / 2))
			}
			begun(t, &l, "", &f, replay.SyncFrame)
			l.Wrote(7)
			if s := l.Maintain(time.Now()); !l.Waited() || s.Safe != 0 {
				t.Errorf("at once: got %+v", s)
			}
			time.Sleep(10 * time.Second)
			if replicated {
				if l.Maintain(time.Now()); l.Held() != HeldByReplicas {
					t.Errorf("got %q, want %q", l.Held(), HeldByReplicas)
				}
				r.done()
			}
			<-l.Synced()
			if s := l.Maintain(time.Now()); s.Safe != 7 || l.Held() != "" {
				t.Errorf("after a sync: got %+v, %q", s, l.Held())
			}
			if s := l.Maintain(time.Now()); s.Safe != 0 {
				t.Errorf("again: got %+v", s)
			}
			l.Close()
		})
	}
}

// Records of a slow match are flushed after a second, and at once while it stands.
func TestFlushLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Log
		begun(t, &l, "", &disk{}, replay.SyncInterval)
		defer l.Close()
		from := l.Size()
		flushed := func(stands, over bool, want bool) {
			t.Helper()
			if err := l.FlushLate(time.Now(), stands, over); err != nil || (l.Size() > from) != want {
				t.Errorf("got %d bytes more, %v; want some: %t", l.Size()-from, err, want)
			}
		}
		l.Remember(0, record.EventClaim, "x")
		flushed(false, true, false)
		flushed(false, false, false)
		if got := l.Wake(time.Now(), time.Minute); got != maxPending {
			t.Errorf("got a wake in %v", got)
		}
		time.Sleep(maxPending)
		flushed(false, false, true)
		from = l.Size()
		l.Remember(0, record.EventClaim, "x")
		flushed(true, false, true)
	})
}

// A log is released once: with its file, or without it.
func TestRelease(t *testing.T) {
	for _, leave := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "duel.ssr")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var l Log
		r, why := &replica{}, errors.New("why")
		l.Replicate(path, r)
		if leave {
			l.Leave(why)
		} else {
			l.Release(why)
		}
		if _, err := os.Lstat(path); (err == nil) != leave {
			t.Errorf("leave %t: got %v", leave, err)
		}
		if l.Release(nil); len(r.released) != 1 || r.released[0] != why || !l.Released() {
			t.Errorf("leave %t: got %v", leave, r.released)
		}
	}
}

// The file of a running match that somebody removes is told once.
func TestLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "duel.ssr")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var l Log
	l.Open(path, f, true, replay.SyncInterval)
	defer l.Close()
	look := func() (lost bool) {
		for range 100 {
			if l.Lost() {
				return true
			}
			time.Sleep(time.Millisecond)
		}
		return false
	}
	if look() || l.ToldLost() {
		t.Error("a file that is there is lost")
	}
	os.Remove(path)
	if !look() || !l.ToldLost() || l.Lost() {
		t.Error("a file that is gone is not told once")
	}
}
