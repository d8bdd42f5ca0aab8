//go:build !js

package server_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/server"
)

// The log of a match is in the folder "live" until the match is over. Then its replay and its bundles are outside.
func TestLiveFolder(t *testing.T) {
	s := newStage(t, setup{options: server.Options{KeepOpen: true}})
	log := s.match.ReplayPath()
	if dir := filepath.Dir(log); dir != filepath.Join(s.dir, "live") {
		t.Errorf("the log is in %s", dir)
	}
	if err := s.match.End(t.Context(), "enough"); err != nil {
		t.Fatal(err)
	}
	<-s.match.Done()
	if got, want := s.match.ReplayPath(), filepath.Join(s.dir, filepath.Base(log)); got != want {
		t.Errorf("after the match: got the replay %s, want %s", got, want)
	}
	if files := s.files(t, "*"); !slices.Equal(files, []string{s.match.ReplayPath()}) {
		t.Errorf("got the files %v, want the replay", files)
	}
}

// Of the files of an older build, which knew no folder "live", the open logs move there once.
func TestLiveLogsOfOlderBuild(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		s := newStage(t, setup{pipes: true, options: server.Options{KeepOpen: true}})
		a := s.join(t, ada, wander)
		eventually(t, "it plays", func() bool { return a.tick() > 25 })
		open := s.crash(t)
		dir, name := filepath.Dir(open), filepath.Base(open)
		if err := s.match.End(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		<-s.match.Done()
		whole, err := os.ReadFile(s.match.ReplayPath())
		if err := errors.Join(err, os.WriteFile(filepath.Join(dir, "over.ssr"), whole, 0o600), os.WriteFile(filepath.Join(dir, "text.ssr"), []byte("text"), 0o600)); err != nil {
			t.Fatal(err)
		}
		want := []string{filepath.Join(dir, "live", name)}
		for range 2 {
			if got, err := server.LiveLogs(dir); err != nil || !slices.Equal(got, want) {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		}
		for _, left := range []string{"over.ssr", "text.ssr"} {
			if _, err := os.Stat(filepath.Join(dir, left)); err != nil {
				t.Errorf("what is not an open log has moved: %v", err)
			}
		}
		if err := os.Rename(want[0], open); err != nil {
			t.Fatal(err)
		}
		if got, err := server.LiveLogs(dir); err != nil || len(got) > 0 {
			t.Errorf("a second search: got %v, %v, want none", got, err)
		}
	})
}
