//go:build !js

package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/internal/testing/loglines"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// Of two players over the network one corrupts its own copy. It is notified and resynced, and exits with 3. The other
// one is not affected, and the replay verifies.
func TestServeAndJoin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := tooltest.Serve(t, "--players", "2", "--config", `{"Units":100}`, "--tick-rate", "50", "--dir", dir, "--durability", "frame", "--set", "spectator-delay=1s", "--set", "explain=true")
	var wait sync.WaitGroup
	live, _ := filepath.Glob(filepath.Join(dir, "live", "*.ssr"))
	if len(live) != 1 {
		t.Fatalf("got replays %v, want one", live)
	}
	wait.Go(func() { // until the match ends, and the server seals the file in its place
		var out, errs bytes.Buffer
		if code := tooltest.Execute([]string{"replay", "verify", "--follow", live[0]}, &out, &errs); code != console.ExitOK || !strings.Contains(out.String(), "verdict    true") {
			t.Errorf("verify --follow exited with %d: %s%s", code, out.String(), errs.String())
		}
	})
	for _, at := range []string{s.URL, s.URL + "/matches/match-1"} {
		var out, errs bytes.Buffer
		if code := tooltest.Execute([]string{"replay", "watch", "--once", at}, &out, &errs); code != console.ExitOK || !strings.HasPrefix(out.String(), "match-1 tick ") {
			t.Errorf("watch exited with %d: %s%s", code, out.String(), errs.String())
		}
	}
	var players sync.WaitGroup
	players.Go(func() {
		sum, code := s.Join(t, "player-0", "--time", "3s", "--netsim", "delay=10ms jitter=5ms seed=3", "--predict", "10", "--predict-late", "10")
		if got, want := sum.Corrections.PerMinute*sum.Watched, 60*float64(sum.Corrections.Count); sum.Watched == 0 || got > want+1 || got < want-1 {
			t.Errorf("player 0 watched for %.1f s, and saw %+v", sum.Watched, sum.Corrections)
		}
		if code != console.ExitOK || sum.Seat != 0 || sum.Agreed == 0 || sum.Differing > 0 || sum.RoundTripMS < 20 || sum.Accepted == 0 {
			t.Errorf("player 0 exited with %d: %+v", code, sum)
		}
	})
	players.Go(func() {
		sum, code := s.Join(t, "watcher", "--time", "2500ms", "--spectate")
		if code != console.ExitOK || sum.Seat != -1 || sum.Agreed == 0 || sum.Differing > 0 {
			t.Errorf("the spectator exited with %d: %+v", code, sum)
		}
	})
	sum, code := s.Join(t, "player-1", "--time", "3s", "--corrupt", "30")
	if code != console.ExitDesync || sum.Seat != 1 || sum.Desyncs != 1 || sum.Healed != 1 || sum.Differing == 0 {
		t.Errorf("player 1 exited with %d: %+v", code, sum)
	}
	players.Wait()
	s.End(t, s.Tokens["admin"])
	if code := s.Stop(); code != console.ExitOK {
		t.Errorf("the server exited with %d: %s", code, s.Stderr.String())
	}
	wait.Wait()
	replays, _ := filepath.Glob(filepath.Join(dir, "*.ssr"))
	bundles, _ := filepath.Glob(filepath.Join(dir, "*-desync-*.zip"))
	if len(replays) != 1 || len(bundles) != 1 {
		t.Fatalf("got replays %v and bundles %v, want one of each", replays, bundles)
	}
	if told := `msg=desync match=match-1 id=` + sum.Match + ` session=` + sum.Session + ` `; !strings.Contains(s.Stderr.String(), told) {
		t.Errorf("player 1 was told other ids than the log has: want %q in %s", told, s.Stderr.String())
	}
	for _, problem := range loglines.Problems(s.Stderr.String()) {
		t.Errorf("a line of the log %s", problem)
	}
	page, err := os.ReadFile(strings.TrimSuffix(bundles[0], ".zip") + ".html")
	if err != nil || !strings.Contains(string(page), "Player 1 (player-1) computed it wrong") {
		t.Errorf("the desync was not explained: %v, %d bytes, log: %s", err, len(page), s.Stderr.String())
	}
	var out, errs bytes.Buffer
	if code := tooltest.Execute([]string{"replay", "verify", replays[0]}, &out, &errs); code != console.ExitOK {
		t.Errorf("verify exited with %d: %s%s", code, out.String(), errs.String())
	}
}

