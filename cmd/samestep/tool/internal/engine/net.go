//go:build !js

package engine

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/internal/testing/wire"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

func benchNetCommand() *cli.Command {
	return &cli.Command{
		Name:  "net",
		Usage: "a server under load: the cost of a client, and how late frames are",
		Description: `Starts "samestep serve" in another process, and plays in all its matches from this
one: the clients read every frame, acknowledge, and give commands, but do not
simulate. Both processes share this machine.

With --wire it compares both transports on a bad network: two servers run at once with
the same matches, each behind a link of this kind, one with WebSockets only and one with
datagrams as well. All connections are encrypted, and these players simulate. As root on
Linux, each server has a network namespace and the system's TCP; otherwise each lost
packet of a WebSocket is a stall.`,
		Flags: []cli.Flag{
			gameset.GameFlag, gameset.AssetsFlag, gameset.ConfigFlag,
			&cli.UintFlag{Name: "clients", Value: 400, Usage: "players, 1 to 20000"},
			&cli.UintFlag{Name: "room", Value: 8, Usage: "players in a match"},
			&cli.UintFlag{Name: "tick-rate", Value: 20, Usage: "ticks per second"},
			&cli.DurationFlag{Name: "every", Value: time.Second, Usage: "time between two commands of one player"},
			&cli.DurationFlag{Name: "time", Value: 10 * time.Second, Usage: "how long to measure"},
			&cli.BoolFlag{Name: "relay", Usage: "serve without a referee"},
			&cli.StringFlag{Name: "wire", Usage: "compare WebSockets and datagrams behind a link: `\"delay=40ms jitter=5ms loss=3% burst=3 seed=7\"`"},
			&cli.StringFlag{Name: "durability", Usage: "write replays, with the `DURABILITY` of serve; otherwise none are written"},
			console.JSONFlag,
		},
		Action: func(c *cli.Context) error {
			game, err := gameset.ChosenGame(c)
			if err != nil {
				return err
			}
			b := &netBench{
				Game:    game,
				Clients: int(c.Uint("clients")), Room: int(c.Uint("room")), Rate: int(c.Uint("tick-rate")),
				Every: c.Duration("every"), Time: c.Duration("time"), relay: c.Bool("relay"), Durability: c.String("durability"), Settle: 2 * time.Second,
			}
			if err := cmp.Or(console.Between[uint](c, "clients", 1, 20000), console.Between[uint](c, "room", 1, gameset.MaxRoom),
				console.Between[uint](c, "tick-rate", 1, 100), console.Between(c, "every", 10*time.Millisecond, 0),
				console.Between(c, "time", shortestBench, time.Hour)); err != nil {
				return err
			}
			if b.Override, err = game.Override(c); err != nil {
				return err
			}
			b.Override, b.assets = game.WithUnits(b.Override, 200), c.String(gameset.AssetsFlag.Name)
			if !c.IsSet("room") {
				b.Room = int(game.MostSeats(uint8(b.Room), gameset.MaxRoom, 0, b.Override))
			}
			if c.IsSet("wire") {
				return b.compareWire(c)
			}
			r, err := b.Run(c.Context)
			if err != nil {
				return err
			}
			return gameset.Tell(c, r, r.Print, errMissing(r.Expected-r.Frames, r.Expected))
		},
	}
}

// A netBench is one run of bench net.
type netBench struct {
	Game    *gameset.Playable
	Program string // to start the server; "" for this one

	Clients, Room, Rate int
	Every, Time         time.Duration
	relay               bool
	Durability          string        // "" for no replays
	Settle              time.Duration // after connections were made, until all are live

	assets   string // the folder of --assets, or ""
	Override []byte // the configuration of --config, or nothing
}

func (b *netBench) matches() int { return (b.Clients + b.Room - 1) / b.Room }

