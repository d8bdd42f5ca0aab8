package attack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

var (
	// errUnfit means that an attack needs a server with other flags.
	errUnfit = errors.New("attack: it needs a server with other flags")

	// errOpen means that there is nothing to find out.
	errOpen = errors.New("attack: the game has no views, so nothing is hidden")
)

// A Job is what the process of the attackers gets.
type Job struct {
	Attack  string        `json:"attack"`
	Server  string        `json:"server"` // ws://HOST:PORT
	Match   string        `json:"match"`
	Tokens  Tokens        `json:"tokens"`
	From    string        `json:"from"`    // the attackers' address; "": that of the honest players
	Dir     string        `json:"dir"`     // for files; it has those that [Attack.Serve] wrote
	Program string        `json:"program"` // path of samestep
	Game    string        `json:"game"`
	Units   bool          `json:"units"` // see [Options]
	Time    time.Duration `json:"time_ns,string"`
}

// A Report is the result of the attackers.
type Report struct {
	Tries    int            `json:"tries"`             // how often the attack was tried
	Told     map[string]int `json:"told,omitempty"`    // the outcomes of the tries
	Wins     []string       `json:"wins,omitempty"`    // what succeeded, and must not
	Skipped  string         `json:"skipped,omitempty"` // why there was no attack
	Sent     int64          `json:"sent_bytes,string"` // by the attackers
	Received int64          `json:"received_bytes,string"`
}

// maxWins limits the wins in a report.
const maxWins = 8

// Attackers do a job.
type Attackers struct {
	Job
	game   *lockstep.Game
	client *http.Client
	near   *http.Client // with the address of the honest players

	mu     sync.Mutex
	report Report
}

func (h *Attackers) httpClient(from string) *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return h.dial(ctx, from, address) }},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// address returns the server's HOST:PORT.
func (h *Attackers) address() string { return strings.TrimPrefix(h.Server, "ws://") }

// socket connects to the server and sends nothing.
func (h *Attackers) socket(ctx context.Context) (net.Conn, error) {
	return h.dial(ctx, h.From, h.address())
}

func (h *Attackers) dial(ctx context.Context, from, address string) (net.Conn, error) {
	c, err := dialer(from).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &counted{c, h}, nil
}

// A counted is a connection that counts its bytes.
type counted struct {
	net.Conn
	of *Attackers
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.of.count(n, 0)
	return n, err
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.of.count(0, n)
	return n, err
}

func (h *Attackers) count(received, sent int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.report.Received += int64(received)
	h.report.Sent += int64(sent)
}

// try counts a try and its outcome.
func (h *Attackers) try(outcome string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.report.Tries++
	h.report.Told[outcome]++
}

// win reports that something succeeded that must not.
func (h *Attackers) win(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	what := fmt.Sprintf(format, args...)
	if len(h.report.Wins) < maxWins && !slices.Contains(h.report.Wins, what) {
		h.report.Wins = append(h.report.Wins, what)
	}
}

// repeat calls f with the number of the call until ctx ends, in several goroutines and
// at most perSecond times a second in all. It returns the first error of f.
func (h *Attackers) repeat(ctx context.Context, workers, perSecond int, f func(ctx context.Context, n int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	turns := make(chan int)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for n := range turns {
				if err := f(ctx, n); err != nil {
					cancel(err)
				}
			}
		})
	}
	began := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		due := began.Add(time.Duration(n) * time.Second / time.Duration(perSecond))
		sleep(ctx, time.Until(due))
		select {
		case turns <- n:
		case <-ctx.Done():
		}
	}
	close(turns)
	wait.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// open opens a WebSocket of the match and sends nothing.
func (h *Attackers) open(ctx context.Context) (*peer, error) {
	return openPeer(ctx, h.client, h.Server, h.Match)
}

// join opens a WebSocket and authenticates with a token or a session of the match.
func (h *Attackers) join(ctx context.Context, token string, session protocol.SessionToken) (*peer, error) {
	p, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	return p, p.join(ctx, h.game, token, session)
}

// guest returns the token of a new guest.
func guest(name string, n int) string {
	return fmt.Sprintf("guest:%s%%20%d:%s", name, n, randomText())
}

// ask sends an HTTP request. It returns at most 64 KiB of the response body.
func (h *Attackers) ask(ctx context.Context, c *http.Client, method, path, token, body string) (status int, answer string, err error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+h.address()+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return resp.StatusCode, string(b), err
}

// outcome names how a connection or a request ended.
func outcome(err error) string {
	if err == nil {
		return "welcome"
	}
	if r := (*refusal)(nil); errors.As(err, &r) {
		return r.why
	}
	if websocket.CloseStatus(err) >= 0 {
		return "closed"
	}
	return "cut"
}

// ReadJob reads a job from JSON.
func ReadJob(r io.Reader) (j Job, err error) {
	return j, json.NewDecoder(r).Decode(&j)
}