// Without a referee and a majority, nobody knows whose state is right: both players hear of it once, and neither exits with 0.
func TestRelayTie(t *testing.T) {
	t.Parallel()
	s := tooltest.Serve(t, "--players", "2", "--config", `{"Units":100}`, "--tick-rate", "50", "--dir", "", "--set", "relay=true")
	var players sync.WaitGroup
	for seat, flags := range [][]string{nil, {"--corrupt", "10"}} {
		players.Go(func() {
			sum, code := s.Join(t, fmt.Sprint("player-", seat), append(flags, "--time", "2s")...)
			if code != console.ExitDesync || sum.Undecided != 1 || sum.Differing != 0 {
				t.Errorf("player %d exited with %d: %+v", seat, code, sum)
			}
		})
	}
	players.Wait()
}

// A copy that was corrupted, found by a majority and healed was still corrupted: its player does not exit with 0.
func TestRelayHealed(t *testing.T) {
	t.Parallel()
	s := tooltest.Serve(t, "--players", "3", "--config", `{"Units":100}`, "--tick-rate", "50", "--dir", "", "--set", "relay=true", "--set", "start=3")
	var players sync.WaitGroup
	for seat, flags := range [][]string{nil, {"--corrupt", "60"}, nil} {
		players.Go(func() {
			sum, code := s.Join(t, fmt.Sprint("player-", seat), append(flags, "--time", "4s")...)
			if want := console.ExitDesync * (seat % 2); code != want || sum.Desyncs != seat%2 || sum.Healed != sum.Desyncs {
				t.Errorf("player %d exited with %d, want %d: %+v", seat, code, want, sum)
			}
			if checks := int(sum.Tick) / 50; sum.Agreed > checks { // one a second, also those that it computed again
				t.Errorf("player %d: got %d equal checksums, want at most %d to tick %d", seat, sum.Agreed, checks, sum.Tick)
			}
		})
	}
	players.Wait()
}

// Clients behind a trusted proxy have limits of their own.
func TestServeBehindProxy(t *testing.T) {
	for _, proxy := range []string{"127.0.0.1", "127.0.0.0/8", "10.0.0.1"} {
		s := tooltest.Serve(t, "--matches", "0", "--dir", "", "--set", "trusted-proxy="+proxy)
		status := make(map[string]int)
		for i := range 31 {
			client := "203.0.113.1"
			if i == 30 {
				client = "203.0.113.2"
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/matches/duel/bans", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer 0123456789abcdef")
			r.Header.Set("X-Forwarded-For", client)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			status[client] = max(status[client], answer.StatusCode)
		}
		others := http.StatusForbidden
		if proxy == "10.0.0.1" {
			others = http.StatusTooManyRequests
		}
		if status["203.0.113.1"] != http.StatusTooManyRequests || status["203.0.113.2"] != others {
			t.Errorf("trusted-proxy %s: after 30 guesses of another client got %d, want %d", proxy, status["203.0.113.2"], others)
		}
	}
}

func TestServeOverHTTP(t *testing.T) {
	s := tooltest.Serve(t, "--matches", "0", "--dir", "", "--set", "allowed-host=game.example")
	for host, want := range map[string]int{"": http.StatusOK, "localhost": http.StatusOK, "game.example": http.StatusOK, "evil.example": http.StatusForbidden} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/matches", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("the host %q: got status %d, want %d", host, answer.StatusCode, want)
		}
	}
	post := func(token, body string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/matches", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	for _, c := range []struct {
		token, body string
		want        int
	}{
		{s.Tokens["watcher"], `{"name":"duel"}`, http.StatusForbidden},
		{s.Tokens["admin"], `{"name":"duel","speed":3}`, http.StatusBadRequest},
		{s.Tokens["admin"], `{"name":"du/el"}`, http.StatusBadRequest},
		{s.Tokens["admin"], `{"name":"duel","players":0}`, http.StatusBadRequest},
		{s.Tokens["admin"], `not json`, http.StatusBadRequest},
	} {
		if got := post(c.token, c.body); got != c.want {
			t.Errorf("%s: got status %d, want %d", c.body, got, c.want)
		}
	}
}

