//go:build !js

package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// newMatch reads the body of a test's request.
func newMatch(body io.Reader) (server.MatchSpec, error) {
	b, err := io.ReadAll(body)
	if err != nil {
		return server.MatchSpec{}, err
	}
	var ask struct{ Name string }
	if err := json.Unmarshal(b, &ask); err != nil {
		return server.MatchSpec{}, err
	}
	var h host.Options
	if ask.Name == "lobby" {
		h.Start.Players = 2
	}
	return server.MatchSpec{
		Name: ask.Name, Host: &h, Game: lockstep.MustGame(minimal.Rules()), Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 9},
	}, nil
}

// Every route with every status.
func TestHTTPInterface(t *testing.T) {
	s := newStage(t, setup{options: server.Options{NewMatch: newMatch, Limits: server.Limits{MaxMatches: 2}}})
	a := s.join(t, ada, wander)
	<-a.Ready()
	type row struct {
		method, path, token, body string
		status                    int
		want                      string // in the answer
	}
	for _, x := range []row{
		{"GET", "/healthz", "", "", 200, "ok"},
		{"POST", "/healthz", "", "", 405, ""},
		{"GET", "/", "", "", 404, ""},
		{"GET", "/matches", "", "", 200, `"name":"duel"`},
		{"GET", "/matches/duel", "", "", 200, `"game":"minimal"`},
		{"GET", "/matches/none", "", "", 404, "no such match"},
		{"GET", "/matches/none/play", "", "", 404, "no such match"},
		{"GET", "/matches/duel/play", "", "", 426, ""},
		{"PUT", "/matches/duel", "", "", 405, ""},

		{"POST", "/matches", "", `{"Name":"two"}`, 403, "refused"},
		{"POST", "/matches", ada, `{"Name":"two"}`, 403, "refused"},
		{"POST", "/matches", press, `{"Name":"two"}`, 403, "refused"},
		{"POST", "/matches", ops + "x", `{"Name":"two"}`, 403, "refused"},
		{"POST", "/matches", ops, `{`, 400, ""},
		{"POST", "/matches", ops, `{"Name":"../two"}`, 400, "want a match name"},
		{"POST", "/matches", ops, strings.Repeat(" ", 65<<10), 413, ""},
		{"POST", "/matches", ops, `{"Name":"duel"}`, 409, "a match of that name exists"},
		{"POST", "/matches", ops, `{"Name":"two"}`, 201, `"name":"two"`},
		{"POST", "/matches", ops, `{"Name":"three"}`, 503, "too many matches"},

		{"POST", "/matches/duel/pause?seat=0", "", "", 403, ""},
		{"POST", "/matches/duel/pause?seat=0", ada, "", 403, ""},
		{"POST", "/matches/duel/kick", ops, "", 400, "want seat"},
		{"POST", "/matches/duel/pause?seat=-1", ops, "", 400, "want seat"},
		{"POST", "/matches/none/pause?seat=0", ops, "", 404, "no such match"},
		{"POST", "/matches/duel/dance?seat=0", ops, "", 404, "want start"},
		{"POST", "/matches/duel/pause?seat=9", ops, "", 409, ""},
		{"POST", "/matches/duel/pause?seat=65535", ops, "", 409, ""},
		{"POST", "/matches/duel/pause?seat=0", ops, "", 200, `"name":"duel"`},
		{"POST", "/matches/duel/resume?seat=0", ops, "", 200, ""},
		{"POST", "/matches/duel/speed?percent=5", ops, "", 400, "want 10 to 1000"},
		{"POST", "/matches/duel/speed", ops, "", 400, "want percent"},
		{"POST", "/matches/duel/speed?percent=200", ops, "", 200, ""},
		{"POST", "/matches/duel/kick?seat=1", ops, "", 409, ""},
		{"POST", "/matches/duel/kick?seat=0", ops, "", 200, ""},

		{"DELETE", "/matches/two", ada, "", 403, ""},
		{"DELETE", "/matches/two", ops, "", 200, ""},
		{"DELETE", "/matches/none", ops, "", 404, ""},
		{"GET", "/metrics", "", "", 200, "samestep_matches"},
	} {
		status, body := s.ask(t, x.method, x.path, x.token, x.body)
		if status != x.status || !strings.Contains(body, x.want) {
			t.Errorf("%s %s: got %d %q, want %d %q", x.method, x.path, status, body, x.status, x.want)
		}
		if got := problemOf(body); status >= 400 && server.Statuses[got.Code] != status {
			t.Errorf("%s %s: got the error %+v with status %d, want a code of that status", x.method, x.path, got, status)
		}
		if strings.Contains(body, "ops-ops") || strings.Contains(body, ada) {
			t.Errorf("%s %s: the answer contains a token: %s", x.method, x.path, body)
		}
	}
	if err := a.Wait(); !errors.Is(err, player.ErrClosed) {
		t.Errorf("the kicked player: %v", err)
	}
}

