package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
)

func benchNetCommand() *cli.Command {
	return &cli.Command{
		Name:  "net",
		Usage: "a server under load: what a client costs, and how late frames are",
		Description: `Starts "samestep serve" as a process of its own and plays in all its matches
from this one: the clients read every frame, acknowledge, and give commands, but
do not simulate. Both share this machine.`,
		Flags: []cli.Flag{
			&cli.UintFlag{Name: "clients", Value: 400, Usage: "players, 1 to 20000"},
			&cli.UintFlag{Name: "room", Value: 8, Usage: "players in a match"},
			&cli.UintFlag{Name: "units", Value: 200, Usage: "units on the map of each match"},
			&cli.UintFlag{Name: "tick-rate", Value: 20, Usage: "ticks per second"},
			&cli.DurationFlag{Name: "every", Value: time.Second, Usage: "time between two commands of a player"},
			&cli.DurationFlag{Name: "time", Value: 10 * time.Second, Usage: "how long to measure"},
			&cli.BoolFlag{Name: "relay", Usage: "without a referee"},
			jsonFlag,
		},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			b := &netBench{
				clients: int(c.Uint("clients")), room: int(c.Uint("room")), units: int(c.Uint("units")), rate: int(c.Uint("tick-rate")),
				every: c.Duration("every"), time: c.Duration("time"), relay: c.Bool("relay"),
			}
			switch {
			case c.Args().Present():
				return usagef("bench net: unexpected argument %q", c.Args().First())
			case b.clients < 1 || b.clients > 20000 || b.room < 1 || b.room > 16 || b.units < 100 || b.units > 10000:
				return usagef("bench net: want --clients 1 to 20000, --room 1 to 16, --units 100 to 10000")
			case b.rate < 1 || b.rate > 100 || b.every < 10*time.Millisecond || b.time < time.Second || b.time > time.Hour:
				return usagef("bench net: want --tick-rate 1 to 100, --every at least 10ms, --time 1s to 1h")
			}
			r, err := b.run(c.Context)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return writeJSON(c.App.Writer, r)
			}
			return r.print(c.App.Writer)
		},
	}
}

// A netBench is one load test.
type netBench struct {
	clients, room, units, rate int
	every, time                time.Duration
	relay                      bool
}

// A netResult is what a load test measured.
type netResult struct {
	Clients          int     `json:"clients"`
	Matches          int     `json:"matches"`
	Seconds          float64 `json:"seconds"`
	ServerCPU        float64 `json:"server_cpu_percent"`            // of one core; 0 if it cannot be told here
	PerClient        float64 `json:"server_cpu_percent_per_client"` // of one core
	Frames           int     `json:"frames"`                        // that arrived
	Expected         int     `json:"frames_expected"`
	LatenessP50MS    float64 `json:"lateness_p50_ms"` // of a frame's arrival, beside the promptest of its client
	LatenessP99MS    float64 `json:"lateness_p99_ms"`
	BytesPerFrame    float64 `json:"bytes_per_frame"` // payload of the socket, all messages
	Commands         int     `json:"commands"`
	Accepted         int     `json:"accepted"`
	CommandP50MS     float64 `json:"command_p50_ms"` // from a command to the answer
	CommandP99MS     float64 `json:"command_p99_ms"`
	ConnectionsLost  int     `json:"connections_lost"`
	ResidentMemoryMB float64 `json:"server_resident_mb"`
}

func (r *netResult) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, `load        %s in %s, for %.0f s
server      %.1f %% of a core, %.4f %% a client; %.0f MB resident
frames      %d of %d arrived; late by %.1f ms (median), %.1f ms (99 %%); %.1f bytes a frame
commands    %d, %d accepted; answered after %.1f ms (median), %.1f ms (99 %%)
lost        %s
`, count(r.Clients, "client"), fmt.Sprintf("%d matches", r.Matches), r.Seconds, r.ServerCPU, r.PerClient, r.ResidentMemoryMB,
		r.Frames, r.Expected, r.LatenessP50MS, r.LatenessP99MS, r.BytesPerFrame,
		r.Commands, r.Accepted, r.CommandP50MS, r.CommandP99MS, count(r.ConnectionsLost, "connection"))
	return err
}

func (b *netBench) matches() int { return (b.clients + b.room - 1) / b.room }

