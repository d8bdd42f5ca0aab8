//go:build !js

package tool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// Behind --base-path everything has the path: the API, join and watch. Other paths have nothing.
func TestServeBasePath(t *testing.T) {
	t.Parallel()
	s := tooltest.Serve(t, "--dir", "", "--set", "base-path=/game/", "--players", "1")
	for path, want := range map[string]int{"": 404, "matches": 200, "matches/match-1": 200, "../matches": 404, "../gamematches": 404} {
		u := s.URL + path
		if rest, ok := strings.CutPrefix(path, "../"); ok {
			u = strings.TrimSuffix(s.URL, "game/") + rest
		}
		if got := getStatus(t, http.DefaultClient, u); got != want {
			t.Errorf("%s: got %d, want %d", u, got, want)
		}
	}
	if code := exitOf(t, "replay", "watch", "--once", s.URL+"matches/match-1"); code != 0 {
		t.Errorf("watch exits with %d", code)
	}
	if code := exitOf(t, "join", "--token", s.Tokens["player-0"], "--time", "1s", s.URL+"matches/match-1"); code != 0 {
		t.Errorf("join exits with %d", code)
	}
	for _, bad := range []string{"", "game", "/game", "game/", "//", "/a//b/", "/a/../"} {
		if code := exitOf(t, "serve", "--listen", "127.0.0.1:0", "--set", "base-path="+bad); code != 2 {
			t.Errorf("base-path %q: got exit code %d, want 2", bad, code)
		}
	}
}

// exitOf runs a command line and returns its exit code.
func exitOf(t *testing.T, args ...string) int {
	var out bytes.Buffer
	code := tooltest.Execute(args, &out, &out)
	t.Logf("%q exits with %d: %s", args, code, &out)
	return code
}

func getStatus(t *testing.T, client *http.Client, url string) int {
	t.Helper()
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	return answer.StatusCode
}

// A unix socket is served, replaced if a killed server has left it, and not taken from a server that runs.
func TestServeUnixSocket(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the modes of files are those of unix")
	}
	dir, err := os.MkdirTemp("", "s") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	file := filepath.Join(dir, "socket")
	left, err := net.Listen("unix", file)
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	left.Close()
	s := tooltest.Serve(t, "--dir", "", "--matches", "0", "--listen", "unix:"+file, "--set", "trusted-proxy=unix")
	if s.URL != "unix:"+file {
		t.Errorf("got %s", s.URL)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("got %v: %v", info.Mode(), err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", file)
	}}
	defer transport.CloseIdleConnections()
	if got := getStatus(t, &http.Client{Transport: transport}, "http://localhost/matches"); got != 200 {
		t.Errorf("got %d, want 200", got)
	}
	if code := exitOf(t, "serve", "--dir", "", "--listen", "unix:"+file); code != 2 {
		t.Errorf("a second server exits with %d, want 2", code)
	}
}

// Nobody sees the tokens of a server that has no port.
func TestServeBindsFirst(t *testing.T) {
	l := httptest.NewServer(http.NotFoundHandler())
	defer l.Close()
	var out, log bytes.Buffer
	code := tooltest.Process(t.Context(), os.Args[0], []string{"serve", "--dir", "", "--set", "web=false", "--listen", l.Listener.Addr().String()}, &out, &log)
	if code == 0 || out.Len() > 0 {
		t.Errorf("got exit code %d and %q, want an error and no output", code, &out)
	}
}

// systemd is told when the matches run and when the server stops, and its watchdog is fed.
func TestServeNotifiesSystemd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no systemd")
	}
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", l.LocalAddr().String())
	t.Setenv("WATCHDOG_USEC", "20000")
	t.Setenv("WATCHDOG_PID", "")
	s := tooltest.Serve(t, "--dir", "", "--matches", "1")
	hear := func(want string) {
		l.SetReadDeadline(time.Now().Add(time.Minute))
		for b := make([]byte, 100); ; {
			n, err := l.Read(b)
			if err != nil {
				t.Fatalf("waiting for %s: %v", want, err)
			}
			if string(b[:n]) == want {
				return
			}
		}
	}
	hear("READY=1")
	hear("WATCHDOG=1")
	go s.Stop()
	hear("STOPPING=1")
}

// With --admin-listen the public address has neither metrics nor the calls of admins. Players have theirs. Neither address answers to
// the name of another site.
func TestServeAdminListen(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	admins := l.Addr().String()
	l.Close() // free for the server
	s := tooltest.Serve(t, "--dir", "", "--players", "1", "--admin-listen", admins)
	for _, url := range []string{s.URL, "http://" + admins} {
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/profile?seconds=1", "/debug/pprof/goroutine", "/metrics", "/matches", "/healthz", "/nothing"} {
			r, err := http.NewRequestWithContext(t.Context(), "GET", url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = "evil.example"
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if answer.Body.Close(); answer.StatusCode != http.StatusForbidden {
				t.Errorf("%s%s for evil.example: got %d, want 403", url, path, answer.StatusCode)
			}
		}
	}
	if code := exitOf(t, "join", "--token", s.Tokens["player-0"], "--time", "1s", s.URL+"/matches/match-1"); code != console.ExitOK {
		t.Errorf("join exits with %d", code)
	}
	for _, x := range []struct {
		method, path  string
		public, admin int
	}{
		{"GET", "/metrics", 404, 200},
		{"GET", "/debug/pprof/", 404, 200},
		{"GET", "/matches", 200, 200},
		{"POST", "/matches", 403, 201},
		{"GET", "/matches/match-1/bans", 403, 200},
		{"DELETE", "/matches/match-1", 403, 200},
	} {
		for url, want := range map[string]int{s.URL: x.public, "http://" + admins: x.admin} {
			body := strings.NewReader("")
			if x.method == "POST" {
				body = strings.NewReader(`{"name":"more"}`)
			}
			r, err := http.NewRequestWithContext(t.Context(), x.method, url+x.path, body)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+s.Tokens["admin"])
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s %s%s: got %d, want %d", x.method, url, x.path, answer.StatusCode, want)
			}
		}
	}
}

// The server takes the socket that systemd has opened for it.
func TestServeSystemdSocket(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no systemd")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	program := filepath.Join(t.TempDir(), "samestep") // TestMain goes by the name
	if err := os.Symlink(os.Args[0], program); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c := exec.CommandContext(ctx, "sh", "-c", `LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@"`, program, "serve", "--listen", "systemd", "--dir", "", "--set", "web=false", "--log-level", "warn")
	c.ExtraFiles = []*os.File{socket}
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	var log bytes.Buffer
	c.Stderr = &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if got := getStatus(t, http.DefaultClient, "http://"+l.Addr().String()+"/matches/match-1"); got != 200 {
		t.Errorf("got %d, want 200", got)
	}
	l.Close()
	cancel()
	if err := c.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("the server: %v: %s", err, &log)
	}
	if code := exitOf(t, "serve", "--dir", "", "--listen", "systemd"); code != console.ExitUsage {
		t.Errorf("without a socket of systemd: got exit code %d, want %d", code, console.ExitUsage)
	}
}
