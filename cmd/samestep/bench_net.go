package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
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
			&cli.UintFlag{Name: "spectators", Usage: "who watch the first match, beside its players, 0 to 20000"},
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
				clients: int(c.Uint("clients")), spectators: int(c.Uint("spectators")), room: int(c.Uint("room")), units: int(c.Uint("units")), rate: int(c.Uint("tick-rate")),
				every: c.Duration("every"), time: c.Duration("time"), relay: c.Bool("relay"),
			}
			switch {
			case c.Args().Present():
				return usagef("bench net: unexpected argument %q", c.Args().First())
			case b.clients < 1 || b.clients > 20000 || b.spectators > 20000 || b.room < 1 || b.room > 16 || b.units < 100 || b.units > 10000:
				return usagef("bench net: want --clients 1 to 20000, --spectators 0 to 20000, --room 1 to 16, --units 100 to 10000")
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
	clients, spectators, room, units, rate int
	every, time                            time.Duration
	relay                                  bool
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
	guests, err := b.connect(ctx, b.clients, func(i int) (string, string) {
		return fmt.Sprintf("%s/matches/match-%d/play", s.url, i/b.room+1), tokens[i]
	})
	if err != nil {
		return nil, err
	}
	defer hangUp(guests)
	joiner, watcher := tokens[len(tokens)-2], tokens[len(tokens)-1]
	spectators, err := b.connect(ctx, b.spectators, func(int) (string, string) { return s.url + "/matches/match-1/play", watcher })
	if err != nil {
		return nil, err
	}
	defer hangUp(spectators)
	time.Sleep(2 * time.Second) // until everybody is live
	all := slices.Concat(guests, spectators)
	for _, g := range all {
		g.measure(true)
	}
	cpu, from := s.cpu(), time.Now()
	time.Sleep(b.time)
	took, used := time.Since(from), s.cpu()-cpu
	r := &netResult{Clients: b.clients, Matches: b.matches(), Seconds: took.Seconds(), ResidentMemoryMB: s.resident()}
	for _, g := range all {
		g.measure(false)
	}
	r.ServerCPU = 100 * used.Seconds() / took.Seconds()
	r.PerClient = r.ServerCPU / float64(b.clients)
	r.Expected = int(took.Seconds() * float64(b.rate) * float64(b.clients))
	r.add(guests)
	r.watch(spectators)
	last := fmt.Sprintf("%s/matches/match-%d/play", s.url, b.matches()+1)
	return r, r.lateJoin(ctx, last, joiner)
}

// writeTokens writes a token for each seat, one for the late joiner and one for
// all spectators, and returns them in order.
func (b *netBench) writeTokens(path string) ([]string, error) {
	var list strings.Builder
	var tokens []string
	for i := range b.matches() * b.room {
		token := drawToken()
		tokens = append(tokens, token)
		fmt.Fprintf(&list, "player %d p%d match-%d %s\n", i%b.room, i, i/b.room+1, token)
	}
	for _, role := range []string{"player", "spectator"} { // for the late joiner, and for all spectators
		token := drawToken()
		tokens = append(tokens, token)
		fmt.Fprintf(&list, "%s - %s - %s\n", role, role, token)
	}
	return tokens, os.WriteFile(path, []byte(list.String()), 0o600)
}

// startServer starts the server, without limits on the load.
func (b *netBench) startServer(tokens string) (*loadServer, error) {
	args := []string{
		"--dir", "", "--tokens", tokens, "--max-per-address", "100000", "--max-unauthenticated", "100000", "--max-spectators", strconv.Itoa(b.spectators + 8),
		"--matches", strconv.Itoa(b.matches() + 1), "--players", strconv.Itoa(b.room), "--units", strconv.Itoa(b.units), "--tick-rate", strconv.Itoa(b.rate),
	}
	if b.relay {
		args = append(args, "--relay")
	}
	return startLoadServer(os.Stderr, args)
}

// connect opens n connections, some at a time. where returns the address and
// the token of each.
func (b *netBench) connect(ctx context.Context, n int, where func(i int) (url, token string)) ([]*loadGuest, error) {
	guests := make([]*loadGuest, n)
	errs := make([]error, n)
	auth := protocol.NewAuth(games[0].Game)
	var wait sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range guests {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			a := *auth
			var url string
			url, a.Token = where(i)
			guests[i], errs[i] = newLoadGuest(ctx, url, &a, b.rate, b.every)
		})
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			hangUp(guests)
			return nil, fmt.Errorf("client %d: %w", i, err)
		}
	}
	return guests, nil
}

func hangUp(guests []*loadGuest) {
	for _, g := range guests {
		if g != nil {
			g.ws.CloseNow()
		}
	}
}
