//go:build !js

package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/internal/testing/wire"
	"github.com/seed-49bee653/samestep/kit/netsim"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

const (
	// wireJoinTime is how long the players of a side may take to join.
	wireJoinTime = time.Minute

	// wireSettleTime is the time until the measurement, in which connections get to know their path.
	wireSettleTime = 5 * time.Second
)

// A wireSide is a server with its players behind a wire of their own.
type wireSide struct {
	datagrams bool
	wire      *wire.Wire
	server    *serverProcess
	tokens    []string // of the seats
	players   []*wirePlayer

	// From the beginning of the measurement to its end.
	from, to            time.Time
	cpu                 time.Duration
	toServer, toPlayers int64
}

// compareWire runs the comparison of --wire, with a single match unless --clients is given.
func (b *netBench) compareWire(c *cli.Context) error {
	link, err := netsim.Parse(c.String("wire"))
	if err != nil {
		return console.Usagef("--wire: %v", err)
	}
	for _, name := range []string{"spectators", "viewers", "relay"} {
		if c.IsSet(name) {
			return console.Usagef("--wire and --%s exclude each other", name)
		}
	}
	if !c.IsSet("clients") {
		b.Clients = b.Room
	}
	dir, err := os.MkdirTemp("", "samestep-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, stop := console.Interruptible(c) // so that the namespaces go, too
	defer stop()
	r, err := b.runWire(ctx, link, dir)
	if err != nil {
		return err
	}
	missing, expected := 0, 0
	for _, s := range []*sideResult{&r.WebSocket, &r.Datagrams} {
		missing, expected = missing+s.Expected-s.Frames, expected+s.Expected
	}
	return gameset.Tell(c, r, r.Print, errMissing(missing, expected))
}

// runWire plays the same matches behind the same link twice at once: with WebSockets only, and with datagrams beside them. dir gets
// the files of both servers.
func (b *netBench) runWire(ctx context.Context, l netsim.Link, dir string) (*wireResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &wireResult{Link: l.String(), Clients: b.Clients, Matches: b.matches(), TickRate: b.Rate}
	sides := []*wireSide{{}, {datagrams: true}}
	for i, s := range sides {
		defer s.close()
		if err := s.open(b, l, filepath.Join(dir, strconv.Itoa(i))); err != nil {
			return nil, err
		}
		if err := s.join(ctx, b); err != nil {
			return nil, err
		}
		r.Real = s.wire.Real
	}
	if err := sleep(ctx, wireSettleTime); err != nil {
		return nil, err
	}
	for _, s := range sides {
		s.measure()
	}
	if err := sleep(ctx, b.Time); err != nil {
		return nil, err
	}
	for _, s := range sides {
		s.stop()
	}
	if err := sleep(ctx, grace); err != nil {
		return nil, err
	}
	r.WebSocket, r.Datagrams = sides[0].result(b), sides[1].result(b)
	r.Seconds = b.Time.Seconds()
	return r, nil
}

// sleep waits for a time, or for the end of ctx, whose cause it returns.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// open makes the wire, and starts the server at its end. dir is that of the side.
func (s *wireSide) open(b *netBench, l netsim.Link, dir string) (err error) {
	if s.wire, err = wire.NewNamespace(l); errors.Is(err, wire.ErrNamespace) {
		s.wire, err = wire.NewProxy(l)
	}
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if s.tokens, err = b.writeTokens(filepath.Join(dir, "tokens")); err != nil {
		return err
	}
	if err := writeCertificate(dir); err != nil {
		return err
	}
	s.server, err = b.startServer(dir, s.wire)
	return err
}

// join lets all players join.
func (s *wireSide) join(ctx context.Context, b *netBench) error {
	ctx, cancel := context.WithTimeout(ctx, wireJoinTime)
	defer cancel()
	near, err := s.wire.Join(s.server.Address())
	if err != nil {
		return err
	}
	order, err := b.Game.AnyCommand(uint8(b.Room), b.Override)
	if err != nil {
		return err
	}
	s.players = make([]*wirePlayer, b.Clients)
	errs := make([]error, b.Clients)
	slots := make(chan struct{}, 32)
	var wait sync.WaitGroup
	for i := range s.players {
		slots <- struct{}{}
		p := newWirePlayer(b.Game.Game, fmt.Sprintf("wss://%s/matches/match-%d/play", near, i/b.Room+1), s.tokens[i], order.Value, b.Every, s.datagrams)
		s.players[i] = p
		wait.Go(func() {
			defer func() { <-slots }()
			if err := p.await(ctx, s.datagrams); err != nil {
				errs[i] = fmt.Errorf("player %d: %w", i, err)
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

func (s *wireSide) measure() {
	for _, p := range s.players {
		p.measure()
	}
	s.from, s.cpu = time.Now(), s.server.cpu()
	s.toServer, s.toPlayers = s.wire.Bytes()
}

// stop ends the time in which frames are due.
func (s *wireSide) stop() {
	s.to, s.cpu = time.Now(), s.server.cpu()-s.cpu
	toServer, toPlayers := s.wire.Bytes()
	s.toServer, s.toPlayers = toServer-s.toServer, toPlayers-s.toPlayers
}

// result sums up the measurements of the players.
func (s *wireSide) result(b *netBench) (r sideResult) {
	due := dueBetween(s.from, s.to, b.Rate)
	var late, executions []time.Duration
	for _, p := range s.players {
		p.session.Do(func(c *player.Client) {
			p.measuring = false
			st := c.Status()
			frames, missing := due.late(p.arrivals)
			r.Expected, r.Frames = r.Expected+len(frames), r.Frames+len(frames)-missing
			late, executions = append(late, frames...), append(executions, p.executions...)
			r.Commands, r.Accepted, r.Lost = r.Commands+p.commands, r.Accepted+p.accepted, r.Lost+p.lost
			r.Agreed, r.Differing = r.Agreed+st.Agreed, r.Differing+st.Differing
			r.RoundTripMS += float64(st.RoundTrip) / 1000 / float64(len(s.players))
			if st.Datagrams {
				r.ByDatagrams++
			}
		})
	}
	each := s.to.Sub(s.from).Seconds() * float64(len(s.players))
	r.ToServer, r.ToPlayer = float64(s.toServer)/each, float64(s.toPlayers)/each
	r.ServerCPU = 100 * s.cpu.Seconds() / each
	r.Lateness, r.Behind, r.Execution = spreadOf(late), spreadOf(behindFirst(s.players, b.Room)), spreadOf(executions)
	return r
}

// close ends what the side has begun.
func (s *wireSide) close() {
	var wait sync.WaitGroup
	for _, p := range s.players {
		if p != nil {
			wait.Go(p.close)
		}
	}
	wait.Wait()
	if s.server != nil {
		s.server.Stop()
	}
	if s.wire != nil {
		s.wire.Close()
	}
}
