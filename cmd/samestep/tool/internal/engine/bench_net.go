//go:build !js

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/internal/testing/wire"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

func benchNetCommand() *cli.Command {
	return &cli.Command{
		Name:  "net",
		Usage: "a server under load: the cost of a client, and how late frames are",
		Description: `Starts "samestep serve" in another process, and plays in all its matches from this
one: the clients read every frame, acknowledge, and give commands, but do not
simulate. Both processes share this machine. With --viewers it also compares how late
frames are with and without them, by turns; they acknowledge views, and do not decode them.

With --wire it compares both transports on a bad network: two servers at once, each with
the same matches behind a link of this kind, one with WebSockets only and one with
datagrams beside them. All are encrypted, and these players simulate. As root on Linux
each server is in a network namespace, and TCP is the system's; otherwise each lost
packet of a WebSocket is a stall.`,
		Flags: []cli.Flag{
			gameset.GameFlag, gameset.AssetsFlag, gameset.ConfigFlag,
			&cli.UintFlag{Name: "clients", Value: 400, Usage: "players, 1 to 20000"},
			&cli.UintFlag{Name: "room", Value: 8, Usage: "players in a match"},
			&cli.UintFlag{Name: "spectators", Usage: "spectators of the first match, 0 to 20000"},
			&cli.UintFlag{Name: "viewers", Usage: "viewers of the first match, 0 to 20000, who come and go several times"},
			&cli.UintFlag{Name: "tick-rate", Value: 20, Usage: "ticks per second"},
			&cli.DurationFlag{Name: "every", Value: time.Second, Usage: "time between two commands of a player"},
			&cli.DurationFlag{Name: "time", Value: 10 * time.Second, Usage: "how long to measure"},
			&cli.BoolFlag{Name: "relay", Usage: "without a referee"},
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
				Clients: int(c.Uint("clients")), spectators: int(c.Uint("spectators")), Viewers: int(c.Uint("viewers")), Room: int(c.Uint("room")), Rate: int(c.Uint("tick-rate")),
				Every: c.Duration("every"), Time: c.Duration("time"), relay: c.Bool("relay"), Durability: c.String("durability"), Settle: 2 * time.Second,
			}
			if err := cmp.Or(console.Between[uint](c, "clients", 1, 20000), console.Between[uint](c, "spectators", 0, 20000), console.Between[uint](c, "viewers", 0, 20000), console.Between[uint](c, "room", 1, gameset.MaxRoom),
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

	Clients, spectators, Viewers, Room, Rate int
	Every, Time                              time.Duration
	relay                                    bool
	Durability                               string        // "" for no replays
	Settle                                   time.Duration // after connections were made, until all are live

	assets   string // the folder of --assets, or ""
	Override []byte // the configuration of --config, or nothing
}

func (b *netBench) matches() int { return (b.Clients + b.Room - 1) / b.Room }

// Run runs it against servers, and prints what it has measured.
func (b *netBench) Run(ctx context.Context) (*netResult, error) {
	if b.Viewers > 0 && b.Game.ViewSchema() == nil {
		return nil, errors.New("the game has no views")
	}
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
	joiner, watcher := tokens[len(tokens)-2], tokens[len(tokens)-1]
	watch := func(int) (string, string) { return s.url + "/matches/match-1/play", watcher }
	spectators, err := b.connect(ctx, auth, b.spectators, watch)
	if err != nil {
		return nil, err
	}
	defer hangUp(spectators)
	time.Sleep(b.Settle) // until all are live
	for _, g := range slices.Concat(guests, spectators) {
		if err := g.lasts(); err != nil {
			return nil, err
		}
		g.measure()
	}
	cpu, from := s.cpu(), time.Now()
	turns, err := b.turns(ctx, s, watch)
	if err != nil {
		return nil, err
	}
	due := dueBetween(from, time.Now(), b.Rate)
	took, used := due.to.Sub(from), s.cpu()-cpu
	for _, g := range slices.Concat(guests, spectators) {
		if err := g.lasts(); err != nil {
			return nil, err
		}
		g.stop()
	}
	time.Sleep(grace)
	r := &netResult{Clients: b.Clients, Matches: b.matches(), Seconds: took.Seconds(), ResidentMemoryMB: float64(s.resident()) / 1e6}
	r.add(due, guests, spectators)
	r.Viewers = turns.result(b.Viewers, b.Rate, guests[:min(b.Room, len(guests))])
	r.ServerCPU = 100 * used.Seconds() / took.Seconds()
	r.PerClient = r.ServerCPU / float64(b.Clients)
	last := fmt.Sprintf("%s/matches/match-%d/play", s.url, b.matches()+1)
	return r, r.lateJoin(ctx, b.Game, last, joiner)
}

// turns waits for the time of the measurement. Meanwhile viewers come and go.
func (b *netBench) turns(ctx context.Context, s *serverProcess, watch func(int) (url, token string)) (*turns, error) {
	x := &turns{}
	if b.Viewers == 0 {
		time.Sleep(b.Time)
		return x, nil
	}
	for range turnsOfViewers {
		x.wait(s, b.Time/turnsOfViewers, false)
		viewers, err := b.connect(ctx, protocol.NewViewerAuth(b.Game.Game), b.Viewers, watch)
		if err != nil {
			return nil, err
		}
		time.Sleep(b.Settle / 2) // until all are live
		for _, g := range viewers {
			g.measure()
		}
		x.wait(s, b.Time/turnsOfViewers, true)
		for _, g := range viewers {
			err = errors.Join(err, x.take(g))
		}
		if hangUp(viewers); err != nil {
			return nil, err
		}
		time.Sleep(b.Settle / 4) // until all are gone
	}
	return x, nil
}

// writeTokens writes a token for each seat, one for the late joiner and one for all spectators. It returns them in this order.
func (b *netBench) writeTokens(path string) ([]string, error) {
	var list strings.Builder
	var tokens []string
	for i := range b.matches() * b.Room {
		token := serving.DrawToken()
		tokens = append(tokens, token)
		fmt.Fprintf(&list, "player %d p%d match-%d %s\n", i%b.Room, i, i/b.Room+1, token)
	}
	for _, role := range []string{"player", "spectator"} {
		token := serving.DrawToken()
		tokens = append(tokens, token)
		fmt.Fprintf(&list, "%s - %s - %s\n", role, role, token)
	}
	return tokens, os.WriteFile(path, []byte(list.String()), 0o600)
}

// startServer starts the server, without limits on the load, at the far end of a wire unless that is nil. dir has the tokens, and
// gets the replays.
func (b *netBench) startServer(dir string, w *wire.Wire) (*serverProcess, error) {
	program := b.Program
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	args := []string{
		"--tokens", filepath.Join(dir, "tokens"), "--set", "max-per-address=100000", "--set", "max-unauthenticated=100000", "--set", fmt.Sprintf("max-spectators=%d", b.spectators+b.Viewers+8),
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