func (b *netBench) run(ctx context.Context) (*netResult, error) {
	dir, err := os.MkdirTemp("", "samestep-bench-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	tokens, err := b.writeTokens(filepath.Join(dir, "tokens"))
	if err != nil {
		return nil, err
	}
	s, err := b.startServer(filepath.Join(dir, "tokens"))
	if err != nil {
		return nil, err
	}
	defer s.stop()
	guests, err := b.connect(ctx, s.url, tokens)
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, g := range guests {
			g.ws.CloseNow()
		}
	}()
	time.Sleep(2 * time.Second) // until everybody is live
	for _, g := range guests {
		g.measure(true)
	}
	cpu, from := s.cpu(), time.Now()
	time.Sleep(b.time)
	took, used := time.Since(from), s.cpu()-cpu
	r := &netResult{Clients: b.clients, Matches: b.matches(), Seconds: took.Seconds(), ResidentMemoryMB: s.resident()}
	for _, g := range guests {
		g.measure(false)
	}
	r.ServerCPU = 100 * used.Seconds() / took.Seconds()
	r.PerClient = r.ServerCPU / float64(b.clients)
	r.Expected = int(took.Seconds() * float64(b.rate) * float64(b.clients))
	r.add(guests)
	return r, nil
}

// add sums up what the guests measured.
func (r *netResult) add(guests []*loadGuest) {
	var late, answers []time.Duration
	bytes := 0
	for _, g := range guests {
		g.mu.Lock()
		late, answers = append(late, g.lateness()...), append(answers, g.answers...)
		r.Frames += len(g.arrivals)
		r.Commands += g.commands
		r.Accepted += g.accepted
		bytes += g.bytes
		if g.err != nil {
			r.ConnectionsLost++
		}
		g.mu.Unlock()
	}
	r.LatenessP50MS, r.LatenessP99MS = percentiles(late)
	r.CommandP50MS, r.CommandP99MS = percentiles(answers)
	r.BytesPerFrame = float64(bytes) / float64(max(r.Frames, 1))
}

// percentiles returns the median and the 99th percentile in milliseconds.
func percentiles(d []time.Duration) (p50, p99 float64) {
	if len(d) == 0 {
		return 0, 0
	}
	slices.Sort(d)
	return milliseconds(d[len(d)/2]), milliseconds(d[len(d)*99/100])
}

// writeTokens writes a token for each client and returns them in order.
func (b *netBench) writeTokens(path string) ([]string, error) {
	var list strings.Builder
	var tokens []string
	for i := range b.matches() * b.room {
		token := drawToken()
		tokens = append(tokens, token)
		fmt.Fprintf(&list, "player %d p%d match-%d %s\n", i%b.room, i, i/b.room+1, token)
	}
	return tokens, os.WriteFile(path, []byte(list.String()), 0o600)
}

// A loadServer is the server's process.
type loadServer struct {
	process *exec.Cmd
	url     string
}

func (b *netBench) startServer(tokens string) (*loadServer, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{
		"serve", "--listen", "127.0.0.1:0", "--quiet", "--dir", "", "--tokens", tokens, "--max-per-address", "100000",
		"--matches", strconv.Itoa(b.matches()), "--players", strconv.Itoa(b.room), "--units", strconv.Itoa(b.units), "--tick-rate", strconv.Itoa(b.rate),
	}
	if b.relay {
		args = append(args, "--relay")
	}
	p := exec.Command(exe, args...)
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	s := &loadServer{process: p}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening on http"); ok {
			s.url = "ws" + url
			go io.Copy(io.Discard, out)
			return s, nil
		}
	}
	s.stop()
	return nil, errors.New("the server did not start")
}

func (s *loadServer) stop() {
	s.process.Process.Kill() // it has nothing to complete
	s.process.Wait()
}

// cpu returns the processor time that the server has used. It is known on Linux
// only.
func (s *loadServer) cpu() time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * (time.Second / 100) // USER_HZ is 100 on every Linux
}

// resident returns the server's memory in MB, on Linux.
func (s *loadServer) resident() float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.process.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return float64(pages) * float64(os.Getpagesize()) / 1e6
}

// connect opens all connections, some at a time.
func (b *netBench) connect(ctx context.Context, url string, tokens []string) ([]*loadGuest, error) {
	guests := make([]*loadGuest, b.clients)
	game := games[0]
	auth := game.Auth()
	var mu sync.Mutex
	var first error
	var wait sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range guests {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			a := *auth
			a.Token = tokens[i]
			g, err := newLoadGuest(ctx, fmt.Sprintf("%s/matches/match-%d/play", url, i/b.room+1), &a, b.rate, b.every)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && first == nil {
				first = fmt.Errorf("client %d: %w", i, err)
			}
			guests[i] = g
		})
	}
	wait.Wait()
	if first != nil {
		for _, g := range guests {
			if g != nil {
				g.ws.CloseNow()
			}
		}
		return nil, first
	}
	return guests, nil
}
