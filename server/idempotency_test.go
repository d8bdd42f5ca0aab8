//go:build !js

package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// create asks for a match with an Idempotency-Key.
func (s *stage) create(t *testing.T, token, key, body string) (status int, answer string, replayed bool) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+s.host+"/matches", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Idempotency-Key", key)
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header.Get("Idempotency-Replayed") == "true"
}

// A repeated request to create a match gets the same answer, and makes no second match.
func TestIdempotencyKey(t *testing.T) {
	started, release := make(chan struct{}, 1), make(chan struct{})
	options := server.Options{Limits: server.Limits{GuestMatches: 5, IdleMatch: -1}, NewMatch: func(body io.Reader) (server.MatchSpec, error) {
		spec, err := newMatch(body)
		if spec.Name == "slow" {
			started <- struct{}{}
			<-release
		}
		return spec, err
	}}
	s := newStage(t, setup{options: options})
	check := func(token, key, name string, status int, code string) string {
		t.Helper()
		got, answer, _ := s.create(t, token, key, fmt.Sprintf(`{"name":%q}`, name))
		if p := problemOf(answer); got != status || string(p.Code) != code {
			t.Errorf("%s, %s: got %d %s, want %d %s", key, name, got, answer, status, code)
		}
		return answer
	}
	first := check(ops, "a", "one", 201, "")
	if status, again, replayed := s.create(t, ops, "a", `{"name":"one"}`); status != 201 || again != first || !replayed {
		t.Errorf("again: got %d %s, want %s", status, again, first)
	}
	check(ops, "a", "two", 422, "key_reused")
	check(ops, "b", "one", 409, "match_exists")
	check(ada, "a", "one", 409, "match_exists") // a key of its own
	check(ops, strings.Repeat("k", 129), "two", 400, "bad_request")
	check(ops, "c", "duel", 409, "match_exists")
	if err := s.match.End(t.Context(), "over"); err != nil {
		t.Fatal(err)
	}
	<-s.match.Done()
	eventually(t, "the name is free", func() bool { status, _ := s.ask(t, "GET", "/matches/duel", "", ""); return status == 404 })
	check(ops, "c", "duel", 201, "") // an error is not kept
	done := make(chan int)
	go func() {
		status, _, _ := s.create(t, ops, "d", `{"name":"slow"}`)
		done <- status
	}()
	<-started
	check(ops, "d", "slow", 409, "in_progress")
	close(release)
	if status := <-done; status != 201 {
		t.Errorf("the slow one: got %d, want 201", status)
	}
	check(ops, "d", "slow", 201, "")
	if all := s.server.Matches(); len(all) != 3 {
		t.Errorf("got %d matches, want 3", len(all))
	}
}

// The list of matches has filters and pages.
func TestMatchFilters(t *testing.T) {
	s := newStage(t, setup{options: server.Options{NewMatch: newMatch}})
	for _, name := range []string{"a-1", "a-2", "a-3", "b-1"} {
		if status, body := s.ask(t, "POST", "/matches", ops, fmt.Sprintf(`{"name":%q}`, name)); status != 201 {
			t.Fatal(status, body)
		}
	}
	if status, body := s.ask(t, "POST", "/matches/a-2/pause", ops, ""); status != 200 {
		t.Fatal(status, body)
	}
	build := s.match.Status().Build
	for _, x := range []struct{ query, want, next string }{
		{"", "a-1 a-2 a-3 b-1 duel", ""},
		{"prefix=a-", "a-1 a-2 a-3", ""},
		{"prefix=a-&limit=2", "a-1 a-2", `<?after=a-2&limit=2&prefix=a->; rel="next"`},
		{"after=a-2&limit=2&prefix=a-", "a-3", ""},
		{"limit=5", "a-1 a-2 a-3 b-1 duel", ""},
		{"state=held", "a-2", ""},
		{"state=playing&limit=1&after=a-1", "a-3", `<?after=a-3&limit=1&state=playing>; rel="next"`},
		{"state=recovering", "", ""},
		{"game=minimal&build=" + build + "&prefix=b", "b-1", ""},
		{"game=chess", "", ""},
		{"build=other", "", ""},
		{"limit=0", "400", ""},
		{"limit=101", "400", ""},
		{"state=starting", "400", ""},
		{"state=x", "400", ""},
	} {
		resp, err := s.client.Get("http://" + s.host + "/matches?" + x.query)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		var page []server.Status
		err = json.NewDecoder(resp.Body).Decode(&page)
		resp.Body.Close()
		for _, v := range page {
			names = append(names, v.Name)
		}
		if resp.StatusCode != 200 {
			names, err = []string{fmt.Sprint(resp.StatusCode)}, nil
		}
		if got, link := strings.Join(names, " "), resp.Header.Get("Link"); err != nil || got != x.want || link != x.next {
			t.Errorf("%s: got %s with %q, %v; want %s with %q", x.query, got, link, err, x.want, x.next)
		}
	}
}

// A view has the names and states of the players.
func TestPlayersInView(t *testing.T) {
	t.Parallel()
	idle := func(*lockstep.Simulation) []any { return nil }
	inBubble(t, setup{host: host.Options{Bots: []lockstep.Bot{nil, idle}}}, func(t *testing.T, s *stage) {
		bot := server.PlayerStatus{Seat: 1, Name: "bot 1", State: "bot"}
		check := func(want ...server.PlayerStatus) {
			t.Helper()
			time.Sleep(2 * time.Second) // of the bubble
			if got := s.match.Status().Players; !slices.Equal(got, append(want, bot)) {
				t.Errorf("got %v, want %v and %v", got, want, bot)
			}
		}
		check()
		s.raw(t, ada, protocol.SessionToken{}, 0).live().ws.CloseNow()
		check(server.PlayerStatus{Seat: 0, Name: "ada", State: "away"})
		<-s.join(t, ada, wander).Ready()
		check(server.PlayerStatus{Seat: 0, Name: "ada", State: "playing"})
		if _, body := s.ask(t, "GET", "/matches/duel", "", ""); !strings.Contains(body, `"players":[{"seat":0,"name":"ada","state":"playing"},`) {
			t.Errorf("got %s", body)
		}
	})
}