// problemOf returns the error in a body.
func problemOf(body string) (p server.Problem) {
	var answer struct{ Error *server.Problem }
	if json.Unmarshal([]byte(body), &answer) == nil && answer.Error != nil && answer.Error.Message != "" {
		p = *answer.Error
	}
	return p
}

// Errors of net/http and of the WebSocket library have the form of our own. An error removes the headers of the answer
// that it replaces.
func TestForeignErrors(t *testing.T) {
	s := newStage(t, setup{options: server.Options{Replays: true}})
	if err := os.WriteFile(filepath.Join(s.dir, "old.ssr"), make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	upgrade := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="}
	for _, x := range []struct {
		method, path string
		header       []string
		status       int
		code         string
	}{
		{"GET", "/nowhere", nil, 404, "no_route"},
		{"PUT", "/matches", nil, 405, "wrong_method"},
		{"GET", "/replays/old.ssr", []string{"Range", "bytes=500-"}, 416, "bad_range"},
		{"GET", "/replays/old.ssr", []string{"If-Match", `"x"`}, 412, "precondition_failed"},
		{"GET", "/replays/old.ssr", []string{"If-Modified-Since", "Mon, 02 Jan 2090 15:04:05 GMT"}, 304, ""},
		{"GET", "/replays/old.ssr", []string{"Range", "bytes=5-"}, 206, ""},
		{"GET", "/matches/duel/play", nil, 426, "upgrade_required"},
		{"GET", "/matches/duel/play", append(upgrade[:6:6], "Sec-WebSocket-Key", "x"), 400, "bad_request"},
		{"GET", "/matches/duel/play", append(upgrade, "Origin", "http://evil.example"), 403, "wrong_origin"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), x.method, "http://"+s.host+x.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(x.header); i += 2 {
			r.Header.Set(x.header[i], x.header[i+1])
		}
		answer, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		kind := answer.Header.Get("Content-Type") == "application/json" && answer.Header.Get("Last-Modified") == ""
		if got := problemOf(string(b)); err != nil || answer.StatusCode != x.status || got.Code != server.Code(x.code) || kind != (x.code != "") {
			t.Errorf("%s %s %v: got %d %v %q, %v; want %d %s", x.method, x.path, x.header, answer.StatusCode, answer.Header, b, err, x.status, x.code)
		}
	}
}

// A pause can be resumed at once, and cannot be repeated, whether or not its tick was sealed.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		<-s.join(t, ada, wander).Ready()
		for _, wait := range []time.Duration{0, 100 * time.Millisecond} {
			for _, step := range []struct {
				action string
				status int
			}{{"pause", 200}, {"pause", 409}, {"resume", 200}, {"resume", 409}} {
				if status, body := s.ask(t, "POST", "/matches/duel/"+step.action+"?seat=0", ops, ""); status != step.status {
					t.Errorf("%s: got %d %q, want %d", step.action, status, body, step.status)
				}
				time.Sleep(wait)
			}
			tick := s.stats(t).Tick
			time.Sleep(time.Second)
			if got := s.stats(t).Tick; got < tick+18 {
				t.Errorf("after a resume: got tick %d a second after tick %d, want about 20 more", got, tick)
			}
		}
	})
}

