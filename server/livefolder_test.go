//go:build !js

package server_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/server"
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
