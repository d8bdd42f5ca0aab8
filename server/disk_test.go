//go:build !js

package server_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A badFile is a file on a disk that can be full, slow and broken.
type badFile struct {
	mu     sync.Mutex
	data   []byte
	synced int // of data, what a power cut leaves

	full   bool
	slow   time.Duration // that a sync takes
	broken int           // syncs that fail, from now on
	fulls  int           // writes that were not taken whole
	slows  int           // syncs that took their time
	lost   int           // syncs that failed
	again  int           // syncs after one that failed
}

// new returns the file of a replay.
func (f *badFile) new(string) (server.File, error) { return f, nil }

// set changes the state of the disk.
func (f *badFile) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *badFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(p)
	if f.full {
		n /= 2
		f.fulls++
	}
	f.data = append(f.data, p[:n]...)
	if f.full {
		return n, &fs.PathError{Op: "write", Path: "/secret/duel.ssr", Err: syscall.ENOSPC}
	}
	return n, nil
}

func (f *badFile) Sync() error {
	f.mu.Lock()
	size, slow := len(f.data), f.slow
	f.mu.Unlock()
	if slow > 0 {
		time.Sleep(slow)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost > 0 {
		f.again++
	}
	if f.broken > 0 {
		f.broken--
		f.lost++
		return &fs.PathError{Op: "sync", Path: "/secret/duel.ssr", Err: syscall.EIO}
	}
	if slow > 0 {
		f.slows++
	}
	f.synced = size
	return nil
}

func (f *badFile) Close() error { return nil }

// verify verifies the bytes that a power cut would leave now, or all written bytes.
func (f *badFile) verify(t *testing.T, g *lockstep.Game, all bool) *replay.Verification {
	t.Helper()
	f.mu.Lock()
	b := f.data[:f.synced]
	if all {
		b = f.data
	}
	b = bytes.Clone(b)
	f.mu.Unlock()
	r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return &replay.Verification{} // nothing is there yet
	}
	v, err := replay.Verify(r, g, replay.VerifyOptions{Workers: 1})
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || v.Differed > 0 {
		t.Fatalf("%+v, %v", v, err)
	}
	return v
}

// safe checks that no client has a tick that a power cut would lose.
func (f *badFile) safe(t *testing.T, g *lockstep.Game, clients ...*testClient) {
	t.Helper()
	for i, c := range clients {
		seen := c.tick()
		if v := f.verify(t, g, false); seen > v.Ticks {
			t.Fatalf("client %d is at tick %d, and a power cut leaves %d", i, seen, v.Ticks)
		}
	}
}

// reasons returns why the server has held the match, as a client was told, without the client's own words about its link.
func reasons(g *testClient) (all []string) {
	for _, e := range told[player.Held](g) {
		if e.Reason != player.LinkStalled && (len(all) > 0 || e.Reason != "") {
			all = append(all, e.Reason)
		}
	}
	return all
}

// gone waits until clients have noticed the end.
func gone(clients ...*testClient) {
	for _, g := range clients {
		<-g.Done()
	}
}

// Scenario 44: a full disk holds the match, and everybody is told the reason. With room again the match continues,
// and the replay is complete.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	for _, d := range []replay.Durability{replay.SyncInterval, replay.SyncFrame} {
		t.Run(d.String(), func(t *testing.T) {
			f := &badFile{}
			inBubble(t, setup{newFile: f.new, options: server.Options{Durability: d}}, func(t *testing.T, s *stage) {
				clients := []*testClient{s.join(t, ada, wander), s.join(t, bob, wander)}
				time.Sleep(3 * time.Second)
				for range 2 {
					f.set(func() { f.full = true })
					time.Sleep(3 * time.Second)
					stood := s.stats(t).Tick
					late := s.join(t, press, nil)
					time.Sleep(30 * time.Second)
					if now := s.stats(t).Tick; now != stood {
						t.Errorf("%d ticks were sealed on a full disk", now-stood)
					}
					if status := s.match.Status(); status.Held != "the server's disk is full" {
						t.Errorf("the status says %q", status.Held)
					}
					for i, g := range append(clients, late) {
						if all := reasons(g); len(all) == 0 || all[len(all)-1] != "the server's disk is full" {
							t.Errorf("client %d was told %q", i, all)
						}
					}
					if d == replay.SyncFrame {
						f.safe(t, s.game, append(clients, late)...)
					}
					late.Do(func(c *player.Client) { c.Leave("") })
					f.set(func() { f.full = false })
					time.Sleep(5 * time.Second)
					s.agree(t, clients...)
				}
				for i, g := range clients {
					if all := reasons(g); len(all) != 4 || all[3] != "" {
						t.Errorf("client %d was told %q", i, all)
					}
				}
				if s.match.End(t.Context(), "enough") != nil {
					t.Error("it did not end")
				}
				<-s.match.Done()
				gone(clients...)
				if v := f.verify(t, s.game, true); !v.Ended || v.Reason != "enough" || f.synced != len(f.data) {
					t.Errorf("%+v, %d of %d bytes are synced", v, f.synced, len(f.data))
				}
				if f.fulls < 30 {
					t.Errorf("the disk was full %d times", f.fulls)
				}
			})
		})
	}
}

