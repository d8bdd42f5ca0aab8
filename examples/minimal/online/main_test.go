// A browser listens on nothing.
//go:build !js

package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// The program plays with itself: a server, two players and one who watches.
func TestServeAndJoin(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	serving, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- serve(serving, l, dir) }()
	playing, leave := context.WithTimeout(t.Context(), 2500*time.Millisecond)
	defer leave()
	var outs [3]bytes.Buffer
	joined := make(chan error, 3)
	for i, token := range []string{"ada-has-the-first-seat", "bob-has-the-second-seat", "press-only-watches"} {
		go func() { joined <- join(playing, "ws://"+l.Addr().String()+"/matches/duel/play", token, &outs[i]) }()
	}
	for range outs {
		if err := <-joined; err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	collected := regexp.MustCompile(`tick 40:  player 0 at \S+ has [1-9]\d*  player 1 at \S+ has [1-9]`)
	for i := range outs {
		if !collected.Match(outs[i].Bytes()) {
			t.Errorf("guest %d:\n%s", i, outs[i].Bytes())
		}
	}
	replays, err := filepath.Glob(filepath.Join(dir, "duel-*.ssr"))
	if err != nil || len(replays) != 1 {
		t.Fatalf("replays %v, %v", replays, err)
	}
	if s, err := os.Stat(replays[0]); err != nil || s.Size() == 0 {
		t.Errorf("the replay: %v", err)
	}
}
