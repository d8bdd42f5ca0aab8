//go:build linux

package clustertool_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/fleet"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A visitor comes to the public name of a machine, whose address is that of its proxy.
type visitor struct {
	t      *testing.T
	from   string // a loopback address
	client *http.Client
}

func newVisitor(t *testing.T, proxy, from string) *visitor {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", proxy) }}
	t.Cleanup(transport.CloseIdleConnections)
	return &visitor{t, from, &http.Client{Transport: transport}}
}

// ask sends a request for a path below the public URL.
func (v *visitor) ask(host, method, path, token, body string) (status int, answer string) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, "http://"+host+"/game/"+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	got, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer got.Body.Close()
	b, err := io.ReadAll(got.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return got.StatusCode, string(b)
}

// play plays in a match until stop is called. ticks receives the ticks as they come.
func (v *visitor) play(match, token string) (ticks <-chan lockstep.Tick, stop func()) {
	seen := make(chan lockstep.Tick, 1)
	ctx, cancel := context.WithCancel(v.t.Context())
	s := client.Dial(ctx, "ws://play.example/game/matches/"+match+"/play", lockstep.MustGame(minimal.Rules()), client.Options{
		Options: player.Options{Token: token}, HTTP: v.client, NoDatagrams: true,
		Sample: func(c *player.Client) {
			select {
			case seen <- c.Simulation().Tick():
			default:
			}
		},
	})
	return seen, func() { cancel(); <-s.Done() }
}

// reach waits for a tick from a given one on.
func reach(t *testing.T, ticks <-chan lockstep.Tick, from lockstep.Tick) lockstep.Tick {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case at := <-ticks:
			if at >= from {
				return at
			}
		case <-late:
			t.Fatalf("tick %d did not come", from)
		}
	}
}

// From an empty machine to a match that is played through the proxy, with the files of docs/operations as they are: the settings that
// the unit's command writes, the unit's arguments, and the proxies' files. Nothing is open, and a restart goes on with the match.
func TestFirstStart(t *testing.T) {
	for _, proxy := range append([]string{""}, fleet.Proxies...) {
		name := proxy
		if proxy == "" {
			name = "none" // the server alone is asked as its proxy would ask it
		}
		t.Run(name, func(t *testing.T) {
			if proxy != "" {
				testenv.Named(t)
				_, err := exec.LookPath(proxy)
				testenv.Or(t, proxy, err)
			}
			firstStart(t, proxy)
		})
	}
}

func firstStart(t *testing.T, proxy string) {
	m, err := fleet.NewMachine(t.TempDir(), os.Args[0], "../../../docs/operations")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := m.WriteSettings(t.Context()); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s, err := m.StartUnit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.Stop() }()
	address := strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/game")
	if proxy != "" {
		var stop func() string
		if address, stop, err = m.StartProxy(t.Context(), proxy); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if log := stop(); t.Failed() {
				t.Logf("%s: %s", proxy, log)
			}
		}()
	}
	admin, err := m.Admin()
	if err != nil {
		t.Fatal(err)
	}
	v := newVisitor(t, address, "127.0.0.2")
	status, answer := v.ask("play.example", http.MethodPost, "matches", admin, `{"name":"first","players":1}`)
	var made struct{ Tokens []struct{ Token string } }
	if err := json.Unmarshal([]byte(answer), &made); status != http.StatusCreated || err != nil || len(made.Tokens) != 1 {
		t.Fatalf("a match of the admin: got %d %s", status, answer)
	}
	ticks, stop := v.play("first", made.Tokens[0].Token)
	defer stop()
	at := reach(t, ticks, 5)

	for _, path := range []string{"metrics", "replays", "revocations", "matches/first/connections"} {
		if status, answer := v.ask("play.example", http.MethodGet, path, "", ""); status != http.StatusForbidden {
			t.Errorf("%s without a token: got %d %s, want 403", path, status, answer)
		}
		if status, answer := v.ask("play.example", http.MethodGet, path, admin, ""); status != http.StatusOK {
			t.Errorf("%s of the admin: got %d %s, want 200", path, status, answer)
		}
	}
	if status, _ := v.ask("play.example", http.MethodPost, "matches", "", `{"name":"other"}`); status != http.StatusForbidden {
		t.Errorf("a match of nobody: got %d, want 403", status)
	}
	if proxy != "caddy" { // which answers for its own host alone
		if status, _ := v.ask("evil.example", http.MethodGet, "matches", "", ""); status != http.StatusForbidden {
			t.Errorf("another host: got %d, want 403", status)
		}
	}
	if proxy != "" {
		limits(t, m, address, v)
	}

	s.Stop()
	if s, err = m.StartUnit(t.Context()); err != nil {
		t.Fatal(err)
	}
	reach(t, ticks, at+20)
}

// limits looks whether each client behind a proxy has limits of its own, and a place in the log.
func limits(t *testing.T, m *fleet.Machine, proxy string, v *visitor) {
	t.Helper()
	refused := 0
	for range 40 {
		if status, _ := v.ask("play.example", http.MethodPost, "matches", "wrong-wrong-wrong-wrong", ""); status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 {
		t.Error("40 wrong tokens of one client: none was refused as too many")
	}
	if status, _ := newVisitor(t, proxy, "127.0.0.3").ask("play.example", http.MethodPost, "matches", "wrong-wrong-wrong-wrong", ""); status != http.StatusForbidden {
		t.Errorf("a wrong token of another client: got %d, want 403", status)
	}
	if log, err := os.ReadFile(filepath.Join(m.Root, "unit.log")); err != nil || !strings.Contains(string(log), "address="+v.from) {
		t.Errorf("the log does not name the client: %v, %s", err, log)
	}
}
