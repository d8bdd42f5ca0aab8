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
	"github.com/seed-49bee653/samestep/server"
)

// A match like another one has its game, settings, seed and configuration, and what its maker adds: also when the other one is over,
// and has been made in the same way.
func TestLike(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		made := 0
		spec := server.MatchSpec{Game: s.game, Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 50, Coins: 500}, BotKind: "calm"}
		spec.Settings.TickMicros = lockstep.TickPeriod(10)
		spec.Again = func(next *server.MatchSpec) { made++; next.Recorded, next.Again = "as before", spec.Again }
		like := spec
		var seed uint64
		for i, name := range []string{"first", "second", "third"} {
			like.Name = name
			m, err := s.server.Create(like)
			if err != nil {
				t.Fatal(err)
			}
			v := m.Status()
			if seed = max(seed, v.Settings.Seed); v.Settings.Seed != seed || v.Settings.TickRate() != 10 || v.Settings.Players != 2 || v.BotKind != "calm" || made != i {
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
	t.Parallel()
	inBubble(t, setup{newFile: inNowhere}, func(t *testing.T, s *stage) {
		var ids []string
		for range 258 {
			m, err := s.server.Create(server.MatchSpec{Name: "next", Game: s.game, Settings: lockstep.DefaultSettings(1), Config: &minimal.Config{Size: 50, Coins: 5}})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, m.Status().Match)
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

// A request for a match like another one is the server's own, whatever NewMatch reads.
func TestLikeOverHTTP(t *testing.T) {
	s := newStage(t, setup{options: server.Options{NewMatch: func(io.Reader) (server.MatchSpec, error) {
		return server.MatchSpec{}, errors.New("NewMatch reads nothing")
	}}})
	id := s.match.Status().Match
	for _, row := range []struct {
		token, body string
		status      int
		want        string
	}{
		{ops, `{"name":"again","like":"nothing"}`, 404, "no match of that ID is known here"},
		{ops, `{"name":"again","like":"` + id + `","seed":3}`, 400, `want name and like alone: json: unknown field \"seed\"`},
		{ops, `{"name":"again"}`, 400, "NewMatch reads nothing"},
		{ops, `{"name":"again","like":3}`, 400, "NewMatch reads nothing"},
		{ada, `{"name":"again","like":"` + id + `"}`, 403, ""},
		{ops, `{"name":"again","like":"` + id + `"}`, 201, `"name":"again"`},
	} {
		if status, body := s.ask(t, "POST", "/matches", row.token, row.body); status != row.status || !strings.Contains(body, row.want) {
			t.Errorf("%s: got %d %s", row.body, status, body)
		}
	}
}
