//go:build !js && !wasip1

package web_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// Firefox plays, and its checksums agree. Nothing drives it: the server sees what it reports.
func TestFirefox(t *testing.T) {
	testenv.Night(t)
	if testing.Short() {
		t.Skip("short: it starts Firefox")
	}
	path, err := exec.LookPath("firefox-esr")
	if err != nil {
		if path, err = exec.LookPath("firefox"); err != nil {
			t.Skipf("optional everywhere: %v", err)
		}
	}
	s := newStage(t, setup{players: 1})
	ctx, stop := context.WithTimeout(t.Context(), browser.Patience)
	defer stop()
	profile, err := os.MkdirTemp("", "samestep-firefox-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(profile) // its processes may still write to it
	firefox := exec.CommandContext(ctx, path, "--headless", "--no-remote", "--profile", profile, s.URL+"/#/play/arena?token=token-of-player-0")
	firefox.Env = append(firefox.Environ(), "HOME="+profile)
	firefox.WaitDelay = time.Second
	if err := firefox.Start(); err != nil {
		t.Fatal(err)
	}
	defer firefox.Wait() // it is stopped, so it fails
	defer stop()
	stats := s.Match.Status().Stats
	for ctx.Err() == nil && (stats.Reports < 10 || stats.ByDatagrams == 0) {
		time.Sleep(100 * time.Millisecond)
		stats = s.Match.Status().Stats
	}
	if stats.Reports < 10 || stats.Desyncs > 0 || stats.ByDatagrams != 1 {
		t.Errorf("got %d checksums, %d desyncs, and %d players with datagrams, want 10 that agree, and 1", stats.Reports, stats.Desyncs, stats.ByDatagrams)
	}
}