// Run runs it against servers, and prints what it has measured.
func (b *netBench) Run(ctx context.Context) (*netResult, error) {
	dir, err := os.MkdirTemp("", "samestep-bench-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	tokens, err := b.writeTokens(filepath.Join(dir, "tokens"))
	if err != nil {
		return nil, err
	}
	s, err := b.startServer(dir, nil)
	if err != nil {
		return nil, err
	}
	defer s.Stop()
	auth := protocol.NewAuth(b.Game.Game)
	guests, err := b.connect(ctx, auth, b.Clients, func(i int) (string, string) {
		return fmt.Sprintf("%s/matches/match-%d/play", s.url, i/b.Room+1), tokens[i]
	})
	if err != nil {
		return nil, err
	}
	defer hangUp(guests)
	time.Sleep(b.Settle) // until all are live
	for _, g := range guests {
		if err := g.lasts(); err != nil {
			return nil, err
		}
		g.measure()
	}
	cpu, from := s.cpu(), time.Now()
	time.Sleep(b.Time)
	due := dueBetween(from, time.Now(), b.Rate)
	took, used := due.to.Sub(from), s.cpu()-cpu
	for _, g := range guests {
		if err := g.lasts(); err != nil {
			return nil, err
		}
		g.stop()
	}
	time.Sleep(grace)
	r := &netResult{Clients: b.Clients, Matches: b.matches(), Seconds: took.Seconds(), ResidentMemoryMB: float64(s.resident()) / 1e6}
	r.add(due, guests)
	r.ServerCPU = 100 * used.Seconds() / took.Seconds()
	r.PerClient = r.ServerCPU / float64(b.Clients)
	last := fmt.Sprintf("%s/matches/match-%d/play", s.url, b.matches()+1)
	return r, r.lateJoin(ctx, b.Game, last, tokens[len(tokens)-1])
}

// writeTokens writes a token for each seat and one for the late joiner, and returns them in this order.
func (b *netBench) writeTokens(path string) ([]string, error) {
	var list strings.Builder
	var tokens []string
	for i := range b.matches() * b.Room {
		token := serving.DrawToken()
		tokens = append(tokens, token)
		fmt.Fprintf(&list, "player %d p%d match-%d %s\n", i%b.Room, i, i/b.Room+1, token)
	}
	joiner := serving.DrawToken()
	tokens = append(tokens, joiner)
	fmt.Fprintf(&list, "player - joiner - %s\n", joiner)
	return tokens, os.WriteFile(path, []byte(list.String()), 0o600)
}

// startServer starts a server without limits on the load, behind a wire unless w is nil. dir has the tokens and gets the replays.
func (b *netBench) startServer(dir string, w *wire.Wire) (*serverProcess, error) {
	program := b.Program
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	args := []string{
		"--tokens", filepath.Join(dir, "tokens"), "--set", "max-per-address=100000", "--set", "max-unauthenticated=100000",
		"--matches", strconv.Itoa(b.matches() + 1), "--players", strconv.Itoa(b.Room), "--tick-rate", strconv.Itoa(b.Rate), "--game", b.Game.Name(),
	}
	if b.Durability == "" {
		args = append(args, "--dir", "")
	} else {
		args = append(args, "--dir", filepath.Join(dir, "matches"), "--durability", b.Durability)
	}
	if len(b.Override) > 0 {
		args = append(args, "--config", string(b.Override))
	}
	if b.assets != "" {
		args = append(args, "--set", "assets="+b.assets)
	}
	if b.relay {
		args = append(args, "--set", "relay=true")
	}
	if w == nil {
		return startServer(program, os.Stderr, args)
	}
	args = append(args, "--listen", w.Host+":0", "--set", "datagrams-public="+w.Public, "--tls-cert", filepath.Join(dir, wireCert), "--tls-key", filepath.Join(dir, wireKey))
	return startServerAs(append(w.Enter, program), os.Stderr, args)
}

// connect opens n connections, at most 32 at a time. where returns the URL and the token of each.
func (b *netBench) connect(ctx context.Context, auth *protocol.Auth, n int, where func(i int) (url, token string)) ([]*loadGuest, error) {
	guests := make([]*loadGuest, n)
	errs := make([]error, n)
	order, err := b.Game.AnyCommand(uint8(b.Room), b.Override)
	if err != nil {
		return nil, err
	}
	var wait sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range guests {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			a := *auth
			var url string
			url, a.Token = where(i)
			guests[i], errs[i] = newLoadGuest(ctx, url, &a, order, b.Rate, b.Every)
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

// A netResult is the result of a load test.
type netResult struct {
	Clients          int     `json:"clients"`
	Matches          int     `json:"matches"`
	Seconds          float64 `json:"seconds"`
	ServerCPU        float64 `json:"server_cpu_percent"`            // of one core; 0 if it is unknown
	PerClient        float64 `json:"server_cpu_percent_per_client"` // of one core
	Frames           int     `json:"frames"`                        // that arrived
	Expected         int     `json:"frames_expected"`
	LatenessP50MS    float64 `json:"lateness_p50_ms"` // of a frame, compared with the promptest one of its client
	LatenessP99MS    float64 `json:"lateness_p99_ms"`
	BytesPerFrame    float64 `json:"bytes_per_frame"` // all payload of the socket
	Commands         int     `json:"commands"`
	Accepted         int     `json:"accepted"`
	CommandP50MS     float64 `json:"command_p50_ms"` // from a command to its receipt
	CommandP99MS     float64 `json:"command_p99_ms"`
	ConnectionsLost  int     `json:"connections_lost"`
	ResidentMemoryMB float64 `json:"server_resident_mb"`
	JoinMS           float64 `json:"late_join_ms"`    // from dialing until the simulation is live
	ResumeMS         float64 `json:"resume_ms"`       // from the new socket until the stream continues
	StateBytes       uint32  `json:"late_join_bytes"` // of the keyframe
}

func (r *netResult) Print(w io.Writer) {
	line := console.NewLiner(w)
	line("load", "%s in %s, for %.0f s", console.Count(r.Clients, "client"), console.Count(r.Matches, "match"), r.Seconds)
	line("server", "%.1f %% of a core, %.4f %% a client; %.0f MB resident", r.ServerCPU, r.PerClient, r.ResidentMemoryMB)
	line("frames", "%d of the %d that were due arrived; late by %.1f ms (median), %.1f ms (99 %%); %.1f bytes a frame", r.Frames, r.Expected, r.LatenessP50MS, r.LatenessP99MS, r.BytesPerFrame)
	line("commands", "%d, %d accepted; answered after %.1f ms (median), %.1f ms (99 %%)", r.Commands, r.Accepted, r.CommandP50MS, r.CommandP99MS)
	line("lost", "%s", console.Count(r.ConnectionsLost, "connection"))
	line("late join", "live after %.0f ms, with a state of %s; after a lost connection the stream continued %.1f ms after the new socket",
		r.JoinMS, console.Size(int64(r.StateBytes)), r.ResumeMS)
}

// add sums up the measurements of the players.
func (r *netResult) add(due *dueTime, players []*loadGuest) {
	var late, answers []time.Duration
	bytes := 0
	for _, g := range players {
		frames, missing := r.close(due, g)
		r.Expected, r.Frames = r.Expected+len(frames), r.Frames+len(frames)-missing
		late, answers = append(late, frames...), append(answers, g.answers...)
		r.Commands += g.commands
		r.Accepted += g.accepted
		bytes += g.bytes
	}
	r.LatenessP50MS, r.LatenessP99MS = percentiles(late)
	r.CommandP50MS, r.CommandP99MS = percentiles(answers)
	r.BytesPerFrame = float64(bytes) / float64(max(r.Frames, 1))
}

// close ends the measurements of a guest, and returns how late its frames were, and how many did not arrive.
func (r *netResult) close(due *dueTime, g *loadGuest) (late []time.Duration, missing int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.measuring = false
	if g.err != nil {
		r.ConnectionsLost++
	}
	return due.late(g.arrivals)
}

// lateJoin measures how long a client that simulates takes to join an empty match, and to come back after a lost connection.
func (r *netResult) lateJoin(ctx context.Context, g *gameset.Playable, url, token string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	synced, back := make(chan time.Time, 1), make(chan time.Duration, 1)
	var connected time.Time
	s := client.Dial(ctx, url, g.Game, client.Options{Options: player.Options{Token: token}, Handle: func(_ *player.Client, e any) {
		switch e := e.(type) {
		case player.Connected:
			connected = time.Now()
		case player.SyncProgress:
			r.StateBytes = max(r.StateBytes, e.TotalBytes)
		case player.Synced:
			select {
			case synced <- time.Now():
			default:
			}
		case player.StreamResumed:
			back <- time.Since(connected)
		}
	}})
	from := time.Now()
	select {
	case at := <-synced:
		r.JoinMS = console.Milliseconds(at.Sub(from))
	case <-ctx.Done():
		return fmt.Errorf("late join: %w", ctx.Err())
	}
	if err := s.Cut(); err != nil {
		return err
	}
	select {
	case d := <-back:
		r.ResumeMS = console.Milliseconds(d)
	case <-ctx.Done():
		return fmt.Errorf("resume: %w", ctx.Err())
	}
	cancel()
	s.Wait()
	return nil
}