// An admin pauses a match without a seat, and resumes it whoever has paused it, also before the tick of the pause.
func TestAdminPauses(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		<-s.join(t, ada, wander).Ready()
		for _, wait := range []time.Duration{0, 200 * time.Millisecond} {
			for _, steps := range [][]string{{"pause", "resume"}, {"pause", "pause", "resume"}, {"pause?seat=0", "resume"}, {"pause?seat=0", "pause", "resume"}} {
				for _, step := range steps {
					if status, body := s.ask(t, "POST", "/matches/duel/"+step, ops, ""); status != 200 || strings.Contains(body, `"paused":true`) != (step != "resume") && step != "pause?seat=0" {
						t.Errorf("%v: %s: got %d %q", steps, step, status, body)
					}
					time.Sleep(wait)
				}
				tick := s.stats(t).Tick
				time.Sleep(time.Second)
				if got := s.stats(t).Tick; got < tick+18 {
					t.Errorf("%v: got tick %d a second after tick %d, want about 20 more", steps, got, tick)
				}
			}
		}
		if status, body := s.ask(t, "POST", "/matches/duel/resume", ops, ""); status != 409 || !strings.Contains(body, "the match is not paused") {
			t.Errorf("resume of a match that is not paused: got %d %q, want 409", status, body)
		}
		s.ask(t, "POST", "/matches/duel/pause?seat=0", ops, "")
		eventually(t, "the match says that it is paused", func() bool { return s.match.Status().Waiting != nil })
		if status, body := s.ask(t, "POST", "/matches/duel/resume?seat=0", ops, ""); status != 200 || strings.Contains(body, `"waiting"`) {
			t.Errorf("resume: got %d %q, want no wait", status, body)
		}
		s.ask(t, "POST", "/matches/duel/pause", ops, "")
		tick := s.stats(t).Tick
		time.Sleep(time.Minute)
		if got := s.stats(t).Tick; got != tick {
			t.Errorf("paused by an admin at tick %d: got tick %d after a minute", tick, got)
		}
	})
}

// Changes beyond the limit of a tick are refused until the next tick. The answer to an accepted one shows its
// effect.
func TestChangesOfOneTick(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		<-s.join(t, ada, wander).Ready()
		statuses := map[int]int{}
		for range 400 { // no time passes
			status, _ := s.ask(t, "POST", "/matches/duel/speed?percent=200", ops, "")
			statuses[status]++
		}
		if statuses[200] < 64 || statuses[503] < 64 || statuses[200]+statuses[503] != 400 {
			t.Errorf("got %v, want both 200 and 503", statuses)
		}
		time.Sleep(time.Second)
		if status, body := s.ask(t, "POST", "/matches/duel/kick?seat=0", ops, ""); status != 200 || !strings.Contains(body, `"players":0`) {
			t.Errorf("a second later: got %d %s, want 200 and no players", status, body)
		}
	})
}

// Scenario 22: wrong bearer tokens count for their address on every route, before any other answer. A known token
// of a player is not a guess.
func TestAdminGuesses(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{NewMatch: newMatch, Limits: server.Limits{GuestMatches: 1}}}, func(t *testing.T, s *stage) {
		routes := []struct{ method, path string }{
			{"DELETE", "/matches/duel"}, {"POST", "/matches"}, {"POST", "/matches/duel/pause?seat=0"}, {"POST", "/matches/none/kick?seat=0"}, {"POST", "/matches/duel/dance"},
		}
		count := func(n int, token func(n int) string) map[int]int {
			statuses := map[int]int{}
			for i := range n {
				x := routes[i%len(routes)]
				status, _ := s.ask(t, x.method, x.path, token(i), "")
				statuses[status]++
			}
			return statuses
		}
		if got := count(30, func(int) string { return press }); got[403] != 30 {
			t.Errorf("a spectator: got %v, want 30 times 403", got)
		}
		wrong := func(n int) string { return fmt.Sprintf("ops-ops-ops-ops-ops-%02d", n) }
		if got := count(30, wrong); got[403] != 20 || got[429] != 10 {
			t.Errorf("got %v, want 20 times 403 and 10 times 429", got)
		}
		time.Sleep(61 * time.Second)
		if got := count(30, wrong); got[403] != 20 || got[429] != 10 {
			t.Errorf("after a minute: got %v, want 20 times 403 and 10 times 429", got)
		}
	})
}

