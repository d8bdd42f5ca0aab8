//go:build linux

package tool

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// The example of docs/operations for a proxy works: players join through it below a path, and the limits and the log have
// the clients behind it.
func TestBehindProxies(t *testing.T) {
	testenv.Long(t) // TestServeBehindProxy has the header without a proxy
	if testing.Short() {
		t.Skip("short: a proxy is the same for every build of the server")
	}
	for _, proxy := range []struct {
		name    string
		file    string
		port    string // what the example listens on
		config  string // around the example
		command func(config, dir string) []string
	}{
		{"nginx", "nginx.conf", "listen 80;", "events {}\nerror_log stderr;\npid nginx.pid;\nhttp {\naccess_log off;\nclient_body_temp_path a;\nproxy_temp_path b;\nfastcgi_temp_path c;\nuwsgi_temp_path d;\nscgi_temp_path e;\n%s}\n",
			func(config, dir string) []string {
				return []string{"-p", dir, "-c", config, "-e", "stderr", "-g", "daemon off;"}
			}},
		{"caddy", "Caddyfile", "play.example {", "{\nadmin off\nauto_https off\n}\n%s",
			func(config, _ string) []string { return []string{"run", "--adapter", "caddyfile", "--config", config} }},
	} {
		t.Run(proxy.name, func(t *testing.T) {
			program, err := exec.LookPath(proxy.name)
			testenv.Or(t, proxy.name, err)
			s := serveInTest(t, "--dir", "", "--players", "1", "--base-path", "/game/", "--trusted-proxy", "127.0.0.1", "--allowed-host", "play.example", "--quiet=false")
			text, err := os.ReadFile(filepath.Join("../../../docs/operations", proxy.file))
			if err != nil {
				t.Fatal(err)
			}
			at := freeAddress(t)
			ours := map[string]string{"nginx": "listen " + at + ";", "caddy": "http://" + at + " {"}[proxy.name]
			example := strings.NewReplacer(proxy.port, ours, "127.0.0.1:8766", strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/game/")).Replace(string(text))
			dir := t.TempDir()
			config := filepath.Join(dir, "config")
			if err := os.WriteFile(config, fmt.Appendf(nil, proxy.config, example), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			c := exec.CommandContext(ctx, program, proxy.command(config, dir)...)
			c.Dir, c.Env = dir, append(os.Environ(), "HOME="+dir)
			c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
			c.WaitDelay = 10 * time.Second
			var log strings.Builder
			c.Stdout, c.Stderr = &log, &log
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				cancel()
				c.Wait()
				if t.Failed() {
					t.Logf("%s: %s", proxy.name, &log)
				}
			}()
			page := "http://" + at + "/game/matches/match-1"
			if !answers(at) {
				t.Fatal("the proxy does not listen")
			}
			if code := exitOf(t, "join", "--token", s.tokens["player-0"], "--for", "1s", page); code != exitOK {
				t.Errorf("join exits with %d", code)
			}

			refused := 0
			for range 40 {
				if status := wrongToken(t, at, "127.0.0.2"); status == http.StatusTooManyRequests {
					refused++
				}
			}
			if refused == 0 {
				t.Error("40 wrong tokens of one client: none was refused as too many")
			}
			if status := wrongToken(t, at, "127.0.0.3"); status != http.StatusForbidden {
				t.Errorf("a wrong token of another client: got status %d, want 403", status)
			}
			if code := s.stop(); code != exitOK {
				t.Errorf("the server exited with %d", code)
			}
			if text := s.stderr.String(); !strings.Contains(text, "address=127.0.0.2") {
				t.Errorf("the log does not name the client: %s", text)
			}
		})
	}
}

// freeAddress returns a loopback address with a port that was free a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// answers waits until somebody listens on an address.
func answers(address string) bool {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return true
		}
	}
	return false
}

// wrongToken sends a wrong token from a loopback address through a proxy, and returns the status of the answer.
func wrongToken(t *testing.T, proxy, from string) int {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	transport := &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+proxy+"/game/matches", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer wrong-wrong-wrong-wrong")
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}
