//go:build !js

package server_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/server"
)

// A client whose state has another schema than the match is told the field as both sides have it, and not two hashes.
func TestRefusalNamesField(t *testing.T) {
	rules := testgame.RaceRules()
	type wide struct{ Steps []int64 }
	other := lockstep.MustGame(lockstep.Rules[wide, testgame.RaceConfig]{
		Name: rules.Name, Build: rules.Build, Commands: rules.Commands, Result: rules.Result,
		New:  func(*wide, *lockstep.Settings, *testgame.RaceConfig) error { return nil },
		Step: func(*wide, *testgame.RaceConfig, *lockstep.Turn) {},
	})
	s, err := server.New(server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown(t.Context())
	if _, err := s.Create(server.MatchSpec{Name: "race", Game: lockstep.MustGame(rules), Settings: lockstep.DefaultSettings(2), Config: &testgame.RaceConfig{Goal: 5}}); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	defer web.Close()
	var lost error
	session := client.Dial(t.Context(), "ws"+strings.TrimPrefix(web.URL, "http")+"/matches/race/play", other, client.Options{
		Options: player.Options{Token: "any"},
		Handle: func(_ *player.Client, e any) {
			if v, ok := e.(player.LostForGood); ok {
				lost = v.Err
			}
		},
	})
	err = session.Wait()
	want := "your build has Steps[] int64, the match has Steps[] int32"
	var identity *lockstep.IdentityError
	if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, player.ErrClosed) || !errors.As(err, &identity) || lost == nil || lost.Error() != err.Error() {
		t.Errorf("got %v and %v, want %q", err, lost, want)
	}
}