func TestServeAndJoinRefuse(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("SAMESTEP_LISTEN", "127.0.0.1:0") // for some it begins to listen first
	const openSSH = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHJ5bnN0ZXAga2V5IG9mIGEgdGVzdCwgbm90IGEga2V5 ops@example\n"
	if err := os.WriteFile("id_ed25519.pub", []byte(openSSH), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want int
	}{
		{"serve --game chess", console.ExitUsage},
		{"serve --players 0", console.ExitUsage},
		{"serve --set input-delay=soon", console.ExitUsage},
		{"serve --tick-rate 0", console.ExitUsage},
		{"serve --tick-rate 60001ms", console.ExitUsage},
		{"serve --set share=2m", console.ExitUsage},
		{"serve --set inactive=25h", console.ExitUsage},
		{"serve --set inactive=-1s", console.ExitUsage},
		{"serve --set inactive=5m --set inactive-then=sulk", console.ExitUsage},
		{"serve --set substitutes=true --set relay=true", console.ExitUsage},
		{"serve --set trusted-proxy=nginx", console.ExitUsage},
		{"serve --set trusted-proxy=10.0.0.1 --set trusted-proxy=0.0.0.0/0", console.ExitUsage},
		{"serve --set desync=ignore", console.ExitUsage},
		{"serve --tls-cert x", console.ExitUsage},
		{"serve --bots 3 --players 2 --guests 1", console.ExitUsage},
		{"serve --set log-format=xml", console.ExitUsage},
		{"serve --log-level loud", console.ExitUsage},
		{"serve --log-level info+1", console.ExitUsage},
		{"serve now", console.ExitUsage},
		{"serve --tokens /does/not/exist", console.ExitError},
		{"serve --set jwt-key=id_ed25519.pub", console.ExitError},
		{"serve --set jwt-key=id_ed25519.pub --set jwt-algorithm=HS256", console.ExitError},
		{"serve --set jwt-key=id_ed25519.pub --set jwt-algorithm=RS256", console.ExitError},
		{"serve --set jwt-audience=game", console.ExitUsage},
		{"serve --listen nowhere:x --dir", console.ExitUsage},
		{"join", console.ExitUsage},
		{"join ftp://x/matches/y", console.ExitUsage},
		{"join http://x/y", console.ExitUsage},
		{"join http://127.0.0.1:1/matches/y", console.ExitError},
		{"join http://x/matches/y --bot clever", console.ExitUsage},
		{"join http://x/matches/y --netsim loss=200%", console.ExitUsage},
	} {
		var out, errs bytes.Buffer
		if got := tooltest.Run(t.Context(), append([]string{"samestep"}, strings.Fields(c.args)...), &out, &errs); got != c.want {
			t.Errorf("%s: exit code %d, want %d: %s", c.args, got, c.want, errs.String())
		}
	}
	if replays, _ := filepath.Glob("matches/live/*"); len(replays) > 0 {
		t.Errorf("replays of matches that never were: %v", replays)
	}
}

// If the port fails, the matches are suspended as after an interrupt.
func TestServeWithoutAPort(t *testing.T) {
	game, err := games.Named("skirmish")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	s, err := server.New(server.Options{Dir: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := serving.MatchSpec(game, serving.MatchRequest{Name: "match-1", Players: 2, Units: 10, TickMicros: 50_000})
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Create(spec)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := serving.ServeUntilInterrupted(t.Context(), func() {}, s, nil, s, l, 0, log); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want %v", err, net.ErrClosed)
	}
	select {
	case <-m.Done():
	default:
		t.Fatal("the match goes on")
	}
	f, err := replay.OpenNoFollow(m.ReplayPath())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Info(); !errors.Is(err, io.ErrUnexpectedEOF) || info.Ended {
		t.Errorf("its replay: %+v, %v, want one to resume", info, err)
	}
}
