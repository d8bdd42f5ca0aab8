//go:build !js

package live

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server"
)

// The limits of what the visitors of a web demo may begin: rematches, and matches of the lobby. Everybody who reaches its address
// is a guest.
const (
	demoMatches    = 8
	demoStateBytes = 64 << 20
	demoIdle       = 5 * time.Minute // ends a match in which only bots are left
)

// webDemo serves a match of bots with a free seat for the visitor of the page, until it is interrupted.
func webDemo(c *cli.Context, o demoOptions) error {
	if !c.IsSet("players") {
		o.Players = 1 // a duel
	}
	if err := console.Address()(c, "listen"); err != nil {
		return err
	}
	if o.Players >= mostDemoPlayers {
		return console.Usagef("--web: got %d bots, want at most %d, as one seat is yours", o.Players, mostDemoPlayers-1)
	}
	for _, other := range []string{"network", "json", "seconds"} {
		if c.IsSet(other) {
			return console.Usagef("--%s cannot be used with --web, which plays until it is interrupted", other)
		}
	}
	if err := o.makeDir(); err != nil {
		return err
	}
	g := o.Game
	seats := o.Players + 1
	spec, err := o.spec(g, seats)
	if err != nil {
		return err
	}
	spec.BotKind = c.String(gameset.BotFlag.Name)
	spec.Again = func(next *server.MatchSpec) {
		next.Bots = make([]lockstep.Bot, seats)
		for p := lockstep.Player(1); uint(p) < seats; p++ {
			next.Bots[p] = serving.SeatedBot(g, p, o.Seed)
		}
	}
	spec.Again(&spec)
	policy := &serving.MatchPolicy{
		Ctx: c.Context, Flags: c, Game: g, Bot: c.String(gameset.BotFlag.Name), Players: uint8(seats), Idle: demoIdle, Start: serving.DefaultStart,
		Host: host.Options{
			Abandoned: lockstep.Time(serving.DefaultAbandoned.Microseconds()), AnonymousSpectators: true, SpectatorChat: true,
			Start: host.StartPolicy{Players: 1},
		},
	}
	usual := policy.Host // of a match that no request asks for
	usual.InputDelay = serving.UsualDelay(&spec.Settings)
	log := slog.New(slog.NewTextHandler(c.App.ErrWriter, &slog.HandlerOptions{Level: slog.LevelWarn}))
	options := server.Options{
		Authorizer: server.Guests{}, Dir: o.Dir, Replays: true, Limits: server.Limits{IdleMatch: -1, GuestMatches: demoMatches, GuestMatchesPerAddress: demoMatches, GuestStateBytes: demoStateBytes}, Log: log, Host: usual,
		NewMatch: func(body io.Reader) (server.MatchSpec, error) {
			return serving.RequestedMatch(body, gameset.Listed(c), false, policy)
		},
	}
	if err := serving.SendRules(gameset.Listed(c), &options); err != nil {
		return err
	}
	s, err := server.New(options)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.String("listen"))
	if err != nil {
		return err
	}
	if _, err := s.Create(spec); err != nil {
		l.Close()
		return err
	}
	url := "http://" + l.Addr().String()
	fmt.Fprintf(c.App.Writer, `play      %[1]s/#/play/demo
watch     %[1]s/#/watch/demo
lobby     %[1]s/
The match against %[2]s begins when you take your seat. Press Ctrl-C to end it;
the replay is written to %[3]s.
`, url, console.Count(int(o.Players), "bot"), o.Dir)
	ctx, stop := serving.UntilSignal(c.Context)
	defer stop()
	return serving.ServeUntilInterrupted(ctx, stop, s, nil, serving.PageOver(g, c, s, log), l, 0, log)
}
