// Command online plays the minimal game over a network: it serves a match, or joins one.
//
//	go run ./examples/minimal/online serve
//	go run ./examples/minimal/online join ada-has-the-first-seat
//	go run ./examples/minimal/online join bob-has-the-second-seat
//	go run ./examples/minimal/online join press-only-watches
//
// The tokens are in this file to keep the example short. A real server reads them from a file, or accepts signed
// tokens: see package server.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/server"
)

const (
	address = "127.0.0.1:8766"
	list    = `
		player    0 ada   duel ada-has-the-first-seat
		player    1 bob   duel bob-has-the-second-seat
		spectator - press duel press-only-watches`
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := errors.New("want serve, or join and a token")
	switch {
	case len(os.Args) == 2 && os.Args[1] == "serve":
		var l net.Listener
		if l, err = net.Listen("tcp", address); err == nil {
			fmt.Println("serving on", address, "until Ctrl-C; the replay is written here")
			err = serve(ctx, l, ".")
		}
	case len(os.Args) == 3 && os.Args[1] == "join":
		err = join(ctx, "ws://"+address+"/matches/duel/play", os.Args[2], os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "online:", err)
		os.Exit(1)
	}
}

// serve hosts one match of two players until ctx ends, and records it.
func serve(ctx context.Context, l net.Listener, dir string) error {
	tokens, err := server.ReadTokens(strings.NewReader(list))
	if err != nil {
		return err
	}
	s, err := server.New(server.Options{Authorizer: tokens, Dir: dir})
	if err != nil {
		return err
	}
	_, err = s.Create(server.MatchSpec{
		Name: "duel", Game: lockstep.MustGame(minimal.Rules()),
		Settings: lockstep.DefaultSettings(2), Config: &minimal.Config{Size: 50, Coins: 500},
	})
	if err != nil {
		return err
	}
	web := server.HTTPServer("", s)
	go func() {
		<-ctx.Done()
		farewell, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		s.Shutdown(farewell) // tells the clients, completes the replay
		web.Shutdown(farewell)
	}()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// join plays, or watches, until the match or ctx ends. A player sends its dot to a new cell every second.
func join(ctx context.Context, url, token string, out io.Writer) error {
	var me lockstep.Player
	s := client.Dial(ctx, url, lockstep.MustGame(minimal.Rules()), client.Options{
		Options: player.Options{Token: token},
		Sample: func(c *player.Client) {
			w, tick := lockstep.World[minimal.World](c.Simulation()), c.Simulation().Tick()
			if tick%20 == 0 {
				fmt.Fprintf(out, "tick %d:", tick)
				for p, dot := range w.Dots {
					fmt.Fprintf(out, "  player %d at %v,%v has %d", p, dot.At.X, dot.At.Y, dot.Coins)
				}
				fmt.Fprintln(out)
			}
			if int(me) < len(w.Dots) && tick%20 == 1 {
				n := uint16(tick)*7 + 25*uint16(me)
				c.Submit(&minimal.Go{X: (n + 25) % 50, Y: n * 3 % 50}) // the answer comes as an event
			}
		},
		Handle: func(_ *player.Client, event any) {
			switch e := event.(type) {
			case player.Welcomed:
				me = e.Seat // System for a spectator
			case lockstep.Receipt:
				if e.Reason != lockstep.Accepted {
					fmt.Fprintln(out, "rejected:", e)
				}
			case player.ConnectionLost, player.StreamResumed, player.Desynced, player.Healed, player.Ended:
				fmt.Fprintf(out, "%T %+v\n", e, e)
			}
		},
	})
	return s.Wait()
}