// Scenario 43: a failed sync ends the match at once, with the reason. The sync is not repeated. With a sync for
// each frame no client has seen more than the file has.
func TestSyncFails(t *testing.T) {
	t.Parallel()
	for _, d := range []replay.Durability{replay.SyncInterval, replay.SyncFrame} {
		t.Run(d.String(), func(t *testing.T) {
			f := &badFile{}
			inBubble(t, setup{newFile: f.new, options: server.Options{Durability: d}}, func(t *testing.T, s *stage) {
				clients := []*testClient{s.join(t, ada, wander), s.join(t, bob, wander), s.join(t, press, nil)}
				time.Sleep(3 * time.Second)
				f.set(func() { f.broken = 1 })
				select {
				case <-s.match.Done():
				case <-time.After(20 * time.Second):
					t.Fatal("the match continues")
				}
				gone(clients...)
				if f.lost != 1 || f.again != 0 {
					t.Errorf("%d syncs failed, %d were tried after that", f.lost, f.again)
				}
				if d == replay.SyncFrame {
					f.safe(t, s.game, clients...)
				}
				for i, g := range clients {
					ends := told[player.Ended](g)
					if len(ends) != 1 || !strings.Contains(ends[0].Reason, "the log failed") || strings.Contains(ends[0].Reason, "secret") {
						t.Errorf("client %d was told %+v", i, ends)
					}
				}
				if v := f.verify(t, s.game, true); v.Ended || v.Ticks < 40 {
					t.Errorf("%+v", v)
				}
			})
		})
	}
}

// Scenario 45: with a sync for each frame, a disk that takes two seconds delays what is seen, and everybody is
// told. Nothing accumulates, and the match recovers together with the disk.
func TestSlowDisk(t *testing.T) {
	t.Parallel()
	f := &badFile{}
	inBubble(t, setup{newFile: f.new, options: server.Options{Durability: replay.SyncFrame}}, func(t *testing.T, s *stage) {
		clients := []*testClient{s.join(t, ada, wander), s.join(t, bob, wander)}
		time.Sleep(3 * time.Second)
		f.set(func() { f.slow = 2 * time.Second })
		before := s.stats(t).Tick
		for range 60 {
			time.Sleep(500 * time.Millisecond)
			f.safe(t, s.game, clients...)
			if st := s.stats(t); st.MaxLag > 60 {
				t.Fatalf("players are %d ticks behind", st.MaxLag)
			}
		}
		if ticks := s.stats(t).Tick - before; ticks < 100 || ticks > 500 {
			t.Errorf("%d ticks in 30 s of a slow disk", ticks)
		}
		f.set(func() { f.slow = 0 })
		time.Sleep(10 * time.Second)
		s.agree(t, clients...)
		all := reasons(clients[0])
		if len(all) < 2 || all[0] != "the server's disk is slow" || all[len(all)-1] != "" || f.slows < 5 {
			t.Errorf("told %q in %d slow syncs", all, f.slows)
		}
	})
}

// A replay is sealed when its match is over, and is the same match. With KeepOpen it stays open.
func TestReplayIsSealed(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		for _, keep := range []bool{false, true} {
			s := newStage(t, setup{pipes: true, options: server.Options{KeepOpen: keep, Durability: replay.SyncNone}})
			a := s.join(t, ada, wander)
			eventually(t, "it plays", func() bool { return a.tick() > 10 })
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if err := s.match.End(ctx, "enough"); err != nil {
				t.Fatal(err)
			}
			<-s.match.Done()
			if err := s.server.Shutdown(ctx); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(s.match.ReplayPath())
			if err != nil {
				t.Fatal(err)
			}
			size, _ := f.Seek(0, io.SeekEnd)
			for _, again := range []bool{false, true} {
				r, err := replay.NewReader(f, size)
				if err != nil {
					t.Fatal(err)
				}
				if again {
					if v, err := replay.Verify(r, s.game, replay.VerifyOptions{}); err != nil || !v.Ended || v.Ticks < 10 {
						t.Errorf("%+v, %v", v, err)
					}
				} else if info, err := replay.ReadInfo(r); err != nil || (info.Segments == 0) != keep {
					t.Errorf("kept open %t: %d segments, %v", keep, info.Segments, err)
				}
			}
			f.Close()
			if files := s.files(t, "*"); len(files) != 1 {
				t.Errorf("got %v, want one file", files)
			}
		}
	})
}
