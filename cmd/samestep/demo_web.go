package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/client"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// webDemo serves a match of bots with a seat for whoever looks at the page,
// until it is interrupted.
func webDemo(c *cli.Context, o demoOptions) error {
	if o.players >= skirmish.MaxPlayers {
		return usagef("demo: --web: got %d bots, want at most %d, as one seat is yours", o.players, skirmish.MaxPlayers-1)
	}
	for _, other := range []string{"network", "json", "seconds"} {
		if c.IsSet(other) {
			return usagef("demo: --%s is not for --web, which plays until it is interrupted", other)
		}
	}
	if err := o.makeDir(); err != nil {
		return err
	}
	g, guest := games[0], drawToken()
	seats := o.players + 1
	authorizer := grants{guest: {Role: protocol.Seated, Seat: 0, Subject: "guest", Name: "you"}}
	for p := lockstep.Player(1); uint(p) < seats; p++ {
		authorizer[botToken(guest, p)] = host.Grant{Role: protocol.Seated, Seat: p, Subject: playerName(p), Name: playerName(p)}
	}
	log := slog.New(slog.NewTextHandler(c.App.ErrWriter, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := server.New(server.Options{
		Authorizer: authorizer, Dir: o.dir, Replays: true, IdleMatch: -1, Log: log,
		Host: host.Options{InputDelay: 2, AnonymousSpectators: true, SpectatorChat: true, StartPlayers: int(seats)},
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.String("listen"))
	if err != nil {
		return err
	}
	if _, err := s.Create(matchSpec(g, matchRequest{
		Name: "demo", Players: uint8(seats), Units: uint16(o.units), TickRate: demoTickRate, Seed: o.seed,
	})); err != nil {
		l.Close()
		return err
	}
	url := "http://" + l.Addr().String()
	fmt.Fprintf(c.App.Writer, `play      %[1]s/#/play/demo?token=%[2]s
watch     %[1]s/#/watch/demo
lobby     %[1]s/
The match begins when you take your seat, against %[3]s. Interrupt to end it;
its replay is written to %[4]s.
`, url, guest, count(int(o.players), "bot"), o.dir)
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	for p := lockstep.Player(1); uint(p) < seats; p++ {
		playBot(ctx, s, botToken(guest, p), g, p, o.seed)
	}
	return serveUntilInterrupted(c.Context, s, newPageHandler(ctx, g.page, s, log), l, log)
}

// botToken returns the token of a bot, which nobody can guess who does not know
// the guest's.
func botToken(guest string, p lockstep.Player) string { return fmt.Sprintf("%s-%d", guest, p) }

// playBot lets a bot take a seat, and play until the match or ctx ends.
func playBot(ctx context.Context, s *server.Server, token string, g *playable, p lockstep.Player, seed uint64) {
	bot := g.bot(p, seed)
	client.Dial(ctx, withinURL("demo"), g.Game, client.Options{
		HTTP:    within(s),
		Options: player.Options{Token: token},
		Sample: func(c *player.Client) {
			for _, v := range bot(c.Simulation()) {
				if _, err := c.Submit(v); err != nil {
					return // the match is over, or too many wait for an answer
				}
			}
		},
	})
}
