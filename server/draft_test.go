//go:build !js

package server_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// silentLiar plays a player who says a false checksum, and does not answer when it is asked for its states. It returns when
// the server has written a bundle.
func (s *stage) silentLiar(t *testing.T) *raw {
	t.Helper()
	s.join(t, bob, wander)
	r := s.raw(t, ada, protocol.SessionToken{}, 0).live()
	at := r.tick/10*10 + 10
	r.read(func() bool { return r.tick > at })
	r.ack()
	r.say(&protocol.Message{Kind: protocol.KindChecksum, Tick: at, Hash: 1})
	eventually(t, "a bundle is written", func() bool { return len(s.files(t, "*.zip")) > 0 })
	return r
}

// hasEvidence reads a bundle of a silentLiar's desync: its replay is true up to the desync, and the referee's states are there.
func hasEvidence(t *testing.T, path string, g *lockstep.Game) {
	t.Helper()
	f, err := replay.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		t.Fatal(err)
	}
	v, err := replay.Verify(r, g, replay.VerifyOptions{})
	m := &f.Bundle().Manifest
	if v.First != nil || v.Ticks < m.Tick || v.Checked == 0 || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the replay in the bundle: %v, %+v", err, v)
	}
	if m.Player != 0 || m.Agreed >= m.Tick || len(m.Groups) != 2 || len(m.Exhibits) == 0 {
		t.Fatalf("got the manifest %+v, want one of player 0", m)
	}
	for _, x := range m.Exhibits {
		b, err := f.Bundle().State(x.Referee)
		if err == nil {
			err = g.StateSchema().Validate(b)
		}
		if err != nil || x.Player != "" {
			t.Errorf("tick %d: %v, the player's state is %q, want only the referee's", x.Tick, err, x.Player)
		}
	}
}

// A bundle is on disk as soon as the mismatch is seen. It is replaced when the time for the player's answer is over, or the
// match, and only then OnBundle is called, once.
func TestBundleBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	for _, over := range []bool{false, true} {
		t.Run(fmt.Sprintf("the match is over %t", over), func(t *testing.T) {
			told := make(chan string, 9)
			o := setup{options: server.Options{OnBundle: func(path string) { told <- path }}, host: host.Options{Desync: host.LogDesynced}}
			inBubble(t, o, func(t *testing.T, s *stage) {
				s.join(t, bob, wander)
				r := s.silentLiar(t)
				path := s.files(t, "*.zip")[0]
				early, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				hasEvidence(t, path, s.game)
				if len(told) > 0 {
					t.Error("told of a bundle before it is complete")
				}
				if over {
					if err := s.match.End(t.Context(), "enough"); err != nil {
						t.Fatal(err)
					}
					<-s.match.Done()
				} else {
					r.read(func() bool { return len(told) > 0 })
				}
				if len(told) != 1 || <-told != path {
					t.Error("want to be told of the bundle once")
				}
				whole, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if bytes.Equal(whole, early) {
					t.Error("the bundle was not written again")
				}
				if all := s.files(t, "*.zip"); len(all) != 1 {
					t.Errorf("got %v, want one bundle", all)
				}
				if !over {
					if err := s.match.End(t.Context(), "enough"); err != nil {
						t.Fatal(err)
					}
					<-s.match.Done()
				}
				if len(told) > 0 {
					t.Error("told of the bundle twice")
				}
			})
		})
	}
}

const killedEnv = "SAMESTEP_KILLED_SERVER"

// A server that is killed while it waits for a player's answer leaves a bundle with the evidence that it had.
func TestKilledBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	if os.Getenv(killedEnv) != "" {
		s := newStage(t, setup{
			options: server.Options{OnBundle: func(string) { fmt.Println("bundle of the answer") }}, host: host.Options{Desync: host.LogDesynced},
		})
		s.silentLiar(t)
		fmt.Printf("bundle %s\n", s.files(t, "*.zip")[0])
		time.Sleep(patience) // until it is killed
		return
	}
	if testing.Short() {
		t.Skip("short: an emulated test cannot start itself again")
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledBeforeTheAnswer$")
	cmd.Env = append(os.Environ(), killedEnv+"=1", "TMPDIR="+dir, "TMP="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	path := ""
	for lines := bufio.NewScanner(out); path == "" && lines.Scan(); {
		path, _ = strings.CutPrefix(lines.Text(), "bundle ")
		if path == lines.Text() {
			path = ""
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	hasEvidence(t, path, newStage(t, setup{}).game)
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".bundle-*")); len(left) > 0 {
		t.Errorf("got %v besides the bundle", left)
	}
}