// Attack 10 of the review: players and an admin who share an address with a guesser are admitted all the same, over
// HTTP and with tokens and sessions over a WebSocket. All wrong tokens get the same answer, and count.
func TestGuessesAtSharedAddress(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{options: server.Options{NewMatch: newMatch, Limits: server.Limits{GuestMatches: 2, MaxMatches: 3}}}, func(t *testing.T, s *stage) {
		first := s.raw(t, bob, protocol.SessionToken{}, 0).live()
		first.ws.CloseNow()
		for n := range 60 {
			s.ask(t, "POST", "/matches", fmt.Sprintf("ops-ops-ops-ops-ops-%02d", n), "")
			s.raw(t, fmt.Sprintf("ada-ada-ada-ada-%03d", n), protocol.SessionToken{}, 0).end()
		}
		for _, x := range []struct {
			token, body string
			status      int
		}{
			{ada, `{"Name":"one"}`, 201},
			{ada, `no JSON`, 400},
			{ops, `{"Name":"duel"}`, 409},
			{ops, `{"Name":"two"}`, 201},
			{press, `{"Name":"three"}`, 403},
			{"wrong-wrong-wrong-wrong", `{"Name":"one"}`, 429},
			{"wrong-wrong-wrong-wrong", `no JSON`, 429},
			{ada + "x", `{"Name":"three"}`, 429},
		} {
			if status, body := s.ask(t, "POST", "/matches", x.token, x.body); status != x.status {
				t.Errorf("%s with %q: got %d %s, want %d", x.token, x.body, status, body, x.status)
			}
		}
		began := time.Now()
		back := s.raw(t, "", first.welcome.Session, first.position).welcomed()
		a := s.raw(t, ada, protocol.SessionToken{}, 0).welcomed()
		if back.welcome.Seat != 1 || a.welcome.Seat != 0 {
			t.Errorf("got the seats %d and %d, want 1 and 0", back.welcome.Seat, a.welcome.Seat)
		}
		if wait := time.Since(began); wait > time.Second {
			t.Errorf("they were welcomed after %v", wait)
		}
		if code := s.raw(t, "ada-ada-ada-ada-ad", protocol.SessionToken{}, 0).end(); code != protocol.CloseRefused {
			t.Errorf("a wrong token: closed with %v, want %v", code, protocol.CloseRefused)
		}
		if status, _ := s.ask(t, "DELETE", "/matches/duel", ops, ""); status != 200 {
			t.Errorf("the admin: got %d, want 200", status)
		}
	})
}

func (s *stage) ask(t *testing.T, method, path, token, body string) (status int, answer string) {
	t.Helper()
	return s.at(t, method, path, s.host, token, body)
}

// at is ask with another Host header.
func (s *stage) at(t *testing.T, method, path, host, token, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.host+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if r.Host = host; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// A server without NewMatch refuses POST /matches.
func TestNoMatchesOverHTTP(t *testing.T) {
	t.Parallel()
	inBubble(t, setup{}, func(t *testing.T, s *stage) {
		if status, body := s.ask(t, "POST", "/matches", ops, "{}"); status != 501 {
			t.Errorf("got %d %s, want 501", status, body)
		}
	})
}

// The same match works over https and wss.
func TestTLS(t *testing.T) {
	tokens, err := server.ReadTokens(strings.NewReader(tokenList))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Options{Authorizer: tokens, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	game := lockstep.MustGame(minimal.Rules())
	if _, err := s.Create(server.MatchSpec{Name: "duel", Game: game, Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 9}}); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(s)
	var log bytes.Buffer // its goroutines are gone when it is read
	web.Config = server.HTTPServer("", s)
	web.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(&log, nil), slog.LevelInfo)
	web.StartTLS()
	url := "wss" + strings.TrimPrefix(web.URL, "https") + "/matches/duel/play"
	o := client.Options{Options: player.Options{Token: ada}, HTTP: web.Client()}
	a := client.Dial(t.Context(), url, game, o)
	<-a.Ready()
	o.HTTP, o.Reconnect = nil, player.ReconnectPolicy{First: lockstep.Millisecond, Attempts: 1} // does not know the certificate's issuer
	if err := client.Dial(t.Context(), url, game, o).Wait(); !errors.Is(err, player.ErrGaveUp) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without the certificate: %v", err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	a.Do(func(c *player.Client) { c.Leave("") })
	if err := a.Wait(); err != nil {
		t.Error(err)
	}
	web.Close()
}
