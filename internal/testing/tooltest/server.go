//go:build !js

package tooltest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// A Server is a running "samestep serve".
type Server struct {
	URL    string
	Tokens map[string]string // by name
	Stop   func() int        // ends it and returns its exit code
	Kill   func()            // ends it without a warning
	Stderr bytes.Buffer
}

// errKilled is the cause of a context whose program is to be killed instead of interrupted.
var errKilled = errors.New("killed")

// Process runs the program in a file, and returns its exit code. It is interrupted when ctx ends.
func Process(ctx context.Context, file string, args []string, stdout, stderr io.Writer) int {
	c := exec.CommandContext(ctx, file)
	c.Args = append([]string{"samestep"}, args...) // Main goes by the name
	c.Stdout, c.Stderr = stdout, stderr
	c.Cancel = func() error {
		if context.Cause(ctx) == errKilled {
			return c.Process.Kill()
		}
		return c.Process.Signal(os.Interrupt)
	}
	err := c.Run()
	if c.ProcessState == nil {
		fmt.Fprintln(stderr, err)
		return -1
	}
	return c.ProcessState.ExitCode()
}

// Serve runs serve with flags until the test ends or Stop is called.
func Serve(t *testing.T, flags ...string) *Server {
	t.Helper()
	return ServeFrom(t, os.Args[0], flags...)
}

// ServeFrom is [Serve] with the program in a file.
func ServeFrom(t *testing.T, file string, flags ...string) *Server {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	r, w := io.Pipe()
	s := &Server{Tokens: make(map[string]string)}
	exit := make(chan int, 1)
	go func() {
		args := append([]string{"serve", "--listen", "127.0.0.1:0", "--log-level", "warn"}, flags...)
		for _, usual := range []string{"web=false", "seed=1", "print-tokens=true"} {
			name, _, _ := strings.Cut(usual, "=")
			if !slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, name+"=") }) {
				args = append(args, "--set", usual)
			}
		}
		code := Process(ctx, file, args, w, &s.Stderr)
		w.Close()
		exit <- code
	}()
	s.Stop = sync.OnceValue(func() int { cancel(nil); return <-exit })
	s.Kill = func() { cancel(errKilled); s.Stop() }
	t.Cleanup(func() { s.Stop() })
	lines := bufio.NewScanner(r)
	for s.URL == "" && lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 5 {
			s.Tokens[words[2]] = words[4]
		} else if words[0] == "listening" {
			s.URL = words[2]
		}
	}
	go io.Copy(io.Discard, r)
	if s.URL == "" {
		t.Fatalf("the server exited with %d: %s", s.Stop(), s.Stderr.String())
	}
	return s
}

// Do sends a request with a token, and returns the answer.
func (s *Server) Do(t *testing.T, method, path, token, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(b)
}

// End ends the match of the server, as an admin with a token.
func (s *Server) End(t *testing.T, token string) {
	t.Helper()
	if status, answer := s.Do(t, http.MethodDelete, "/matches/match-1", token, ""); status != http.StatusOK {
		t.Errorf("DELETE match-1: got status %d: %s", status, answer)
	}
}

// A Summary is what join tells of a match with --json, as far as tests look at it.
type Summary struct {
	Match       string        `json:"match"`
	Session     string        `json:"session"`
	Seat        int           `json:"seat"`
	Tick        lockstep.Tick `json:"tick"`
	RoundTripMS float64       `json:"round_trip_ms"`
	Watched     float64       `json:"watched_seconds"`
	Corrections struct {
		Count     int     `json:"count"`
		PerMinute float64 `json:"per_minute"`
	} `json:"corrections"`
	LossIn    *float64 `json:"loss_in_percent"`
	LossOut   *float64 `json:"loss_out_percent"`
	Agreed    int      `json:"checksums_agreed"`
	Differing int      `json:"checksums_differing"`
	Desyncs   int      `json:"desyncs"`
	Healed    int      `json:"healed"`
	Losses    int      `json:"connections_lost"`
	Resumed   int      `json:"resumed"`
	Synced    int      `json:"synced"`
	Held      int      `json:"held"`
	Undecided int      `json:"checksums_undecided"`
	Accepted  int      `json:"commands_accepted"`
	Rejected  int      `json:"commands_rejected"`
	Ended     string   `json:"ended"`
}

// Join runs "samestep join" with the token of a name, and returns its summary and exit code.
func (s *Server) Join(t *testing.T, name string, flags ...string) (sum Summary, code int) {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(s.Tokens[name]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	args := append([]string{"join", s.URL + "/matches/match-1", "--token", "@" + token, "--json"}, flags...)
	code = Execute(args, &out, &errs)
	if err := json.Unmarshal(out.Bytes(), &sum); err != nil {
		t.Fatalf("join exited with %d and printed %q, %q", code, out.String(), errs.String())
	}
	return sum, code
}

// Fetch returns the status, the body and the type of a page.
func Fetch(t *testing.T, url string) (status int, body, kind string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(b), answer.Header.Get("Content-Type")
}

// Status returns what a server tells of the match at a URL.
func Status(t *testing.T, url string) (*server.Status, error) {
	t.Helper()
	status, body, _ := Fetch(t, url)
	if status != http.StatusOK {
		return nil, fmt.Errorf("%s: got status %d: %s", url, status, body)
	}
	v := new(server.Status)
	return v, json.Unmarshal([]byte(body), v)
}
