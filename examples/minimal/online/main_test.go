// A browser cannot listen on a port.
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
	"sync"
	"testing"
	"time"
)

// patience is a time limit for a test that hangs.
const patience = 5 * time.Minute

// collected matches a line in which both players have coins.
var collected = regexp.MustCompile(`tick \d+:  player 0 at \S+ has [1-9]\d*  player 1 at \S+ has [1-9]`)

// page keeps the output of a client, and calls tell when both players have coins.
type page struct {
	text bytes.Buffer
	tell func()
}

func (p *page) Write(b []byte) (int, error) {
	p.text.Write(b)
	if collected.Match(p.text.Bytes()) {
		p.tell()
	}
	return len(b), nil
}

// A server, two players and a spectator: the clients leave when all have seen both players collect coins.
func TestServeAndJoin(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	serving, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- serve(serving, l, dir) }()
	playing, leave := context.WithTimeout(t.Context(), patience)
	defer leave()
	var seen sync.WaitGroup
	var pages [3]page
	joined := make(chan error, len(pages))
	for i, token := range []string{"ada-has-the-first-seat", "bob-has-the-second-seat", "press-only-watches"} {
		seen.Add(1)
		pages[i].tell = sync.OnceFunc(seen.Done)
		go func() { joined <- join(playing, "ws://"+l.Addr().String()+"/matches/duel/play", token, &pages[i]) }()
	}
	go func() {
		seen.Wait()
		leave()
	}()
	for range pages {
		if err := <-joined; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if t.Failed() {
		for i := range pages {
			t.Errorf("client %d:\n%s", i, pages[i].text.Bytes())
		}
	}
	replays, err := filepath.Glob(filepath.Join(dir, "live", "duel-*.ssr"))
	if err != nil || len(replays) != 1 {
		t.Fatalf("replays %v, %v", replays, err)
	}
	if s, err := os.Stat(replays[0]); err != nil || s.Size() == 0 {
		t.Errorf("the replay: %v", err)
	}
}
