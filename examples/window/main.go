// Command window plays skirmish in a native window, with Ebitengine:
//
//	go run .                                                              # against a bot, in one process
//	go run . --server ws://127.0.0.1:8766/matches/NAME/play --token TOKEN
//
// Drag with the left button to select units. The right button sends them: to mine a crystal, or to attack on the way. T
// trains a worker in a selected base, S stops. The arrow keys move the view, the wheel zooms. The strip at the
// bottom shows the last ticks: fights, own orders in white, and checks, which turn red after a desync.
//
// It is a module of its own, because Ebitengine needs cgo on Linux (Debian: libgl1-mesa-dev xorg-dev libasound2-dev).
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"net"
	"strings"
	"time"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/server"
)

func main() {
	url := flag.String("server", "", "play on this server, ws://HOST/matches/NAME/play; without it against a bot, in this process")
	token := flag.String("token", "", "token for the server")
	shot := flag.String("screenshot", "", "write a PNG of the window here after 5 s, and exit")
	flag.Parse()
	game := lockstep.MustGame(skirmish.Rules())
	if *url == "" {
		*url, *token = listen(game)
	}
	w := &window{zoom: 24, shot: *shot, shotAt: time.Now().Add(5 * time.Second)}
	w.session = client.Dial(context.Background(), *url, game, client.Options{
		Options: player.Options{Token: *token, Interpolate: true, Observer: w.strip.observe},
		Sample:  w.strip.sample, Handle: w.strip.handle,
	})
	ebiten.SetWindowTitle("skirmish")
	ebiten.SetWindowSize(1280, 800)
	check(ebiten.RunGame(w))
}

// listen starts a server on a free port of this machine, with one match: seat 0 is for the window, seat 1 for a bot. It
// returns the match's address and the token of seat 0.
func listen(game *lockstep.Game) (url, token string) {
	token, guest := rand.Text(), rand.Text()
	tokens, err := server.ReadTokens(strings.NewReader("player 0 you local " + token + "\nplayer 1 bot local " + guest))
	check(err)
	s, err := server.New(server.Options{Authorizer: tokens})
	check(err)
	config := skirmish.Defaults(2, 120)
	_, err = s.Create(server.MatchSpec{Name: "local", Game: game, Settings: lockstep.DefaultSettings(2), Config: &config})
	check(err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go server.HTTPServer("", s).Serve(l)
	url = "ws://" + l.Addr().String() + "/matches/local/play"
	bot := skirmish.NewBot(1, uint64(time.Now().UnixNano()))
	client.Dial(context.Background(), url, game, client.Options{Options: player.Options{Token: guest}, Sample: func(c *player.Client) {
		for _, order := range bot.Think(lockstep.World[skirmish.World](c.Simulation())) {
			c.Submit(order.Value)
		}
	}})
	return url, token
}
