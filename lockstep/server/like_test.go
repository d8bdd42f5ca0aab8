//go:build !js

package server_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// A match like another one has its game, settings, seed and configuration, and what its maker adds: also when the other one is over,
// and has been made in the same way.
func TestLike(t *testing.T) {
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		made := 0
		spec := server.MatchSpec{Game: s.game, Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 50, Coins: 500}, BotKind: "calm"}
		spec.Settings.TickRate = 10
		spec.Again = func(next *server.MatchSpec) { made++; next.Recorded, next.Again = "as before", spec.Again }
		like := spec
		var seed uint64
		for i, name := range []string{"first", "second", "third"} {
			like.Name = name
			m, err := s.server.Create(like)
			if err != nil {
				t.Fatal(err)
			}
			v := m.View()
			if seed = max(seed, v.Settings.Seed); v.Settings.Seed != seed || v.Settings.TickRate != 10 || v.Settings.Players != 2 || v.BotKind != "calm" || made != i {
				t.Errorf("%s: got %+v, made %d times", name, v, made)
			}
			if i > 0 {
				if err := m.End(t.Context(), "over"); err != nil {
					t.Fatal(err)
				}
				<-m.Done()
				if slices.Contains(s.server.Matches(), m) {
					t.Fatal("the match still runs")
				}
			}
			if like, err = s.server.Like(v.Match); err != nil {
				t.Fatal(err)
			}
			if c := like.Config.(*minimal.Config); *c != (minimal.Config{Size: 50, Coins: 500}) || like.Recorded != "as before" {
				t.Errorf("%s: got %+v with %+v", name, like, c)
			}
		}
		for _, id := range []string{"", "first", strings.Repeat("0", 32)} {
			if _, err := s.server.Like(id); !errors.Is(err, server.ErrNoMatch) {
				t.Errorf("%q: got %v", id, err)
			}
		}
	})
}

// The server knows the last matches that are over, and forgets older ones.
func TestPastIsBounded(t *testing.T) {
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		var ids []string
		for range 258 {
			m, err := s.server.Create(server.MatchSpec{Name: "next", Game: s.game, Settings: lockstep.DefaultSettings(1), Config: &minimal.Config{Size: 50, Coins: 5}})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, m.View().Match)
			if err := m.End(t.Context(), "over"); err != nil {
				t.Fatal(err)
			}
			<-m.Done()
		}
		known := func(id string) bool { _, err := s.server.Like(id); return err == nil }
		if known(ids[0]) || known(ids[1]) || !known(ids[2]) || slices.ContainsFunc(ids[2:], func(id string) bool { return !known(id) }) {
			t.Error("want the last 256 matches, and no others")
		}
	})
}

// A request for a match like one that is not known says so.
func TestLikeOverHTTP(t *testing.T) {
	var s *stage
	s = newStage(t, setup{options: server.Options{NewMatch: func(body io.Reader) (server.MatchSpec, error) {
		id, err := io.ReadAll(body)
		if err != nil {
			return server.MatchSpec{}, err
		}
		spec, err := s.server.Like(string(id))
		spec.Name = "again"
		return spec, err
	}}})
	if status, body := s.ask(t, "POST", "/matches", ops, "nothing"); status != 404 || !strings.Contains(body, `"no_match"`) || !strings.Contains(body, "no match of that ID is known here") {
		t.Errorf("got %d %s", status, body)
	}
	if status, body := s.ask(t, "POST", "/matches", ada, s.match.View().Match); status != 403 {
		t.Errorf("a player: got %d %s", status, body)
	}
	if status, body := s.ask(t, "POST", "/matches", ops, s.match.View().Match); status != 201 {
		t.Errorf("got %d %s", status, body)
	}
}
